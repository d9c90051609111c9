"""Sets by condition, families, quantifiers, arbitrary constants and differential equations.

The rows are rules of docs/math.md in many dresses, and near misses of each; `written blind` marks
those that were written after the code. No row needs sympy.
"""

import json
from pathlib import Path

import pytest

from reward_functions.symbolic import equal
from reward_functions.symbolic.parsing.document import read

PATH = Path(__file__).parents[1] / "cases" / "sets_and_families.jsonl"
CASES = [json.loads(line) for line in PATH.read_text(encoding="utf-8").splitlines()]


KINDS = sorted({case["source"] for case in CASES})


def _wrong(case):
    """What a row's verdict is instead of the table's; None where it is that."""
    verdict = equal(case["reference"], case["candidate"], solver=False)
    assert str(read(case["reference"]))
    assert str(read(case["candidate"]))
    expected = case["outcome"], case.get("rule", verdict.rule)
    found = verdict.outcome.value, verdict.rule
    return None if found == expected else (*found, verdict.reason)


@pytest.mark.parametrize("kind", KINDS)
def test_the_verdict_is_the_one_of_the_table(kind):
    found = {
        (case["reference"], case["candidate"]): _wrong(case)
        for case in CASES
        if case["source"] == kind
    }
    assert {row: wrong for row, wrong in found.items() if wrong} == {}


SYSTEMS = [
    ("(Ae^t,Be^{-t})", "(c_1e^t,c_1e^{-t})"),
    ("(c_1e^t+c_2e^{-t},c_1e^t-c_2e^{-t})", "(c_2e^t+c_1e^{-t},c_1e^t-c_2e^{-t})"),
]


@pytest.mark.parametrize(("reference", "candidate"), SYSTEMS)
def test_constants_of_several_parts_are_not_renamed_part_by_part(reference, candidate):
    assert not equal(reference, candidate, solver=False).equal


NOT_UNDERSTOOD = [
    r"x>1 \text{ and } \sin x > 0",
    r"x>1 \text{ and } x^2 > 4",
    r"x>1 \text{ and } x > y",
    r"x>1 \text{ and } \cos x < 1",
    r"x^3 > 8 \text{ and } x>1",
    r"(1,\infty) \text{ and } e^x > 7",
]


@pytest.mark.parametrize("both", [r"x>1", r"(1,\infty)", r"\{x \mid x > 1\}"])
@pytest.mark.parametrize("text", NOT_UNDERSTOOD)
def test_a_condition_that_is_not_understood_is_not_left_out(text, both):
    assert not equal(both, text, solver=False).equal
    assert not equal(text, both, solver=False).equal


CLAUSES = ["x=2 for ", "for all", r"\forall", "(k∈", "5 where where where x", "1 except", "5, for"]


@pytest.mark.parametrize("text", [*CLAUSES, *(clause * 300 for clause in CLAUSES)])
def test_a_clause_that_says_nothing_is_no_error(text):
    assert not equal("7", text, solver=False).equal


def test_a_set_by_many_conditions_stays_within_its_budget():
    many = r" \text{ or } ".join(f"{n}<x<{n + 1}" for n in range(0, 120, 2))
    assert equal("(0,1)", rf"\{{x\mid {many}\}}", solver=False).outcome.value == "different"
    negated = ", ".join(rf"x\ne {n}" for n in range(120))
    assert equal("(0,1)", rf"\{{x\mid {negated}\}}", solver=False).outcome.value == "different"


def pieces(*rows):
    inside = r" \\ ".join(f"{value} & {when}" for value, when in rows)
    return rf"\begin{{cases}} {inside} \end{{cases}}"


OTHERWISE = ("2", r"\text{otherwise}")
UNREAD = [r"\sin x > 0", "x^2 < 4", r"x \in \mathbb{Z}", r"x \in \mathbb{Q}", "x > y", "y > 0"]
READ = [
    pieces(("1", "x > 0"), ("2", r"x \le 0")),
    pieces(("1", "x > 0"), OTHERWISE),
    pieces(("2", r"x \le 0"), ("1", r"x \in (0,\infty)")),
]


@pytest.mark.parametrize("first", READ)
@pytest.mark.parametrize("second", READ)
def test_functions_in_pieces_are_equal_however_a_piece_is_written(first, second):
    assert equal(first, second, solver=False).equal


@pytest.mark.parametrize("when", UNREAD)
@pytest.mark.parametrize("other", READ)
def test_a_piece_whose_condition_is_not_read_equals_no_other(when, other):
    unread = pieces(("1", when), OTHERWISE)
    assert not equal(unread, other, solver=False).equal
    assert not equal(other, unread, solver=False).equal
