"""What two trees are found to be is kept for the next response that answers alike."""

import pytest

from reward_functions.core.deadlines import ALGEBRA, Allowance
from reward_functions.symbolic import equal, restated, tiers, unevaluated
from reward_functions.symbolic.compare import restatement
from reward_functions.symbolic.verdict import unknown


@pytest.fixture
def compared(monkeypatch):
    """The pairs of trees that are compared, and nothing kept before or after."""
    seen = []
    by_meaning = tiers._by_meaning

    def listening(mine, theirs, **more):
        seen.append((str(mine), str(theirs)))
        return by_meaning(mine, theirs, **more)

    monkeypatch.setattr(tiers, "_by_meaning", listening)
    tiers._kept.cache_clear()
    yield seen
    tiers._kept.cache_clear()


@pytest.mark.parametrize("answer", ["(x+1)^2", "x^2+2x+3"])
def test_a_decided_pair_is_compared_once(compared, answer):
    verdicts = [equal("x^2+2x+1", answer, solver=False) for _ in range(3)]
    assert len({(each.outcome, each.rule, each.reason) for each in verdicts}) == 1
    assert len(set(compared)) == len(compared)


def test_an_undecided_pair_is_compared_again(compared, monkeypatch):
    """The stack may have had no room, which another caller's has."""
    by_meaning = tiers._by_meaning
    monkeypatch.setattr(tiers, "_by_meaning", lambda *_, **__: unknown("budget", "no room"))
    assert not equal("y^2-1", "(y-1)(y+1)", solver=False).decided
    monkeypatch.setattr(tiers, "_by_meaning", by_meaning)
    assert equal("y^2-1", "(y-1)(y+1)", solver=False).equal


def test_sympy_is_asked_again_so_that_what_one_response_may_ask_is_the_same(compared, monkeypatch):
    monkeypatch.setattr(tiers, "_by_meaning", lambda *_, **__: unknown("values", "not decided"))
    monkeypatch.setattr(tiers, "admitted", lambda *_: True)
    before = ALGEBRA.set(Allowance(0))
    try:
        rules = [equal("y^2-1", "(y-1)(y+1)").rule for _ in range(2)]
    finally:
        ALGEBRA.reset(before)
    assert rules == ["budget", "budget"]


def test_a_long_pair_is_not_kept(compared):
    """Strings of a policy fill no memory."""
    long = "+".join(f"x_{{{place}}}" for place in range(40))
    equal(long, f"{long}+1-1", solver=False)
    assert tiers._kept.cache_info().currsize == 0


def test_the_order_of_a_pair_counts(compared):
    """An answer may round to a decimal reference, and no reference to a decimal answer."""
    assert equal("0.33", r"\frac{1}{3}+0", solver=False).equal
    assert not equal(r"\frac{1}{3}+0", "0.33", solver=False).equal


@pytest.mark.parametrize(
    ("reference", "answer", "left"),
    [
        ("391", r"34 \cdot 23 / 2", True),
        ("391", "391", False),
        (r"34 \cdot 23 / 2", r"17 \cdot 23", False),
        ("5", "5 +", False),
        (r"6\pi", r"2 \cdot 3\pi", True),
        (r"\frac{5\pi}{6}", r"\frac{10\pi}{12}", True),
        (r"\frac{5\pi}{6}", r"\frac{5\pi}{6}", False),
        ("2.5", "x = 10/4", True),
        ("2.5", r"x = 10/4 \approx 2.5", False),
    ],
)
def test_what_is_left_to_be_worked_out_is_the_same_twice(reference, answer, left):
    assert [unevaluated(reference, answer) for _ in range(2)] == [left, left]


@pytest.mark.parametrize(
    ("reference", "answer", "expressions", "found"),
    [
        ("5", "3 + 2", ("2 + 3",), True),
        ("5", "5", ("2 + 3",), False),
        (r"\frac{4}{33}", r"0.\overline{12}", (r"0.\overline{12}",), True),
        (r"\frac{4}{33}", r"\frac{4}{33}", (r"0.\overline{12}",), False),
    ],
)
def test_an_expression_of_the_question_is_restated(reference, answer, expressions, found):
    assert [restated(reference, answer, expressions) for _ in range(2)] == [found, found]


@pytest.mark.parametrize(
    ("reference", "answer", "expressions"),
    [
        ("x^2+3x+2", "(x+2)(x+1)+y-y", ("x+1", "x+2", "(x+1)(x+2)")),
        ("x^3+6x^2+11x+6", "(x+1)(x+2)(x+3)+1-1", ("(x+1)(x+2)(x+3)",)),
        (r"\sqrt{3}", r"\tan 60^\circ+\sin 0", (r"\sin 0", r"\tan 60^\circ")),
    ],
)
def test_as_many_expressions_are_compared_as_one_answer_may_cost(
    reference, answer, expressions, monkeypatch
):
    found = {}
    for most in (0, 1, 2):
        monkeypatch.setattr(restatement, "COMPARED", most)
        found[most] = restated(reference, answer, expressions)
    assert found == {0: False, 1: True, 2: True}
