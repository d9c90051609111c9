"""The traits of an expression, found in one walk before anything is computed.

The traits decide which means are fit for two expressions, and make the points at which they are
evaluated depend on both. So nobody can write an answer that agrees with a reference at these points
alone.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Final

from reward_functions.symbolic.budget import OverBudget, Unreadable
from reward_functions.symbolic.exact.rational import rational
from reward_functions.symbolic.expr import functions
from reward_functions.symbolic.expr.names import WHOLE, indexed_by
from reward_functions.symbolic.expr.nodes import (
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
from reward_functions.symbolic.expr.traversal import parts
from reward_functions.symbolic.numeric.conventions import INTEGER_LETTERS, whole_names

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

NODES: Final = 500
"""Nodes of two expressions that are evaluated. A page-wide formula has about a hundred."""

_SEED: Final = (1 << 61) - 1
_STEP: Final = 6364136223846793005
"""The multiplier of a common linear congruential generator; any odd number of its size will do."""

_WAVES: Final = functions.named(functions.WAVE)
_I: Final = Constant("i")
_PI: Final = Constant("π")


class Traits:
    """The traits of the trees that were walked.

    Attributes:
        variables: the names of the free variables, in order of appearance, with the trees that
            each stands in: 1 for the first, 2 for the second, 3 for both.
        counting: those of them that run through the natural numbers, see `conventions`.
        counted: the names in factorials, binomial coefficients and bounds of sums, with the trees.
        integer_step: an n above a negative number, and what has a common divisor, likewise.
        turning: an n in an angle that is a multiple of π, likewise.
        integrality_sensitive: the names on which a function depends that takes other values between
            whole numbers than at them, likewise.
        literals: the rational numbers written, and the powers of them.
        digits: how many digits they are written with.
        jumps: whether a function with steps is applied to a variable.
        piecewise: whether the expression may follow different formulas in different places, or
            have a domain with an end.
        imaginary: whether it has i, or a function of complex numbers.
        moduli: whether it has a function that is not analytic: a modulus, a part, a conjugate.
        mixed_roots: whether a power has an odd root that may be read in two ways.
        bare_logs: whether a logarithm has no base.
        seed: a number that depends on everything.
    """

    __slots__ = (
        "bare_logs", "bound", "counted", "counting", "digits", "imaginary", "integer_step",
        "integrality_sensitive", "jumps",
        "literals", "mixed_roots", "moduli", "nodes", "piecewise", "seed", "tree",
        "turning", "variables",
    )  # fmt: skip

    def __init__(self, *trees: Node) -> None:
        self.variables: dict[str, int] = {}
        self.counted: dict[str, int] = {}
        self.integer_step: dict[str, int] = {}
        self.turning: dict[str, int] = {}
        self.integrality_sensitive: dict[str, int] = {}
        self.literals: list[Fraction] = []
        self.bound: list[str] = []
        self.nodes = self.digits = self.seed = 0
        self.jumps = self.piecewise = self.imaginary = self.mixed_roots = self.bare_logs = False
        self.moduli = False
        self.tree = 1
        for tree in trees:
            self.walk(tree)
            self.tree <<= 1
        self.counting = whole_names(
            self.counted, self.integer_step, self.turning, self.integrality_sensitive
        ) | ({WHOLE} & self.variables.keys())

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
        self.mix(node.value.numerator * 3 + node.value.denominator)
        self.literals.append(node.value)
        self.digits += _digits(node.value)

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
        self.piecewise = True
        self.walk(node.index)
        self.walk(node.radicand)

    def suffixed(self, node: Percent | Degrees) -> None:
        """A value with a sign after it."""
        self.mix(5)
        self.walk(node.body)

    def based(self, node: Based) -> None:
        """A numeral in a base."""
        self.mix(int(node.digits.replace(".", ""), node.base))

    def matrix(self, node: Matrix) -> None:
        """The entries of a determinant."""
        for row in node.rows:
            self.walk_all(row)

    @property
    def one_reading(self) -> bool:
        """Whether nothing in the trees is ambiguous, or a complex number."""
        return not (self.imaginary or self.mixed_roots or self.bare_logs)

    @property
    def for_whole_numbers(self) -> bool:
        """Whether an answer has a meaning for whole numbers only, and the reference for others."""
        return not self.counted.keys() <= self.counting

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
            if not isinstance(exponent, Number):
                self.digits += _digits(value)
            constant = rational(node)
            if constant is not None:
                self.literals.append(constant)
            self.piecewise = self.piecewise or value.denominator > 1
            self.mixed_roots = self.mixed_roots or value.denominator % 2 == 1 < value.denominator
        else:
            if base == _I or _negative(base):
                self.note(self.integer_step, _free(exponent) & INTEGER_LETTERS)
            if _turns(base, exponent):
                self.note(self.integrality_sensitive, _free(exponent))

    def applied(self, node: Apply) -> None:
        """The traits that the application of a function shows of its arguments."""
        name, arguments = node.name, node.arguments
        self.mix(hashed(name))
        self.walk_all(arguments)
        traits = functions.traits_of(name)
        if functions.COUNTING in traits:
            self.note(self.counted, _free(node))
        if functions.DIVIDING in traits:
            self.note(self.integer_step, _free(node))
        if functions.DIVIDING in traits or functions.WAVE in traits:
            self.note(self.integrality_sensitive, _free(node))
        if functions.WAVE in traits and _PI in parts(node) and _free(node) <= INTEGER_LETTERS:
            self.note(self.turning, _free(node))
        self.jumps = self.jumps or (functions.STEPS in traits and bool(_free(node)))
        self.piecewise = self.piecewise or functions.PIECEWISE in traits
        self.imaginary = self.imaginary or functions.COMPLEX in traits
        self.moduli = self.moduli or functions.MODULUS in traits
        self.bare_logs = self.bare_logs or name == "log"

    def note(self, where: dict[str, int], names: set[str]) -> None:
        """Remember that free names stand somewhere in the tree that is walked."""
        for name in names.difference(self.bound):
            where[name] = where.get(name, 0) | self.tree

    def iterated(self, node: Iterated) -> None:
        """The bound variable of a sum is none of the expression's; those in its bounds count."""
        self.walk_all((node.low, node.high))
        self.note(self.counted, _free(node.low) | _free(node.high))
        self.bound.append(node.variable.name)
        self.walk(node.body)
        self.bound.pop()


