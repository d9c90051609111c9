"""The outcome of an answer that is held against a reference: why it is wrong, in words.

The ids of FinQA's rules, by the fault of a value.

They name the rows of docs/finqa.md. A verdict carries the id of the rule that decided it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from reward_functions.core.references import reference_fields
from reward_functions.extraction.answer import Answer, NoAnswer
from reward_functions.finqa.comparison import fault
from reward_functions.finqa.question import asked, says_basis_points
from reward_functions.finqa.syntax import NoValue, Value
from reward_functions.finqa.values import values
from reward_functions.finqa.yesno import yes_or_no
from reward_functions.quantities.numerals import BASIS_POINT

if TYPE_CHECKING:
    from fractions import Fraction

    from reward_functions.core.types import Sample
    from reward_functions.finqa.agreement import Reference
    from reward_functions.finqa.comparison import Fault


OF_FAULT: Final = {
    "": "finqa-rounded-to-printed-digits",
    "value": "finqa-near-miss",
    "unit": "finqa-other-unit",
    "sign": "finqa-sign",
    "scale": "finqa-other-scale",
    "precision": "finqa-two-digits",
}


_REASONS: Final[dict[Fault, str]] = {
    "": "equals the reference",
    "unit": "has another unit than the reference",
    "sign": "has the opposite sign of the reference",
    "scale": "differs from the reference by a power of ten",
    "precision": "agrees with the reference, but has too few digits",
    "value": "differs from the reference",
}


class Outcome(NamedTuple):
    """The outcome of an answer: its fault in a word, the rule, a sentence, and the value read."""

    fault: Fault | Literal["none"]
    rule: str
    reason: str
    read: object = None


def assess(
    found: Answer | NoAnswer, reference: Reference, sample: Sample, tolerance: Fraction
) -> Outcome:
    """The outcome of an answer.

    Args:
        found: the answer, if there is one.
        reference: what it should be.
        sample: its question may ask for basis points.
        tolerance: how far off, as a share of the reference, is still right.
    """
    outcome = _compared(found, reference, tolerance, sample)
    if outcome.fault == "" and _counts_otherwise(outcome.read, reference, sample):
        return Outcome("unit", "finqa-basis-points", f"the answer {_REASONS['unit']}", outcome.read)
    return outcome


def _compared(
    found: Answer | NoAnswer, reference: Reference, tolerance: Fraction, sample: Sample
) -> Outcome:
    if isinstance(found, NoAnswer):
        return Outcome("none", found.rule, found.reason)
    sentence = found.kind == "last_sentence"
    if reference.unit == "yesno" or reference.noise:
        word = yes_or_no(found.text, sentence=sentence)
        if word == reference.answer.value or any(word == each.value for each in reference.aliases):
            return Outcome("", "finqa-first-word", f"{found.where} equals the reference", word)
        if reference.unit == "yesno" and isinstance(word, NoValue):
            return Outcome("none", word.rule, word.reason)
        if reference.unit == "yesno":
            return Outcome(
                "value", "finqa-first-word", f"{found.where} differs from the reference", word
            )
    read = values(found.text, sentence=sentence, question=_question(sample) if sentence else "")
    if isinstance(read, NoValue):
        return Outcome("none", read.rule, read.reason)
    faults = [fault(value, reference, tolerance) for value in read]
    if any(faults) and not all(faults):
        return Outcome("none", "finqa-two-values", "the answer gives several values", read[0])
    if not any(faults) and _contradicted(found, reference, tolerance):
        reason = "a later statement of a result contradicts the answer"
        return Outcome("none", "finqa-two-values", reason, read[0])
    return Outcome(faults[0], OF_FAULT[faults[0]], f"{found.where} {_REASONS[faults[0]]}", read[0])


def _contradicted(found: Answer, reference: Reference, tolerance: Fraction) -> bool:
    """Whether a later statement of a result gives another value."""
    if not found.conflicting_answer:
        return False
    read = values(found.conflicting_answer)
    return not isinstance(read, NoValue) and any(
        fault(value, reference, tolerance) for value in read
    )


def _counts_otherwise(read: object, reference: Reference, sample: Sample) -> bool:
    """Whether a number is given in basis points, and the question, as far as known, in others."""
    if reference.unit != "number" or not isinstance(read, Value) or read.unit != BASIS_POINT:
        return False
    question = _question(sample)
    return bool(question) and not says_basis_points(question)


def _question(sample: Sample) -> str:
    """What was asked, as far as it is known."""
    stated = (reference_fields(sample.reference) or {}).get("question")
    return stated if isinstance(stated, str) and stated else asked(sample.prompt)
