"""The table of functions: each row is read, computed and given to sympy as one function."""

import math
from fractions import Fraction

import mpmath
import pytest
import sympy

from reward_functions.symbolic.budget import Unreadable, Work
from reward_functions.symbolic.cas import to_sympy
from reward_functions.symbolic.expr import functions
from reward_functions.symbolic.expr.functions import ANY, COMPLEX, FUNCTIONS, LETTERS
from reward_functions.symbolic.expr.nodes import Apply, Constant, Number, Product, Sum
from reward_functions.symbolic.numeric.ball_double import COMPLEX as COMPLEX_NUMBERS
from reward_functions.symbolic.numeric.ball_double import REAL
from reward_functions.symbolic.numeric.ball_mpmath import MpmathArithmetic
from reward_functions.symbolic.numeric.evaluate import Evaluation, Interpretation
from reward_functions.symbolic.parsing.document import read

HERE = "tests/symbolic/test_functions.py"

PLACES = {
    "arccosh": ("3/2", "2", "7"),
    "arccoth": ("3/2", "-2", "7"),
    **dict.fromkeys(("arcsec", "arccsc"), ("3/2", "-2", "7")),
    "factorial": ("0", "4", "7"),
    **dict.fromkeys(("abs", "sgn", "floor", "ceil"), ("5/3", "-2/5", "-7/2")),
}
"""Where a function is defined, if not at the usual places: one, two, three arguments of each."""

USUAL = ("1/3", "2/5", "6/7")

WAVES = "sin cos tan cot sec csc sinh cosh tanh coth sech csch".split()
EXPECTED = {
    **{name: getattr(mpmath, name) for name in WAVES},
    **{f"arc{name}": getattr(mpmath, f"a{name}") for name in WAVES},
    **{name: getattr(mpmath, name) for name in "exp ln re im conj arg floor ceil".split()},
    "factorial": mpmath.factorial,
    "binom": mpmath.binomial,
    "cis": lambda angle: mpmath.exp(1j * angle),
    "log": mpmath.ln,
    "log_": lambda base, value: mpmath.log(value, base),
    "abs": abs,
    "sgn": mpmath.sign,
    "max": lambda *values: max(values),
    "min": lambda *values: min(values),
    "gcd": lambda *values: math.gcd(*map(int, values)),
    "lcm": lambda *values: math.lcm(*map(int, values)),
}
"""What mpmath and Python call each function."""

ARGUMENTS = {
    "binom": (("7", "3"), ("1/2", "2"), ("-3", "2")),
    "log_": (("2", "1/3"), ("7/2", "5"), ("1/2", "6/7")),
    **dict.fromkeys(("max", "min"), (("1/3",), ("2", "1/2"), ("-1", "-2", "5/3"))),
    **dict.fromkeys(("gcd", "lcm"), (("6", "4"), ("9",), ("12", "18", "30"))),
}

COMPUTED = [row for row in FUNCTIONS if row.numeric is not None]
FORMS = {"doublefactorial", "sqrt", "lg", "det", "deg", "diag"}
"""What the parser turns into something else, another module works out, or its form decides."""

WITHOUT_SYMPY = set("arccot re im conj arg cis gcd lcm factorial binom".split())
"""What conventions disagree on, what is about complex numbers, and what needs a limit first."""


def points(row):
    places = PLACES.get(row.name, USUAL)
    known = row.arguments == 1 or row.name in ARGUMENTS
    assert known, f"add arguments of {row.name} to ARGUMENTS in {HERE}"
    return ARGUMENTS.get(row.name) or tuple((place,) for place in places)


def parts_of_two(row):
    """Whether the function is tried at complex numbers, two units in the direction of i."""
    return COMPLEX in row.traits and row.name != "cis"


def applied(row, values):
    arguments = tuple(Number(Fraction(value)) for value in values)
    if parts_of_two(row):
        two = Product((Number(Fraction(2)), Constant("i")), ())
        arguments = tuple(Sum((each, two)) for each in arguments)
    return Apply(row.name, arguments)


