"""Functions of mathematics, and what evaluates trees."""

import cmath
import math
from fractions import Fraction

import sympy

from reward_functions.symbolic.budget import Work
from reward_functions.symbolic.cas import protocol
from reward_functions.symbolic.expr.nodes import (
    Apply,
    Based,
    Constant,
    Degrees,
    Iterated,
    Matrix,
    Number,
    Percent,
    Power,
    Product,
    Root,
    Sum,
    Symbol,
)
from reward_functions.symbolic.numeric.ball_double import COMPLEX, REAL
from reward_functions.symbolic.numeric.evaluate import Evaluation, Interpretation
from reward_functions.symbolic.numeric.traits import Traits
from tests.architecture.called.rows import Rows, placed

DIGITS = 10

LOW, HIGH, TURNED = 0.3, 1.5, 3 + 4j

VALUES = {
    # what a table of mathematics has, at a point that tells a function from the others
    "sin": (LOW, math.sin(LOW)),
    "cos": (LOW, math.cos(LOW)),
    "tan": (LOW, math.tan(LOW)),
    "cot": (LOW, 1 / math.tan(LOW)),
    "sec": (LOW, 1 / math.cos(LOW)),
    "csc": (LOW, 1 / math.sin(LOW)),
    "arcsin": (LOW, math.asin(LOW)),
    "arccos": (LOW, math.acos(LOW)),
    "arctan": (LOW, math.atan(LOW)),
    "arccot": (LOW, math.atan(1 / LOW)),
    "arcsec": (HIGH, math.acos(1 / HIGH)),
    "arccsc": (HIGH, math.asin(1 / HIGH)),
    "sinh": (LOW, math.sinh(LOW)),
    "cosh": (LOW, math.cosh(LOW)),
    "tanh": (LOW, math.tanh(LOW)),
    "coth": (LOW, 1 / math.tanh(LOW)),
    "sech": (LOW, 1 / math.cosh(LOW)),
    "csch": (LOW, 1 / math.sinh(LOW)),
    "arcsinh": (LOW, math.asinh(LOW)),
    "arccosh": (HIGH, math.acosh(HIGH)),
    "arctanh": (LOW, math.atanh(LOW)),
    "ln": (LOW, math.log(LOW)),
    "log": (LOW, math.log(LOW)),
    "exp": (LOW, math.exp(LOW)),
    "abs": (-HIGH, HIGH),
    "sgn": (-2.5, -1.0),
    "floor": (-HIGH, -2.0),
    "ceil": (HIGH, 2.0),
    "factorial": (4, 24.0),
    "re": (TURNED, 3.0),
    "im": (TURNED, 4.0),
    "conj": (TURNED, 3 - 4j),
    "arg": (TURNED, math.atan2(4, 3)),
    "cis": (LOW, cmath.exp(LOW * 1j)),
    "log_": ((2, 8), 3.0),
    "binom": ((5, 2), 10.0),
    "max": ((8, 12), 12.0),
    "min": ((8, 12), 8.0),
    "gcd": ((8, 12), 4.0),
    "lcm": ((8, 12), 24.0),
}


def points(name):
    point = VALUES[name][0]
    return point if isinstance(point, tuple) else (point,)


def rounded(value):
    value = complex(value)
    return complex(round(value.real, DIGITS), round(value.imag, DIGITS))


def valued(*names):
    return {name: rounded(VALUES[name][1]) for name in names}


def ball(value):
    """A number in double arithmetic."""
    real, imaginary = (COMPLEX.rational(Fraction(str(part))) for part in (value.real, value.imag))
    if not value.imag:
        return real
    return COMPLEX.add(real, COMPLEX.multiply(COMPLEX.constant("i"), imaginary))


def valued_tree(tree, numbers=COMPLEX, **variables):
    """What our own arithmetic says."""
    point = {name: numbers.rational(Fraction(value)) for name, value in variables.items()}
    return rounded(Evaluation(numbers, point, Work(), Interpretation()).value(tree)[0])


def number(value):
    return Number(Fraction(str(value)))


def applied(name):
    return Apply(name, tuple(map(number, points(name))))


def of_sympy(name, function):
    return rounded(function(*(sympy.Float(str(each), 20) for each in points(name))))


def derived(name, function):
    return rounded(function(COMPLEX, *map(ball, points(name)))[0])


def node_kind(name, kind):
    """The name that a node has on the wire, whatever its fields hold; and it comes back."""
    bare = object.__new__(kind)
    for field in kind.__slots__:
        object.__setattr__(bare, field, "x")
    packed = protocol._packed(bare)
    return packed[0], type(protocol._unpacked(packed)).__name__, name


