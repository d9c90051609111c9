"""Functions of mathematics, and what evaluates trees."""

import math
from fractions import Fraction

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


def rounded(value):
    value = complex(value)
    return complex(round(value.real, DIGITS), round(value.imag, DIGITS))


def valued_tree(tree, numbers=COMPLEX, **variables):
    """What our own arithmetic says."""
    point = {name: numbers.rational(Fraction(value)) for name, value in variables.items()}
    return rounded(Evaluation(numbers, point, Work(), Interpretation()).value(tree)[0])


def number(value):
    return Number(Fraction(str(value)))


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
    "symbolic.numeric.traits:_RULES": Rows(
        placed("symbolic.numeric.traits:_RULES", walked),
        {kind: noted for kind, (_, noted) in SHOWN.items()},
    ),
}
