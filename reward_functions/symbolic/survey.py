"""What stands in an expression, found in one walk before anything is computed.

The survey decides which means are fit for two expressions, and makes the points at which they are
evaluated depend on both: nobody can write an answer that agrees with a reference at points that
depend on the answer.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Final

from reward_functions.symbolic.limits import OverBudget, Unreadable
from reward_functions.symbolic.names import indexed_by
from reward_functions.symbolic.rational import rational
from reward_functions.symbolic.tree import (
    Apply,
    Based,
    Constant,
    Degrees,
    Iterated,
    Matrix,
    Node,
    Number,
    Percent,
    Power,
    Product,
    Root,
    Sum,
    Symbol,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

NODES: Final = 500
"""Nodes of two expressions that are evaluated. A page-wide formula has about a hundred."""

_SEED: Final = (1 << 61) - 1
_STEP: Final = 6364136223846793005
"""The multiplier of a common linear congruential generator; any odd number of its size will do."""

_JUMPING: Final = frozenset({"floor", "ceil", "sgn"})
_BENT: Final = frozenset("abs max min arcsin arccos arctan arccot ln log log_".split())
_COUNTING: Final = frozenset({"factorial", "binom", "gcd", "lcm"})
_COMPLEX: Final = frozenset({"re", "im", "conj", "arg", "cis"})
_INTEGER_LETTERS: Final = frozenset("nmkjlNMK")
_I: Final = Constant("i")


class Survey:
    """The findings about the trees that were walked.

    Attributes:
        variables: the names of the free variables, in order of appearance, with the trees that
            each stands in: 1 for the first, 2 for the second, 3 for both.
        counting: those of them that run through the natural numbers: they stand in a factorial, a
            binomial coefficient or the bound of a sum, or are an n above a negative number.
        literals: the rational numbers written, and the powers of them.
        digits: how many digits they are written with.
        jumps: whether a function with steps is applied to a variable.
        bent: whether the expression may follow different formulas in different places, or have a
            domain with an end.
        imaginary: whether it has i, or a function of complex numbers.
        mixed_roots: whether a power has an odd root that may be read in two ways.
        bare_logs: whether a logarithm has no base.
        seed: a number that depends on everything.
    """

    __slots__ = (
        "bare_logs", "bent", "bound", "counting", "digits", "imaginary", "jumps", "literals",
        "mixed_roots", "nodes", "seed", "tree", "variables",
    )  # fmt: skip

    def __init__(self, *trees: Node) -> None:
        self.variables: dict[str, int] = {}
        self.counting: set[str] = set()
        self.literals: list[Fraction] = []
        self.bound: list[str] = []
        self.nodes = self.digits = self.seed = 0
        self.jumps = self.bent = self.imaginary = self.mixed_roots = self.bare_logs = False
        self.tree = 1
        for tree in trees:
            self.walk(tree)
            self.tree <<= 1

    def walk(self, node: Node) -> None:
        """Take a tree into account. Raises `OverBudget` when there are too many nodes."""
        self.nodes += 1
        if self.nodes > NODES:
            raise OverBudget(f"more than {NODES} nodes to evaluate")
        rule = _RULES.get(type(node))
        if rule is not None:
            rule(self, node)

    def number(self, node: Number) -> None:
        """A literal."""
        above, below = node.value.numerator, node.value.denominator
        self.mix(above * 3 + below)
        self.literals.append(node.value)
        self.digits += (above.bit_length() + below.bit_length()) * 3 // 10 + 1

    def symbol(self, node: Symbol) -> None:
        """A variable, unless a sum binds it. Raises `Unreadable` for a term of a sequence."""
        self.mix(hashed(node.name))
        if self.bound and indexed_by(node.name, self.bound):
            raise Unreadable("a sequence is not evaluated")
        if node.name not in self.bound:
            self.variables[node.name] = self.variables.get(node.name, 0) | self.tree

    def constant(self, node: Constant) -> None:
        """A named constant."""
        self.mix(ord(node.name[0]))
        self.imaginary = self.imaginary or node.name == "i"

    def sum(self, node: Sum) -> None:
        """Terms."""
        self.mix(len(node.terms))
        self.walk_all(node.terms)

    def product(self, node: Product) -> None:
        """Factors above and below the bar."""
        self.mix(len(node.over) * 7 + 1)
        self.walk_all(node.over)
        self.walk_all(node.under)

    def root(self, node: Root) -> None:
        """A root, which may undo a power."""
        self.mix(4)
        self.bent = True
        self.walk(node.index)
        self.walk(node.radicand)

    def dressed(self, node: Percent | Degrees) -> None:
        """A value with a sign behind it."""
        self.mix(5)
        self.walk(node.body)

    def based(self, node: Based) -> None:
        """A numeral in a base."""
        self.mix(node.value)

    def matrix(self, node: Matrix) -> None:
        """The entries of a determinant."""
        for row in node.rows:
            self.walk_all(row)

    @property
    def one_reading(self) -> bool:
        """Whether nothing in the trees is ambiguous, or a complex number."""
        return not (self.imaginary or self.mixed_roots or self.bare_logs)

    @property
    def one_sided(self) -> bool:
        """Whether one tree has variables and another one has none."""
        trees = reduce(or_, self.variables.values(), 0)
        return trees != 0 and trees != self.tree - 1

    def walk_all(self, nodes: tuple[Node, ...]) -> None:
        """Take several trees into account."""
        for node in nodes:
            self.walk(node)

    def mix(self, number: int) -> None:
        """Let the seed depend on a number."""
        self.seed = ((self.seed ^ number) * _STEP + 1442695040888963407) % _SEED

    def power(self, node: Power) -> None:
        """A power: whether it has two readings, and whether its exponent counts."""
        self.mix(2)
        base, exponent = node.base, node.exponent
        self.walk(base)
        self.walk(exponent)
        value = rational(exponent)
        if value is not None:
            constant = rational(node)
            if constant is not None:
                self.literals.append(constant)
            self.bent = self.bent or value.denominator > 1
            self.mixed_roots = self.mixed_roots or value.denominator % 2 == 1 < value.denominator
        elif base == _I or _negative(base):
            self.counting |= _free(exponent) & _INTEGER_LETTERS

    def applied(self, node: Apply) -> None:
        """What the application of a function says about its arguments."""
        name, arguments = node.name, node.arguments
        self.mix(hashed(name))
        self.walk_all(arguments)
        if name in _COUNTING:
            self.counting |= {each for argument in arguments for each in _free(argument)}
        elif name in _JUMPING:
            self.jumps = self.jumps or bool(set().union(*map(_free, arguments)))
        elif name in _BENT:
            self.bent = True
        elif name in _COMPLEX:
            self.imaginary = True
        self.bare_logs = self.bare_logs or name == "log"

    def iterated(self, node: Iterated) -> None:
        """The bound variable of a sum is none of the expression's; those in its bounds count."""
        self.walk_all((node.low, node.high))
        self.counting |= _free(node.low) | _free(node.high)
        self.bound.append(node.variable.name)
        self.walk(node.body)
        self.bound.pop()


_RULES: Final[dict[type, Callable[[Survey, Any], None]]] = {
    Number: Survey.number,
    Symbol: Survey.symbol,
    Constant: Survey.constant,
    Sum: Survey.sum,
    Product: Survey.product,
    Power: Survey.power,
    Root: Survey.root,
    Apply: Survey.applied,
    Percent: Survey.dressed,
    Degrees: Survey.dressed,
    Based: Survey.based,
    Iterated: Survey.iterated,
    Matrix: Survey.matrix,
}


def hashed(name: str) -> int:
    """A number for a name, the same in every process."""
    return int.from_bytes(name.encode())


def _negative(node: Node) -> bool:
    """Whether a base is a negative number: -1, -3/2."""
    match node:
        case Number(value) | Product((Number(value), *_)):
            return value < 0
    return False


def _free(node: Node) -> set[str]:
    """The names of the symbols of a tree."""
    match node:
        case Symbol(name):
            return {name}
        case Sum(parts) | Apply(_, parts):
            return set().union(*map(_free, parts))
        case Product(over, under):
            return set().union(*map(_free, (*over, *under)))
        case Power(first, second) | Root(first, second):
            return _free(first) | _free(second)
        case Percent(body) | Degrees(body):
            return _free(body)
    return set()
