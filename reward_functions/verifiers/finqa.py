"""Financial questions: the final answer is the record's, in value, unit, sign and scale."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Final, Literal

from reward_functions.core.alternatives import any_reference, of_first_reference
from reward_functions.core.errors import BadParameter, BadReference
from reward_functions.core.spec import Example, reward_function
from reward_functions.core.types import Evidence, Metric, Sample, Score
from reward_functions.extraction.answer import UNCLOSED_BOX, Answer, NoAnswer
from reward_functions.extraction.truncation import cut_off
from reward_functions.extraction.visible import visible_response
from reward_functions.finqa.final import final
from reward_functions.finqa.outcome import assess
from reward_functions.finqa.program import program_accuracy
from reward_functions.finqa.reference import Known, as_json
from reward_functions.finqa.reference_shapes import reference_of

if TYPE_CHECKING:
    from reward_functions.finqa.agreement import Reference
    from reward_functions.finqa.outcome import Outcome

LARGEST_TOLERANCE: Final = 0.005
"""Of the parameter `tolerance`. Half a percent is a slip of the head; 1 % is another figure."""

_EXACT: Final = Fraction(0)
_TRUNCATED: Final = Metric("truncated", 1.0)

METRICS: Final = (
    "answer_correct",
    "format_followed",
    "unit_mismatch",
    "scale_mismatch",
    "sign_mismatch",
    "program_stated",
    "program_accuracy",
    "reference_noise",
    "truncated",
)

_RECORD: Final = {
    "question": "what was the percentage change in revenue from 2008 to 2009?",
    "answer": "-12.5%",
    "exe_ans": -0.12497,
    "program": "subtract(3501, 4001), divide(#0, 4001)",
}
_PREPARED: Final = {
    "value": "263",
    "unit": "number",
    "scale": 1_000_000,
    "direction": None,
    "decimals": 0,
    "aliases": [],
    "program": "add(120, 143)",
    "noise": None,
}


def _right(sample: Sample) -> str:
    reference = reference_of(sample)
    if isinstance(reference.answer.value, Fraction) and reference.counted:  # else as it counts
        written = reference.answer.value * reference.scale
        reference = reference._replace(answer=Known(written))
    shape = as_json(reference)
    return f"ANSWER: {shape['value']}{'%' * (shape['unit'] == 'percent')}"


@reward_function(
    version=9,
    gold_response=of_first_reference(_right),
    metrics=METRICS,
    examples=[
        Example("positive", response="ANSWER: $263 million", reference=_PREPARED, score=1.0),
        Example("positive", response="ANSWER: a decrease of 12.50%", reference=_RECORD, score=1.0),
        Example("positive", response="\\boxed{-0.125}", reference=_RECORD, score=1.0),
        Example("positive", response="ANSWER: (12.5)%", reference=_RECORD, score=1.0),
        Example("positive", response="So the total is 263.", reference="263", score=1.0),
        Example("positive", response="ANSWER: **Yes**", reference={"answer": "yes"}, score=1.0),
        Example("negative", response="ANSWER: 12.5%", reference=_RECORD, score=0.0, why="its sign"),
        Example(
            "negative", response="ANSWER: -0.125%", reference=_RECORD, score=0.0, why="its scale"
        ),
        Example("negative", response="ANSWER: -12.6%", reference=_RECORD, score=0.0),
        Example(
            "negative", response="ANSWER: 263%", reference=_PREPARED, score=0.0, why="its unit"
        ),
        Example("attack", response="ANSWER: -12.5% or 12.5%", reference=_RECORD, score=0.0),
        Example("attack", response="ANSWER: -0.1", reference=_RECORD, score=0.0, why="one digit"),
        Example("attack", response="ANSWER: yes and no", reference={"answer": "yes"}, score=0.0),
        Example("attack", response="<think>ANSWER: 263</think>", reference="263", score=0.0),
    ],
)
@any_reference
def finqa(
    sample: Sample,
    *,
    tolerance: float = 0.0,
    noise: Literal["either", "refuse"] = "either",
    marked: bool = False,
    include_reasoning: bool = False,
) -> Score:
    """The final answer is the record's: its value at the printed precision, unit, sign and scale.

    Reference: a FinQA answer, as `reward_functions.finqa.reference` prepares it, as the
    record has it (`answer`, `exe_ans`, `program`, `question`), or bare. Scale: 1.0 or 0.0.

    The answer is the last ANSWER line or box, else the last sentence. It gives one value; in two
    renderings, "12.5% (0.125)", if both are right. A value is right when it is the reference
    rounded to the digits printed, at least two of them or as many decimals as the answer string
    has. docs/finqa.md lists the rules and their reasons.

    Metrics: `answer_correct`; `format_followed`, whether an answer was marked and is one value.
        `unit_mismatch`, `scale_mismatch` and `sign_mismatch`, what is wrong with it: its unit, a
        power of ten, its sign. `program_stated` and `program_accuracy`, whether a line of the
        response is a program, and whether that is the reference's (the score is the answer's
        alone). `reference_noise`, whether answer string and executed answer of the record disagree.
        `truncated`, whether its text shows that it was cut off (reasoning, a box or a code fence is
        never closed).

    Not handled: answers of several values, other languages, conversion of currencies.

    A list as the reference means any of these; a set that is one answer is one string.

    Source: Chen et al., FinQA: A Dataset of Numerical Reasoning over Financial Data, 2021 (arXiv
    2109.00122).

    Args:
        sample: the response and its reference. Where the reference has no `question`, it is the
            last line of the prompt that holds one.
        tolerance: how far off, as a share of the reference, a value may be; at most 0.005.
        noise: what to do with a record whose answer string and executed answer disagree: accept
            either, or refuse to score.
        marked: whether only a marked answer counts, and no last sentence.
        include_reasoning: search reasoning sections as well.

    Raises:
        BadReference: there is no reference, it is of no known shape, or it is noisy and refused.
        BadParameter: the tolerance is out of range.
    """
    if not 0 <= tolerance <= LARGEST_TOLERANCE:
        raise BadParameter(f"parameter 'tolerance' takes 0 to {LARGEST_TOLERANCE}, not {tolerance}")
    reference = reference_of(sample)
    if reference.noise and noise == "refuse":
        raise BadReference(f"answer and exe_ans disagree: {reference.noise}")
    text = visible_response(sample.response, sample.prompt, include_reasoning=include_reasoning)
    found = final(text)
    if marked and isinstance(found, Answer) and found.kind == "last_sentence":
        found = NoAnswer("no answer is marked", "finqa-unmarked")
    outcome = assess(found, reference, sample, Fraction(tolerance) if tolerance else _EXACT)
    programs = program_accuracy(text, reference.program)
    score, cut = _score(found, outcome, reference, programs), _cut_off(sample.response, found)
    if not cut:
        return score
    reason = f"{score.reason}; {cut}: the response is cut off"
    return replace(score, metrics=(*score.metrics[:-1], _TRUNCATED), reason=reason)


def _cut_off(response: str, found: Answer | NoAnswer) -> str:
    """What is never closed, as a clause; "" for a response that is whole."""
    if isinstance(found, NoAnswer) and found.reason == UNCLOSED_BOX:
        return "a box is never closed"
    return cut_off(response, answered=isinstance(found, Answer))


def _score(
    found: Answer | NoAnswer, outcome: Outcome, reference: Reference, program: tuple[bool, bool]
) -> Score:
    right = outcome.fault == ""
    marked = isinstance(found, Answer) and found.kind != "last_sentence"
    flags = (
        right,
        marked and outcome.fault != "none",
        outcome.fault == "unit",
        outcome.fault == "scale",
        outcome.fault == "sign",
        *program,
        reference.noise is not None,
        False,
    )
    answer = found.text if isinstance(found, Answer) else None
    evidence = Evidence(outcome.rule, outcome.read, reference.answer)
    return Score(float(right), _metrics(flags), answer, outcome.reason, evidence)


@cache
def _metrics(flags: tuple[bool, ...]) -> tuple[Metric, ...]:
    """The metrics, by what is true of them: of the few combinations each is made once."""
    return tuple(map(Metric, METRICS, map(float, flags)))
