"""Whether a stated value is the reference's, and if not, in what it differs: unit, sign, scale.

A value is right when it is the reference rounded to the digits that were printed, with at least
two significant ones or as many decimals as the data set's own answer. Nothing is added for being
near: the tolerance is half a unit in the last printed place, and `relative`, which is 0 by default.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, log10
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from reward_functions.finqa.agreement import LEAST_DIGITS, POINTS_PER_UNIT, WORDS, Known
from reward_functions.finqa.syntax import COUNT, PLACES, TIMES
from reward_functions.quantities.numerals import BASIS_POINT, PERCENT, PERCENTAGE_POINT
from reward_functions.quantities.units import is_currency, same_unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.finqa.agreement import Reference
    from reward_functions.finqa.syntax import Value

DOUBLE: Final = 1e-14
"""Above the relative error of a difference of doubles; what is decided within it is decided by
fractions."""

MAX_SHIFT: Final = 9
"""Powers of ten by which a wrong answer counts as one of another scale."""

_NONE: Final = Fraction(0)
_ONE: Final = Fraction(1)
_TEN: Final = Fraction(10)
_HUNDRED: Final = Fraction(POINTS_PER_UNIT)
_HUNDREDTH: Final = 1 / _HUNDRED

Fault = Literal["", "unit", "sign", "scale", "precision", "value"]
"""Why a value is wrong; "" when it is right."""


class _View(NamedTuple):
    """A way to read a stated value in the unit of the reference: as it stands, times a factor.

    Args:
        stated: the value.
        factor: multiplied in only where a decision needs the exact value; most need doubles.
        size: the magnitude, as a double.
        width: one unit in the last printed place, as a double.
    """

    stated: Value
    factor: Fraction
    size: float
    width: float

    @property
    def value(self) -> Fraction:
        """What the reference is compared with."""
        return self.stated.value * self.factor

    @property
    def step(self) -> Fraction:
        """One unit in its last printed place."""
        return self.stated.precision.step * self.factor


def fault(stated: Value, reference: Reference, relative: Fraction = _NONE) -> Fault:
    """Why a stated value is not the reference's; "" when it is.

    Args:
        stated: as `values.values` reads it.
        reference: a percentage or a number.
        relative: how far off, as a share of the reference, is still right.
    """
    if _other_unit(stated, reference):
        return "unit"
    found: set[Fault] = set()
    views = _views(stated, reference)
    for known in _accepted(reference, views):
        for view in views:
            if _near(view, known, relative):
                blemish = _blemish(view, known, stated, reference)
                if not blemish:
                    return ""
                found.add(blemish)
    if found:
        return "precision" if "precision" in found else "sign"
    return "scale" if _is_shifted(views, reference) else "value"


def _accepted(reference: Reference, views: list[_View]) -> Iterator[Known]:
    """The answer, its aliases, and the answer as the data set stores it.

    Stored it is rounded, and who rounds it again is right as well: 22.7350427 is stored as 0.22735,
    and that is 22.73 or 22.74. Of views that are nowhere near, nobody need ask.
    """
    yield reference.answer
    yield from (alias for alias in reference.aliases if alias.value not in WORDS)
    places = PLACES - 2 if reference.unit == "percent" else PLACES
    value = reference.answer.value
    if isinstance(value, Fraction) and 10**places % value.denominator:
        size, unit = abs(_double(value)), 10.0**-places
        if any(abs(view.size - size) <= view.width + unit for view in views):
            yield Known(round(value, places))


def _other_unit(stated: Value, reference: Reference) -> bool:
    unit = stated.unit
    if not unit:
        return False
    if reference.unit == "percent":
        return unit == COUNT or is_currency(unit)
    if is_currency(unit):
        named = reference.currency
        return unit == "cent" if named is None else not same_unit(unit, named)
    return unit in (PERCENT, PERCENTAGE_POINT)


def _views(stated: Value, reference: Reference) -> list[_View]:
    """The value in points, or in what the question counts, or written out."""
    if reference.unit == "number":
        alone = reference.scale if reference.counted is None else reference.counted
        factors = [Fraction(each, reference.scale) for each in {alone, 1}]
    elif stated.unit == BASIS_POINT:
        factors = [_HUNDREDTH]
    elif stated.unit in (PERCENT, PERCENTAGE_POINT):
        factors = [_ONE]
    else:
        factors = [_HUNDRED] if stated.unit == TIMES else [_ONE, _HUNDRED]
    size, width = abs(_double(stated.value)), _double(stated.precision.step)
    return [
        _View(stated, factor, size * (times := _double(factor)), width * times)
        for factor in factors
    ]


def _near(view: _View, known: Known, relative: Fraction) -> bool:
    """Whether the magnitudes are one at the printed precision."""
    assert isinstance(known.value, Fraction)
    # Doubles rule most wrong answers out, and most right ones in, at a tenth of the price.
    size = abs(_double(known.value))
    off = abs(view.size - size)
    allowed = max(view.width, 0.0 if known.places is None else 10.0**-known.places) / 2
    if relative:
        allowed = max(allowed, _double(relative) * size)
    rounding = DOUBLE * (size + allowed)
    if abs(off - allowed) > rounding:
        return off < allowed
    exactly = max(view.step / 2, known.step / 2, relative * abs(known.value))
    return abs(abs(view.value) - abs(known.value)) <= exactly


def _double(value: Fraction) -> float:
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return inf


def _blemish(view: _View, known: Known, stated: Value, reference: Reference) -> Fault:
    """What is wrong with a value of the right magnitude; "" where nothing is."""
    assert isinstance(known.value, Fraction)
    opposite = (stated.value < 0) != (known.value < 0)
    if stated.sign == "+" if reference.direction else opposite and stated.value and known.value:
        return "sign"
    return "" if _is_precise(view, known, stated, reference) else "precision"


def _is_precise(view: _View, known: Known, stated: Value, reference: Reference) -> bool:
    """Whether enough digits were printed for the value to have been worked out.

    Two of the value as printed and of the reference: 1.0 prints two, and one of 0.972.
    """
    assert isinstance(known.value, Fraction)
    return (
        (stated.precision.digits >= LEAST_DIGITS and view.step * _TEN <= abs(known.value))
        or view.value == known.value
        or (reference.decimals is not None and view.step <= Fraction(1, 10**reference.decimals))
    )


def _is_shifted(views: list[_View], reference: Reference) -> bool:
    """Whether a value is the reference's but for a power of ten. Doubles suffice for a report."""
    wanted = reference.answer.value
    size = 0.0 if isinstance(wanted, str) else abs(_double(wanted))
    for view in views:
        if size and view.size and view.stated.precision.digits >= LEAST_DIGITS:
            ratio = view.size / size
            power = round(log10(ratio)) if 0 < ratio < inf else 0
            off = abs(ratio / 10.0**power - 1)
            if 0 < abs(power) <= MAX_SHIFT and off <= view.width / view.size:
                return True
    return False
