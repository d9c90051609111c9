"""Comparisons that the worker makes before the first request.

sympy loads and builds much when it first needs it: the first integral of a process takes ten times
as long as the second. The first answer would pay for that out of its budget.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from reward_functions.symbolic.expr.nodes import (
    Apply,
    Constant,
    Integral,
    Iterated,
    Limit,
    Node,
    Number,
    Power,
    Product,
    Relation,
    Root,
    Sum,
    Symbol,
)

_ZERO, _ONE, _TWO, _MINUS = (Number(Fraction(value)) for value in (0, 1, 2, -1))
_PI, _E, _ENDLESS = Constant("π"), Constant("e"), Constant("∞")
_X, _N, _M, _C = Symbol("x"), Symbol("n"), Symbol("m"), Symbol("C")
_SINE, _COSINE = Apply("sin", (_X,)), Apply("cos", (_X,))
_SQUARE = Power(_X, _TWO)
_BELL = Apply("exp", (Product((_MINUS, _SQUARE)),))
_FRACTION = Product((_X,), (Sum((_SQUARE, _X, _ONE)),))
_COMPOUND = Power(Sum((_ONE, Product((_ONE,), (_X,)))), _X)

WARMUP: Final[tuple[tuple[Node, Node], ...]] = (
    (Integral(_BELL, _X, _ZERO, _ENDLESS), Product((Root(_TWO, _PI),), (_TWO,))),
    (Integral(Power(_SINE, _TWO), _X, _ZERO, _PI), Product((_PI,), (_TWO,))),
    (Integral(_FRACTION, _X, _ZERO, _ONE), _ONE),
    (Integral(Product((_SINE, _COSINE)), _X), Sum((Product((Power(_SINE, _TWO),), (_TWO,)), _C))),
    (Iterated("sum", Product((_ONE,), (Power(_N, _TWO),)), _N, _ONE, _ENDLESS), _ONE),
    (Iterated("sum", Power(_X, _N), _N, _ZERO, _ENDLESS), Sum((_ONE, _SQUARE))),
    (
        Iterated("sum", Power(_N, _TWO), _N, _ONE, _M),
        Product((_M, Sum((_M, _ONE)), Sum((_M, _M, _ONE))), (Number(Fraction(6)),)),
    ),
    (Iterated("prod", Sum((_ONE, Product((_ONE,), (_N,)))), _N, _ONE, _M), Sum((_M, _ONE))),
    (Limit(Product((_SINE,), (_X,)), _X, _ZERO), _TWO),
    (Limit(_COMPOUND, _X, _ENDLESS), _E),
    (Relation((_SQUARE, _ONE), ("=",)), Relation((_X, _ONE), ("=",))),
)
"""References with candidates, one for each part of sympy that textbook calculus meets."""
