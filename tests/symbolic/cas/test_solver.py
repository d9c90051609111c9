"""What sympy decides, where it is asked at all, and that "equal" is proved."""

import pytest

from reward_functions.symbolic import Outcome, equal
from reward_functions.symbolic.budget import DEPTH
from reward_functions.symbolic.cas.admission import NODES, admitted
from reward_functions.symbolic.cas.client import CLIENT
from reward_functions.symbolic.expr.nodes import Derivative, Integral, Iterated, Limit, Symbol
from reward_functions.symbolic.expr.traversal import free_names, operations, parts
from reward_functions.symbolic.parsing.document import read
from reward_functions.symbolic.parsing.parser import parse


def tree(text):
    return text if not isinstance(text, str) else parse(text)


def integral(body, low=None, high=None, over="x"):
    ends = [None if end is None else tree(end) for end in (low, high)]
    return Integral(tree(body), Symbol(over), *ends)


def total(body, low, high, over="k", operation="sum"):
    return Iterated(operation, tree(body), Symbol(over), tree(low), tree(high))


def limit(body, over, point, side=""):
    return Limit(tree(body), Symbol(over), tree(point), side)


def derivative(body, order=1):
    return Derivative(tree(body), Symbol("x"), order)


def found(reference, candidate):
    return CLIENT.compare(tree(reference), tree(candidate))


EQUAL = [
    (integral("x", "0", "1"), r"\frac12"),
    (integral(r"\sin^2 x", "0", r"\pi"), r"\frac{\pi}{2}"),
    (integral(r"e^{-x^2}", r"-\infty", r"\infty"), r"\sqrt{\pi}"),
    (integral(r"\frac{\sin x}{x}", "0", r"\infty"), r"\frac{\pi}{2}"),
    (integral(r"x^2 e^{-x}", "0", r"\infty"), "2"),
    (integral(r"\tan x", "0", r"\frac{\pi}{4}"), r"\frac{\ln 2}{2}"),
    (integral(integral("xy", "0", "1"), "0", "1", over="y"), r"\frac14"),
    (integral("e^{-ax}", "0", r"\infty"), r"\frac1a"),
    (integral("e^{t^3}", "0", "1", over="t"), integral("e^{x^3}", "0", "1")),
    (total("k", "1", "n"), r"\frac{n(n+1)}{2}"),
    (r"\frac{n(n+1)}{2}", total("k", "1", "n")),
    (total(r"\frac{1}{k^2}", "1", r"\infty"), r"\frac{\pi^2}{6}"),
    (total("x^k", "0", r"\infty"), r"\frac{1}{1-x}"),
    (total("x^k", "0", "n"), r"\frac{1-x^{n+1}}{1-x}"),
    (total(r"\binom{n}{k}", "0", "n"), "2^n"),
    (total("k", "1", "n", operation="prod"), "n!"),
    (total("k", "3", "1"), "0"),
    (total("k", "3", "1", operation="prod"), "1"),
    (limit(r"\frac{\sin x}{x}", "x", "0"), "1"),
    (limit(r"(1+\frac1n)^n", "n", r"\infty"), "e"),
    (limit(r"\frac1x", "x", "0", "+"), r"\infty"),
    (derivative(r"x^2 \sin x"), r"2x\sin x + x^2\cos x"),
    ("2x", derivative("x^2")),
    (derivative(r"\ln x", 2), r"-\frac{1}{x^2}"),
    (derivative("5"), "0"),
]


@pytest.mark.parametrize(("reference", "candidate"), EQUAL)
def test_calculus_equals_its_value(reference, candidate):
    assert found(reference, candidate).equal


NOT_EQUAL = [
    (integral("x", "0", "1"), r"\frac13"),
    (integral("x", "0", "1"), "0.5000001"),
    (integral(r"\frac{1}{x^2}", "-1", "1"), "-2"),
    (integral(r"\frac1x", "-1", "1"), "0"),
    (total("k", "1", "n"), r"\frac{n(n-1)}{2}"),
    (total(r"\frac1k", "1", r"\infty"), "5"),
    (r"\frac{1}{1-x}", total("x^k", "0", r"\infty")),  # which has no value where |x| > 1
    (limit(r"\frac1x", "x", "0"), r"\infty"),
    (limit(r"\frac{|x|}{x}", "x", "0"), "1"),
    (limit(r"\frac1x", "x", "0", "-"), r"\infty"),
    (limit(r"\sin x", "x", r"\infty"), "0"),
    (derivative("x^3"), "3x"),
    (derivative("y"), "0"),  # dy/dx, where y is some function
]


@pytest.mark.parametrize(("reference", "candidate"), NOT_EQUAL)
def test_other_values_are_not_equal(reference, candidate):
    assert not found(reference, candidate).equal


ANTIDERIVATIVES = [
    (integral("x e^x"), "x e^x - e^x + C", True),
    (integral(r"\frac1x"), r"\ln|x| + K", True),
    (integral(r"2\sin x\cos x"), r"-\cos^2 x + C", True),
    (integral("e^{ax}"), r"\frac{e^{ax}}{a} + C", True),
    (integral("2x"), "x^2 + 7 + C", True),
    ("x^2 + C", integral("2x"), True),
    (integral("2x"), integral("2x"), True),
    (r"\sin^2 x + C", r"-\cos^2 x + c", True),
    (integral("2x"), "x^2", False),
    ("x^2", integral("2x"), False),
    (integral("2x"), "x^2 + x", False),
    (integral("2x"), "x^3 + C", False),
    (integral("2x"), "Cx^2", False),
]


@pytest.mark.parametrize(("reference", "candidate", "right"), ANTIDERIVATIVES)
def test_an_integral_without_ends_asks_for_a_constant(reference, candidate, right):
    assert found(reference, candidate).equal is right


