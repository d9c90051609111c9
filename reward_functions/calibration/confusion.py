"""Agreement of two raters on the same cases, from one confusion matrix.

Rows are the classes of one rater (people), columns those of the other (a judge). One more column
counts the judge's invalid verdicts. How these count is a decision that moves every figure, so that
a judge has three tables:

| way | an invalid verdict |
| --- | --- |
| wrong | is a wrong answer, in no class of people |
| left out | removes the case |
| imputed | counts as the tie, or as the worst class where there is no tie |

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
    """A confusion matrix.

    Args:
        rows: one for each class of the first rater: the counts of each class of the second, and
            last the count of invalid verdicts. Shape (n, n + 1).
    """

    rows: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        """The number of classes."""
        return len(self.rows)

    @property
    def cases(self) -> int:
        """The number of cases."""
        return sum(map(sum, self.rows))

    @property
    def invalid(self) -> int:
        """The number of invalid verdicts."""
        return sum(row[-1] for row in self.rows)

    def counted(self, way: Way, imputed: int) -> Confusion:
        """The matrix with invalid verdicts counted in one of the ways.

        Args:
            way: see the module's docstring.
            imputed: the index of the class that "imputed" adds them to.
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
        """The share of cases with the same class from both raters."""
        return _share(sum(self.rows[at][at] for at in range(self.size)), self.cases)

    def f1(self, at: int) -> float | None:
        """The harmonic mean of precision and recall of one class; None where neither uses it."""
        first, second = sum(self.rows[at]), sum(row[at] for row in self.rows)
        return _share(2 * self.rows[at][at], first + second)

    def macro_f1(self) -> float | None:
        """The mean F1 of the classes that a rater uses."""
        each = [score for at in range(self.size) if (score := self.f1(at)) is not None]
        return _share(sum(each), len(each))

    def weighted_f1(self) -> float | None:
        """The mean F1 of the classes, weighted by their cases from the first rater."""
        weighted = [(self.f1(at) or 0.0) * sum(row) for at, row in enumerate(self.rows)]
        return _share(sum(weighted), self.cases)

    def kappa(self) -> float | None:
        """Cohen's kappa, agreement beyond chance: 1 for full agreement, 0 for that of chance.

        None where both raters put all cases into one class.
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
    """The matrix of (first class, second class) pairs; None is an invalid verdict."""
    places = {label: at for at, label in enumerate(classes)}
    rows = [[0] * (len(classes) + 1) for _ in classes]
    for one, other in pairs:
        rows[places[one]][-1 if other is None else places[other]] += 1
    return Confusion(tuple(map(tuple, rows)))


def summed(tables: Iterable[Confusion], size: int) -> Confusion:
    """The sum of matrices, each of `size` classes."""
    total = [[0] * (size + 1) for _ in range(size)]
    for table in tables:
        for row, counts in zip(total, table.rows, strict=True):
            for at, count in enumerate(counts):
                row[at] += count
    return Confusion(tuple(map(tuple, total)))


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
