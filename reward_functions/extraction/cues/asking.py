"""The words by which a prompt asks for the formula after them: "find the value of x + y".

Read backwards from the formula: one noun that names its kind, then words that carry the asking on,
up to a word that asks. Any other word between makes it another question: "the discriminant of".
"""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re

ASKING: Final = frozenset(
    "find compute evaluate calculate determine simplify expand factor reduce convert express write"
    " rewrite change turn give state what what's which how"
    " calcula calcule calculez calcola berechne bestimme bereken hitung hesapla 求 算".split()
)
"""Words that ask."""

CARRYING: Final = frozenset(
    "the a an all every each any possible exact numerical simplified value values of for minimum"
    " maximum minimal maximal smallest largest least greatest size magnitude is are does do can"
    " could must would will should be much expected real positive negative integer integers number"
    " numbers decimal percent percentage fraction improper mixed numeral repeating recurring"
    " terminating binary following common that equal equals equivalent to : ,".split()
)
"""Words between the asking and its formula that leave the question the same."""

KINDS: Final = frozenset(
    "sum product ratio difference quotient quantity expression angle length distance probability"
    " measure power polynomial determinant limit integral".split()
)
"""Nouns that name the kind of a formula where they stand right before it: "the sum a + b"."""

JOINING: Final = frozenset(("and", "or", ",", ", and"))
"""What stands between two formulas that are asked for together."""

EXTREME: Final = re.compile(r"_\{?\\?(?:text|mathrm)?\{?(?:min|max)(?:imum)?\}{0,2}(?![a-z])")
"""A subscript that says which value of a quantity is meant, the least or the greatest."""

CONDITION: Final = re.compile(
    r"(.*?)\\text\s?\{\s*(?:for|when|where|if|with|provided)\s*\}(.+)", re.DOTALL
)
"""An answer and the condition behind it, in a formula of at most a few hundred characters."""

CONSTANTS: Final = re.compile(
    r"\b(?:arbitrary|undetermined|general (?:form|formula|solution)s?|integration|antiderivatives?"
    r"|indefinite|all (?:the )?solutions)\b",
    re.IGNORECASE,
)
"""Words by which a prompt leaves constants open: their letters are then a proposal."""

VALUE: Final = re.compile(
    r"\b(?:find|determine|compute|evaluate|calculate|solve|simplify|how (?:many|much)|value)\b"
    r"|[求解]",
    re.IGNORECASE,
)
"""Words by which a prompt asks for a value, and for no statement."""

NAMED: Final = re.compile(
    r"\b(?:for|[Ff]ind|[Dd]etermine|value of|[Ww]hat is)\s+"
    r"(?!a (?!(?:and|for|given|if|in|is|or|such|when)\b)[a-z]{2})\$*(\\?[A-Za-z]+)[$.,?!;:]*(?!\S)"
)
"""A letter that a prompt asks for outside of a formula; an "a" before a noun is an article."""

LETTER: Final = re.compile(
    r"(?<![A-Za-z\\])([A-Za-z])\s?[=<>≤≥+*]|[=<>≤≥+*]\s?([A-Za-z])(?![A-Za-z])"
    r"|\b(?:terms of|let|where|variables?) ([A-Za-z])(?![A-Za-z])"
)
"""A letter in plain text that is no unit."""

MEASURED: Final = re.compile(r"\d\s?([A-Za-z])(?![A-Za-z])")
"""A letter in plain text that may be one: "40 m/s"."""

UNIT: Final = re.compile(r"\b(?:in|[Uu]nits?:?) ([A-Za-z])(?![A-Za-z])")
"""A letter in which the answer is asked for: "in V", "(unit: m)"."""

NAME: Final = re.compile(
    r"[A-Z](?:\s*(?:\\cap|\\cup|\\setminus|∩|∪)\s*[A-Z])+"
    r"|\\operatorname\*?\{[A-Za-z]{1,12}\}\s*\(?\\?[A-Za-z0-9]{1,8}\)?"
    r"|\\(?:text|mathrm|mbox|textrm)\s?\{(?!(?:lg|max|min|arg|sup|inf|lim)\})[A-Za-z]{2,12}\}\s?\(\\?[A-Za-z0-9]{1,8}\)"
    r"|\\(?:phi|varphi|sigma|tau|mu|dim|ker)\s*(?:\([A-Za-z0-9]{1,8}\)|[A-Z])"
    r"|(?:m|\\(?:sin|cos|tan|cot))\s*\\angle\s*[A-Z]{1,3}"
    r"|\\\|[^|=]{1,20}\\\|"
)
"""Names that the grammar does not read as one: A ∩ B, tr(A), φ(12), m∠A, ‖v‖."""

CALLED: Final = re.compile(r"(?P<word>[a-z]{3,12})\s?\(\s?[A-Za-z0-9]{1,8}\s?\)", re.IGNORECASE)
"""A word that is applied to a name: rank(A)."""

