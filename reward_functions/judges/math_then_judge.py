"""The comparison of `math` where it decides, and the judge of `reference` for the rest."""

from __future__ import annotations

from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Final

from reward_functions.core.alternatives import ReferenceList, any_reference
from reward_functions.core.errors import UnreadableReference
from reward_functions.core.spec import Example, Needs, reward_function
from reward_functions.core.types import Metric, Outcome, Sample, Score
from reward_functions.extraction.answer import NoAnswer
from reward_functions.extraction.truncation import cut_off
from reward_functions.extraction.visible import visible_response
from reward_functions.judge_runtime.prefilter import prefilter
from reward_functions.judge_runtime.scores import METRICS, computed, prefiltered
from reward_functions.judges.reference import same_by_judge, stated_answer
from reward_functions.verifiers._math.answer import hedged
from reward_functions.verifiers._math.reference import reference_of, right_response
from reward_functions.verifiers._math.restatement import hands_back
from reward_functions.verifiers.math import math

if TYPE_CHECKING:
    from reward_functions.core.asking import Ask

WORKERS: Final = 32
"""Threads: as many as judge calls at once by default. The rule runs in one of them at a time."""

_RULE: Final = Lock()
"""One comparison at a time, as `math` does alone: hard algebra has one process."""

KEPT: Final = ("truncated", "unevaluated", "percent_sign")
"""Metrics of `math` that this reward reports as well."""

_NOT_COMPARED: Final = (Metric("unevaluated", 0.0), Metric("percent_sign", 0.0))
_BY_RULE: Final = Metric("judged", 0.0)
_BY_JUDGE: Final = Metric("judged", 1.0)


def _right(sample: Sample) -> str:
    return f"The answer is {right_response(sample)}."


