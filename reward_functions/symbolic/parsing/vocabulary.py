"""The words of the grammar: which runs of letters are functions, constants or nouns."""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re
from reward_functions.quantities.units import SCALE_ABBREVIATIONS, SCALES
from reward_functions.symbolic.expr.functions import COMMAND, FUNCTIONS, LETTERS, named

COMMAND_FUNCTIONS: Final = named(COMMAND)
"""Functions that LaTeX writes with a backslash."""

LETTER_FUNCTIONS: Final = named(LETTERS)
"""Functions that plain text writes without one."""

SPELLINGS: Final = {spelling: row.name for row in FUNCTIONS for spelling in row.spellings}
"""Other names of functions, in upright type or before a bracket."""

NAMES_OF_FUNCTIONS: Final = COMMAND_FUNCTIONS | LETTER_FUNCTIONS | SPELLINGS.keys()

UPRIGHT: Final = re.compile(r"\s?\\(?:text|mbox)[a-z]{0,2}\s?\{\s?([A-Za-z]{2,20})\s?\}(?!\s?[=:])")
"""A word in upright type that no sign of equality follows."""

INVERSES: Final = {row.name: row.inverse for row in FUNCTIONS if row.inverse}
"""What the power -1 makes of a function."""

INFINITY: Final = frozenset({"infinity", "infty", "oo", "Infinity"})

DECORATIONS: Final[dict[str, str]] = {
    **{name: name for name in ("bar", "hat", "vec", "tilde", "dot", "ddot")},
    "overline": "bar",
    "overrightarrow": "vec",
    "widehat": "hat",
    "widetilde": "tilde",
}
"""Marks over a letter, which make it another symbol, whatever their width."""

CONJUGATED: Final = frozenset("zw")
"""Letters of complex numbers, over which a bar means the conjugate and not another symbol."""

BASE_WORDS: Final = {
    word: number
    for number, word in enumerate(
        "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
        "sixteen".split(),
        start=2,
    )
}
"""Bases in words, as in 101_{two}."""

BASE_NAMES: Final = {
    **dict.fromkeys(("binary", "二进制"), 2),
    "ternary": 3,
    **dict.fromkeys(("octal", "八进制"), 8),
    **dict.fromkeys(("hexadecimal", "hex", "十六进制"), 16),
}
"""Names of bases, as in 101 (binary)."""

LARGEST_BASE: Final = 36
"""All digits and all letters."""

ORDINAL_ENDINGS: Final = {"1": "st", "2": "nd", "3": "rd"}
"""The ending of an ordinal by its last digit; "th" behind every other one, and in the teens."""

CALLED: Final = frozenset("fg")
"""Letters that name a function when a bracket follows; others, as in P(1+r), multiply."""

CALLED_WORDS: Final = frozenset("Pr Var Cov".split())
"""Words that name one, whatever is in the bracket."""

EXPECTATIONS: Final = CALLED_WORDS | {"E", "P"}
"""Names whose brackets may be square: E[X]."""

NOUN_LETTERS: Final = 4
"""Letters of a plain run after a spaced number that is read as a noun (5 apples), not a product."""

NOUN_WORDS: Final = 4
"""Words that may name what is counted. Felt right; a longer phrase is a sentence."""

SHORT_PRODUCT: Final = 4
"""Letters of a run that is read as a product (ab, SRMC); longer ones are words."""

SHORT_ROMAN: Final = 2
"""The same in upright type, where words are at home."""

CURRENCY_SIGNS: Final = frozenset("$€£¥¢₹₩₽₱")

CURRENCY_CODES: Final = frozenset("USD EUR GBP JPY CNY RMB INR Rs KRW RUB CHF CAD AUD PHP".split())
"""Letters that are a currency before a number too."""


def is_scale(word: str) -> bool:
    """Whether a word multiplies the number before it: million, but not m."""
    return word.lower() in SCALES and word.lower() not in SCALE_ABBREVIATIONS
