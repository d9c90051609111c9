"""Arithmetic in words, each pattern with the sign it stands for: "17 times 23", "the sum of"."""

from __future__ import annotations

import re
from typing import Final

POWER: Final = re.compile(r"(?<=[\d)])\s+(squared|cubed)\b")
SPELLED: Final = re.compile(
    r"(?<=[\d)])\s+(times|multiplied by|plus|minus|divided by|over|(?:raised )?to the power of)"
    r"\s+(?=[\d(])"
    r"|(?<=\d)\s*(x)\s*(?=\d)"
)
"""Operations between plain numbers."""

SIGNS: Final = {
    "squared": "^2",
    "cubed": "^3",
    "plus": "+",
    "minus": "-",
    "over": "/",
    "divided by": "/",
    "to the power of": "^",
    "raised to the power of": "^",
}
"""The signs of these; every other one multiplies."""

FORMULAS: Final = (
    ("sum", "{}+{}"),
    ("product", "{}*{}"),
    ("difference", "{}-{}"),
    ("intersection", r"{}\cap {}"),
    ("union", r"{}\cup {}"),
    ("(?:greatest|highest) common (?:divisor|factor)|gcd|gcf|hcf", r"\gcd({},{})"),
    ("(?:least|lowest) common (?:multiple|denominator)|lcm", r"\operatorname{{lcm}}({},{})"),
    ("square root", r"\sqrt{{{}}}"),
    ("cube root", r"\sqrt[3]{{{}}}"),
    ("square", "{}^2"),
    ("cube", "{}^3"),
    ("factorial", "{}!"),
    ("determinant", r"\det {}"),
    ("inverse", "{}^{{-1}}"),
    ("absolute value|modulus|magnitude", "|{}|"),
    ("cosine", r"\cos {}"),
    ("sine", r"\sin {}"),
    ("tangent", r"\tan {}"),
)
"""Operations of what follows "of": the words, and the formula of one or of two operands.

More operands than two are joined by the sign between the two.
"""

_ONE: Final = r"(?:\$[^$]{1,60}\$|\d{1,20}|[A-Za-z]|\\[a-z]{2,8})"
_SOME: Final = rf"{_ONE}(?:(?:,\s?(?:and\s)?|\sand\s){_ONE}){{0,5}}"
NAMED: Final = re.compile(
    r"\b(?:"
    + "|".join(f"({named})" for named, _ in FORMULAS)
    + r")\s(?:of|for)\s(?:the\s(?:[a-z]{2,12}\s){1,2})?"
    rf"({_SOME})(?![\w^{{(=+*/-]|\s[-+*/^=]|\.\d)",
    re.IGNORECASE,
)
"""An operation with its operands: numbers and letters, or whatever stands between dollars."""

OPERAND: Final = re.compile(r"\$[^$]+\$|\\[a-z]+|\b[A-Za-z]\b|\d+")
"""One of the operands."""
