r"""The verdict on an answer to a reference that is a list of members: [2, 0] and `(2, 0)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions import symbolic
from reward_functions.core import patterns as re
from reward_functions.extraction.cues import lists
from reward_functions.quantities.units import canonical
from reward_functions.symbolic import EqualityVerdict, Outcome
from reward_functions.verifiers._math.asked_order import asks_for_names
from reward_functions.verifiers._math.truths import truths

if TYPE_CHECKING:
    from reward_functions.symbolic import Ordered
    from reward_functions.verifiers._math.reference import Reference

_UNIT: Final = re.compile(
    r"(?<=[)\]])[\s\\,;:]*+(?:\\(?:text|mathrm)\s?\{\s?)?"
    r"(?P<unit>[A-Za-zΩµ°/]{1,12})\s?\}?\s*\Z"
)
_BOOLEANS: Final = frozenset({"True", "False"})


def members_verdict(reference: Reference, answer: str, prompt: str) -> EqualityVerdict:
    """Whether an answer gives the members of a reference; as truths, where they may be some."""
    if reference.flags:
        stated = truths(answer)
        if stated is not None:
            return _of_truths(reference, stated, answer)
        if not _BOOLEANS.isdisjoint(reference.members):
            reason = "the answer is no list of truths"
            return EqualityVerdict(Outcome.UNDECIDED, "list-truths", reason, reference.text, answer)
    answer = _bare(answer)
    if lists.ARROW.search(answer) and not lists.JOINED.search(answer):
        answer = lists.ARROW.sub(",", answer)
    ordered: Ordered = "as-written"
    if reference.flags:
        ordered = "always"
    elif asks_for_names(prompt, len(reference.members)):
        ordered = "and"
    return symbolic.equal_members(reference.members, answer, ordered)


def _bare(answer: str) -> str:
    """An answer without what stands behind its brackets: their unit, and what the members mean."""
    meant = lists.MEANT.match(answer)
    if meant:
        return meant["list"]
    unit = _UNIT.search(answer)
    return answer[: unit.start()] if unit and canonical(unit["unit"]) else answer


def _of_truths(reference: Reference, stated: list[bool], answer: str) -> EqualityVerdict:
    wanted = [member in ("1", "True") for member in reference.members]
    outcome = Outcome.EQUAL if stated == wanted else Outcome.DIFFERENT
    reason = "the same truths in order" if stated == wanted else "the truths differ"
    return EqualityVerdict(outcome, "list-truths", reason, reference.text, answer)
