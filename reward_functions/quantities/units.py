"""One table of units, currencies and scale words, with the spellings people use for them.

Every spelling leads to one canonical name ("metres" -> "m"), so two answers name the same unit
exactly when their canonical names are equal. Nothing is converted: 1 hour and 60 minutes stay
different. Symbols keep their letter case (m is the metre, M is not; Pa is the pascal); whole
words do not. Longer symbols are forgiven theirs (KM, KWH), but for the first letter where that
tells milli apart from mega: Mg is a thousand million times mg.

Nouns are an open class: any word may name what is counted, but for the closed classes of words that
change or doubt the number before them (`may_name`). Scale words (million, dozen) multiply it.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Final

from reward_functions.quantities.number_words import cardinal

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

# canonical name: (symbols, case-sensitive; words, in the singular, any case)
_UNITS: Final[dict[str, tuple[str, str]]] = {
    # length
    "m": ("m 米 公尺", "meter metre"),
    "cm": ("cm 厘米 公分", "centimeter centimetre"),
    "mm": ("mm 毫米", "millimeter millimetre"),
    "km": ("km 千米 公里", "kilometer kilometre"),
    "dm": ("dm 分米", "decimeter decimetre"),
    "um": ("µm μm um", "micrometer micrometre micron"),
    "nm": ("nm", "nanometer nanometre"),
    "in": ("", "inch inches"),
    "ft": ("ft", "foot feet"),
    "yd": ("yd yds", "yard"),
    "mi": ("mi", "mile"),
    # mass
    "g": ("g 克", "gram gramme"),
    "kg": ("kg kgs 千克 公斤", "kilogram kilogramme kilo"),
    "mg": ("mg 毫克", "milligram milligramme"),
    "t": ("t 吨", "tonne"),
    "ton": ("", "ton"),
    "lb": ("lb lbs", "pound-mass"),
    "oz": ("oz", "ounce"),
    # time
    "s": ("s sec secs 秒", "second"),
    "ms": ("ms", "millisecond"),
    "us": ("µs μs us", "microsecond"),
    "ns": ("ns", "nanosecond"),
    "ps": ("ps", "picosecond"),
    "min": ("min mins 分钟", "minute"),
    "h": ("h hr hrs 小时", "hour"),
    "day": ("天 日", "day"),
    "week": ("wk wks 周 星期", "week"),
    "month": ("月 个月", "month"),
    "year": ("yr yrs 年 岁", "year"),
    # volume
    "L": ("L l 升", "liter litre"),
    "mL": ("mL ml 毫升", "milliliter millilitre"),
    "gal": ("gal", "gallon"),
    "qt": ("qt", "quart"),
    "pt": ("", "pint"),
    "cup": ("", "cup"),
    # physics
    "Hz": ("Hz", "hertz"),
    "kHz": ("kHz", "kilohertz"),
    "MHz": ("MHz", "megahertz"),
    "GHz": ("GHz", "gigahertz"),
    "THz": ("THz", "terahertz"),
    "N": ("N", "newton"),
    "kN": ("kN", "kilonewton"),
    "J": ("J", "joule"),
    "kJ": ("kJ", "kilojoule"),
    "MJ": ("MJ", "megajoule"),
    "GJ": ("GJ", "gigajoule"),
    "cal": ("cal", "calorie"),
    "kcal": ("kcal", "kilocalorie"),
    "eV": ("eV", "electronvolt"),
    "keV": ("keV", ""),
    "MeV": ("MeV", ""),
    "GeV": ("GeV", ""),
    "TeV": ("TeV", ""),
    "W": ("W", "watt"),
    "kW": ("kW", "kilowatt"),
    "MW": ("MW", "megawatt"),
    "GW": ("GW", "gigawatt"),
    "kWh": ("kWh", "kilowatt-hour"),
    "Pa": ("Pa", "pascal"),
    "hPa": ("hPa", "hectopascal"),
    "kPa": ("kPa", "kilopascal"),
    "MPa": ("MPa", "megapascal"),
    "GPa": ("GPa", "gigapascal"),
    "atm": ("atm", "atmosphere"),
    "bar": ("", "bar"),
    "mmHg": ("mmHg torr", ""),
    "psi": ("psi", ""),
    "V": ("V", "volt"),
    "mV": ("mV", "millivolt"),
    "kV": ("kV", "kilovolt"),
    "A": ("A", "ampere amp"),
    "mA": ("mA", "milliampere milliamp"),
    "uA": ("µA μA uA", "microampere microamp"),
    "ohm": ("Ω Ω", "ohm"),
    "kohm": ("kΩ kΩ", "kiloohm"),
    "C": ("C", "coulomb"),
    "F": ("F", "farad"),
    "mF": ("mF", "millifarad"),
    "uF": ("µF μF uF", "microfarad"),
    "nF": ("nF", "nanofarad"),
    "pF": ("pF", "picofarad"),
    "T": ("T", "tesla"),
    "mT": ("mT", "millitesla"),
    "Wb": ("Wb", "weber"),
    "H": ("H", "henry"),
    "mH": ("mH", "millihenry"),
    "K": ("K", "kelvin"),
    "degC": ("°C ℃", "celsius"),
    "degF": ("°F ℉", "fahrenheit"),
    "mol": ("mol", "mole"),
    "mmol": ("mmol", "millimole"),
    "dB": ("dB", "decibel"),
    "rad": ("rad rads 弧度", "radian"),
    "deg": ("° deg degs 度", "degree"),
    "Angstrom": ("Å Å", "angstrom"),
    "mi/h": ("mph", ""),
    "km/h": ("kph kmh", ""),
    "rpm": ("rpm", ""),
    # information
    "bit": ("", "bit"),
    "byte": ("", "byte"),
    "kB": ("kB KB", "kilobyte"),
    "MB": ("MB", "megabyte"),
    "GB": ("GB", "gigabyte"),
    "TB": ("TB", "terabyte"),
    "KiB": ("KiB kiB", "kibibyte"),
    "MiB": ("MiB", "mebibyte"),
    "GiB": ("GiB", "gibibyte"),
    "TiB": ("TiB", "tebibyte"),
    "kb": ("kb Kb", "kilobit"),
    "Mb": ("Mb", "megabit"),
    "Gb": ("Gb", "gigabit"),
    "kb/s": ("kbps Kbps", ""),
    "Mb/s": ("Mbps", ""),
    "Gb/s": ("Gbps", ""),
    # one of a thing, named only as such
    "unit": ("", "unit"),
    "bps": ("bps", "basis-point"),
}

UNIT_IN_ITALICS: Final = frozenset(
    "cm km kg ft lb lbs oz hr hrs mph kWh Hz kHz MHz GHz THz kPa MPa GPa mol kJ kW eV keV MeV GeV"
    " TeV mL yd dm KiB MiB GiB TiB Mbps Gbps".split()
)
"""Symbols that are units in a formula too, as in 5 km, since nobody multiplies those letters. Other
symbols are units in upright type, as in \\text{Pa}; words need no row here."""

_CURRENCIES: Final[dict[str, tuple[str, str]]] = {
    "USD": ("$ US$ USD 美元", "dollar buck"),
    "cent": ("¢ ct cts", "cent penny pennies"),
    "EUR": ("€ EUR 欧元", "euro"),
    "GBP": ("£ GBP", "sterling"),
    "JPY": ("¥ JPY 日元", "yen"),
    "CNY": ("CNY RMB 元 人民币", "yuan renminbi"),
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

_SCALE_WORDS: Final[dict[str, int]] = {
    "dozen": 12,
    "score": 20,
    "hundred": 100,
    "gross": 144,
    "thousand": 1000,
    "myriad": 10**4,
    "lakh": 10**5,
    "million": 10**6,
    "crore": 10**7,
    "billion": 10**9,
    "trillion": 10**12,
    "quadrillion": 10**15,
    "quintillion": 10**18,
    "万": 10**4,
    "亿": 10**8,
}

SCALES: Final[dict[str, int]] = {
    **_SCALE_WORDS,
    **{
        f"{word}s": size
        for word, size in _SCALE_WORDS.items()
        if word.isascii() and word not in ("score", "gross")
    },
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
    name for name in SCALES if name.removesuffix("s") not in _SCALE_WORDS and name != "gross"
)


def canonical(word: str) -> str | None:
    """The canonical name of a unit or currency, or None when the word is neither.

    `canonical("meters")`, `canonical("metre")` and `canonical("m")` are all "m"; "$" is "USD".
    A plain noun ("apples") is no unit of the table; its caller may compare it by `noun`.
    """
    return _SYMBOLS.get(word) or _WORDS.get(word.lower()) or _CASED.get(word[:1] + word[1:].lower())


def noun(word: str) -> str:
    """A noun in one spelling for singular and plural: "apples" and "apple" are both "apple"."""
    lowered = word.lower()
    if lowered in _IRREGULAR:
        return _IRREGULAR[lowered]
    for ending, replacement in _PLURALS:
        if lowered.endswith(ending) and len(lowered) > len(ending):
            return lowered[: -len(ending)] + replacement
    return lowered


def may_name(word: str) -> bool:
    """Whether a word may belong to the name of what is counted.

    It may not when it changes the number (squared, negative, hundredths), doubts it (almost,
    unsure) or is a number or symbol of its own (six, pi, e3).
    """
    if word >= _EAST_ASIAN:
        return _CHANGED_THERE.isdisjoint(word)
    lowered = word.lower().replace("’", "'")
    if canonical(word) is not None or lowered == "a":
        return True
    if len(lowered) < 2 or lowered in _NO_NOUNS or lowered.endswith("n't"):  # noqa: PLR2004
        return False
    if any(map(str.isdigit, lowered)):
        return canonical(lowered.rstrip("0123456789").rstrip("^")) is not None
    return cardinal(lowered)[0] is None


def joined(word: str) -> bool:
    """Whether a word is in a script without spaces, where it stands right behind its number."""
    return word >= _EAST_ASIAN


def powered(word: str) -> tuple[str, int]:
    """A word of such a script without its "square" or "cubic", and the power that this is."""
    power = _POWERS_THERE.get(word[:2], 1) if word >= _EAST_ASIAN else 1
    return (word[2:], power) if power > 1 else (word, 1)


def says_where(word: str) -> bool:
    """Whether a word leads on to what a unit measures, or where: cups *of* feed, feet *in* all."""
    return word.lower() in _OF_WHAT


def compares(word: str) -> bool:
    """Whether a word leaves a comparison open when it stands last: "5 less", "5 short"."""
    return word.lower() in _COMPARATIVES


def links(word: str) -> bool:
    """Whether a word ties a noun to another one or to the number: apples *in* the basket."""
    return word.lower() in _LINKS


def head(words: Sequence[str]) -> str:
    """The noun that a phrase is about, in its singular: the egg of "fresh duck eggs per day".

    It is the first plural before a word that links, else the last word before it.
    """
    before = list(takewhile(lambda word: not links(word), words))
    plural = (word for word in before if noun(word) != word.lower())
    return noun(next(plural, before[-1])) if before else ""


def same_unit(first: str, second: str) -> bool:
    """Whether two canonical names are one unit; the word "pound" may be money or a weight."""
    return first == second or {first, second} in ({"pound", "lb"}, {"pound", "GBP"})


def is_currency(canonical_name: str) -> bool:
    """Whether a canonical name is money ("USD", "cent", ...)."""
    return canonical_name in _CURRENCIES


_IRREGULAR: Final = {
    "people": "person", "children": "child", "men": "man", "women": "woman", "mice": "mouse",
    "geese": "goose", "teeth": "tooth", "oxen": "ox", "dice": "die", "knives": "knife",
    "wives": "wife", "lives": "life", "leaves": "leaf", "loaves": "loaf", "shelves": "shelf",
    "wolves": "wolf", "calves": "calf", "potatoes": "potato", "tomatoes": "tomato",
    "vertices": "vertex", "indices": "index", "matrices": "matrix", "series": "series",
}  # fmt: skip

_LINKS: Final = frozenset(
    "a an and as at by each every for from in into less fewer greater larger smaller more of on "
    "out per since so that the there this to which who with within without it".split()
)

_OF_WHAT: Final = frozenset("of in on at for from with within each every the a an".split())

_EAST_ASIAN: Final = "\u1100"
"""The first letter of Korean; Japanese and Chinese follow."""

_CHANGED_THERE: Final = frozenset(
    "不没无非否约近多余半几负零一二三四五六七八九十百千万亿分之点成折倍或和与至到以上下等于错误对"
)
"""Signs that change, doubt or deny the number before them, or are numbers."""

_POWERS_THERE: Final = {"平方": 2, "立方": 3}

_COMPARATIVES: Final = frozenset("less fewer lower greater larger smaller short".split())

_ORDINALS: Final = (
    "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth fortieth fiftieth "
    "sixtieth seventieth eightieth ninetieth hundredth thousandth millionth billionth trillionth"
).split()

_NO_NOUNS: Final = frozenset(
    [
        *_ORDINALS,
        *(f"{word}s" for word in _ORDINALS),
        # operations and functions
        *"plus minus times over squared cubed factorial root sqrt cbrt mod modulo divided".split(),
        *"multiplied doubled tripled raised power exponent reciprocal inverse conjugate".split(),
        *"negative negated opposite base binary octal ternary hex hexadecimal".split(),
        *"mille permille".split(),
        *"sin cos tan cot csc log ln lg exp".split(),
        # numbers and their places
        *"half halves tens repeating recurring pi infinity infinite infinitely nan none".split(),
        *"nil naught zeroth".split(),
        *"below under above beyond beneath off".split(),
        # doubt and denial
        *"about almost approx approximately around circa roughly nearly maybe perhaps".split(),
        *"possibly probably presumably supposedly likely unlikely unsure uncertain unknown".split(),
        *"undefined doubtful guess guessed guessing suppose assume assuming error".split(),
        *"failed fails fail wrong incorrect incorrectly invalid false falsely true yes".split(),
        *"nope nah kidding joking lie oops mistake mistaken wrongly typo too".split(),
        *"no nor not never neither either hardly cannot isnt instead actually".split(),
        *"alternatively although though however but or if unless until upto versus vs".split(),
        *"except only because than then through thru between least most exceeds exceeding".split(),
        *"exceeded equal equals is are was were be being been might may could would".split(),
        *"should can will wait sorry x".split(),
    ]
)
"""Closed classes of words that say something about a number rather than name what it counts."""

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
    """Every symbol, and what milli for mega or mega for milli makes of it."""
    table = {
        symbol: name
        for table in (_CURRENCIES, _UNITS)
        for name, (symbols, _) in table.items()
        for symbol in symbols.split()
    }
    for symbol, name in list(table.items()):
        if _prefixed(symbol, table):
            table.setdefault(_PREFIXES[symbol[0]] + symbol[1:], _PREFIXES[name[0]] + name[1:])
    return table


_PREFIXES: Final = {"m": "M", "M": "m"}
"""Milli and mega: the letter of each, and that of the other."""


def _words() -> dict[str, str]:
    table: dict[str, str] = {}
    for name, (_, words) in {**_CURRENCIES, **_UNITS}.items():
        for word in words.split():
            table[word] = table[_plural(word)] = name
        if len(name) > 1 and not _prefixed(name, _SYMBOLS):
            table.setdefault(name.lower(), name)
    return table


def _cased() -> dict[str, str]:
    """Symbols whose first letter keeps its case, the others in lower case: MHZ, Mhz, mHZ."""
    return {
        symbol[0] + symbol[1:].lower(): name
        for symbol, name in _SYMBOLS.items()
        if _prefixed(symbol, _SYMBOLS)
    }


def _prefixed(symbol: str, symbols: Container[str]) -> bool:
    """Whether a symbol begins with milli or mega."""
    return symbol[0] in _PREFIXES and symbol[1:] in symbols


_SYMBOLS: Final = _symbols()
_WORDS: Final = _words()
_CASED: Final = _cased()
