"""Quantities as people write them: "1,234.5", "$3.2 million", "60%", "(45)", "2 1/2", "twelve".

`quantity` reads a string that is one number and nothing else, exactly (`Fraction`), with its unit.
It never guesses: "1,23" and "0,25" may be a decimal comma or a slip, and are nothing; "1 or 2" is
two numbers, and is nothing. Everything is linear in the length of the text, and numbers longer than
`MAX_DIGITS` are nothing too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from reward_functions.core import patterns as re
from reward_functions.quantities import units
from reward_functions.quantities.number_words import cardinal
from reward_functions.quantities.unicode_forms import typeset

if TYPE_CHECKING:
    from decimal import Decimal

MAX_LENGTH: Final = 400
"""Characters of a string that may still be one quantity: the longest number and a unit after it."""

MAX_DIGITS: Final = 300
"""Digits of a number, and the largest power of ten. A double reaches 308, and converting this many
digits takes microseconds."""

MAX_UNIT_WORDS: Final = 6
"""Words that may name what is counted ("dollars per dozen fresh duck eggs"). Felt right."""

KEPT: Final = 1024
"""Integers that are kept: many answers are one of few."""

PERCENT: Final = "%"
PERCENTAGE_POINT: Final = "pp"
BASIS_POINT: Final = "bps"


@dataclass(frozen=True, slots=True)
class Quantity:
    """An exact number and what it counts.

    Args:
        value: as stated, scale words multiplied in ("3.2 million" is 3,200,000) and percent not
            divided out ("60%" is 60 with unit "%").
        unit: the canonical name of the unit (`reward_functions.quantities.units`): "USD", "cm",
            "%", "apple"; None where none is stated.
        decimals: digits printed after the decimal point; None for fractions and words, which are
            exact as they stand.
    """

    value: Fraction
    unit: str | None = None
    decimals: int | None = None

    def __str__(self) -> str:
        return f"{self.value} {self.unit}" if self.unit else str(self.value)


def quantity(text: str) -> Quantity | None:
    """The one quantity that a string states, or None.

    It reads signs (also typographic ones and accounting parentheses), and digit groups by commas,
    by spaces, and by two or more full stops. It reads decimals, fractions, mixed numbers,
    scientific notation and number words. It reads currencies before or after, scale words, percent,
    percentage points, basis points, and a unit of up to six words. Not read are LaTeX (first
    `reward_functions.extraction.markup`), arithmetic, ranges, and anything with two numbers.
    """
    if _INTEGER.fullmatch(text):
        return _integer(text)
    if len(text) > MAX_LENGTH:
        return None
    text = typeset(text).strip()
    if text.startswith("(") and text.endswith(")"):
        found = _signed(text[1:-1])
        return replace(found, value=-found.value) if found and found.value > 0 else None
    return _signed(text)


@lru_cache(KEPT)
def _integer(text: str) -> Quantity:
    return Quantity(Fraction(int(text)), decimals=0)


def as_printed(text: str) -> str:
    """A text in which 2e+3 is a number in scientific notation, as 2e+03 is everywhere.

    Mathematics reads a sum with Euler's number there, programs print 2000 like this.
    """
    return _PRINTED.sub(r"\g<1>0", text)


def in_rupees(text: str) -> str:
    """A text in which amounts of rupees have no commas: 1,20,000 has groups of two in India."""
    if not any(map(text.__contains__, _RUPEES)):
        return text
    return _INDIAN.sub(lambda number: number[0].translate(_NO_COMMAS), _DOTTED.sub("Rs ", text))


def same(first: Quantity, second: Quantity) -> bool:
    """Whether two quantities are one: equal values, and one unit where both name one.

    A percent sign may be missing on either side: against 35%, both 35 and 0.35 are right. Without
    one on either side 50 is never 0.5.
    """
    if first.unit and second.unit:
        return first.value == second.value and units.same_unit(first.unit, second.unit)
    if PERCENT in (first.unit, second.unit):
        percent, bare = (first, second) if first.unit else (second, first)
        return bare.value in (percent.value, percent.value / 100)
    return first.value == second.value


def _signed(text: str) -> Quantity | None:
    """[sign] [currency] [sign] magnitude; one sign at most."""
    outer, symbol, inner, rest = _PREFIX.fullmatch(text).groups()  # type: ignore[union-attr]
    if outer and inner:
        return None
    currency = units.canonical(symbol) if symbol else None
    if symbol and not (currency and units.is_currency(currency)):
        return None
    found = _magnitude(rest, currency)
    if found and "-" in (outer, inner):
        return replace(found, value=-found.value)
    return found


def _magnitude(text: str, currency: str | None) -> Quantity | None:
    for shape in (_MIXED, _FRACTION, _DECIMAL):
        match = shape.match(text)
        if match:
            return _counted(_read(match), text[match.end() :], currency, _decimals(match))
    value, rest = cardinal(text)
    return _counted(value, rest, currency, None) if value is not None else None


def _read(match: re.Match[str]) -> Fraction | None:
    """The exact value of a matched number; None when it breaks a budget or divides by zero."""
    parts = match.groupdict()
    if len(match[0]) > MAX_DIGITS:
        return None
    if "bottom" in parts:
        bottom = int(parts["bottom"])
        whole = int(parts.get("whole") or 0)
        return whole + Fraction(int(parts["top"]), bottom) if bottom else None
    digits = _SEPARATORS.sub("", parts["digits"])
    fraction = parts["fraction"] or ""
    power = int(parts["e"] or parts["power"] or 0)
    if abs(power) > MAX_DIGITS:
        return None
    return Fraction(int(digits + fraction or 0)) * Fraction(10) ** (power - len(fraction))


def _decimals(match: re.Match[str]) -> int | None:
    parts = match.groupdict()
    if "bottom" in parts or parts["e"] or parts["power"]:
        return None
    return len(parts["fraction"] or "")


def _counted(
    value: Fraction | None, rest: str, currency: str | None, decimals: int | None
) -> Quantity | None:
    """The number with the scale words, percent signs and units that follow it."""
    if value is None:
        return None
    attached = _ABBREVIATION.match(rest)
    if attached and currency and attached[0] in units.SCALE_ABBREVIATIONS:
        value, rest, decimals = value * units.SCALES[attached[0]], rest[attached.end() :], None
    known = units.canonical(rest.strip()) is not None or units.joined(rest)
    if rest[:1].isalnum() and not known:
        return None
    rest = rest.rstrip().removesuffix(".")
    while (word := _WORD.match(rest)) and word[1].lower() in _SCALE_WORDS:
        value, rest, decimals = value * units.SCALES[word[1].lower()], rest[word.end() :], None
    unit = _unit(rest.strip()) if rest.strip() else ""
    if unit is None or (currency and unit and units.is_currency(unit) and unit != currency):
        return None
    return Quantity(value, currency or unit or None, decimals)


def _unit(text: str) -> str | None:
    """The unit that a string names, or None when it is something else than a unit."""
    for sign, spellings in _RATES.items():
        rate = spellings.match(text)
        if rate:
            rest = text[rate.end() :].strip()
            return sign if not rest or _is_noun_phrase(rest) else None
    known = units.canonical(text)
    if known:
        return known
    if not _is_noun_phrase(text):
        return None
    first, *further = text.split()
    if first.lower() in _POWERS and further:
        return f"{units.canonical(further[0]) or units.noun(further[0])}^{_POWERS[first.lower()]}"
    if units.links(first):
        return ""
    name = units.canonical(first)
    if name and len(further) > 1 and further[0].lower() in ("per", "an", "a"):
        return units.canonical(f"{name}/{units.canonical(further[1])}") or name
    return name or units.head([first, *further])


def _is_noun_phrase(text: str) -> bool:
    """A few plain words, none of which changes the number, doubts it or is another one."""
    words = text.split()
    return (
        len(words) <= MAX_UNIT_WORDS
        and not units.compares(words[-1])
        and all(_UNIT_WORD.fullmatch(word) and units.may_name(word) for word in words)
    )


_INTEGER: Final = re.compile(r"-?[0-9]{1,15}")
_PREFIX: Final = re.compile(
    r"\s*+([-+]?)\s*+([A-Z]{0,3}[$€£¥₹₩₽₱]|(?:[A-Z]{3}|Rs\.?)(?=\s?[-+.\d]))?\s*+([-+]?)\s*+(.*)",
    re.DOTALL,
)
_MIXED: Final = re.compile(
    r"(?P<whole>\d++)(?:\s++|\s*+-\s*+|\s++and\s++)(?P<top>\d++)/(?P<bottom>\d++)"
)
_FRACTION: Final = re.compile(r"(?P<top>\d++)\s*+/\s*+(?P<bottom>\d++)")
_DECIMAL: Final = re.compile(
    r"""
    (?=\.?\d)                                    # a digit somewhere
    (?P<digits>
        [1-9]\d{0,2}(?:,\d{3})+(?![\d,])        # 1,234,567
      | [1-9]\d{0,2}(?:[ ]\d{3})+(?!\d)         # 1 234 567
      | [1-9]\d{0,2}(?:\.\d{3}){2,}+(?![\d.])    # 1.234.567
      | \d*+
    )
    (?:\.(?P<fraction>\d*+))?
    (?:[eE](?P<e>[+-]?\d{1,4})(?!\w)
      | \s*+[*x·×]\s*+10\s*+(?:\^|\*\*)\s*+\{?(?P<power>[+-]?\d{1,4})\}?(?!\w)
    )?
    (?![,.]?\d)
    """,
    re.VERBOSE,
)
_PRINTED: Final = re.compile(r"(?<![\w.])([0-9]{1,40}e[+-])(?=[1-9][0-9]{0,2}(?!\w|\.[0-9]))")
_RUPEES: Final = ("₹", "Rs", "INR", "upee")
_INDIAN: Final = re.compile(
    r"(?<![0-9.,])(?<!,\})[1-9][0-9]?(?:(?:,|\{,\})[0-9]{2}){1,6}(?:,|\{,\})[0-9]{3}(?![0-9]|\{?,)"
)
_DOTTED: Final = re.compile(r"Rs\.(?=[0-9])")
_NO_COMMAS: Final = str.maketrans("", "", "{,}")
_SEPARATORS: Final = re.compile(r"[,. ]")
_WORD: Final = re.compile(r"\s*+([A-Za-z]++)")
_ABBREVIATION: Final = re.compile(r"[A-Za-z]{1,3}+(?![A-Za-z])")
_UNIT_WORD: Final = re.compile(r"/?[^\W\d_][\w'’.-]*+(?:/[^\W\d_]++)?(?:\^?\d)?")
_RATES: Final = {
    PERCENTAGE_POINT: re.compile(
        r"(?:pp|ppts?|%[ -]points?|percentage[ -]points?)\b", re.IGNORECASE
    ),
    BASIS_POINT: re.compile(r"(?:bps?|basis[ -]points?)\b", re.IGNORECASE),
    PERCENT: re.compile(r"(?:%|percent\b|per cent\b|pct\b)", re.IGNORECASE),
}
_POWERS: Final = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
_SCALE_WORDS: Final = units.SCALES.keys() - units.SCALE_ABBREVIATIONS


def is_short(value: Decimal) -> bool:
    """Whether a number has so few digits, and is so near to 1, that arithmetic takes no time."""
    return abs(value.adjusted()) <= MAX_DIGITS and len(value.as_tuple().digits) <= MAX_DIGITS
