"""One table of units, currencies and scale words, with the spellings people use for them.

Every spelling leads to one canonical name ("metres" -> "m"), so two answers name the same unit
exactly when their canonical names are equal. Nothing is converted: 1 hour and 60 minutes stay
different. Symbols keep their letter case (m is the metre, M is not; Pa is the pascal); whole
words do not.
"""

from typing import Final

# canonical name: (symbols, case-sensitive; words, in the singular, any case)
_UNITS: Final[dict[str, tuple[str, str]]] = {
    # length
    "m": ("m", "meter metre"),
    "cm": ("cm", "centimeter centimetre"),
    "mm": ("mm", "millimeter millimetre"),
    "km": ("km", "kilometer kilometre"),
    "dm": ("dm", "decimeter decimetre"),
    "um": ("µm μm um", "micrometer micrometre micron"),
    "nm": ("nm", "nanometer nanometre"),
    "in": ("", "inch inches"),
    "ft": ("ft", "foot feet"),
    "yd": ("yd yds", "yard"),
    "mi": ("mi", "mile"),
    # mass
    "g": ("g", "gram gramme"),
    "kg": ("kg kgs", "kilogram kilogramme kilo"),
    "mg": ("mg", "milligram milligramme"),
    "t": ("t", "tonne"),
    "ton": ("", "ton"),
    "lb": ("lb lbs", "pound-mass"),
    "oz": ("oz", "ounce"),
    # time
    "s": ("s sec secs", "second"),
    "ms": ("ms", "millisecond"),
    "us": ("µs μs us", "microsecond"),
    "ns": ("ns", "nanosecond"),
    "min": ("min mins", "minute"),
    "h": ("h hr hrs", "hour"),
    "day": ("", "day"),
    "week": ("wk wks", "week"),
    "month": ("", "month"),
    "year": ("yr yrs", "year"),
    # volume
    "L": ("L l", "liter litre"),
    "mL": ("mL ml", "milliliter millilitre"),
    "gal": ("gal", "gallon"),
    "qt": ("qt", "quart"),
    "pt": ("", "pint"),
    "cup": ("", "cup"),
    # physics
    "Hz": ("Hz", "hertz"),
    "kHz": ("kHz", "kilohertz"),
    "MHz": ("MHz", "megahertz"),
    "GHz": ("GHz", "gigahertz"),
    "N": ("N", "newton"),
    "kN": ("kN", "kilonewton"),
    "J": ("J", "joule"),
    "kJ": ("kJ", "kilojoule"),
    "MJ": ("MJ", "megajoule"),
    "cal": ("cal", "calorie"),
    "kcal": ("kcal", "kilocalorie"),
    "eV": ("eV", "electronvolt"),
    "keV": ("keV", ""),
    "MeV": ("MeV", ""),
    "W": ("W", "watt"),
    "kW": ("kW", "kilowatt"),
    "MW": ("MW", "megawatt"),
    "kWh": ("kWh", "kilowatt-hour"),
    "Pa": ("Pa", "pascal"),
    "kPa": ("kPa", "kilopascal"),
    "atm": ("atm", "atmosphere"),
    "V": ("V", "volt"),
    "A": ("A", "ampere amp"),
    "mA": ("mA", "milliampere milliamp"),
    "ohm": ("Ω Ω", "ohm"),
    "C": ("C", "coulomb"),
    "F": ("F", "farad"),
    "T": ("T", "tesla"),
    "K": ("K", "kelvin"),
    "degC": ("°C ℃", "celsius"),
    "degF": ("°F ℉", "fahrenheit"),
    "mol": ("mol", "mole"),
    "rad": ("rad rads", "radian"),
    "deg": ("° deg degs", "degree"),
    "Angstrom": ("Å Å", "angstrom"),
    "mph": ("mph", ""),
    "kph": ("kph kmh", ""),
    "rpm": ("rpm", ""),
    # information
    "bit": ("", "bit"),
    "byte": ("", "byte"),
    "kB": ("kB KB", "kilobyte"),
    "MB": ("MB", "megabyte"),
    "GB": ("GB", "gigabyte"),
    # one of a thing, named only as such
    "unit": ("", "unit"),
    "bps": ("bps", "basis-point"),
}

