r"""Operators with a variable of their own: sums, products, integrals, derivatives, limits.

    sum         \sum_{k=1}^n term       or \sum_{1 ≤ k ≤ n} term
    integral    \int_a^b term dx        or \int \frac{dx}{x}
    derivative  \frac{d}{dx} term       or \frac{d^2 y}{dx^2}, \frac{\partial f}{\partial x}
    limit       \lim_{x \to 0^+} term
    union       \bigcup_{k=1}^n set

The body is one term, up to the next sign; that of an integral goes on to its differential. Inside
it the variable is a symbol, even where it is called i or e.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.budget import Unreadable
from reward_functions.symbolic.expr.literals import negated
from reward_functions.symbolic.expr.nodes import (
    BuiltSet,
    Constant,
    Derivative,
    Integral,
    Iterated,
    Limit,
    NamedSet,
    Node,
    Number,
    Relation,
    Sum,
    Symbol,
    Union,
)
from reward_functions.symbolic.parsing.atoms import Atoms
from reward_functions.symbolic.parsing.cursor import END
from reward_functions.symbolic.parsing.lexer import GREEK, Token

if TYPE_CHECKING:
    from collections.abc import Callable

_ORDERS: Final = 10
"""The highest derivative that is read. Felt right."""

_ARROWS: Final = ("to", "rightarrow", "longrightarrow", "Rightarrow")
_INFINITY: Final = Constant("∞")
_ONE: Final = Number(Fraction(1))


class Calculus(Atoms):
    """The rules for operators, before those for other commands."""

    def __init__(self, stream: list[Token]) -> None:
        super().__init__(stream)
        # The differentials met inside the integrals that are being read.
        self.differentials: list[str] = []
        self.integrals = 0

    def command_atom(self, name: str) -> Node:
        """The value of a LaTeX command."""
        match name:
            case "sum" | "prod":
                return self.iterated(name)
            case "int" | "iint" | "iiint":
                return self.integral(("int", "iint", "iiint").index(name) + 1)
            case "lim":
                return self.limit()
            case "frac":
                return self.derivative() or super().command_atom(name)
        return super().command_atom(name)

    def letters(self, token: Token) -> Node:
        """A run of letters, at whose end an integral finds its differential."""
        if not self.integrals or token.text[-2:-1] not in ("d", ""):
            return super().letters(token)
        if len(token.text) > 2:  # noqa: PLR2004 - xdx is x and dx
            self.give_back(2)
            return super().letters(token._replace(text=token.text[:-2]))
        name = token.text[1:] or (self.variable() if token.text == "d" else None)
        if name is None:
            return super().letters(token)
        self.differentials.append(name)
        return _ONE

    def variable(self) -> str | None:
        """The one letter that comes next, which is taken; None when there is something else."""
        token = self.peek()
        if token.kind == "command" and token.text in GREEK:
            return GREEK[self.next().text]
        if token.kind == "letters" and len(token.text) == 1:
            return self.next().text
        return None

    # ---- sums and products

    def iterated(self, operation: str) -> Node:
        """A sum or product with its bounds."""
        run, body = self.over_a_range(self.body)
        low, variable, high = run.operands
        return Iterated(operation, body, variable, low, high)  # type: ignore[arg-type]

    def united(self) -> Node:
        """The union of a set for every whole number of a range, as a set by that condition.

        Nothing is worked out in it: it equals the same union over another letter.
        """
        self.next()
        run, body = self.over_a_range(self.ratio)
        return BuiltSet(Union((body,)), (run,))

    def over_a_range(self, read: Callable[[], Node]) -> tuple[Relation, Node]:
        """A variable between its bounds, low ≤ k ≤ high, and what is read behind them."""
        self.expect("_")
        self.expect("{")
        self.down()
        index = self.index()
        self.bound.append(index)
        range_ = self.statement()
        self.expect("}")
        high = self.end_of_range() if self.take("^") else None
        body = read()
        self.bound.pop()
        self.up()
        match range_:
            case Relation((Symbol(name) as variable, low), ("=",)) if name == index and high:
                return Relation((low, variable, high), ("≤", "≤")), body
            case Relation((_, Symbol(name), _), ("≤", "≤")) if name == index and high is None:
                return range_, body
            case Relation((Symbol() as variable, NamedSet("Z")), ("∈",)) if high is None:
                return Relation((negated(_INFINITY), variable, _INFINITY), ("≤", "≤")), body
        raise Unreadable("a sum without bounds that are understood")

    def index(self) -> str:
        """The name of the variable that runs: before the equals sign, or between two ≤."""
        ahead = 0
        while self.peek(ahead).kind not in ("=", "≤", "∈", "}", END.kind):
            ahead += 1
        place = ahead + 1 if self.peek(ahead).kind == "≤" else ahead - 1
        token = self.peek(place)
        if token.kind != "letters" or len(token.text) != 1:
            raise Unreadable("a sum over something else than one letter")
        return token.text

    def end_of_range(self) -> Node:
        """A bound: a group or a single atom, since what follows it is another bound."""
        if self.kind() == "{":
            return self.group()
        negative = self.take("-")
        node = self.atom()
        return negated(node) if negative else node

    def body(self) -> Node:
        """What an operator is applied to: a term with its sign."""
        return self.signed_term()

    # ---- integrals

    def integral(self, signs: int) -> Node:
        """An integral, or as many of them as there are signs, the inner one first."""
        low = high = None
        while self.kind() in ("_", "^"):
            if self.next().kind == "_":
                low = self.end_of_range()
            else:
                high = self.end_of_range()
        if (low is None) != (high is None) or (signs > 1 and low is not None):
            raise Unreadable("an integral with bounds that are not understood")
        known = len(self.differentials)
        self.integrals += 1
        terms = [self.signed_term()]
        while len(self.differentials) < known + signs and self.kind() in ("+", "-"):
            terms.append(self.signed_term())
        self.integrals -= 1
        node = terms[0] if len(terms) == 1 else Sum(tuple(terms))
        for _ in range(signs):
            if len(self.differentials) == known:
                raise Unreadable("an integral without a differential")
            node = Integral(node, Symbol(self.differentials.pop(known)), low, high)
        return node

    # ---- derivatives

    def derivative(self) -> Node | None:
        """A quotient of differentials, applied to what stands above or behind; None for others."""
        if self.kind() != "{" or not self.starts_differential(1):
            return None
        below = self.closing_brace() + 1
        if self.peek(below).kind != "{" or not self.starts_differential(below + 1):
            return None
        self.next()
        self.down()
        self.differential_sign()
        order = self.order()
        inside = None if self.kind() == "}" else self.sum()
        self.expect("}")
        self.expect("{")
        self.differential_sign()
        name = self.variable()
        if name is None or self.order() != order:
            raise Unreadable("a derivative by what is not understood")
        self.expect("}")
        node = Derivative(self.body() if inside is None else inside, Symbol(name), order)
        self.up()
        return node

    def starts_differential(self, ahead: int) -> bool:
        """Whether a token ahead is a sign of differentials: d, dx or ∂."""
        token = self.peek(ahead)
        if token.kind == "command":
            return token.text == "partial"
        return token.kind == "letters" and token.text[0] == "d" and len(token.text) <= 2  # noqa: PLR2004

    def differential_sign(self) -> None:
        """Take the sign, and leave the letter behind it when both are one run."""
        if self.kind() == "letters":
            self.next_character()
        else:
            self.next()

    def order(self) -> int:
        """The order of a derivative: the number raised behind a differential, else 1."""
        if not self.take("^"):
            return 1
        node = self.argument()
        if not isinstance(node, Number) or not 1 <= node.value <= _ORDERS:
            raise Unreadable("a derivative of an order that is not understood")
        return int(node.value)

    def closing_brace(self) -> int:
        """How far ahead the brace closes that comes next."""
        ahead = depth = 0
        while True:
            kind = self.peek(ahead).kind
            depth += {"{": 1, "}": -1, END.kind: -depth}.get(kind, 0)
            if depth <= 0:
                return ahead
            ahead += 1

    # ---- limits

    def limit(self) -> Node:
        """A limit, from one side when a sign is raised behind the point."""
        self.expect("_")
        if self.kind() != "{":
            raise Unreadable("a limit without its point")
        self.next()
        name = self.variable()
        if name is None or not self.command(*_ARROWS):
            raise Unreadable("a limit without its point")
        self.next()
        self.down()
        point, side = self.sum(), self.side()
        self.expect("}")
        node = Limit(self.body(), Symbol(name), point, side)
        self.up()
        return node

    def side(self) -> str:
        """The sign raised behind a point, if there is one."""
        if not self.side_follows():
            return ""
        self.next()
        braced = self.take("{")
        sign = self.next().kind
        if braced:
            self.expect("}")
        return sign
