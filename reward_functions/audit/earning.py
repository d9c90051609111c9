"""What an answer without merit earns, and what a right one does: a share lies between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.core.spec import Scale

LEAST_RIGHT: Final = 0.99
"""The share that a right answer must earn."""

MOST_WRONG: Final = 0.02
"""The share that an answer without merit may earn, above what is declared."""

NO_ROOM: Final = 0.98
"""A partial credit of this share or more leaves no room below a right answer."""


class Earnings(NamedTuple):
    """What counts as earning nothing, and as earning all.

    Attributes:
        nothing: as a score.
        all: as a score.
        undeserved: the most that the reward declares to pay a wrong answer; None for nothing.
    """

    nothing: float
    all: float
    undeserved: float | None = None

    @property
    def credit(self) -> float:
        """The declared partial credit as a share, from 0."""
        return 0.0 if self.undeserved is None else max(self.share(self.undeserved), 0.0)

    @property
    def tells_apart(self) -> bool:
        """Whether a right answer can earn more than a wrong one is declared to."""
        return self.credit < NO_ROOM and self.all > self.nothing

    def most(self, *, credit: bool) -> float:
        """The most that a wrong answer may earn, as a score.

        Args:
            credit: whether the declared partial credit is its due.
        """
        return self.score(MOST_WRONG + (self.credit if credit else 0.0))

    def score(self, share: float) -> float:
        """The score of a share."""
        return self.nothing + share * (self.all - self.nothing)

    def share(self, value: float) -> float:
        """How far a reward is on the way; below 0 for a penalty."""
        return (value - self.nothing) / (self.all - self.nothing or 1.0)


def earnings(
    scale: Scale | None,
    right: Sequence[float] = (),
    wrong: Sequence[float] = (),
    empty: Sequence[float] = (),
    *,
    partial_credit: float | None = None,
) -> Earnings:
    """What counts as earning nothing, and as earning all.

    | the reward | nothing | all |
    | --- | --- | --- |
    | declares its scale | the minimum | the maximum |
    | declares none | the least that a wrong answer earned | the most that a right one earned |

    Where nothing would be a penalty, below zero, it is what an empty answer earns, at most zero: a
    reward of -1 for wrong, 0 for none and 1 for right pays for right answers alone. It is never
    more than halfway from the minimum, or from zero, to all: a reward that pays every wrong answer
    nearly as much as a right one is not one of another scale.

    Args:
        scale: as declared; None where it is not known.
        right: rewards of right answers.
        wrong: of wrong ones.
        empty: of empty ones.
        partial_credit: the most that the reward declares to pay a wrong answer.
    """
    least, most = scale or (min(wrong, default=0.0), max(right, default=1.0))
    lowest = least if scale else min(0.0, least)
    unpunished = max(least, min(0.0, min(empty, default=0.0)))
    return Earnings(min(unpunished, (lowest + most) / 2), most, partial_credit)