_CURRENCIES: Final[dict[str, tuple[str, str]]] = {
    "USD": ("$ US$ USD", "dollar buck"),
    "cent": ("¢ ct cts", "cent penny pennies"),
    "EUR": ("€ EUR", "euro"),
    "GBP": ("£ GBP", "sterling"),
    "JPY": ("JPY", "yen"),
    "CNY": ("CNY RMB", "yuan renminbi"),
    "INR": ("₹ INR Rs Rs.", "rupee"),
    "KRW": ("₩ KRW", "won"),
    "RUB": ("₽ RUB", "ruble rouble"),
    "CHF": ("CHF", "franc"),
    "CAD": ("CAD C$", ""),
    "AUD": ("AUD A$", ""),
    "PHP": ("₱ PHP", "peso"),
    # The word weighs and buys: its own name, which `same_unit` lets stand for either.
    "pound": ("", "pound quid"),
}

SCALES: Final[dict[str, int]] = {
    "hundred": 100,
    "thousand": 1000,
    "lakh": 10**5,
    "million": 10**6,
    "crore": 10**7,
    "billion": 10**9,
    "trillion": 10**12,
    "k": 10**3,
    "K": 10**3,
    "m": 10**6,
    "M": 10**6,
    "mm": 10**6,
    "MM": 10**6,
    "mn": 10**6,
    "mln": 10**6,
    "b": 10**9,
    "B": 10**9,
    "bn": 10**9,
    "bln": 10**9,
    "tn": 10**12,
    "trn": 10**12,
}
"""What a scale word multiplies by. Those in `SCALE_ABBREVIATIONS` count only next to a currency."""

SCALE_ABBREVIATIONS: Final[frozenset[str]] = frozenset(
    name
    for name in SCALES
    if name
    not in {
        "hundred",
        "thousand",
        "lakh",
        "million",
        "crore",
        "billion",
        "trillion",
    }
)


def canonical(word: str) -> str | None:
    """The canonical name of a unit or currency, or None when the word is neither.

    `canonical("meters")`, `canonical("metre")` and `canonical("m")` are all "m"; "$" is "USD".
    A plain noun ("apples") is no unit of the table; its caller may compare it by `noun`.
    """
    return _SYMBOLS.get(word) or _WORDS.get(word.lower())


def noun(word: str) -> str:
    """A noun in one spelling for singular and plural: "apples" and "apple" are both "apple"."""
    lowered = word.lower()
    for ending, replacement in _PLURALS:
        if lowered.endswith(ending) and len(lowered) > len(ending):
            return lowered[: -len(ending)] + replacement
    return lowered


def same_unit(first: str, second: str) -> bool:
    """Whether two canonical names are one unit; the word "pound" may be money or a weight."""
    return first == second or {first, second} in ({"pound", "lb"}, {"pound", "GBP"})


def is_currency(canonical_name: str) -> bool:
    """Whether a canonical name is money ("USD", "cent", ...)."""
    return canonical_name in _CURRENCIES


# The first ending that fits decides; "ss" protects "glass" from becoming "glas".
_PLURALS: Final = (
    ("sses", "ss"),
    ("shes", "sh"),
    ("ches", "ch"),
    ("xes", "x"),
    ("ies", "y"),
    ("ss", "ss"),
    ("us", "us"),
    ("is", "is"),
    ("s", ""),
)


def _plural(word: str) -> str:
    return word + ("es" if word.endswith(("ch", "s", "z")) else "s")


def _symbols() -> dict[str, str]:
    return {
        symbol: name
        for table in (_CURRENCIES, _UNITS)
        for name, (symbols, _) in table.items()
        for symbol in symbols.split()
    }


def _words() -> dict[str, str]:
    table: dict[str, str] = {}
    for name, (_, words) in {**_CURRENCIES, **_UNITS}.items():
        for word in words.split():
            table[word] = table[_plural(word)] = name
        if len(name) > 1:
            table.setdefault(name.lower(), name)
    return table


_SYMBOLS: Final = _symbols()
_WORDS: Final = _words()
