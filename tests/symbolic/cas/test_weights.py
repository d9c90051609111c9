"""What a call weighs that is given large numbers: its count ends what the fuse used to end."""

import sys
from contextlib import contextmanager

import pytest
import sympy
from mpmath.libmp import from_int, mpf_exp
from sympy import ZZ, ring
from sympy.core import cache
from sympy.core.intfunc import igcd, integer_nthroot
from sympy.core.numbers import Integer, Rational
from sympy.ntheory import factorint, isprime, perfect_power
from sympy.ntheory.multinomial import multinomial_coefficients
from sympy.polys import densearith, densebasic, euclidtools

from reward_functions.symbolic import Outcome
from reward_functions.symbolic.cas import weights as module
from reward_functions.symbolic.cas.client import CLIENT
from reward_functions.symbolic.cas.counting import limit_calls
from reward_functions.symbolic.parsing.document import read

WEIGHTS = module.weights()
ROWS = (*module.NUMBERS, *module.POLYNOMIALS)


@pytest.mark.parametrize(("name", "_", "arguments"), ROWS, ids=[row[0] for row in ROWS])
def test_each_row_names_a_function_and_its_arguments(name, _, arguments):
    code = module.code_of(name)
    assert code in WEIGHTS
    assert set(arguments.split()) <= set(module._arguments(code))


def test_what_another_release_lacks_is_left_out():
    assert module.code_of("sympy.core.numbers:Integer.no_such_method") is None
    assert module.code_of("sympy.no_such_module:function") is None


def test_functions_that_are_told_a_precision_and_dense_polynomials_weigh():
    assert sum("mpmath" in code.co_filename for code in WEIGHTS) > 100
    assert sum("/polys/dense" in code.co_filename for code in WEIGHTS) > 100


LARGE, LARGER = Integer(1 << 100_000), Integer(1 << 100_000_000)
SMALL = Integer(12_345)
FEW, MANY = [1] * 10, [1] * 3_000
X, Y = ring("x,y", ZZ)[1:]


@pytest.mark.parametrize(
    ("name", "small", "large"),
    [
        ("Integer.__mul__", (SMALL, SMALL), (LARGE, LARGE)),
        ("Rational.__add__", (Rational(1, 3), SMALL), (LARGE + Rational(1, 3), LARGE)),
        ("Integer._eval_power", (SMALL, Integer(20)), (Integer(3), Integer(1_000_000))),
        ("Integer._eval_power", (SMALL, Rational(1, 3)), (LARGE, Rational(1, 3))),
        ("Rational._eval_power", (Rational(2, 3), Integer(9)), (Rational(2, 3), LARGE)),
    ],
)
def test_arithmetic_weighs_by_the_lengths_of_its_numbers(name, small, large):
    weight = WEIGHTS[module.code_of(f"sympy.core.numbers:{name}")]
    names = module._arguments(module.code_of(f"sympy.core.numbers:{name}"))
    assert weight(dict(zip(names, small, strict=True))) == 0
    assert weight(dict(zip(names, large, strict=True))) > 1_000


@pytest.mark.parametrize(
    ("weigh", "small", "large"),
    [
        (module._common_factor, [(12, 18)], [(1 << 100_000, 3 << 100_000)]),
        (module._square, [SMALL], [LARGE]),
        (module._cube, [10**20], [10**2_000]),
        (module._factorial, [SMALL / 1_000], [LARGE]),
        (module._factorial, [12], [10**6]),
        (module._factorial, [Rational(1, 2)], [Integer(10**6)]),
        (module._precision, [332], [100_000]),
        (module._coefficients, [FEW], [MANY * 20]),
        (module._division, [FEW[:4], FEW[:3]], [MANY, MANY[:1_000]]),
        (module._multiplication, [FEW[:4], FEW[:4]], [MANY, MANY]),
        (module._squaring, [FEW[:4]], [MANY]),
        (module._packed, [FEW, FEW], [[1 << 999] * 200, FEW]),
        (module._degree, [{7: 1}], [{10**6: 1}]),
        (module._degree, [{(7,): 1}], [{(10**6,): 1}]),
        (module._terms, [X + Y, 3], [(X + Y + 1) ** 20, (X + Y + 1) ** 20]),
        (module._terms_squared, [X + Y], [(X + Y + 1) ** 20]),
        (module._expanded, [2, -1], [7, 30]),
        (module._expanded, [0, 5], [2, 1 << 40]),
    ],
)
def test_a_weight_is_nothing_for_what_people_write_and_much_for_what_takes_long(
    weigh, small, large
):
    assert weigh(*small) == 0
    assert weigh(*large) > 1_000


def test_a_power_of_a_sum_weighs_its_terms():
    assert module._terms_expanded(X + Y + 1, 10) == 66
    assert module._expanded(4, 5) == 56


@contextmanager
def weighed():
    """Calls are counted inside; the codes of those that were weighed are collected."""
    seen = set()

    def seeing(code, weight):
        return lambda given: seen.add(code) or weight(given)

    before = sys.gettrace()
    limit_calls(1 << 60, pytest.fail, {code: seeing(code, each) for code, each in WEIGHTS.items()})
    try:
        yield seen
    finally:
        if sys.version_info >= (3, 12):
            sys.monitoring.set_events(sys.monitoring.PROFILER_ID, 0)
            sys.monitoring.free_tool_id(sys.monitoring.PROFILER_ID)
        else:
            sys.settrace(before)


