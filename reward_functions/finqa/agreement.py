"""How the answer string of a FinQA record and its executed answer stand to each other.

"12.5%" and 0.12497 agree: the one is the other, rounded, in points. So do "12.5%" and 12.497, and
"5 million" and 5 where the string itself names the scale. A row that agrees in no reading is noise,
by class. Its reference then holds the executed answer, and the answer string's value as an alias.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from math import inf, log10
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from reward_functions.finqa import question as asking
from reward_functions.finqa.syntax import NoValue
from reward_functions.finqa.values import values
from reward_functions.quantities.numerals import PERCENT, quantity
from reward_functions.quantities.precision import Precision, place, precision
from reward_functions.quantities.units import is_currency

if TYPE_CHECKING:
    from collections.abc import Iterator

Unit = Literal["percent", "number", "yesno"]

WORDS: Final = ("yes", "no")

SCALES: Final = (1, 10**3, 10**6, 10**9, 10**12)
"""What a question may count in: one, thousands, millions, billions, trillions."""

LARGEST_FRACTION: Final = 2
"""The largest executed answer that is taken for a fraction where the question asks for a percentage
and there is no answer string. Of 285 such records 223 hold a fraction, the others more than 2."""

_NONE: Final = Fraction(0)

POINTS_PER_UNIT: Final = 100


class Agreement(StrEnum):
    """How the answer string of a record and its executed answer stand to each other."""

    PLAIN = "plain"
    """A number that is the executed answer, rounded."""
    PERCENT = "percent"
    """`x%`, and the executed answer is the fraction."""
    POINTS = "points"
    """`x%`, and the executed answer is in percentage points already."""
    TRUNCATED = "truncated"
    """One of these, but cut off where it should be rounded."""
    PERCENT_FORGOTTEN = "percent_sign_forgotten"
    """A number that is a hundred times the executed answer."""
    YES_NO = "yes_no"
    """The same word."""
    EMPTY = "empty"
    """No answer string: the executed answer is all there is."""
    SENTENCE = "sentence"
    """A sentence that states the executed answer, or no number at all."""
    PROGRAM = "program"
    """The two agree, and the program does not compute to them."""
    KIND = "kind"
    """A word on one side, a number on the other; or the opposite words."""
    SIGN = "sign"
    """The values differ by their sign only."""
    SCALE = "scale"
    """The values differ by a power of ten only."""
    WITHIN_1 = "within_1_percent"
    """The values differ by less than 1 %."""
    WITHIN_5 = "within_5_percent"
    """The values differ by 1 to 5 %."""
    VALUE = "value"
    """The values differ by more."""

    @property
    def noisy(self) -> bool:
        """Whether a record of this class has two answers."""
        return self in _NOISY


_NOISY: Final = frozenset(
    {
        Agreement.PROGRAM,
        Agreement.KIND,
        Agreement.SIGN,
        Agreement.SCALE,
        Agreement.WITHIN_1,
        Agreement.WITHIN_5,
        Agreement.VALUE,
    }
)


class Known(NamedTuple):
    """A value, and how well it is known.

    Args:
        value: in points for a percentage, as stored for a number; "yes" or "no".
        places: decimal places it is known to; None where it is exact.
    """

    value: Fraction | str
    places: int | None = None

    def __str__(self) -> str:
        exact = self.places is None
        return str(self.value) if exact else f"{self.value}, known to {self.places} decimal places"

    @property
    def step(self) -> Fraction:
        """One unit in the last known place: the true value is within half of it."""
        return _NONE if self.places is None else place(self.places)


class Reference(NamedTuple):
    """The answer of a record, ready to compare with.

    Args:
        unit: "percent", "number" or "yesno".
        answer: the answer.
        scale: what one unit of a number counts, as the question or the answer string names it: 1,
            1000, ….
        counted: what the question counts in, and so a number that stands alone, where that is
            another scale; else None.
        direction: "decrease" where the question asks for one, so that the sign may be left out.
        decimals: of the answer string; None without one.
        aliases: further accepted answers, in the unit of the first.
        program: as the record has it; None without one.
        agreement: how answer string and executed answer stand to each other; None where there is
            only one of them.
        currency: of the answer string; None without one.
        failure: why the program does not compute to the executed answer; "" where it does, or could
            not be tried for want of a program or a table.
        noise: the class of a noisy record, else None.
    """

    unit: Unit
    answer: Known
    scale: int = 1
    direction: str | None = None
    decimals: int | None = None
    aliases: tuple[Known, ...] = ()
    program: str | None = None
    agreement: Agreement | None = None
    currency: str | None = None
    failure: str = ""
    noise: str | None = None
    counted: int | None = None


def compared(answer: str, value: Known, question: str) -> Reference:
    """The reference that answer string and executed answer make; the program is not looked at.

    Args:
        answer: the answer string without white space around it; may be empty.
        value: the executed answer as it is stored.
        question: of the record; may be empty.
    """
    word = answer.lower().rstrip(" .")
    if isinstance(value.value, str):
        return _of_word(word, value)
    if word in WORDS:
        return _reference("number", value, question, Agreement.KIND, aliases=(Known(word),))
    stated = _stated(answer) if answer else None
    if stated is None:
        agreement = Agreement.SENTENCE if answer else Agreement.EMPTY
        percent = asking.says_percent(question)
        if percent and abs(value.value) <= LARGEST_FRACTION:
            value = _points(value)
        return _reference("percent" if percent else "number", value, question, agreement)
    return _numbers(stated, list(_readings(stated, value, question)), question)


def alone(answer: str, question: str) -> Reference | None:
    """The reference that an answer string makes without an executed answer; None if unreadable.

    A number of at least two significant digits is known to its last printed place; one with fewer
    ("7") is exact.
    """
    word = answer.lower().rstrip(" .")
    if word in WORDS:
        return Reference("yesno", Known(word))
    stated = _stated(answer)
    if stated is None:
        return None
    unit: Unit = "percent" if stated.percent else "number"
    step = stated.precision.step
    printed = stated.precision.digits >= LEAST_DIGITS and step
    if unit == "number" and step > 1:
        size = max(size for size in SCALES if size <= max(step, abs(stated.value)))
        places = max(0, round(log10(size / step))) if printed else None
        return _in_scale(
            _reference(unit, Known(stated.value / size, places), question, None, stated), size
        )
    places = max(0, -round(log10(step))) if printed else None
    return _reference(unit, Known(stated.value, places), question, None, stated)


@dataclass(frozen=True, slots=True)
class _Stated:
    """What an answer string states: its value, how exactly it is printed, and its markup."""

    value: Fraction
    precision: Precision
    decimals: int | None
    percent: bool
    currency: str | None
    sentence: bool = False


@dataclass(frozen=True, slots=True)
class _Reading:
    """A way to read both sides, and what the record is if they agree in it."""

    agreement: Agreement
    unit: Unit
    value: Known
    size: int = 1
    """What the answer string counts in, where it names a scale itself."""

    def distance(self, stated: _Stated, *, magnitude: bool) -> Fraction:
        """How far apart the two sides are, in the unit of the answer string."""
        assert isinstance(self.value.value, Fraction)
        theirs, ours = stated.value, self.value.value * self.size
        return abs(abs(theirs) - abs(ours)) if magnitude else abs(theirs - ours)

    def rounds(self, stated: _Stated, *, magnitude: bool) -> bool:
        """Whether the answer string is the value at the places it prints."""
        slack = max(stated.precision.step, self.value.step * self.size) / 2
        return self.distance(stated, magnitude=magnitude) <= slack

    def is_cut(self, stated: _Stated, *, magnitude: bool) -> bool:
        """Whether it is off by less than one in the last place it prints."""
        return self.distance(stated, magnitude=magnitude) < stated.precision.step


def _numbers(stated: _Stated, readings: list[_Reading], question: str) -> Reference:
    magnitude = asking.direction(question) is not None
    for reading in readings:
        if reading.rounds(stated, magnitude=magnitude):
            forgotten = reading.agreement is Agreement.PERCENT_FORGOTTEN
            spelled = forgotten and reading.unit == "number"
            return _agreed(stated, reading, question, reading.agreement, spelled=spelled)
    for reading in readings:
        if reading.is_cut(stated, magnitude=magnitude):
            return _agreed(stated, reading, question, Agreement.TRUNCATED, spelled=True)
    nearest = min(readings[: 2 if stated.percent else 1], key=lambda each: _apart(stated, each))
    return _disagreed(stated, nearest, question)


def _readings(stated: _Stated, value: Known, question: str) -> Iterator[_Reading]:
    """Every way in which the two sides can agree, the likeliest first."""
    if stated.percent:
        yield _Reading(Agreement.PERCENT, "percent", _points(value))
        yield _Reading(Agreement.POINTS, "percent", value)
        return
    plain = Agreement.SENTENCE if stated.sentence else Agreement.PLAIN
    for size in SCALES if stated.decimals is None else SCALES[:1]:
        yield _Reading(plain, "number", value, size)
    if asking.says_percent(question):
        yield _Reading(Agreement.PERCENT_FORGOTTEN, "percent", _points(value))
    else:
        yield _Reading(Agreement.PERCENT_FORGOTTEN, "number", value, POINTS_PER_UNIT)


def _agreed(
    stated: _Stated, reading: _Reading, question: str, agreement: Agreement, *, spelled: bool
) -> Reference:
    """The value, and the answer string's own spelling where rounding the value does not give it."""
    found = _reference(reading.unit, reading.value, question, agreement, stated)
    size = reading.size if reading.size in SCALES else 1
    if spelled:
        found = found._replace(aliases=(Known(stated.value / size),))
    return _in_scale(found, size) if size > 1 else found


