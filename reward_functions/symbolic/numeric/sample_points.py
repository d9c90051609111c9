"""The points at which two expressions are evaluated: real numbers of both signs and many sizes.

They are fixed by the traits of the two trees, so a comparison always gives the same verdict. Some
expressions follow different formulas in different places (|x - 100|, √(x²)). They get points on
both sides of the largest numbers and powers written in them, where the formula usually changes, and
far out, where it has changed. Variables that count go beyond such numbers for the same reason.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reward_functions.symbolic.numeric.traits import Traits

Place = Fraction | tuple[Fraction, Fraction]
"""A real number, or a complex one by its parts."""
Point = dict[str, Place]
_Range = tuple[float, float]

_GRAIN: Final = 1 << 10
"""Coordinates are multiples of 1/1024: exact in every arithmetic, and nobody's special value."""

_RANGES: Final = (
    (0.6, 1.8), (-0.95, -0.3), (2.0, 9.0), (-9.0, -2.0), (0.02, 0.25), (14.0, 60.0), (-60.0, -14.0),
)  # fmt: skip
"""Where the coordinates lie, point by point, the likeliest part of a domain first. Squares,
exponentials and factorials of all of them fit into a double."""

_SIZES: Final = (1.8, 1.0, 0.6, 0.3, 0.12, 0.05, 3.0, 5.0, 9.0, 20.0, 60.0)
_FINE: Final = (
    *_RANGES[:2],
    *((0.6 * size, size) for size in _SIZES),
    *((-size, -0.6 * size) for size in _SIZES),
)
"""The same for expressions that may follow different formulas in different places."""

_LITERALS: Final = 4
"""Numbers of an expression that get points on both sides. Felt right."""

_NEIGHBOURS: Final = 8
_MIRRORS: Final = 4
"""Variables whose sign is turned alone; felt right."""

_NEAR: Final = 0.06
"""How far a neighbour lies at most, against the point: little against the usual size of a domain.
Felt right."""

_NATURALS: Final = 20
"""The largest natural number that a counting variable takes at the points that all expressions
get."""

_LATER_NATURALS: Final = (31, 60)
"""Natural numbers that are always tried as well, with their neighbours. Felt right."""

_MOST_COUNTED: Final = 150
"""The largest written number beside which they are tried: its factorial fits into a double."""

_COUNTED_STEPS: Final = (-1, 0, 1, 2)
_LAST_COUNTED: Final = 1_000
"""The same for arithmetic with many digits; felt right."""

_FAR: Final = (300, 40_000, 10**8)
"""Sizes at which bent expressions are tried as well. Doubles still tell 1 from 2 beside them."""

_TURNS: Final = 12
"""Points for several variables, of whose signs there are many combinations, every third all
positive; and for counting ones, since a wrong formula can be right for a few small numbers. Twice
as many where the formula may change."""

_MOVES: Final = 1 << 30
"""Steps of some 2^-64 of its coordinate that a point is moved by at most: far less than doubles
tell apart from it in most formulas. Felt right."""

_STRIDES: Final = (7, 3, 11, 13, 9, 17)
"""Steps through the natural numbers: prime to their count, so that none returns early."""

_STEP: Final = 6364136223846793005
_BITS: Final = 64


def points(traits: Traits) -> Iterator[Point]:
    """The points for two expressions; a single empty one when they have no variables."""
    if not traits.variables:
        yield {}
        return
    dice = _Dice(traits.seed)
    several = len(traits.variables) > 1
    ranges = _FINE if traits.piecewise else _RANGES
    turns = _TURNS * (1 + traits.piecewise) if several or traits.counting else len(ranges)
    for turn in range(turns):
        point = {
            name: _natural(traits.seed, turn, place)
            if name in traits.counting
            else dice.between(*_range(dice, ranges, turn, place))
            for place, name in enumerate(traits.variables)
        }
        if several and turn % 3 == 0:
            point = {name: abs(value) for name, value in point.items()}
        yield dict(point)
    if traits.counting:
        yield from _beyond_literals(traits)
    if traits.piecewise:
        yield from _beside_literals(traits, dice)
        yield from _far_away(traits, dice)


def neighbours(traits: Traits, point: Point) -> Iterator[Point]:
    """Points beside a good one, which the domain of an expression usually contains as well."""
    dice = _Dice(traits.seed + 1)
    for _ in range(_NEIGHBOURS):
        yield _beside(traits, dice, point, ())


def mirrored(traits: Traits, point: Point) -> Iterator[Point]:
    """Points beside the mirror images of a good one: formulas that change often do so at zero."""
    dice = _Dice(traits.seed + 2)
    free = [name for name in point if name not in traits.counting]
    for turned in (*([name] for name in free[:_MIRRORS]), free):
        yield _beside(traits, dice, point, turned)


