"""Hostile candidates: a verdict, never an exception, never more work than the limits allow."""

import pytest

from reward_functions.symbolic import Outcome, Unreadable, equal
from reward_functions.symbolic.budget import CHARACTERS, DEPTH, OPERANDS, OverBudget, Work
from reward_functions.symbolic.exact.rational import exact_root, multiplicity
from reward_functions.symbolic.parsing.document import read
from reward_functions.symbolic.parsing.parser import parse

DEEP = 100_000

HOSTILE = {
    "braces": "{" * DEEP + "5" + "}" * DEEP,
    "parentheses": "(" * DEEP + "5" + ")" * DEEP,
    "parentheses within the length": "(" * 900 + "5" + ")" * 900,
    "unclosed": r"\sqrt{" * 300,
    "fractions": r"\frac{1}{1+" * 160 + "1" + "}" * 160,
    "signs": "-" * 901 + "5",
    "factorials": "5" + "!" * 900,
    "percent signs": "5" + "%" * 900,
    "powers": "2" + "^2" * 450,
    "power tower": "9^{9^{9^{9^9}}}",
    "negative power": "2^{-10^9}",
    "big decimal power": "1.0000001^{10^{12}}",
    "root of a power": r"\sqrt[1000000007]{2^{1000000007}}",
    "high root": r"\sqrt[999999999]{1000003}",
    "long decimal powers": "0.7759585674357169^{0.249052651}",
    "fine power": "1000003^{1/12345678901234567890123}",
    "binomial": r"\binom{10^9}{5\cdot10^8}",
    "factorial": "(10^9)!",
    "factorial of a factorial": "((10!)!)!",
    "exponent": "1e999999999",
    "digits": "7" * 1_000_000,
    "zeros": "5." + "0" * 100_000,
    "sum of sines": "+".join(rf"\sin({k}x)" for k in range(1, 160)),
    "product of sums": "".join(f"(x-{k})" for k in range(1, 160)),
    "power of a sum": "(a+b+c+d+e)^{150}",
    "harmonic sum": "+".join(rf"\frac{{1}}{{{k}}}" for k in range(1, 120)),
    "sum of roots": "+".join(rf"\sqrt{{{k}}}" for k in range(2, 180)),
    "roots of sums": "".join(rf"\sqrt{{x+{k}}}" for k in range(2, 110)),
    "list": ",".join(str(k) for k in range(480)),
    "list of points": ",".join(f"({k},{k})" for k in range(140)),
    "matrices": r"\begin{pmatrix}" * 120,
    "nested text": r"\text{" * 280 + "5" + "}" * 280,
    "groups": "1 000 " * 300,
    "large": "x+" * 2_500_000,
    "scale words": "5" + " million" * 200,
    "number in a name": "((7^{3000})+x)^y",
    "nul": "\0" * 1900,
    "surrogate": "\ud800",
    "superscripts": "²" * 900,
}


