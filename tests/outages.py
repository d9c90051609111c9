"""What a number in the place of a missing reward teaches: every group counted, in exact fractions.

A group of `SIZE` responses to one prompt, each right (1) or wrong (0). One of them was not scored,
and the trainer gets a number for it all the same. An advantage is a reward less the mean of its
group, as in GRPO, which also divides it by the group's standard deviation.
docs/explanation/not-half.md shows the tables, and a test holds the last filling
to what the Lambda does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import prod, sqrt
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE: Final = 8

CHANCES: Final = (Fraction(1, 8), Fraction(1, 2), Fraction(7, 8))
"""That a response is right: a hard prompt, one between, an easy one."""

Filling = Callable[[Sequence[Fraction]], Fraction]
"""From the rewards of the scored rest of a group to the number for the response without one."""


def constant(value: Fraction) -> Filling:
    """The same number, whatever the rest earned."""
    return lambda _: value


def mean(rewards: Sequence[Fraction]) -> Fraction:
    """The mean of the rest."""
    return Fraction(sum(rewards), len(rewards))


FILLINGS: Final = {
    "0.0": constant(Fraction(0)),
    "0.5": constant(Fraction(1, 2)),
    "the mean of the scored rest": mean,
}


def advantages(rewards: Sequence[Fraction]) -> list[Fraction]:
    """Each reward less the mean of the group."""
    return [each - mean(rewards) for each in rewards]


def normalised(rewards: Sequence[Fraction]) -> list[float]:
    """The advantages, divided by the standard deviation of the group; 0 where that is 0."""
    centred = advantages(rewards)
    std = sqrt(mean([each**2 for each in centred]))
    return [float(each) / std if std else 0.0 for each in centred]


def expected(filling: Filling, chance: Fraction) -> Fraction:
    """The expected advantage of the response that was not scored.

    Args:
        filling: what the trainer gets for it.
        chance: that any other response is right.
    """
    total = Fraction(0)
    for rest in product((Fraction(0), Fraction(1)), repeat=SIZE - 1):
        weight = prod(chance if each else 1 - chance for each in rest)
        total += weight * advantages([filling(rest), *rest])[0]
    return total


def expected_rows() -> Iterator[list[str]]:
    """The table of what is learned on average, beside what is learned from scored responses."""
    yield ["the response", *(f"{chance} of the answers right" for chance in CHANCES)]
    known = {"right, and scored": Fraction(1), "wrong, and scored": Fraction(0)}
    for name, value in known.items():
        yield [name, *(f"{float(expected(constant(value), each)):+.3f}" for each in CHANCES)]
    for name, filling in FILLINGS.items():
        shown = (
            f"{float(expected(filling, each)):+.3f}".replace("+0.000", "0") for each in CHANCES
        )
        yield [f"not scored, counted as {name}", *shown]


def equal_rows() -> Iterator[list[str]]:
    """The table of groups that have nothing to learn from, until one of them is not scored."""
    yield ["the group", "the one response", "each of the others"]
    dead = {"wrong": Fraction(0), "right": Fraction(1)}
    odd = {"wrong": "right", "right": "wrong"}
    for rest, value in dead.items():
        cases = {
            f"{SIZE} {rest}": value,
            f"{SIZE - 1} {rest}, one {odd[rest]}": 1 - value,
            f"{SIZE - 1} {rest}, one not scored: 0.5": Fraction(1, 2),
            f"{SIZE - 1} {rest}, one not scored: the mean of the rest": mean([value] * (SIZE - 1)),
        }
        for name, filled in cases.items():
            one, other, *_ = normalised([filled, *[value] * (SIZE - 1)])
            yield [name, *(f"{each:+.2f}".replace("+0.00", "0") for each in (one, other))]