EQUATIONS = [
    ("x^2=1", "x=1", Outcome.DIFFERENT),
    ("x^2=1", r"x=\pm 1", Outcome.EQUAL),
    ("x^2=1", r"\{1,-1\}", Outcome.EQUAL),
    ("x^2=1", "1, 1", Outcome.UNDECIDED),
    ("x^2=1", r"\{1,-1,2\}", Outcome.UNDECIDED),
    ("x^2=2", r"x=\sqrt2, x=-\sqrt2", Outcome.EQUAL),
    ("x^2=2", r"x=\pm\sqrt3", Outcome.DIFFERENT),
    ("x^2=1", r"y=\pm 1", Outcome.UNDECIDED),
    (r"x=\pm 1", "x^2=1", Outcome.UNDECIDED),  # still to be solved
    ("(x-1)^2=0", "x=1", Outcome.EQUAL),
    ("x^3-8=0", "x=2", Outcome.UNDECIDED),  # the only real solution, not the only one
    ("(x+y)^2=0", "x+y=0", Outcome.EQUAL),
    ("xy=1", r"y=\frac1x", Outcome.EQUAL),
    (r"\frac{x}{y}=2", "x=2y", Outcome.UNDECIDED),  # which is also true of 0, 0
    ("x^2+y^2=4", "x^2+y^2=5", Outcome.UNDECIDED),
    ("x^2-5x+6=0", "x^2-6x+8=0", Outcome.DIFFERENT),
    ("6=5", "7=5", Outcome.DIFFERENT),  # which contradicts itself
    (r"\sin x=1", r"2\sin x=2", Outcome.EQUAL),
    (r"\sin x=1", r"\cos x=0", Outcome.UNDECIDED),
]


@pytest.mark.parametrize(("reference", "candidate", "outcome"), EQUATIONS)
def test_every_solution_is_required_and_none_extra(reference, candidate, outcome):
    assert found(*(read(side).tree for side in (reference, candidate))).outcome is outcome


def test_the_last_tier_is_reached():
    verdict = equal("x^2=1", "x=1")
    assert (verdict.outcome, verdict.rule) == (Outcome.DIFFERENT, "equation")
    assert equal("x^2=1", "x=1", solver=False).outcome is Outcome.UNDECIDED


def test_letters_do_not_matter_to_the_engine():
    for name in ("x", "I", "E", "S", "lambda", "__import__('os')", "\\"):
        reference = Integral(Symbol(name), Symbol(name), tree("0"), tree("1"))
        assert found(reference, r"\frac12").equal


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("9^{9^{9^9}}", "bits"),
        ("(1+x)^{10000000}", "exponent"),
        ("10000000!", "factorial"),
        (r"\binom{100000}{50000}", "factorial or binomial"),
    ],
)
def test_what_would_be_computed_on_sight_is_refused(body, why):
    assert why in found(integral(body), "1").reason


@pytest.mark.parametrize(
    "reference",
    [
        total(r"\sin k", "1", "1000000000"),
        derivative("x^x", 1000),
        total("k", r"\frac12", "3"),
        integral(r"\frac{1}{0}", "0", "1"),
        integral("\\sin" * (DEPTH // 4) + " x", "0", "1"),
        limit(r"\left(1+\frac1n\right)^{n^n}", "n", r"\infty"),
    ],
)
def test_what_is_out_of_reach_is_not_equal(reference):
    assert not found(reference, "1").equal


PLAIN = ["5", r"\frac12", r"\sqrt2 + \pi", "(1,2)", r"\{1,2\}", "x>2", "x+1", "y=2x"]
HOSTILE = [
    integral(integral(integral("e^{xyz}", over="x"), over="y"), over="z"),
    total(r"\sin k", "1", "1000000000"),
    limit(r"\left(1+\frac1n\right)^{n^n}", "n", r"\infty"),
    total(total(r"\frac{1}{i^2+j^2}", "1", "100000", over="i"), "1", "100000", over="j"),
    "x^5-x-1=0",
]


@pytest.mark.parametrize("reference", PLAIN)
@pytest.mark.parametrize("candidate", HOSTILE)
def test_a_hostile_answer_to_a_plain_reference_never_reaches_the_engine(reference, candidate):
    assert not admitted(tree(reference), tree(candidate))


def test_the_engine_is_asked_for_what_the_reference_asks():
    assert admitted(integral("x", "0", "1"), tree("0.5"))
    assert admitted(tree("2x"), derivative("x^2"))
    assert admitted(tree("x^2=1"), tree("x=1"))
    assert admitted(integral("2x"), tree("x^2+C"))
    assert not admitted(integral("x", "0", "1"), tree("ab"))
    assert not admitted(tree("x^2+1"), tree(r"\sin x"))
    assert not admitted(tree("x^2=1"), tree("y=1"))
    assert not admitted(tree("x+y=1"), tree("1"))
    assert not admitted(tree("6=5"), tree("7=5"))
    assert not admitted(tree(r"\int_0^1 e^{xy}dx, R=1"), tree("y=2"))
    assert not admitted(integral("x", "0", "1"), tree("+".join(["\\sqrt2"] * (NODES // 2))))
    assert not admitted(integral("x", "0", "1"), integral(integral(integral(integral("x")))))


def test_bound_variables_are_not_free():
    assert free_names(total("k a", "1", "n")) == {"a", "n"}
    assert free_names(integral("x", "0", "1")) == set()
    assert free_names(integral("x")) == free_names(derivative("x")) == {"x"}
    assert free_names(total("k", "k", "3")) == {"k"}
    assert operations(integral(integral("xy"), over="y")) == 2
    assert len(list(parts(tree(r"\begin{pmatrix} 1 & x \\ 2 & y \end{pmatrix}")))) == 5