def _in_scale(reference: Reference, size: int) -> Reference:
    """A reference whose answer string names a scale, which the question may name or not."""
    counted = None if reference.scale == size else reference.scale
    return reference._replace(scale=size, counted=counted)


def _disagreed(stated: _Stated, reading: _Reading, question: str) -> Reference:
    assert isinstance(reading.value.value, Fraction)
    places = stated.decimals if stated.precision.digits >= LEAST_DIGITS else None
    return _reference(
        reading.unit,
        reading.value,
        question,
        _disagreement(stated, reading),
        stated,
        aliases=(Known(stated.value, places),),
    )


def _disagreement(stated: _Stated, reading: _Reading) -> Agreement:
    assert isinstance(reading.value.value, Fraction)
    if reading.rounds(replace(stated, value=-stated.value), magnitude=False):
        return Agreement.SIGN
    for power in range(-9, 10):
        if (
            replace(reading, value=_times(reading.value, Fraction(10) ** power)).rounds(
                stated, magnitude=False
            )
            and stated.value
        ):
            return Agreement.SCALE
    off = abs(stated.value - reading.value.value)
    for limit, agreement in ((100, Agreement.WITHIN_1), (20, Agreement.WITHIN_5)):
        if off * limit < abs(reading.value.value):
            return agreement
    return Agreement.VALUE


