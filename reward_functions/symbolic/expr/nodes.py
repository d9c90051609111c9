"""The expression tree: small, immutable, and nothing but what was written.

    values      Number  Symbol  Constant  Sum  Product  Power  Root  Apply  Signed
    calculus    Iterated  Integral  Derivative  Limit
    marked      Percent  Degrees  Measured  Based
    collections Listing  Bracket  Braces  Union  BuiltSet  NamedSet  Matrix
    statements  Relation  Congruence  Ratio  Clock  Date  Piecewise  Given

A tree holds how an answer is written, not what it means: `(1,2)` is a `Bracket`, whether as a point
or as an interval is settled against the other side (`compare.dispatch`). Nodes compare by
structure.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final, get_args

from reward_functions.symbolic.expr.record import record


@record
class Number:
    """A rational literal; `unit` is the worth of its last digit when written with a point.

    1.50 has the unit 1/100, 8.7e8 the unit 10^7, an integer or a fraction none.
    """

    value: Fraction
    unit: Fraction | None = None


@record
class Symbol:
    """A variable with its decorations in its name: `x`, `x_1`, `f'`. Letter case matters."""

    name: str


@record
class Constant:
    """One of π, e, i, ∞."""

    name: str


@record
class Sum:
    """Terms added up; a subtraction is a term times minus one."""

    terms: tuple[Node, ...]


@record
class Product:
    """Factors above and below one bar: a / b / c · d is over (a, d), under (b, c)."""

    over: tuple[Node, ...]
    under: tuple[Node, ...] = ()


@record
class Power:
    """Base and exponent."""

    base: Node
    exponent: Node


@record
class Root:
    """The root of an index as a radical sign writes it: of an odd index, real for negatives."""

    index: Node
    radicand: Node


@record
class Apply:
    """A named function of its arguments: sin, ln, log (base, argument), abs, floor, factorial."""

    name: str
    arguments: tuple[Node, ...]


@record
class Signed:
    """±body, or ∓body when `flipped`: all the signs of an answer are chosen together."""

    body: Node
    flipped: bool = False


@record
class Iterated:
    """The sum or product (`operation` is "sum" or "prod") of the body for every whole `variable`.

    It runs from `low` to `high`, either of which may be any value; the variable is bound inside.
    """

    operation: str
    body: Node
    variable: Symbol
    low: Node
    high: Node


@record
class Integral:
    """The integral of the body over its bound variable; both ends are None when it has none."""

    body: Node
    variable: Symbol
    low: Node | None = None
    high: Node | None = None


@record
class Derivative:
    """The derivative of the body by a variable, so many times; ordinary and partial alike."""

    body: Node
    variable: Symbol
    order: int = 1


@record
class Limit:
    """The limit of the body where its bound variable goes to a point, which may be infinite.

    `side` is "+" from above, "-" from below, and empty from both.
    """

    body: Node
    variable: Symbol
    point: Node
    side: str = ""


@record
class Percent:
    """So many hundredths, written with a percent sign or word."""

    body: Node


@record
class Degrees:
    """An angle written in degrees."""

    body: Node


UnitPowers = tuple[tuple[str, Fraction], ...]
"""A product of units: canonical names with their powers, sorted."""


@record
class Measured:
    """A value with its unit."""

    body: Node
    unit: UnitPowers


@record
class Based:
    """A number with the base of its digits below it: 101_2, 0.11_2."""

    digits: str
    base: int
    value: int | Fraction


@record
class Listing:
    """Values side by side without brackets, with the word between them: "or", "and" or none."""

    items: tuple[Node, ...]
    word: str = ""


@record
class Bracket:
    """Two or more values between brackets: a point, a vector or an interval.

    `left` and `right` are "(", "[" or "<" and their partners as written.
    """

    left: str
    items: tuple[Node, ...]
    right: str


@record
class Braces:
    """A finite set; without members the empty set."""

    items: tuple[Node, ...]


@record
class Union:
    """Sets united, or taken away from the first when `minus`."""

    parts: tuple[Node, ...]
    minus: bool = False


@record
class BuiltSet:
    """The set of the `member` for which the conditions hold."""

    member: Node
    conditions: tuple[Node, ...]


@record
class NamedSet:
    """ℝ, ℤ, ℚ, ℕ, ℂ."""

    name: str


@record
class Matrix:
    """Rows of equal length. A determinant is an `Apply` of one."""

    rows: tuple[tuple[Node, ...], ...]


@record
class Relation:
    """A chain a < b ≤ c: one operator fewer than operands.

    Operators are "=", "≠", "<", "≤", ">", "≥", "≈", "∈", "∉" and "≡".
    """

    operands: tuple[Node, ...]
    operators: tuple[str, ...]


@record
class Congruence:
    """Two values that leave the same rest when divided by the modulus: x ≡ 3 (mod 7).

    The left one is None where only the rest is written: 3 (mod 7).
    """

    left: Node | None
    right: Node
    modulus: Node


@record
class Piecewise:
    """Values, each where its condition holds; the condition of "otherwise" is None."""

    branches: tuple[tuple[Node, Node | None], ...]


@record
class Given:
    """An answer, and the conditions after it under which it holds: x = kπ for integers k."""

    body: Node
    conditions: tuple[Node, ...]


@record
class Ratio:
    """Parts in proportion: 6 : 8."""

    parts: tuple[Node, ...]


@record
class Clock:
    """A time of day as written: minutes on the dial, "am", "pm" or nothing, and seconds."""

    minutes: int
    half: str = ""
    seconds: int = 0


@record
class Date:
    """A day as written, each part 0 where it is not stated; Monday is 1."""

    day: int = 0
    month: int = 0
    year: int = 0
    weekday: int = 0


Node = (
    Number
    | Symbol
    | Constant
    | Sum
    | Product
    | Power
    | Root
    | Apply
    | Signed
    | Iterated
    | Integral
    | Derivative
    | Limit
    | Percent
    | Degrees
    | Measured
    | Based
    | Listing
    | Bracket
    | Braces
    | Union
    | BuiltSet
    | NamedSet
    | Matrix
    | Relation
    | Congruence
    | Piecewise
    | Given
    | Ratio
    | Clock
    | Date
)

KINDS: Final[frozenset[type]] = frozenset(get_args(Node))
"""The classes of nodes."""
