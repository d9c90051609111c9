r"""Lists without an end: n = 3, 4, 5, \ldots and \{2, 4, 6, \dots\}, numbers in equal steps."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.expr.literals import number
from reward_functions.symbolic.expr.nodes import (
    BuiltSet,
    Given,
    NamedSet,
    Node,
    Number,
    Product,
    Relation,
    Sum,
    Symbol,
)

if TYPE_CHECKING:
    from fractions import Fraction

    from reward_functions.symbolic.parsing.lexer import Token

ELLIPSES: Final = frozenset("ldots dots cdots dotsc".split())
TERMS: Final = 3
"""Terms from which a list shows how it goes on."""

_DOTS: Final = [".", ".", "."]
_WHOLE: Final = NamedSet("Z")
_COUNTING: Final = NamedSet("N0")


def progression(stream: list[Token]) -> Node | None:
    """The set of numbers that a list without an end names; None for any other answer."""
    listed = _without_ellipsis(_unbraced(stream))
    if listed is None:
        return None
    name = Symbol("n")
    if len(listed) > 1 and listed[0].kind == "letters" and listed[1].kind in ("=", "∈"):
        name = Symbol(listed[0].text)
        listed = listed[2:]
    terms = _terms(listed[1:] if listed and listed[0].kind == "\\{" else listed)
    if terms is None:
        return None
    step = terms[1] - terms[0]
    if step == 1:
        from_first = Relation((name, Number(terms[0])), ("≥",))
        return BuiltSet(name, (Relation((name, _WHOLE), ("∈",)), from_first))
    index = Symbol("k")
    member = Sum((Number(terms[0]), Product((Number(step), index))))
    return Given(member, (Relation((index, _COUNTING), ("∈",)),))


def _unbraced(stream: list[Token]) -> list[Token]:
    return stream[:-1] if stream and stream[-1].kind == "\\}" else stream


def _without_ellipsis(stream: list[Token]) -> list[Token] | None:
    """A list without the comma and the dots at its end; None where it has none."""
    if stream and stream[-1].kind == "command" and stream[-1].text in ELLIPSES:
        rest = stream[:-1]
    elif [token.kind for token in stream[-len(_DOTS) :]] == _DOTS:
        rest = stream[: -len(_DOTS)]
    else:
        return None
    return rest[:-1] if rest and rest[-1].kind == "," else None


def _terms(stream: list[Token]) -> list[Fraction] | None:
    """Whole numbers between commas, three or more in equal rising steps; None for anything else."""
    terms: list[Fraction] = []
    negative = False
    for token in stream:
        if token.kind == "-":
            negative = True
        elif token.kind == "number" and "." not in token.text:
            value = number(token.text).value
            terms.append(-value if negative else value)
            negative = False
        elif token.kind != ",":
            return None
    steps = {after - before for before, after in pairwise(terms)}
    shape = sum(token.kind == "," for token in stream) == len(terms) - 1
    return terms if shape and len(terms) >= TERMS and len(steps) == 1 and min(steps) > 0 else None