@pytest.mark.parametrize("candidate", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("reference", ["5", "x", "(1,2)", r"\{1,2\}", "x>2"])
def test_a_hostile_candidate_is_never_right_and_never_raises(reference, candidate):
    verdict = equal(reference, candidate)
    assert not verdict.equal
    str(verdict.candidate)


def test_two_long_texts_that_agree_almost_to_the_end_are_not_the_same():
    for length in (5000, 50_000):
        assert equal("7" * length, "7" * length).equal
        with pytest.raises(Unreadable, match="characters"):
            equal("7" * length, "7" * (length - 1) + "8")


def test_a_number_as_long_as_the_limit_is_still_compared():
    assert equal("7" * 1500, "7" * 1500).equal
    assert equal("7" * 1500, "7" * 1499 + "8").outcome is Outcome.DIFFERENT


def test_a_matrix_of_ten_by_ten_fractions_is_read():
    rows = [
        [rf"\frac{{{row}}}{{{row + column}}}" for column in range(1, 11)] for row in range(1, 11)
    ]
    printed = [" & ".join(row) for row in rows]
    matrix = r"\begin{pmatrix}" + r" \\ ".join(printed) + r"\end{pmatrix}"
    assert equal(matrix, matrix.replace("pmatrix", "bmatrix")).equal
    other = matrix.replace(r"\frac{10}{20}", r"\frac{10}{21}")
    assert equal(matrix, other).outcome is Outcome.DIFFERENT


def test_a_sum_of_more_terms_than_people_write_is_refused_before_it_is_added():
    terms = [rf"x^{{{power}}}" for power in range(OPERANDS)]
    assert equal("+".join(terms), "+".join(reversed(terms))).equal
    with pytest.raises(OverBudget, match="side by side"):
        parse("+".join([*terms, "y"]))
    with pytest.raises(OverBudget, match="side by side"):
        parse("(x+1)" * (OPERANDS + 1))


def test_nesting_up_to_the_ceiling_is_read():
    assert equal("5", "(" * (DEPTH // 2 - 2) + "5" + ")" * (DEPTH // 2 - 2)).equal
    many = "\\{" + ",".join(f"({k})" for k in range(2 * DEPTH)) + "\\}"
    assert equal(many, many.replace("(0)", "0")).equal


@pytest.mark.parametrize("opening", ["(", "[", r"\{", "{", r"\text{"])
def test_deeper_nesting_is_noticed_before_its_end_is_read(opening):
    with pytest.raises(OverBudget, match="nested deeper"):
        parse(opening * (DEPTH + 1) + "@")


def test_the_length_is_checked_before_anything_is_read():
    with pytest.raises(OverBudget, match="characters"):
        parse("x+" * CHARACTERS)


def test_work_is_refused_before_it_is_done():
    work = Work(10)
    work.spend(10)
    with pytest.raises(OverBudget):
        work.spend(1)


def test_an_honest_long_list_in_another_order_is_within_the_budget():
    numbers = [str(k) for k in range(199)]
    assert equal(", ".join(numbers), ", ".join(reversed(numbers))).equal
    assert equal(", ".join(numbers), ", ".join(reversed([*numbers[:-1], "7/2"]))).outcome is (
        Outcome.DIFFERENT
    )


def test_an_answer_of_any_length_that_is_read_is_read_once():
    assert read("1, " * 600) is read("1, " * 600)
    assert read("1" * (CHARACTERS + 1)) is not read("1" * (CHARACTERS + 1))


TOO_LARGE = [
    "x^{3^{16000}}",
    r"\log_2(x^{3^{16000}})",
    "(3^{16000}+1)^x",
    r"\sin(x^{3^{16000}})",
    r"\ln(x^{3^{16000}}+1)",
    "(2^{32000}+1)^{nx}",
    r"(x+1)^{3^{16000}}",
    r"x^{1/(3^{16000}+2)}",
    r"(\frac{3^{16000}}{7^{9000}})^x",
    r"(-3)^{3^{16000}x}",
]
"""Numbers beyond what a float holds, or beyond the digits that Python writes."""


@pytest.mark.parametrize("reference", ["7", "3x^2", "2^x", r"\sin x"])
@pytest.mark.parametrize("candidate", TOO_LARGE)
def test_a_number_that_is_too_large_is_the_answers_fault(reference, candidate):
    assert not equal(reference, candidate, solver=False).equal


def test_exact_roots():
    for index in (3, 5, 7, 199, 2_000):
        for root in (2, 3, 10, 12_345, 2**61 - 1, 3**50):
            power = root**index
            assert exact_root(power, index) == root
            assert exact_root(power + 1, index) is exact_root(power - 1, index) is None
    assert exact_root(1, 3) == 1
    assert exact_root(7, 20_000) is None


def test_multiplicities():
    for divisor in (2, 3, 97):
        for times in (0, 1, 2, 3, 7, 8, 5_000):
            for rest in (1, 5, 10_007):
                assert multiplicity(divisor**times * rest, divisor) == (times, rest)