def _apart(stated: _Stated, reading: _Reading) -> float:
    """How many powers of ten lie between the two sides."""
    assert isinstance(reading.value.value, Fraction)
    if not stated.value or not reading.value.value:
        return inf
    ratio = abs(stated.value / reading.value.value)
    return abs(log10(ratio.numerator) - log10(ratio.denominator))  # a double may not hold it


def _of_word(word: str, value: Known) -> Reference:
    if word and word != value.value:
        aliases = (Known(word),) if word in WORDS else ()
        return Reference("yesno", value, aliases=aliases, agreement=Agreement.KIND)
    return Reference("yesno", value, agreement=Agreement.YES_NO if word else Agreement.EMPTY)


def _reference(
    unit: Unit,
    value: Known,
    question: str,
    agreement: Agreement | None,
    stated: _Stated | None = None,
    *,
    aliases: tuple[Known, ...] = (),
) -> Reference:
    """A reference with what the question fixes about it."""
    return Reference(
        unit,
        value,
        scale=asking.scale(question) if unit == "number" else 1,
        direction=asking.direction(question),
        decimals=stated.decimals if stated else None,
        aliases=aliases,
        agreement=agreement,
        currency=stated.currency if stated else None,
    )


def _points(value: Known) -> Known:
    """A fraction in percentage points."""
    return _times(value, Fraction(POINTS_PER_UNIT))


def _times(value: Known, factor: Fraction) -> Known:
    """A value in another unit; a power of ten moves the places it is known to."""
    assert isinstance(value.value, Fraction)
    places = value.places
    if places is not None:
        places = max(0, places - round(log10(factor)))
    return Known(value.value * factor, places)


def _stated(answer: str) -> _Stated | None:
    """The number an answer string is, or the one its sentence states; None where there is none."""
    read = quantity(answer)
    if read is not None:
        printed = precision(answer, read.value)
        return _Stated(read.value, printed, read.decimals, read.unit == PERCENT, _money(read.unit))
    found = values(answer)
    if isinstance(found, NoValue) or len(found) > 1:
        return None
    value, unit, printed = found[0].value, found[0].unit, found[0].precision
    return _Stated(value, printed, None, unit == PERCENT, _money(unit), sentence=True)


def _money(unit: str | None) -> str | None:
    return unit if unit and is_currency(unit) else None


LEAST_DIGITS: Final = 2
"""Significant digits from which a printed number may stand for what rounds to it."""
