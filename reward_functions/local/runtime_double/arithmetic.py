"""Arithmetic that a prompt asks for: found in its text, evaluated exactly, written again.

Numbers, `+ - * /` and parentheses, with their signs in Unicode and in LaTeX; no powers, no
functions. A number of 40 digits and an expression of 400 characters are the largest.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

LONGEST: Final = 400
"""Characters of an expression."""

DEEPEST: Final = 40
"""Parentheses and signs that stand within each other."""

READ: Final = 20_000
"""Characters of a prompt that are searched, from its end."""

SIGNS: Final = {"×": "*", "·": "*", "÷": "/", "−": "-", r"\times": "*", r"\cdot": "*", r"\div": "/"}

_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_RUN: Final = re.compile(r"(?<!\w)[\d(.+-][\d \t.()+*/-]*")
_BULLET: Final = re.compile(r"[-+.]+[ \t]+")
_TOKEN: Final = re.compile(r"\d{1,40}(?:\.\d{0,40})?|\.\d{1,40}|[-+*/()]")
_OPERATOR: Final = re.compile(r"[\d)][ \t]*[-+*/]")
_NUMBER: Final = re.compile(r"-?(?:\d{1,40}(?:\.\d{1,40})?|\.\d{1,40})")
_DECIMALS: Final = 30


def expression_in(text: str) -> str:
    """The expression with the most operators in a text, the last one of those; "" for none."""
    runs = map(_trimmed, _RUN.findall(_plain(text)))
    found = [run for run in runs if _OPERATOR.search(run) and evaluated(run) is not None]
    return max(reversed(found), key=lambda run: len(_OPERATOR.findall(run)), default="")


def number_in(text: str) -> Fraction | None:
    """The last number in a text, such as a tool's result; None where there is none."""
    found = _NUMBER.findall(_plain(text))
    return Fraction(found[-1]) if found else None


def evaluated(expression: str) -> Fraction | None:
    """The value of an expression; None where it has none."""
    tokens = _TOKEN.findall(expression) if len(expression) <= LONGEST else []
    if not tokens or "".join(tokens) != re.sub(r"\s", "", expression):
        return None
    try:
        return _Reader(tokens).whole()
    except (ArithmeticError, _NoExpression):
        return None


def written(value: Fraction) -> str:
    """A value as an answer shows it: an integer, a decimal that ends, or a fraction of LaTeX."""
    if value.denominator == 1:
        return str(value.numerator)
    for decimals in range(1, _DECIMALS):
        if 10**decimals % value.denominator == 0:
            return _exactly(value, decimals)
    return rf"\frac{{{value.numerator}}}{{{value.denominator}}}"


def _trimmed(run: str) -> str:
    """A run without what belongs to the sentence around it: a bullet, a full stop, a bracket."""
    bullet = _BULLET.match(run)
    run = run[bullet.end() if bullet else 0 :].rstrip(" \t.+*/(-")
    surplus = run.count(")") - run.count("(")
    if surplus > 0:
        return run.removesuffix(")" * surplus).rstrip()
    return run.removeprefix("(" * -surplus).lstrip()


def _exactly(value: Fraction, decimals: int) -> str:
    whole, rest = divmod(abs(value.numerator) * 10**decimals // value.denominator, 10**decimals)
    return f"{'-' if value < 0 else ''}{whole}.{rest:0{decimals}d}"


def _plain(text: str) -> str:
    """The end of a text, in ASCII's signs, without commas between thousands."""
    text = text[-READ:]
    for sign, plain in SIGNS.items():
        text = text.replace(sign, plain)
    return _THOUSANDS.sub("", text)


class _NoExpression(Exception):
    pass


class _Reader:
    """Reads a sum of products of signed numbers and parentheses."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = [*reversed(tokens)]
        self._depth = 0

    def whole(self) -> Fraction:
        value = self._sum()
        if self._tokens:
            raise _NoExpression
        return value

    def _sum(self) -> Fraction:
        value = self._product()
        while self._next_is("+-"):
            value = value + self._product() if self._taken() == "+" else value - self._product()
        return value

    def _product(self) -> Fraction:
        value = self._factor()
        while self._next_is("*/"):
            value = value * self._factor() if self._taken() == "*" else value / self._factor()
        return value

    def _factor(self) -> Fraction:
        self._depth += 1
        if self._depth > DEEPEST or not self._tokens:
            raise _NoExpression
        token = self._taken()
        match token:
            case "-":
                value = -self._factor()
            case "+":
                value = self._factor()
            case "(":
                value = self._sum()
                if not self._next_is(")"):
                    raise _NoExpression
                self._taken()
            case ")" | "*" | "/":
                raise _NoExpression
            case _:
                value = Fraction(token.rstrip("."))
        self._depth -= 1
        return value

    def _next_is(self, signs: str) -> bool:
        return bool(self._tokens) and self._tokens[-1] in signs

    def _taken(self) -> str:
        return self._tokens.pop()
