"""Agreement between two who sort the same cases into classes, from one table of counts.

Rows are what one says (people), columns what the other says (a judge), and one more column counts
the cases of which the other said nothing usable. What such a case counts as is a decision that
moves every figure, so that there are three tables for one judge:

| way | a case without a usable answer |
| --- | --- |
| wrong | is an answer nobody else gave: no class of people's |
| left out | is no case |
| imputed | is answered by the tie, or by the worst class where there is none |

All figures are exact functions of the table. Sources: F1 as in van Rijsbergen, Information
Retrieval, 1979; kappa as in Cohen, A Coefficient of Agreement for Nominal Scales, 1960.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Way = Literal["wrong", "left out", "imputed"]
WAYS: Final[tuple[Way, ...]] = ("wrong", "left out", "imputed")


@dataclass(frozen=True, slots=True)
class Confusion:
    """A table of counts.

    Args:
        rows: a row for each class of the one; in it a count for each class of the other, and the
            count of what is not usable.
    """

    rows: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        """How many classes there are."""
        return len(self.rows)

    @property
    def cases(self) -> int:
        """How many cases are counted."""
        return sum(map(sum, self.rows))

    @property
    def unusable(self) -> int:
        """How many of them the other said nothing usable of."""
        return sum(row[-1] for row in self.rows)

    def counted(self, way: Way, imputed: int) -> Confusion:
        """The table with what is not usable counted in one of the ways.

        Args:
            way: see the module's docstring.
            imputed: the class that "imputed" puts it in.
        """
        if way == "wrong":
            return self
        return Confusion(
            tuple(
                (
                    *[
                        count + (row[-1] if way == "imputed" and at == imputed else 0)
                        for at, count in enumerate(row[:-1])
                    ],
                    0,
                )
                for row in self.rows
            )
        )

    def accuracy(self) -> float | None:
        """The share of cases both put in the same class."""
        return _share(sum(self.rows[at][at] for at in range(self.size)), self.cases)

    def f1(self, at: int) -> float | None:
        """The harmonic mean of precision and recall of one class; None where nobody names it."""
        named, said = sum(self.rows[at]), sum(row[at] for row in self.rows)
        return _share(2 * self.rows[at][at], named + said)

    def macro_f1(self) -> float | None:
        """The mean of the F1 of every class somebody names."""
        each = [score for at in range(self.size) if (score := self.f1(at)) is not None]
        return _share(sum(each), len(each))

    def weighted_f1(self) -> float | None:
        """The mean of the F1 of every class, weighted by the cases people put in it."""
        weighted = [(self.f1(at) or 0.0) * sum(row) for at, row in enumerate(self.rows)]
        return _share(sum(weighted), self.cases)

    def kappa(self) -> float | None:
        """Agreement beyond chance: 1 for all of it, 0 for what chance gives.

        None where chance alone agrees on everything: both put all cases in one class.
        """
        total = self.cases
        if not total:
            return None
        agreed = sum(self.rows[at][at] for at in range(self.size))
        chance = sum(
            sum(self.rows[at]) * sum(row[at] for row in self.rows) for at in range(self.size)
        )
        return _share(agreed * total - chance, total * total - chance)


def confusion(pairs: Iterable[tuple[float, float | None]], classes: Sequence[float]) -> Confusion:
    """The table of (what one says, what the other says), None for nothing usable."""
    places = {label: at for at, label in enumerate(classes)}
    rows = [[0] * (len(classes) + 1) for _ in classes]
    for one, other in pairs:
        rows[places[one]][-1 if other is None else places[other]] += 1
    return Confusion(tuple(map(tuple, rows)))


def summed(tables: Iterable[Confusion], size: int) -> Confusion:
    """One table of many, each of `size` classes."""
    total = [[0] * (size + 1) for _ in range(size)]
    for table in tables:
        for row, counts in zip(total, table.rows, strict=True):
            for at, count in enumerate(counts):
                row[at] += count
    return Confusion(tuple(map(tuple, total)))


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