NOUN: Final = re.compile(
    r"\b(?:find|determine|compute|calculate|evaluate|what\s(?:is|are)|give|state)\s"
    r"(?:the\s)?(?:[a-z]{1,12}\s)?(?P<word>[a-z]{3,12})\b",
    re.IGNORECASE,
)
"""The noun that a prompt asks for: "Determine the rank"."""

PLACES: Final = {
    "ten-thousandth": 4, "thousandth": 3, "hundredth": 2, "cent": 2, "tenth": 1,
    "integer": 0, "number": 0, "whole": 0, "one": 0, "unit": 0, "percent": 0,
    "ten": -1, "hundred": -2, "thousand": -3, "million": -6,
    "整数": 0, "个位": 0, "十分位": 1, "百分位": 2, "千分位": 3,
}  # fmt: skip
"""Decimal places by what a prompt calls the last one: "to the nearest tenth"."""

COUNTS: Final = {
    **{word: count for count, word in enumerate("one two three four five six".split(), 1)},
    **{word: count for count, word in enumerate("first second third fourth fifth".split(), 1)},
    **{word: count for count, word in enumerate("一二三四五六", 1)},
    "两": 2,
}
"""How many of them, in words."""

_COUNT: Final = rf"(?P<count>[1-9]|{'|'.join(COUNTS)})"
PRECISION: Final = re.compile(
    r"\b(?:nearest|closest)\s+(?:(?P<step>0?\.0{0,5}1|10{0,6})(?![\d.])|(?:whole\s)?(?P<place>[a-z-]{2,15}))"
    rf"|\b{_COUNT}[\s-](?:(?P<figures>significant|sig\b)|decimals?\b)"
    rf"|(?:精确到|保留|四舍五入到)\s?(?:(?P<shown>0\.0{{0,5}}1)(?!\d)|(?P<named>整数|个位|十分位|百分位|千分位)"
    rf"|{_COUNT.replace('count', 'kept')}位(?:小数|(?P<digits>有效数字)))",
    re.IGNORECASE,
)
"""How exactly a prompt wants its answer: decimal places, or significant figures."""
EXACTLY: Final = ("nearest", "closest", "decimal", "significant", "sig ", "精确", "保留", "四舍")
"""What a prompt has in its text that says so, in lower case."""

_LETTER: Final = r"(?P<letter>[A-Za-z]|\\(?:alpha|beta|lambda|mu|theta|phi|omega))(?![A-Za-z_(^])"
SIGNED: Final = re.compile(
    r"\b(?P<sign>positive|non-?negative|negative)\s+(?:(?:real|rational)\s+)?"
    rf"(?:(?:numbers?|reals?|constants?|parameters?|values?\s+of)\s+)?\$?{_LETTER}"
    rf"|(?P<chinese>非负|正|负)(?:实?数|实常数)\s?\$?{_LETTER.replace('letter', 'of')}",
    re.IGNORECASE,
)
"""The sign of a letter in a prompt: "all positive real numbers $t$"."""

WHOLE: Final = re.compile(
    r"\b(?:(?P<sign>positive|non-?negative|negative)\s+)?(?:integers?|whole\s+numbers?)\s+"
    rf"(?:values?\s+of\s+)?\$?{_LETTER}"
    rf"|(?P<chinese>非负|正|负)?整数\s?\$?{_LETTER.replace('letter', 'of')}",
    re.IGNORECASE,
)
"""The same of whole numbers: "all positive integers $n$"."""

BOUNDED: Final = re.compile(
    r"\b(?:find|solve|determine|what|which)\b[^.?!\n$]{0,60}?"
    r"\b(?:all|every|reals?|numbers?|integers?|values?\s+of)\s+\$?"
    rf"(?P<bound>{_LETTER}\s*(?:[<>≤≥]|\\(?:leq?|geq?|lt|gt)(?![a-z]))\s*-?\d{{1,6}}(?:\.\d{{1,4}})?)"
    r"(?![\w.^*/+\\-]|\s?[<>≤≥+*/^-])",
    re.IGNORECASE,
)
"""A bound of a letter in a prompt: "all real $p > 1$"."""

BOUNDS: Final = {
    "positive": ">0", "nonnegative": r"\ge 0", "negative": "<0",
    "正": ">0", "非负": r"\ge 0", "负": "<0",
}  # fmt: skip
"""What such a word says of a letter."""

ON: Final = re.compile(
    r"\b(?:find|solve|determine|what|which)\b[^.?!\n]{0,200}?"
    r"\b(?:for|where|with|in|on|over)\s+(?:the interval\s+|all\s+)?\$(?P<bounds>[^$]{1,60})\$",
    re.IGNORECASE,
)
"""A question with the values that it is asked for: "solve … for $0 < x < 1$"."""

SET: Final = re.compile(
    r"[<>≤≥∈…]|\.\.\.|\\(?:[lc]?dots|leq?|geq?|leqslant|geqslant|lt|gt|in)(?![a-z])"
)
"""What a set of many numbers has in its text."""
