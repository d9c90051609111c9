"""What a judge said of a case: one value, or that it said nothing usable.

An answer that is no legal verdict is the judge's doing and is counted. A call that did not come
through, or a case that cannot be read, is neither the judge's nor the response's doing: such a case
has no reading at all, and is told apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.tools.calibration.cases import Cases


class Turn(NamedTuple):
    """One time a case is put to a judge.

    Args:
        case: its id.
        swapped: whether the responses of the pair stand in the other order.
        repeat: how often it was asked before.
    """

    case: str
    swapped: bool = False
    repeat: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was said then.

    Args:
        turn: of which case, and when.
        value: 0 to 1, of the response that stands first in the file; None where nothing is usable.
        unusable: why not: "malformed", "cut", "refused"; "" where it is.
        confidence: the judge's own, 0 to 1; None where it does not say.
        inconsistent: whether a judge that asks in both orders by itself contradicted itself; None
            where it does not.
    """

    turn: Turn
    value: float | None
    unusable: str = ""
    confidence: float | None = None
    inconsistent: bool | None = None


@dataclass(frozen=True, slots=True)
class Readings:
    """All that was said.

    Args:
        given: by the turn.
        missing: the turns without a reading, with the reason.
    """

    given: Mapping[Turn, Reading]
    missing: Mapping[Turn, str]

    def first(self, case: str) -> Reading | None:
        """What was said of a case as it stands in the file, the first time it was asked."""
        return self.given.get(Turn(case))


def recorded(cases: Cases, field: str) -> Readings:
    """The readings in a field of the cases, written as labels are.

    Anything else there, null among it, is an answer that was not usable.
    """
    given: dict[Turn, Reading] = {}
    missing: dict[Turn, str] = {}
    for case in cases.items:
        turn = Turn(case.id)
        if field not in case.row:
            missing[turn] = f"{case.where}: nothing is recorded under {field!r}"
            continue
        value = cases.labels.read(case.row[field])
        given[turn] = Reading(turn=turn, value=value, unusable="" if value is not None else "other")
    return Readings(given, missing)


def agreeing(answers: Sequence[tuple[float, float]]) -> Share:
    """How many pairs of answers are the same."""
    return Share(sum(one == other for one, other in answers), len(answers))


class Share(NamedTuple):
    """So many of so many."""

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        """0 to 1; None of nothing."""
        return self.part / self.whole if self.whole else None