def expected(row, values):
    assert row.name in EXPECTED, f"add what mpmath calls {row.name} to EXPECTED in {HERE}"
    fractions = map(Fraction, values)
    numbers = [mpmath.mpf(each.numerator) / each.denominator for each in fractions]
    shift = mpmath.mpc(0, 2) if parts_of_two(row) else 0
    return complex(EXPECTED[row.name](*(each + shift for each in numbers)))


def computed(numbers, tree):
    value = Evaluation(numbers, {}, Work(10**6), Interpretation()).value(tree)
    return complex(value[0])


def in_sympy(tree):
    return complex(sympy.N(to_sympy.Conversion(tree).expression(tree)))


@pytest.mark.parametrize("row", COMPUTED, ids=lambda row: row.name)
def test_both_arithmetics_compute_the_function_of_the_name(row):
    doubles = COMPLEX_NUMBERS if COMPLEX in row.traits else REAL
    for numbers in (doubles, MpmathArithmetic(200, real=doubles.real)):
        for values in points(row):
            assert computed(numbers, applied(row, values)) == pytest.approx(expected(row, values))


@pytest.mark.parametrize(
    "row", [row for row in FUNCTIONS if row.sympy is not None], ids=lambda row: row.name
)
def test_sympy_computes_the_function_of_the_name(row):
    for values in points(row):
        assert in_sympy(applied(row, values)) == pytest.approx(expected(row, values))


def test_a_row_is_not_computed_for_a_known_reason_only():
    forms = {row.name for row in FUNCTIONS if row.numeric is None}
    assert forms == FORMS, f"FORMS in {HERE} says which rows are not computed"
    without = {row.name for row in COMPUTED if row.sympy is None}
    assert without == WITHOUT_SYMPY, f"WITHOUT_SYMPY in {HERE} says which rows sympy has not"


@pytest.mark.parametrize("asked", [points, lambda row: expected(row, ("1",))])
def test_a_function_that_nobody_expects_is_named_with_the_file(asked):
    acme = functions.BY_NAME["binom"]._replace(name="acme")
    with pytest.raises(AssertionError, match=r"acme to [A-Z]+ in tests/.*/test_functions\.py"):
        asked(acme)


def test_the_points_tell_each_function_from_every_other():
    shown = {}
    for row in COMPUTED:
        if row.name != "log":  # which is ln to us
            shown[row.name] = tuple((values, str(expected(row, values))) for values in points(row))
    assert len(set(shown.values())) == len(shown)


def test_a_name_and_a_spelling_have_one_function():
    spelled = [spelling for row in FUNCTIONS for spelling in {row.name, *row.spellings}]
    assert len(spelled) == len(set(spelled))
    assert {row.inverse for row in FUNCTIONS if row.inverse} <= functions.BY_NAME.keys()


@pytest.mark.parametrize("row", [row for row in COMPUTED if row.written], ids=lambda row: row.name)
def test_what_is_written_is_read_as_that_function(row):
    text = "(2, 3)" if row.arguments == ANY else "(2)"
    assert read(rf"\{row.name}{text}").tree.name == row.name
    if LETTERS in row.written:
        assert read(rf"\operatorname{{{row.name}}}{text}").tree.name == row.name
    for spelling in row.spellings:
        assert read(rf"\operatorname{{{spelling}}}{text}").tree.name == row.name
    if row.inverse:
        assert read(rf"\{row.name}^{{-1}}(2)").tree.name == row.inverse


@pytest.mark.parametrize("row", COMPUTED, ids=lambda row: row.name)
def test_a_function_with_too_many_arguments_is_not_computed(row):
    if row.arguments != ANY:
        four = Apply(row.name, (Number(Fraction(1)),) * 4)
        with pytest.raises(Unreadable, match="is not evaluated"):
            computed(REAL, four)
