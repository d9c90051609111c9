"""What becomes of an answer that is held against a reference: why it is wrong, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from reward_functions.core.references import reference_fields
from reward_functions.extraction.answer import Answer, NoAnswer
from reward_functions.finqa.comparison import fault
from reward_functions.finqa.question import asked, says_basis_points
from reward_functions.finqa.value import NoValue, Value
from reward_functions.finqa.values import values
from reward_functions.finqa.yesno import yes_or_no
from reward_functions.quantities.numerals import BASIS_POINT

if TYPE_CHECKING:
    from fractions import Fraction

    from reward_functions.core.types import Sample
    from reward_functions.finqa.agreement import Reference
    from reward_functions.finqa.comparison import Fault

_REASONS: Final[dict[Fault, str]] = {
    "": "equals the reference",
    "unit": "has another unit than the reference",
    "sign": "has the opposite sign of the reference",
    "scale": "differs from the reference by a power of ten",
    "precision": "agrees with the reference, but has too few digits",
    "value": "differs from the reference",
}


class Outcome(NamedTuple):
    """What became of an answer: its fault in a word, the reason in a sentence, the value read."""

    fault: Fault | Literal["none"]
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
    outcome = _compared(found, reference, tolerance)
    if outcome.fault == "" and _counts_otherwise(outcome.read, reference, sample):
        return Outcome("unit", f"the answer {_REASONS['unit']}", outcome.read)
    return outcome


def _compared(found: Answer | NoAnswer, reference: Reference, tolerance: Fraction) -> Outcome:
    if isinstance(found, NoAnswer):
        return Outcome("none", found.reason)
    sentence = found.kind == "last_sentence"
    if reference.unit == "yesno" or reference.noise:
        word = yes_or_no(found.text, sentence=sentence)
        if word == reference.answer.value or any(word == each.value for each in reference.aliases):
            return Outcome("", f"{found.where} equals the reference", word)
        if reference.unit == "yesno" and isinstance(word, NoValue):
            return Outcome("none", word.reason)
        if reference.unit == "yesno":
            return Outcome("value", f"{found.where} differs from the reference", word)
    read = values(found.text, sentence=sentence)
    if isinstance(read, NoValue):
        return Outcome("none", read.reason)
    faults = [fault(value, reference, tolerance) for value in read]
    if any(faults) and not all(faults):
        return Outcome("none", "the answer gives several values", read[0])
    if not any(faults) and _contradicted(found, reference, tolerance):
        return Outcome("none", "a later statement of a result contradicts the answer", read[0])
    return Outcome(faults[0], f"{found.where} {_REASONS[faults[0]]}", read[0])


def _contradicted(found: Answer, reference: Reference, tolerance: Fraction) -> bool:
    """Whether a later statement of a result gives another value."""
    read = values(found.conflicting_answer) if found.conflicting_answer else NoValue("")
    return not isinstance(read, NoValue) and any(
        fault(value, reference, tolerance) for value in read
    )


def _counts_otherwise(read: object, reference: Reference, sample: Sample) -> bool:
    """Whether a number is given in basis points, and the question, as far as known, in others."""
    if reference.unit != "number" or not isinstance(read, Value) or read.unit != BASIS_POINT:
        return False
    fields = reference_fields(sample.reference) or {}
    question = fields.get("question") or asked(sample.prompt)
    return bool(question) and not says_basis_points(question)
