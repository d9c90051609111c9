"""Mathematics: the final answer equals the reference, by value and not by spelling."""

from __future__ import annotations

from typing import Final

from reward_functions.core.spec import Example, Needs, reward_function
from reward_functions.core.types import Evidence, Metric, Sample, Score
from reward_functions.extraction.answer import Answer, NoAnswer
from reward_functions.extraction.scores import METRICS, compared, contradicted, not_answered
from reward_functions.extraction.visible import visible_response
from reward_functions.verifiers._math.answer import contradicts, mathematical_answer
from reward_functions.verifiers._math.option_texts import agreed
from reward_functions.verifiers._math.reference import reference_answer
from reward_functions.verifiers._math.restatement import restates
from reward_functions.verifiers._math.verdict import verdict_on

_UNDECIDED: Final = Metric("undecided", 1.0)
_DECIDED: Final = Metric("undecided", 0.0)


def _right(sample: Sample) -> str:
    return rf"\boxed{{{reference_answer(sample.reference)}}}"


@reward_function(
    version=1,
    gold_response=_right,
    metrics=[*METRICS, "undecided"],
    needs=Needs(symbolic=True),
    examples=[
        Example("positive", response="So $x = \\boxed{\\frac{1}{2}}$.", reference="0.5", score=1.0),
        Example("positive", response="The answer is 1,234 apples.", reference="1234", score=1.0),
        Example("positive", response="$(x+1)^2$", reference="x^2 + 2x + 1", score=1.0),
        Example(
            "positive", response="\\boxed{1} and \\boxed{2}", reference="\\{1, 2\\}", score=1.0
        ),
        Example("positive", response="\\boxed{35}", reference="35\\%", score=1.0),
        Example("negative", response="\\boxed{0.33}", reference="\\frac{1}{3}", score=0.0),
        Example(
            "positive",
            response="0.33",
            reference="\\frac{1}{3}",
            score=1.0,
            parameters={"rounded": 2},
        ),
        Example("negative", response="\\boxed{5 \\text{ m}}", reference="5 \\text{ cm}", score=0.0),
        Example("attack", response="\\boxed{1}, \\boxed{2}, \\boxed{3}", reference="2", score=0.0),
        Example("attack", response="The answer is not 5.", reference="5", score=0.0),
        Example("attack", response="It is at least \\boxed{5}.", reference="5", score=0.0),
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
def math(
    sample: Sample,
    *,
    rounded: int = 0,
    strict_percent: bool = False,
    include_reasoning: bool = False,
) -> Score:
    """The final answer is mathematically equal to the reference.

    The answer is the last box (a run of boxes is a list), else the last statement of an answer,
    else the last mathematical span, else the whole response when it is nothing but an answer.
    Reference: a number, a string, LaTeX with or without delimiters, or a whole solution; alone or
    in an object under `final_answer`, `answer`, `ground_truth`, `value` or `text`. Scale: 1.0 or
    0.0. Metrics: `answered`, whether there was an answer to compare; `undecided`, whether no tier
    of the comparison settled it, which earns the minimum.

    What counts as equal is listed in docs/math.md and decided by `reward_functions.symbolic`.
    Nothing in a response is evaluated as code. Not decided are, among others, piecewise answers of
    other forms, nonlinear inequalities, and solutions of differential equations.

    Args:
        sample: the response and its reference.
        rounded: digits from which a decimal that is the exact reference rounded is right (0.333 for
            1/3 has three); 0 for never.
        strict_percent: whether 35% is only 35% and 0.35, and no longer a bare 35.
        include_reasoning: search reasoning sections as well.

    Raises:
        BadReference: there is no reference, it has no content, it is cut off, or it is mathematics
            that cannot be read and the answer is not the same string.
        EngineUnavailable: the reference needs sympy, whose process could not be had.
    """
    reference = reference_answer(sample.reference)
    text = visible_response(sample.response, sample.prompt, include_reasoning=include_reasoning)
    found = mathematical_answer(text)
    if isinstance(found, Answer):
        found = agreed(found, sample.prompt)
    if isinstance(found, NoAnswer):
        return not_answered(found.reason, None, _DECIDED)
    if contradicts(found):
        return contradicted(found, _DECIDED)
    verdict = verdict_on(reference, found.text, rounded=rounded, strict_percent=strict_percent)
    if verdict.equal and restates(found.text, reference, sample.prompt):
        return not_answered("the answer restates the question", found.text, _DECIDED)
    evidence = Evidence(verdict.rule, verdict.candidate, verdict.reference)
    decided = _DECIDED if verdict.decided else _UNDECIDED
    return compared(found, evidence, decided, right=verdict.equal, reason=verdict.reason)