def _beside(traits: Traits, dice: _Dice, point: Point, turned: Sequence[str]) -> Point:
    beside = dict(point)
    for name, place in point.items():
        if isinstance(place, Fraction) and name not in traits.counting:
            moved = place + dice.between(-_NEAR, _NEAR) * abs(place)
            beside[name] = -moved if name in turned else moved
    return beside


def complex_points(traits: Traits, names: set[str]) -> Iterator[Point]:
    """The same number of points off the real line, for names that stand for complex numbers."""
    dice = _Dice(traits.seed)
    for point in points(traits):
        yield {
            name: (place, dice.between(-2.0, 2.0))
            if isinstance(place, Fraction) and name in names
            else place
            for name, place in point.items()
        }


def unguessable(traits: Traits, point: Point) -> Point:
    """A point so close to another one that it has the same formulas, with a denominator of its own.

    sin(1024πx) is zero at all multiples of 1/1024. Nobody can write it for these denominators,
    which depend on every number written.
    """
    dice = _Dice(traits.seed + 3)
    denominator = traits.seed | 1 << _BITS
    return {
        name: place if name in traits.counting else _moved(place, dice, denominator)
        for name, place in point.items()
    }


def _moved(place: Place, dice: _Dice, denominator: int) -> Place:
    if isinstance(place, tuple):
        return place[0] + _step(dice, denominator), place[1] + _step(dice, denominator)
    return place * (1 + _step(dice, denominator))


def _step(dice: _Dice, denominator: int) -> Fraction:
    return Fraction(1 + 2 * dice.below(_MOVES), denominator)


def _range(dice: _Dice, ranges: Sequence[_Range], turn: int, place: int) -> _Range:
    """Where a coordinate lies; the first two points have all of theirs in one place."""
    chosen = turn if turn < 2 or not place else dice.below(len(ranges))  # noqa: PLR2004
    return ranges[chosen % len(ranges)]


def _natural(seed: int, turn: int, place: int) -> Fraction:
    """A coordinate that counts, another one each turn, even and odd."""
    step = _STRIDES[place % len(_STRIDES)]
    return Fraction(1 + (seed + step * turn + place) % _NATURALS)


def _beside_literals(traits: Traits, dice: _Dice) -> Iterator[Point]:
    numbers = sorted({abs(value) for value in traits.literals if abs(value) > 1})
    for value in numbers[-_LITERALS:]:
        for side in (1, -1):
            for sign in (1, -1):
                distance = dice.between(0.1, 0.9) * side
                yield {
                    name: Fraction(1 + dice.below(_NATURALS))
                    if name in traits.counting
                    else sign * (value + distance * (1 + place))
                    for place, name in enumerate(traits.variables)
                }


def counted_late(traits: Traits) -> Iterator[list[Point]]:
    """Counting variables beside each number, also those too large for factorials in doubles."""
    for value in _counted_numbers(traits, _LAST_COUNTED):
        yield [_counted(traits, value, step) for step in _COUNTED_STEPS]


def _beyond_literals(traits: Traits) -> Iterator[Point]:
    """Counting variables where C(n, 30) and the like begin to count, the others near one."""
    for value in (*_counted_numbers(traits, _MOST_COUNTED), *_LATER_NATURALS):
        for step in _COUNTED_STEPS:
            yield _counted(traits, value, step)


def _counted_numbers(traits: Traits, most: int) -> list[int]:
    whole = {abs(int(value)) for value in traits.literals if value.denominator == 1}
    return sorted(value for value in whole if _NATURALS <= value + 1 <= most)[-_LITERALS:]


def _counted(traits: Traits, value: int, step: int) -> Point:
    return {
        name: Fraction(value + step + place)
        if name in traits.counting
        else Fraction(_GRAIN + 37 * (place + step) + 1, _GRAIN)
        for place, name in enumerate(traits.variables)
    }


def _far_away(traits: Traits, dice: _Dice) -> Iterator[Point]:
    """Where a formula that changes at e^5 or at a root of large numbers has changed."""
    for size in _FAR:
        for sign in (1, -1):
            yield {
                name: Fraction(1 + dice.below(_NATURALS))
                if name in traits.counting
                else sign * size * dice.between(0.5, 1.0)
                for name in traits.variables
            }


class _Dice:
    """Numbers that look random and are not."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, limit: int) -> int:
        self.state = (self.state * _STEP + 1442695040888963407) % (1 << _BITS)
        return (self.state >> 33) % limit

    def between(self, low: float, high: float) -> Fraction:
        grains = int((high - low) * _GRAIN)
        return Fraction(int(low * _GRAIN) + self.below(grains), _GRAIN)
