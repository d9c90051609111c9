"""The words by which a prompt asks for the formula behind them: "find the value of x + y".

Read backwards from the formula: one noun that names its kind, then words that carry the asking on,
up to a word that asks. Any other word between makes it another question: "the discriminant of".
"""

from __future__ import annotations

import re
from typing import Final

ASKING: Final = frozenset(
    "find compute evaluate calculate determine simplify expand factor reduce convert express write"
    " rewrite change turn give state what what's which how".split()
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
    r"|\\(?:phi|varphi|sigma|tau|mu|dim|ker)\s*(?:\([A-Za-z0-9]{1,8}\)|[A-Z])"
    r"|(?:m|\\(?:sin|cos|tan|cot))\s*\\angle\s*[A-Z]{1,3}"
    r"|\\\|[^|=]{1,20}\\\|"
)
"""Names that the grammar does not read as one: A ∩ B, tr(A), φ(12), m∠A, ‖v‖."""
