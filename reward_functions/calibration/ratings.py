"""A judge's ratings of cases: a value, or an invalid verdict.

An invalid verdict is the judge's fault and is counted. A failed call or an unreadable case is
not: such a trial has no rating, and the card counts it separately.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from reward_functions.reports.measured import Measured

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.calibration.cases import LabelledCases


class Trial(NamedTuple):
    """One presentation of a case to a judge.

    Args:
        case: the id of the case.
        swapped: whether the responses of the pair are in the other order.
        repeat: the number of earlier trials in this order.
    """

    case: str
    swapped: bool = False
    repeat: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """The judge's answer in one trial.

    Args:
        trial: which.
        value: 0 to 1, of the response that is first in the file; None for an invalid verdict.
        invalid: the kind of an invalid verdict: "malformed", "cut", "refused", "other"; else "".
        confidence: as the judge reports it, 0 to 1; None where it reports none.
        inconsistent: whether a judge that asks in both orders by itself contradicted itself; None
            for other judges.
        unasked: whether the judge decided the trial without its model.
    """

    trial: Trial
    value: float | None
    invalid: str = ""
    confidence: float | None = None
    inconsistent: bool | None = None
    unasked: bool = False


@dataclass(frozen=True, slots=True)
class Ratings:
    """All ratings of a run.

    Args:
        given: by the trial.
        missing: the reason, for each trial without a rating.
    """

    given: Mapping[Trial, Rating]
    missing: Mapping[Trial, str]

    @property
    def measured(self) -> Measured:
        """How many trials have a valid verdict."""
        valid = sum(rating.value is not None for rating in self.given.values())
        unasked = sum(rating.unasked for rating in self.given.values())
        missing = len(self.given) - valid + len(self.missing)
        return Measured("trials", valid - unasked, missing, unasked)

    def first(self, case: str) -> Rating | None:
        """The rating of the first trial of a case, in the order of the file; None without one."""
        return self.given.get(Trial(case))


def recorded(cases: LabelledCases, field: str) -> Ratings:
    """The ratings in a field of the cases, written as labels are.

    Anything else there, null included, is an invalid verdict.
    """
    given: dict[Trial, Rating] = {}
    missing: dict[Trial, str] = {}
    for case in cases.items:
        trial = Trial(case.id)
        if field not in case.row:
            missing[trial] = f"{case.where}: nothing is recorded under {field!r}"
            continue
        value = cases.labels.read(case.row[field])
        invalid = "" if value is not None else "other"
        given[trial] = Rating(trial=trial, value=value, invalid=invalid)
    return Ratings(given, missing)


def agreeing(answers: Sequence[tuple[float, float]]) -> Share:
    """The share of pairs with equal answers."""
    return Share(sum(one == other for one, other in answers), len(answers))


class Share(NamedTuple):
    """A count, and the total it is part of."""

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        """0 to 1; None where the total is 0."""
        return self.part / self.whole if self.whole else None