_RULES: Final[dict[type, Callable[[Traits, Any], None]]] = {
    Number: Traits.number,
    Symbol: Traits.symbol,
    Constant: Traits.constant,
    Sum: Traits.sum,
    Product: Traits.product,
    Power: Traits.power,
    Root: Traits.root,
    Apply: Traits.applied,
    Percent: Traits.suffixed,
    Degrees: Traits.suffixed,
    Based: Traits.based,
    Iterated: Traits.iterated,
    Matrix: Traits.matrix,
}


def _digits(value: Fraction) -> int:
    """The digits of a fraction, or one more."""
    return (value.numerator.bit_length() + value.denominator.bit_length()) * 3 // 10 + 1


def hashed(name: str) -> int:
    """A number for a name, the same in every process."""
    return int.from_bytes(name.encode())


def _negative(node: Node) -> bool:
    """Whether a base is a negative number: -1, -3/2."""
    match node:
        case Number(value) | Product((Number(value), *_)):
            return value < 0
    return False


def _turns(base: Node, exponent: Node) -> bool:
    """Whether a power of a constant goes around zero with its exponent: (-1)^n, e^(iπn)."""
    if _free(base):
        return False
    signs = any(
        part == _I
        or (isinstance(part, Number) and part.value < 0)
        or (isinstance(part, Apply) and part.name in _WAVES)
        for part in parts(base)
    )
    return signs or _I in parts(exponent)


def _free(node: Node) -> set[str]:
    """The names of the symbols of a tree."""
    match node:
        case Symbol(name):
            return {name}
        case Sum(inner) | Apply(_, inner):
            return set().union(*map(_free, inner))
        case Product(over, under):
            return set().union(*map(_free, (*over, *under)))
        case Power(first, second) | Root(first, second):
            return _free(first) | _free(second)
        case Iterated(_, body, variable, low, high):
            return _free(body) - {variable.name} | _free(low) | _free(high)
        case Percent(body) | Degrees(body):
            return _free(body)
    return set()
