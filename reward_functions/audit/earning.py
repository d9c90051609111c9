"""The earnings of an answer without merit, and of a right one: a share lies between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.core.combine import Composition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.core.spec import RewardSpec, RowCredit, Scale
    from reward_functions.core.types import Sample

LEAST_RIGHT: Final = 0.99
"""The share that a right answer must earn."""

MOST_WRONG: Final = 0.02
"""The share that an answer without merit may earn, above what is declared."""

NO_ROOM: Final = 0.98
"""A partial credit of this share or more leaves no room below a right answer."""


class Declared(NamedTuple):
    """The declaration of a reward about itself; the fields are those of `Earnings`."""

    undeserved: float | None = None
    form: bool = False
    sure: float | None = None
    by_row: RowCredit | None = None


NOTHING_DECLARED: Final = Declared()


def declared_by(spec: RewardSpec | None) -> Declared:
    """The pay that a reward declares; for a composite, the pay that follows from its parts."""
    if spec is None:
        return NOTHING_DECLARED
    if not isinstance(spec.function, Composition):
        if callable(spec.partial_credit):
            return Declared(by_row=spec.credit)
        return Declared(spec.partial_credit)
    bounds = spec.function.bounds
    sure = bounds.correct if bounds.truth else None
    return Declared(spec.most_undeserved, _pays_for_form(spec.function), sure)


def _pays_for_form(composition: Composition) -> bool:
    inner = (part.spec.function for part in composition.parts)
    return any(not part.bounds.truth for part in composition.parts) or any(
        isinstance(each, Composition) and _pays_for_form(each) for each in inner
    )


class Earnings(NamedTuple):
    """The scores that count as earning nothing, and as earning all.

    Attributes:
        nothing: as a score.
        all: as a score.
        undeserved: the most that the reward declares to pay a wrong answer; None for nothing.
        form: whether it is a composite that pays for form, too: then any wrong answer may have it.
        sure: the least that a composite declares to pay a right answer, in any form.
        by_row: the most that a near miss may earn at a row, where it depends on the row.
    """

    nothing: float
    all: float
    undeserved: float | None = None
    form: bool = False
    sure: float | None = None
    by_row: RowCredit | None = None

    @property
    def credit(self) -> float:
        """The declared partial credit as a share, from 0."""
        return 0.0 if self.undeserved is None else max(self.share(self.undeserved), 0.0)

    @property
    def tells_apart(self) -> bool:
        """Whether a right answer can earn more than a wrong one is declared to."""
        return self.credit < NO_ROOM and self.all > self.nothing

    def most(self, *, credit: bool, row: Sample | None = None) -> float:
        """The most that a wrong answer may earn, as a score.

        Args:
            credit: whether the declared partial credit is its due.
            row: that it answers.
        """
        if credit and self.by_row and row:
            due = self.share(self.by_row(row))
            return self.score(due + MOST_WRONG * (1.0 - due))
        return self.score(MOST_WRONG + (self.credit if credit or self.form else 0.0))

    def least(self, *, own: bool) -> float:
        """The least that a right answer must earn, as a score.

        Args:
            own: whether it has the form that the reward asks for.
        """
        in_form = self.score(LEAST_RIGHT)
        if own or self.sure is None:
            return in_form
        return min(in_form, self.nothing + LEAST_RIGHT * (self.sure - self.nothing))

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
    declared: Declared = NOTHING_DECLARED,
) -> Earnings:
    """The scores that count as earning nothing, and as earning all.

    | the reward | nothing | all |
    | --- | --- | --- |
    | declares its scale | the minimum | the maximum |
    | declares none | the least of wrong and empty answers | the most that a right one earned |

    Where nothing would be a penalty, below zero, it is what an empty answer earns, at most zero. So
    a reward of -1 for wrong, 0 for no answer and 1 for right pays for right answers alone. It is
    never more than halfway from the minimum, or from zero, to all: a reward that pays every wrong
    answer nearly as much as a right one is not one of another scale.

    Args:
        scale: as declared; None where it is not known.
        right: rewards of right answers.
        wrong: of wrong ones.
        empty: of empty ones.
        declared: what it says of itself.
    """
    least, most = scale or (
        min((*wrong, *(each for each in empty if each >= 0.0)), default=0.0),
        max(right, default=1.0),
    )
    lowest = least if scale else min(0.0, least)
    unpunished = max(least, min(0.0, min(empty, default=0.0)))
    return Earnings(min(unpunished, (lowest + most) / 2), most, *declared)
