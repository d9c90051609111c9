"""Mathematics: the final answer equals the reference, by value and not by spelling."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from reward_functions import symbolic
from reward_functions.core.alternatives import ReferenceList, any_reference
from reward_functions.core.spec import Example, Needs, reward_function
from reward_functions.core.types import Evidence, Metric, Sample, Score
from reward_functions.extraction.answer import Answer, NoAnswer
from reward_functions.extraction.cues.formulas import DERIVED, SENTENCE
from reward_functions.extraction.scores import (
    METRICS,
    compared,
    contradicted,
    not_answered,
    with_truncation,
)
from reward_functions.extraction.visible import visible_response
from reward_functions.verifiers._math.answer import contradicts, hedged, mathematical_answer
from reward_functions.verifiers._math.asked_precision import AS_ASKED, ROUNDED, rounded_as_asked
from reward_functions.verifiers._math.asked_quantity import value_asked_for
from reward_functions.verifiers._math.glued_commands import CONSTANTS, meant_by_prompt
from reward_functions.verifiers._math.named_members import by_name
from reward_functions.verifiers._math.option_texts import agreed, by_letters
from reward_functions.verifiers._math.plain_units import with_unit
from reward_functions.verifiers._math.reference import Reference, reference_of, right_response
from reward_functions.verifiers._math.reference_verdict import verdict_for
from reward_functions.verifiers._math.restatement import restates, unevaluated
from reward_functions.verifiers._math.stated_conditions import (
    CONDITION,
    SETS,
    WITHIN,
    equal_in_prompt,
    without_stated_condition,
)
from reward_functions.verifiers._math.truths import truth_stated, truth_verdict
from reward_functions.verifiers._math.verdict import by_percent_sign

if TYPE_CHECKING:
    from reward_functions.symbolic import EqualityVerdict

_EARNS_NOTHING: Final = "undecided: shown neither equal nor different, it earns the minimum"
_NAMES: Final = ("undecided", "unevaluated", "percent_sign")
_NONE: Final = tuple(Metric(name, 0.0) for name in _NAMES)
"""The metrics of `math` alone where there was nothing to compare."""


@reward_function(
    version=9,
    gold_response=right_response,
    metrics=[*METRICS, *_NAMES],
    needs=Needs(symbolic=True),
    examples=[
        Example("positive", response="So $x = \\boxed{\\frac{1}{2}}$.", reference="0.5", score=1.0),
        Example("positive", response="The answer is 1,234 apples.", reference="1234", score=1.0),
        Example("positive", response="$(x+1)^2$", reference="x^2 + 2x + 1", score=1.0),
        Example(
            "positive", response="\\boxed{1} and \\boxed{2}", reference="\\{1, 2\\}", score=1.0
        ),
        Example("positive", response="\\boxed{35}", reference="35\\%", score=1.0),
        Example("positive", response="\\boxed{\\pm 1}", reference=[1, -1], score=1.0),
        Example("negative", response="\\boxed{1}", reference=[1, -1], score=0.0),
        Example(
            "positive",
            prompt="Is 7 prime?",
            response="Yes, since no smaller number but 1 divides it.",
            reference=True,
            score=1.0,
        ),
        Example("negative", response="\\boxed{0.33}", reference="\\frac{1}{3}", score=0.0),
        Example(
            "positive",
            response="0.33",
            reference="\\frac{1}{3}",
            score=1.0,
            parameters={"rounded": 2},
        ),
        Example("negative", response="\\boxed{5 \\text{ m}}", reference="5 \\text{ cm}", score=0.0),
        Example("positive", response="\\boxed{34 \\cdot 23 / 2}", reference="391", score=1.0),
        Example(
            "attack",
            response="\\boxed{34 \\cdot 23 / 2}",
            reference="391",
            score=0.0,
            parameters={"evaluated": True},
        ),
        Example("attack", response="\\boxed{1}, \\boxed{2}, \\boxed{3}", reference="2", score=0.0),
        Example("attack", response="The answer is not 5.", reference="5", score=0.0),
        Example("attack", response="The answer is at least 5.", reference="5", score=0.0),
        Example("attack", response="$10-\\boxed{5}$", reference="5", score=0.0),
        Example("attack", response="\\boxed{5}. The answer is 6.", reference="5", score=0.0),
        Example(
            "attack",
            prompt="Compute $17 \\cdot 23$.",
            response="\\boxed{17 \\cdot 23}",
            reference="391",
            score=0.0,
            why="restating the question is no answer",
        ),
    ],
)
@any_reference
def math(
    sample: Sample,
    *,
    rounded: int = 0,
    strict_percent: bool = False,
    evaluated: bool = False,
    include_reasoning: bool = False,
    reference_list: ReferenceList = "members",
) -> Score:
    """The final answer is mathematically equal to the reference.

    The answer is the last box (a run of boxes is a list), else the last statement of an answer,
    else a last sentence that gives one thing one value. Without these it is the last mathematical
    span that ends the response, else the whole response when it is nothing but an answer.
    Reference: a number, a string, LaTeX with or without delimiters, a whole solution, or true or
    false; alone or in an object under `final_answer`, `answer`, `ground_truth`, `value` or `text`.
    Scale: 1.0 or 0.0. Metrics: `answered`, whether the response had an answer to compare.
        `truncated`, whether its text shows that the response was cut off (reasoning, a box or a
        code fence is never closed). `undecided`, whether no tier of the comparison settled it,
        which earns the minimum (`math_then_judge` asks a judge). `unevaluated`, whether a right
        answer leaves an operation to be worked out where the reference leaves no operation open.
        `percent_sign`, whether only one of a right answer and its reference is written as a
        percentage.

    docs/math.md lists what counts as equal, and `reward_functions.symbolic` decides it. Nothing in
    a response is evaluated as code. Not decided are, among others, piecewise answers in several
    variables, nonlinear inequalities, and solutions of differential equations.

    A list of numbers or booleans as the reference is one answer with these members; any other list
    means any of its items. A set that is one answer is one string or such a list.

    Args:
        sample: the response and its reference.
        rounded: digits from which a decimal that is the exact reference rounded is right (0.333 for
            1/3 has three); 0 for never.
        strict_percent: whether 35% is only 35% and 0.35, and no longer a bare 35.
        evaluated: whether an answer must be worked out where its reference is: 34·23/2 for 391, and
            36/48 for 3/4, then earn the minimum.
        include_reasoning: search reasoning sections as well.
        reference_list: what a list of numbers or booleans is: one answer with these members, or
            alternatives of which any is right.

    Raises:
        BadReference: there is no reference, it has no content, it is cut off, or it is mathematics
            that cannot be read and the answer is not the same string.
        EngineUnavailable: the reference needs sympy, whose process could not be had.
        EngineFailed: our own code in that process has a bug.
        AlgebraOutOfTime: the deadline of the batch passed before sympy decided.
    """
    score = _scored(
        sample,
        rounded=rounded,
        strict_percent=strict_percent,
        evaluated=evaluated,
        include_reasoning=include_reasoning,
        listed=reference_list == "members",
    )
    return with_truncation(score, sample.response)


def _scored(
    sample: Sample,
    *,
    rounded: int,
    strict_percent: bool,
    evaluated: bool,
    include_reasoning: bool,
    listed: bool,
) -> Score:
    prompt = sample.prompt
    right = reference_of(sample.reference, prompt, listed=listed)
    text = visible_response(
        sample.response, prompt, reference=right.text, include_reasoning=include_reasoning
    )
    if right.truth is not None:
        return _true_or_false(text, right.truth, prompt)
    reference = right.text
    found = mathematical_answer(text, prompt)
    if isinstance(found, Answer):
        found = agreed(_concluded(found, reference, prompt), reference, prompt)
    if isinstance(found, NoAnswer):
        return not_answered(found.reason, found.rule, further=_NONE)
    if contradicts(found):
        return contradicted(found, further=_NONE)
    answer, verdict = _judged(
        found, text, right, prompt, rounded=rounded, strict_percent=strict_percent
    )
    if verdict.equal and restates(answer, reference, prompt):
        reason = "the answer restates the question"
        return not_answered(reason, "restated", found.text, further=_NONE)
    if verdict.equal and hedged(found.text, reference):
        reason = "the answer names several values"
        return not_answered(reason, "or-several", found.text, further=_NONE)
    left = verdict.equal and unevaluated(answer, reference)
    if evaluated and left:
        reason = "the answer is not worked out"
        further = _metrics(undecided=False, unevaluated=True, percent_sign=False)
        return not_answered(reason, "unevaluated", found.text, further=further)
    sign = verdict.equal and by_percent_sign(reference, answer, verdict.rule)
    return _by_verdict(found, verdict, unevaluated=left, percent_sign=sign)


def _true_or_false(text: str, truth: bool, prompt: str) -> Score:  # noqa: FBT001 - what is right
    """The score of an answer to a question for yes or no."""
    found = truth_stated(text, prompt)
    if isinstance(found, NoAnswer):
        return not_answered(found.reason, found.rule, further=_NONE)
    return _by_verdict(found, truth_verdict(found.text, truth))


def _metrics(*, undecided: bool, unevaluated: bool, percent_sign: bool) -> tuple[Metric, ...]:
    if not (undecided or unevaluated or percent_sign):
        return _NONE
    found = zip(_NAMES, (undecided, unevaluated, percent_sign), strict=True)
    return tuple(Metric(name, float(on)) for name, on in found)


def _by_verdict(
    found: Answer,
    verdict: EqualityVerdict,
    *,
    unevaluated: bool = False,
    percent_sign: bool = False,
) -> Score:
    evidence = Evidence(verdict.rule, verdict.candidate, verdict.reference, verdict.outcome)
    undecided = not verdict.decided
    reason = f"{verdict.reason}; {_EARNS_NOTHING}" if undecided else verdict.reason
    further = _metrics(undecided=undecided, unevaluated=unevaluated, percent_sign=percent_sign)
    return compared(found, evidence, *further, right=verdict.equal, reason=reason)


def _concluded(found: Answer, reference: str, prompt: str) -> Answer:
    """An answer, or what it concludes where it is a box that holds a derivation."""
    text = found.text
    if found.kind != "box" or not DERIVED.search(text):
        return found
    begins = SENTENCE.match(text)
    if symbolic.begins_with_function(text) if begins else symbolic.readable(text):
        return found
    from reward_functions.verifiers._math.derivation import concluded  # noqa: PLC0415 - few do

    return concluded(found, reference, prompt)


def _judged(
    found: Answer,
    text: str,
    right: Reference,
    prompt: str,
    *,
    rounded: int,
    strict_percent: bool,
) -> tuple[str, EqualityVerdict]:
    """The verdict on an answer as it is, as the value of what is asked for, or as named members."""
    answer, reference = found.text, right.text
    of_options = by_letters(found, text, reference, prompt)
    if of_options is not None:
        return answer, of_options
    judged = partial(
        verdict_for, right, prompt=prompt, rounded=rounded, strict_percent=strict_percent
    )
    verdict = judged(answer)
    value: str | None = None
    if not verdict.decided:
        if verdict.rule == CONDITION:
            value = without_stated_condition(answer, reference, prompt)
        else:
            value = value_asked_for(answer, reference, prompt)
    if value is None and not verdict.equal:
        named = by_name(found, text, ", ".join(right.members) or reference)
        value = named or with_unit(found, prompt)
    if value is not None:
        answer = value
        verdict = judged(value)
    if prompt and not verdict.equal:
        verdict = _by_prompt(verdict, answer, reference, prompt)
    if verdict.rule == CONSTANTS and meant_by_prompt(answer, reference, prompt):
        reason = "a letter that the prompt gives a meaning is no arbitrary constant"
        verdict = verdict._replace(outcome=symbolic.Outcome.UNDECIDED, reason=reason)
    return answer, verdict


def _by_prompt(
    verdict: EqualityVerdict, answer: str, reference: str, prompt: str
) -> EqualityVerdict:
    """The verdict on an unlike answer that the prompt makes right: its precision, or its domain."""
    if verdict.rule == ROUNDED and rounded_as_asked(answer, reference, prompt):
        rule, reason = AS_ASKED, "the reference rounds to the answer, as exactly as the prompt asks"
    elif verdict.rule in SETS and equal_in_prompt(answer, reference, prompt):
        rule, reason = WITHIN, "the same set where the prompt asks for it"
    else:
        return verdict
    return verdict._replace(outcome=symbolic.Outcome.EQUAL, rule=rule, reason=reason)
