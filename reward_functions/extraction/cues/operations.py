"""Arithmetic in words, with the signs they stand for: "17 times 23", "17乘以23", "the sum of"."""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re

_SPACED: Final = {
    "*": "times multiplied_by mal multipliziert_mit fois multiplié_par por multiplicado_por per"
    " vezes умножить_на умножено_на keer maal kali gånger çarpı nhân ضرب",
    "+": "plus más mais più плюс tambah artı cộng زائد",
    "-": "minus menos moins meno минус kurang eksi trừ ناقص",
    "/": "divided_by over geteilt_durch divisé_par dividido_por dividido_entre diviso_per diviso"
    " разделить_на делённое_на gedeeld_door dibagi bölü chia",
    "^": "to_the_power_of raised_to_the_power_of hoch elevado_a в_степени",
}
"""Operations between numbers in languages that set spaces; "_" stands for one."""

_JOINED: Final = {
    "*": "乘以 乘 かける 掛ける 곱하기",
    "+": "加上 加 たす 足す 더하기",
    "-": "减去 减 ひく 引く 빼기",
    "/": "除以 わる 割る 나누기",
}
"""The same where words touch their numbers."""

_BEHIND: Final = {"^2": "squared 的平方 の2乗", "^3": "cubed 的立方 の3乗"}


def _any_of(table: dict[str, str]) -> str:
    listed = [each.replace("_", " ") for words in table.values() for each in words.split()]
    return "|".join(map(re.escape, sorted(listed, key=len, reverse=True)))


SIGNS: Final = {
    spelled.replace("_", " "): sign
    for table in (_SPACED, _JOINED, _BEHIND)
    for sign, words in table.items()
    for spelled in words.split()
} | {"x": "*"}
"""The sign of each of these."""

POWER: Final = re.compile(rf"(?<=[\d)])\s*({_any_of(_BEHIND)})")
SPELLED: Final = re.compile(
    rf"(?<=[\d)])\s+({_any_of(_SPACED)})\s+(?=[\d(])"
    rf"|(?<=[\d)])\s*({_any_of(_JOINED)})\s*(?=[\d(])"
    r"|(?<=\d)\s*(x)\s*(?=\d)"
)
"""Operations between plain numbers."""

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