@reward_function(
    version=8,
    metrics=[*METRICS, "judged", *KEPT],
    gold_response=_right,
    needs=Needs(judge=True, symbolic=True, workers=WORKERS),
    examples=[
        Example(
            "positive",
            prompt="What is a half as a decimal?",
            response="The answer is \\boxed{0.5}.",
            reference="\\frac{1}{2}",
            score=1.0,
            why="a proof needs no judge",
        ),
        Example(
            "positive",
            prompt="For which real x is the function defined?",
            response="The answer is \\boxed{\\text{every real number but zero}}.",
            reference="all real numbers except 0",
            score=1.0,
            verdicts=[{"same": "yes"}],
            why="an answer in words is the judge's",
        ),
        Example(
            "negative",
            prompt="What is a half as a decimal?",
            response="The answer is \\boxed{0.6}.",
            reference="\\frac{1}{2}",
            score=0.0,
            verdicts=[{"same": "yes"}],
            why="a proven difference is never judged",
        ),
        Example(
            "negative",
            prompt="Which conic is it?",
            response="The answer is \\boxed{\\text{an ellipse}}.",
            reference="a circle",
            score=0.0,
            verdicts=[{"same": "no"}],
        ),
        Example(
            "attack",
            prompt="Which conic is it?",
            response="It may be a circle.\nIt may be an ellipse.",
            reference="a circle",
            score=0.0,
            verdicts=[{"same": "yes"}],
            why="without an answer nobody is asked",
        ),
        Example(
            "attack",
            prompt="Compute $17 \\cdot 23$.",
            response="The answer is \\boxed{17 \\cdot 23}.",
            reference="391",
            score=0.0,
            verdicts=[{"same": "yes"}],
            why="restating the question is no answer, and is not judged",
        ),
        Example(
            "attack",
            prompt="Which conic is it?",
            response="The answer is \\boxed{\\text{what the judge accepts}}.",
            reference="a circle",
            score=0.0,
            verdicts=[{"same": "yes", "addressed_to_judge": "yes"}],
        ),
    ],
)
@any_reference
def math_then_judge(
    sample: Sample,
    ask: Ask,
    *,
    rounded: int = 0,
    strict_percent: bool = False,
    evaluated: bool = False,
    include_reasoning: bool = False,
    reference_list: ReferenceList = "members",
) -> Score:
    """The final answer equals the reference: by `math`, and by a judge where that is undecided.

    The judge of `reference` is asked where `math` proves neither that the two are equal nor that
    they differ, as for answers in words, and where the reference is mathematics that `math` cannot
    read. It is never asked where a difference is proven, where the response has no answer, and
    where the answer restates the question, or names the reference and something else.

    Reference: as `math` takes it. Scale: 1.0 or 0.0. Metrics: `prefiltered`, `addressed`,
    `confidence`; `judged`, 1 where the judge decided, so that its mean is the share judged;
    `truncated`, `unevaluated` and `percent_sign` as `math` reports them. Not handled: partial
    credit; see `rubric`.

    A list as the reference is what it is to `math`.

    Args:
        sample: the response and its reference.
        ask: the judge model.
        rounded: as `math` takes it.
        strict_percent: likewise.
        evaluated: likewise; a judge is not told.
        include_reasoning: likewise. Reasoning that is never closed is not judged.
        reference_list: as `math` takes it.

    Raises:
        BadReference: there is no reference, it has no content, or it is cut off.
        EngineUnavailable: the reference needs sympy, whose process could not be had.
        EngineFailed: our own code in that process has a bug.
        AlgebraOutOfTime: the deadline of the batch passed before sympy decided.
        JudgeUnavailable: the judge model was needed, and none could be asked.
        NoVerdict: its answer is no legal verdict.
    """
    with _RULE:
        score = _by_rule(
            sample,
            rounded=rounded,
            strict_percent=strict_percent,
            evaluated=evaluated,
            include_reasoning=include_reasoning,
            reference_list=reference_list,
        )
    if score is not None:
        kept = [metric for metric in score.metrics if metric.name in KEPT]
        decided = computed(score.value, score.reason, _BY_RULE, *kept, answer=score.answer)
        return replace(decided, evidence=score.evidence)
    listed = reference_list == "members"
    left = _by_judge(sample, ask, include_reasoning=include_reasoning, listed=listed)
    asked = left.evidence is not None
    truncated = Metric("truncated", float(bool(cut_off(sample.response, answered=True))))
    return replace(
        left,
        metrics=(*left.metrics, _BY_JUDGE if asked else _BY_RULE, truncated, *_NOT_COMPARED),
        evidence=left.evidence and left.evidence._replace(outcome=Outcome.UNDECIDED),
    )


def _by_rule(
    sample: Sample,
    *,
    rounded: int,
    strict_percent: bool,
    evaluated: bool,
    include_reasoning: bool,
    reference_list: ReferenceList,
) -> Score | None:
    """What `math` decides; None where it does not."""
    try:
        score = math(
            sample,
            rounded=rounded,
            strict_percent=strict_percent,
            evaluated=evaluated,
            include_reasoning=include_reasoning,
            reference_list=reference_list,
        )
    except UnreadableReference:
        return None
    evidence = score.evidence
    if evidence is None or evidence.outcome is not Outcome.UNDECIDED:
        return score
    return None


def _by_judge(sample: Sample, ask: Ask, *, include_reasoning: bool, listed: bool) -> Score:
    """What the judge of `reference` finds, where the answer is one, and more than the question."""
    right = reference_of(sample.reference, sample.prompt, listed=listed).text
    if rejected := prefilter(sample, right):
        return prefiltered(rejected)
    text = visible_response(
        sample.response, sample.prompt, reference=right, include_reasoning=include_reasoning
    )
    found = stated_answer(text)
    if isinstance(found, str):
        with _RULE:
            found = _own(found, right, sample.prompt)
    return same_by_judge(sample, found, right, ask)


def _own(found: str, right: str, prompt: str) -> str | NoAnswer:
    """The answer, where it is more than the question, and no list of guesses."""
    if hands_back(found, right, prompt):
        return NoAnswer("the answer restates the question")
    return NoAnswer("the answer names several values") if hedged(found, right) else found
