"""What cannot be a reward says so where it is declared, in one sentence."""

from decimal import Decimal

import pytest

from reward_functions import Needs, reward_function
from reward_functions.core.errors import InvalidScore


async def waits(sample):
    return 1.0


def draws(sample):
    yield 1.0


MISFITS = [
    ("async", waits, "this one is async"),
    ("a generator", draws, "this one is a generator"),
    ("as TRL has them", lambda completions, answer: 1.0, "takes \\(completions, answer\\)"),
    ("a method", lambda self, sample: 1.0, "called with \\(sample\\), and this function takes"),
    ("nothing", lambda: 1.0, r"takes \(\)"),
    ("by name alone", lambda *, sample: 1.0, r"takes \(\)"),
]


@pytest.mark.parametrize(
    ("function", "message"), [row[1:] for row in MISFITS], ids=[row[0] for row in MISFITS]
)
def test_a_function_that_cannot_be_called_as_a_reward_is_refused(function, message):
    with pytest.raises(TypeError, match=message):
        reward_function(name="r")(function)


def test_a_class_is_no_function():
    with pytest.raises(TypeError, match="declare a function"):
        reward_function(name="r")(dict)


def test_a_judge_of_a_group_is_called_with_three():
    needs = Needs(judge=True, group=True)
    reward_function(name="r", needs=needs)(lambda sample, ask, group: 1.0)
    with pytest.raises(TypeError, match=r"called with \(sample, ask, group\)"):
        reward_function(name="r", needs=needs)(lambda sample, ask: 1.0)


@pytest.mark.parametrize(
    "function", [lambda sample, k=1: 1.0, lambda *a: 1.0, lambda sample, **k: 1.0, len]
)
def test_what_can_be_called_with_a_sample_is_taken(function):
    reward_function(name="r")(function)


FIELDS = [
    ({"scale": 1}, TypeError, "a scale is two numbers"),
    ({"scale": (1, 0)}, ValueError, "not a finite range"),
    ({"scale": ("a", "b")}, ValueError, "not a finite range"),
    ({"metrics": "abc"}, TypeError, "a list of names"),
    ({"metrics": ["a", "a"]}, ValueError, "two metrics are called 'a'"),
    ({"metrics": ["unscored"]}, ValueError, "cannot be called 'unscored'"),
    ({"partial_credit": 2}, ValueError, "is not on"),
    ({"partial_credit": "x"}, ValueError, "is not on"),
    ({"examples": [{"kind": "positive"}]}, TypeError, "each example is an Example"),
    ({"version": "1"}, ValueError, "whole numbers"),
    ({"name": "My Reward"}, ValueError, "not a reward name"),
]


@pytest.mark.parametrize(("field", "kind", "message"), FIELDS)
def test_a_field_of_another_kind_is_refused(field, kind, message):
    with pytest.raises(kind, match=message):
        reward_function(**{"name": "r"} | field)(lambda sample: 1.0)


class ArrayScalar:
    """What numpy and torch have for one number: no `float`, and no `bool`, of Python's."""

    def __init__(self, value, shape=()):
        self.value, self.shape = value, shape

    def item(self):
        return self.value


@pytest.mark.parametrize("returned", [ArrayScalar(True), ArrayScalar(0.5), Decimal("0.5")])
def test_a_number_of_another_library_is_a_score(returned):
    assert reward_function(name="r")(lambda sample: returned)("a").value in (0.5, 1.0)


class Shaped:
    """Something else that has a shape."""

    shape = ()


@pytest.mark.parametrize("returned", [ArrayScalar(1.0, (1,)), Shaped(), "1", None])
def test_what_is_no_number_of_another_library_is_refused(returned):
    with pytest.raises(InvalidScore, match=f"r returned {type(returned).__name__}, not a Score"):
        reward_function(name="r")(lambda sample: returned)("a")
