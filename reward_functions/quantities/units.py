"""Units, currencies and scale words, with the spellings people use for them.

Every spelling leads to one canonical name ("metres" -> "m"), so two answers name the same unit
exactly when their canonical names are equal. Nothing is converted: 1 hour and 60 minutes stay
different. Symbols keep their letter case (m is the metre, M is not; Pa is the pascal); whole
words do not. Longer symbols are forgiven theirs (KM, KWH), but for the first letter where that
tells milli apart from mega: Mg is a thousand million times mg. A unit with a prefix needs no row.

Nouns are an open class: any word may name what is counted, but for the closed classes of words that
change or doubt the number before them (`may_name`). Scale words (million, dozen) multiply it.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Final

from reward_functions.quantities.number_words import cardinal
from reward_functions.quantities.unit_table import CURRENCIES, PARTS, PREFIXED, PREFIXES, UNITS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

UNIT_IN_ITALICS: Final = frozenset(
    "cm km kg ft lb lbs oz hr hrs mph kWh Hz kHz MHz GHz THz kPa MPa GPa mol kJ kW eV keV MeV GeV"
    " TeV mL yd dm KiB MiB GiB TiB Mbps Gbps".split()
)
"""Symbols that are units in a formula too, as in 5 km, since nobody multiplies those letters. Other
symbols are units in upright type, as in \\text{Pa}; words need no row here."""

_IN_OTHER_LANGUAGES: Final = {
    12: "docena docenas douzaine douzaines dutzend dozzina dozzine dúzia dúzias dozijn tuzin lusin"
    " дюжина дюжины дюжин",
    1000: "tausend duizend tusen tysiąc tysiące tysięcy тысяча тысячи тысяч тисяча тисячі ribu"
    " nghìn ألف آلاف हज़ार हजार",
    10**6: "millón millones millionen milione milioni milhão milhões miljoen miljoenen miljon"
    " miljoner milion miliony milionów миллион миллиона миллионов мільйон мільйона мільйонів milyon"
    " juta triệu مليون ملايين",
    10**9: "milliard milliards milliarde milliarden miliardo miliardi miljard miljarder miliard"
    " miliardy миллиард миллиарда миллиардов мільярд milyar miliar مليار",
}
"""Words that mean nothing else in English, as "mil" and "bin" do."""

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
    "만": 10**4,
    "억": 10**8,
    **{word: size for size, listed in _IN_OTHER_LANGUAGES.items() for word in listed.split()},
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
    name for name in SCALES if {name, name.removesuffix("s")}.isdisjoint(_SCALE_WORDS)
)


def canonical(word: str) -> str | None:
    """The canonical name of a unit or currency, or None when the word is neither.

    `canonical("meters")`, `canonical("metre")` and `canonical("m")` are all "m"; "$" is "USD".
    A plain noun ("apples") is no unit of the table; its caller may compare it by `noun`.
    """
    return (
        _SYMBOLS.get(word)
        or _WORDS.get(word.lower())
        or _CASED.get(word[:1] + word[1:].lower())
        or _with_prefix(word)
    )


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
        return _CHANGED_THERE.isdisjoint(word) and not any(map(word.__contains__, _DENIED_THERE))
    lowered = word.lower().replace("’", "'")
    if canonical(word) is not None or lowered == "a":
        return True
    if len(lowered) < 2 or lowered in _NO_NOUNS or lowered.endswith("n't"):  # noqa: PLR2004
        return False
    if any(map(str.isdigit, lowered)):
        return canonical(lowered.rstrip("0123456789").rstrip("^")) is not None
    return cardinal(lowered)[0] is None


def joined(word: str) -> bool:
    """Whether a word is in a script without spaces, where it stands right after its number."""
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


def size(canonical_name: str) -> tuple[str, int]:
    """The smallest unit of its kind that amounts in several units have, and how many it has of it.

    An hour has 3,600 seconds. A unit that never stands beside a smaller one is its own.
    """
    name, many = canonical_name, 1
    while name in PARTS:
        times, name = PARTS[name]
        many *= times
    return name, many


def is_currency(canonical_name: str) -> bool:
    """Whether a canonical name is money ("USD", "cent", ...)."""
    return canonical_name in CURRENCIES


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

_DENIED_THERE: Final = ("ない", "ません", "아니", "아닙", "않")

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
        *"nicht kein niet geen pas non inte ikke nie değil oder ou oppure eller veya или".split(),
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
        for table in (CURRENCIES, UNITS)
        for name, (symbols, _) in table.items()
        for symbol in symbols.split()
    }
    for symbol in _prefixed(table):
        name = table[symbol]
        table.setdefault(_PREFIXES[symbol[0]] + symbol[1:], _PREFIXES[name[0]] + name[1:])
    return table


_PREFIXES: Final = {"m": "M", "M": "m"}
"""Milli and mega: the letter of each, and that of the other."""


def _words() -> dict[str, str]:
    table: dict[str, str] = {}
    kept = _prefixed(_SYMBOLS)
    for name, (_, words) in {**CURRENCIES, **UNITS}.items():
        for word in words.split():
            table[word] = table[_plural(word)] = name
        if len(name) > 1 and name not in kept:
            table.setdefault(name.lower(), name)
    return table


def _cased() -> dict[str, str]:
    """Symbols whose first letter keeps its case, the others in lower case: MHZ, Mhz, mHZ."""
    return {symbol[0] + symbol[1:].lower(): _SYMBOLS[symbol] for symbol in _prefixed(_SYMBOLS)}


def _prefixed(symbols: Collection[str]) -> list[str]:
    """The symbols that begin with milli or mega."""
    return [each for each in symbols if each[0] in _PREFIXES and each[1:] in symbols]


def _with_prefix(word: str) -> str | None:
    """The name of a unit with a prefix: µF, GPa, gigapascals; None for anything else.

    Of several letters its unit may have any case (GEV); milli and mega keep theirs.
    """
    letter, (unit, letters) = _SIGNS.get(word[:1], ""), PREFIXED.get(word[1:], _NONE)
    if letter and letter in letters:
        return letter + unit
    letter, (unit, letters) = _ANY_CASE.get(word[:1], ""), _LONG.get(word[1:].lower(), _NONE)
    if letter and letter in letters:
        return letter + unit
    letter, prefix = _PREFIX_WORDS.get(word[:4].lower(), _NONE)
    unit = _WORDS.get(word[len(prefix) :].lower(), "")
    known = letter and unit in _TAKE_PREFIX and word.lower().startswith(prefix)
    return letter + unit if known else None


_NONE: Final = ("", "")
_SIGNS: Final = {sign: letter for letter, (signs, _) in PREFIXES.items() for sign in signs.split()}
_ANY_CASE: Final = {"m": "m", "M": "M", "k": "k", "K": "k", "g": "G", "G": "G", "t": "T", "T": "T"}
_LONG: Final = {symbol.lower(): unit for symbol, unit in PREFIXED.items() if len(symbol) > 1}
_PREFIX_WORDS: Final = {word[:4]: (letter, word) for letter, (_, word) in PREFIXES.items()}
_TAKE_PREFIX: Final = frozenset(unit for unit, _ in PREFIXED.values())
_SYMBOLS: Final = _symbols()
_WORDS: Final = _words()
_CASED: Final = _cased()