NODES = (
    "Number Symbol Constant Sum Product Power Root Apply Signed Iterated Integral Derivative Limit "
    "Percent Degrees Measured Based Listing Bracket Braces Union BuiltSet NamedSet Matrix Relation "
    "Congruence Piecewise Given Ratio Clock Date"
).split()

X, Y, K, N = map(Symbol, "xykn")
TWO, THREE = number(2), number(3)

TREES = {
    Number: (number(2.5), 2.5),
    Symbol: (X, 7),
    Constant: (Constant("π"), math.pi),
    Sum: (Sum((TWO, THREE)), 5),
    Product: (Product((TWO,), (number(4),)), 0.5),
    Power: (Power(TWO, THREE), 8),
    Root: (Root(THREE, number(8)), 2),
    Apply: (Apply("floor", (number(2.5),)), 2),
    Percent: (Percent(number(50)), 0.5),
    Degrees: (Degrees(number(180)), math.pi),
    Based: (Based("101", 2, 5), 5),
    Iterated: (Iterated("sum", K, K, TWO, number(4)), 9),
}


def evaluated(kind):
    return valued_tree(TREES[kind][0], x=7)


SHOWN = {
    # a tree, and what a walk through it notes beside its names: its nodes, its digits, its traits
    Number: (number(2.5), (1, 2, "literals")),
    Symbol: (X, (1, 0, "variables")),
    Constant: (Constant("i"), (1, 0, "imaginary")),
    Sum: (Sum((X, Y)), (3, 0, "variables")),
    Product: (Product((X,), (X, Y)), (4, 0, "variables")),
    Power: (Power(X, Constant("e")), (3, 0, "variables")),
    Root: (Root(X, Y), (3, 0, "piecewise variables")),
    Apply: (Apply("log", (X,)), (2, 0, "bare_logs piecewise variables")),
    Percent: (Percent(X), (2, 0, "variables")),
    Degrees: (Degrees(Y), (2, 0, "variables")),
    Based: (Based("101", 2, 5), (1, 0, "")),
    Iterated: (Iterated("sum", K, K, X, N), (4, 0, "counted counting variables")),
    Matrix: (Matrix(((X, Y), (X, Y))), (5, 0, "variables")),
}

NOTED = set(Traits.__slots__) - {"nodes", "digits", "seed", "tree"}


def walked(kind):
    found = Traits(SHOWN[kind][0])
    assert found.seed or kind is Matrix, "the points depend on every kind of node but a matrix"
    return found.nodes, found.digits, " ".join(sorted(n for n in NOTED if getattr(found, n)))


ROWS = {
    "symbolic.cas.to_sympy:_FUNCTIONS": Rows(
        of_sympy,
        valued(
            *"sin cos tan cot sec csc arcsin arccos arctan arcsec arccsc arcsinh arccosh arctanh "
            "sinh cosh tanh coth sech csch ln log exp abs sgn floor ceil max min".split()
        ),
    ),
    "symbolic.cas.to_sympy:_CONSTANTS": Rows(
        lambda _, value: str(value), {"π": "pi", "e": "E", "i": "I", "∞": "oo"}
    ),
    "symbolic.cas.protocol:_KINDS": Rows(node_kind, {name: (name, name, name) for name in NODES}),
    "symbolic.numeric.ball_double:_CONSTANTS": Rows(
        placed(
            "symbolic.numeric.ball_double:_CONSTANTS",
            lambda name: valued_tree(Constant(name), REAL),
        ),
        {"π": rounded(math.pi), "e": rounded(math.e)},
    ),
    "symbolic.numeric.evaluate:_RULES": Rows(
        placed("symbolic.numeric.evaluate:_RULES", evaluated),
        {kind: rounded(value) for kind, (_, value) in TREES.items()},
    ),
    "symbolic.numeric.evaluate:_DERIVED": Rows(
        derived,
        valued(
            *"tan cot sec csc arccot arcsec arccsc tanh coth sech csch log_ ceil sgn re im conj "
            "arg cis".split()
        ),
    ),
    "symbolic.numeric.evaluate:_METHODS": Rows(
        placed("symbolic.numeric.evaluate:_METHODS", lambda name: valued_tree(applied(name))),
        valued(
            *"sin cos arcsin arccos arctan sinh cosh arcsinh arccosh arctanh ln exp floor "
            "factorial abs binom".split()
        ),
    ),
    "symbolic.numeric.evaluate:_OF_MANY": Rows(
        placed("symbolic.numeric.evaluate:_OF_MANY", lambda name: valued_tree(applied(name))),
        valued("gcd", "lcm", "max", "min"),
    ),
    "symbolic.numeric.traits:_RULES": Rows(
        placed("symbolic.numeric.traits:_RULES", walked),
        {kind: noted for kind, (_, noted) in SHOWN.items()},
    ),
}