FUNCTIONS = {
    "igcd": lambda: igcd(1 << 50_000, 3),
    "integer_nthroot": lambda: integer_nthroot(1 << 999, 3),
    "perfect_power": lambda: perfect_power(97),
    "factorint": lambda: factorint(96),
    "isprime": lambda: isprime(97),
    "factorial": lambda: sympy.factorial(20),
    "factorial2": lambda: sympy.factorial2(20),
    "binomial": lambda: sympy.binomial(20, 3),
    "rising": lambda: sympy.rf(20, 3),
    "falling": lambda: sympy.ff(20, 3),
    "harmonic": lambda: sympy.harmonic(20),
    "bernoulli": lambda: sympy.bernoulli(20),
    "gamma": lambda: sympy.gamma(Rational(5, 2)),
    "powers": lambda: (Integer(3) ** 5, Rational(2, 3) ** 5, Integer(12) ** Rational(1, 2)),
    "fractions": lambda: Rational(2, 3) * 5 - Rational(1, 3) + 2 / Rational(5, 3) % 3,
    "integers": lambda: (SMALL * 3, 3 * SMALL, SMALL // 7, SMALL % 7, divmod(SMALL, 7)),
    "precise": lambda: mpf_exp(from_int(2), 53),
    "dense": lambda: (
        densearith.dup_mul([1, 2], [3, 4], ZZ),
        densearith.dup_sqr([1, 2], ZZ),
        densearith.dup_rem([1, 2, 3], [1, 4], ZZ),
        densebasic.dup_from_dict({(2,): 3}, ZZ),
        densebasic.dup_from_raw_dict({2: 3}, ZZ),
        euclidtools.dup_zz_heu_gcd([1, 2, 1], [1, 1], ZZ),
    ),
    "sparse": lambda: ((X + Y) * (X - Y), (X + Y).square(), (X + Y) ** 5),
    "multinomial": lambda: multinomial_coefficients(3, 4),
}


def test_each_row_weighs_its_function_which_still_works():
    """A row that takes an argument for what it is not raises into the function that it weighs."""
    cache.clear_cache()
    with weighed() as seen:
        found = {name: work() for name, work in FUNCTIONS.items()}
    assert {module.code_of(name) for name, _, _ in ROWS} - seen == set()
    assert found == {name: work() for name, work in FUNCTIONS.items()}


# ---- what blew the fuse


VALUE, SLOPE, EQUATION = r"\int_0^1 x dx", r"\frac{d}{dx}x^3", "x^2-3x+2=0"

BLEW = [
    # a floor takes all digits of a large number, a sine reduces it by as many of pi
    (VALUE, r"\lfloor((e^{200})^{200})^{20}\rfloor"),
    (VALUE, r"\lfloor\exp(1000000)\rfloor"),
    (VALUE, r"\cos(\exp(10^{6}))"),
    # powers, factorials and binomials of what a sum puts in
    (VALUE, r"\sum_{k=1}^{20}k^{k^k}"),
    (VALUE, r"\sum_{k=1}^{30}2^{2^k}"),
    (VALUE, r"\sum_{k=1}^{20}(k!)!"),
    (VALUE, r"\prod_{k=1}^{90}(10^{k})!"),
    (VALUE, r"\sum_{k=1}^{9}\binom{10^k}{3\cdot10^{k-1}}"),
    # roots of long numbers, and whether they are primes
    (VALUE, r"\sqrt[199]{3^{16000}-1}"),
    (VALUE, r"\frac12+10^{-30}\ln\frac{3^{16000}+1}{5^{10000}+1}"),
    # degrees beyond what one power may have
    (EQUATION, r"(((x^{200})^{200})^{200})=2"),
    (SLOPE, r"3x^2+10^{-99}((x^{200}+1)^{200}+x)^{200}"),
    # sums to a power, expanded
    (SLOPE, r"3x^2+10^{-99}(x+\ln x+e^x+\sin x+\cos x+\tan x)^{30}"),
]
"""Answers that took three seconds of a processor and more, or most of it, in few calls."""


@pytest.mark.parametrize(("reference", "answer"), BLEW)
def test_what_computes_without_calls_is_ended_by_its_count(reference, answer):
    found = CLIENT.compare(read(reference).tree, read(answer).tree)
    assert (found.outcome, found.rule) == (Outcome.UNDECIDED, "budget")
    assert found.reason == "too much algebra: the calls are used up"


LONG = [
    (r"\prod_{k=1}^{2026}\left(1+\frac1k\right)", "2027"),
    (r"\prod_{k=2}^{2026}\left(1-\frac{1}{k^2}\right)", r"\frac{2027}{4052}"),
    (r"\sum_{k=0}^{2026}2^k", "2^{2027}-1"),
    (r"\sum_{k=1}^{30}k\cdot k!", "31!-1"),
    (r"x^{100}-1=0", "2x^{100}=2"),
]
"""Numbers and degrees as large as people write them, with the right answer."""


@pytest.mark.parametrize(("reference", "answer"), LONG)
def test_numbers_as_long_as_people_write_them_are_worked_out(reference, answer):
    assert CLIENT.compare(read(reference).tree, read(answer).tree).equal
