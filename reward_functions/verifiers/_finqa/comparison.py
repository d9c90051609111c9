"""Whether a stated value is the reference's, and if not, in what it differs: unit, sign, scale.

A value is right when it is the reference rounded to the digits that were printed, with at least
two significant ones or as many decimals as the data set's own answer. Nothing is added for being
near: the tolerance is half a unit in the last printed place, and `relative`, which is 0 by default.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, log10
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from reward_functions.text.numerals import BASIS_POINT, PERCENT, PERCENTAGE_POINT
from reward_functions.text.units import is_currency, same_unit
from reward_functions.verifiers._finqa.agreement import LEAST_DIGITS, POINTS_PER_UNIT, WORDS, Known
from reward_functions.verifiers._finqa.program import PLACES
from reward_functions.verifiers._finqa.values import COUNT, TIMES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.verifiers._finqa.agreement import Reference
    from reward_functions.verifiers._finqa.values import Value

DOUBLE: Final = 1e-14
"""Above the relative error of a difference of doubles; what is decided within it is decided by
fractions."""

MAX_SHIFT: Final = 9
"""Powers of ten by which a wrong answer is said to be of another scale."""

_NONE: Final = Fraction(0)
_ONE: Final = Fraction(1)
_HUNDRED: Final = Fraction(POINTS_PER_UNIT)
_HUNDREDTH: Final = 1 / _HUNDRED

Fault = Literal["", "unit", "sign", "scale", "precision", "value"]
"""Why a value is wrong; "" when it is right."""


class _View(NamedTuple):
    """A way to read a stated value in the unit of the reference: as it stands, times a factor.

    The factor is multiplied in only where a decision needs the exact value; most need doubles.
    """

    stated: Value
    factor: Fraction

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
    for known in _accepted(reference):
        for view in _views(stated, reference):
            if _near(view, known, relative):
                blemish = _blemish(view, known, stated, reference)
                if not blemish:
                    return ""
                found.add(blemish)
    if found:
        return "precision" if "precision" in found else "sign"
    return "scale" if _is_shifted(stated, reference) else "value"


def _accepted(reference: Reference) -> Iterator[Known]:
    """The answer, its aliases, and the answer as the data set stores it.

    Stored it is rounded, and who rounds it again is right as well: 22.7350427 is stored as 0.22735,
    and that is 22.73 or 22.74.
    """
    yield reference.answer
    yield from (alias for alias in reference.aliases if alias.value not in WORDS)
    places = PLACES - 2 if reference.unit == "percent" else PLACES
    value = reference.answer.value
    if isinstance(value, Fraction) and 10**places % value.denominator:
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


def _views(stated: Value, reference: Reference) -> Iterator[_View]:
    """The value in points, or in what the question counts; a bare one may be meant in two ways."""
    if reference.unit == "number":
        yield _View(stated, _ONE)
        if reference.scale > 1:
            yield _View(stated, Fraction(1, reference.scale))
    elif stated.unit == BASIS_POINT:
        yield _View(stated, _HUNDREDTH)
    else:
        if stated.unit != TIMES:
            yield _View(stated, _ONE)
        if stated.unit not in (PERCENT, PERCENTAGE_POINT):
            yield _View(stated, _HUNDRED)


def _near(view: _View, known: Known, relative: Fraction) -> bool:
    """Whether the magnitudes are one at the printed precision."""
    assert isinstance(known.value, Fraction)
    # Doubles rule most wrong answers out, and most right ones in, at a tenth of the price.
    factor, size = _double(view.factor), abs(_double(known.value))
    off = abs(abs(_double(view.stated.value)) * factor - size)
    step = _double(view.stated.precision.step) * factor
    allowed = max(step, 0.0 if known.places is None else 10.0**-known.places) / 2
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
    """Whether enough digits were printed for the value to have been worked out."""
    return (
        stated.precision.digits >= LEAST_DIGITS
        or view.value == known.value
        or (reference.decimals is not None and view.step <= Fraction(1, 10**reference.decimals))
    )


def _is_shifted(stated: Value, reference: Reference) -> bool:
    """Whether a value is the reference's but for a power of ten. Only told, so doubles will do."""
    wanted, digits = reference.answer.value, stated.precision.digits
    if isinstance(wanted, str) or not wanted or digits < LEAST_DIGITS:
        return False
    for view in _views(stated, reference):
        ratio = abs(_double(stated.value) * _double(view.factor) / _double(wanted))
        if 0 < ratio < inf:
            power = round(log10(ratio))
            off = abs(ratio / 10.0**power - 1)
            if 0 < abs(power) <= MAX_SHIFT and off <= abs(
                _double(stated.precision.step / stated.value)
            ):
                return True
    return False
