"""A list as a reference means any of its items; a set that is one answer is one string."""

import time
from itertools import count, permutations

import pytest

import reward_functions.core.alternatives as alternatives_module
from reward_functions import BadReference, Scored, Unscored, get, sample, score_batch
from reward_functions.core.alternatives import MAX_ALTERNATIVES, any_reference, members
from reward_functions.core.deadlines import ALGEBRA
from reward_functions.core.references import MAX_WRAPPINGS
from reward_functions.core.types import Evidence, Outcome, Score
from reward_functions.data.answers import complaint
from reward_functions.symbolic.cas.client import CLIENT
from reward_functions.symbolic.verdict import unknown


def wrapped(reference, times):
    for _ in range(times):
        reference = {"answer": reference}
    return reference


CASES = {
    # reward, response, reference, score
    "the second": ("gsm8k", "#### 35", ["34", "35"], 1.0),
    "none": ("gsm8k", "#### 36", ["34", "35"], 0.0),
    "numbers": ("gsm8k", "#### 35", [34, 35.0], 1.0),
    "in an object": ("gsm8k", "#### 35", {"answer": ["34", "35"]}, 1.0),
    "in an object in a JSON string": ("gsm8k", "#### 35", '{"answer": ["34", "35"]}', 1.0),
    "in a wrapper": ("gsm8k", "#### 35", {"text": '{"answer": ["34", "35"]}'}, 1.0),
    "in several wrappers": ("gsm8k", "#### 35", wrapped(["34", "35"], MAX_WRAPPINGS - 1), 1.0),
    "objects": ("gsm8k", "#### 35", [{"answer": "34"}, {"answer": "35"}], 1.0),
    "whole solutions": ("gsm8k", "#### 35", ["So.\n#### 34", "So.\n#### 35"], 1.0),
    "one item": ("exact_match", "Paris", ["Paris"], 1.0),
    "aliases": ("exact_match", "big apple", ["New York", "Big Apple"], 1.0),
    "equal values": ("math", r"\boxed{\frac{1}{2}}", ["3", "0.5"], 1.0),
    "a set is one string": ("math", r"\boxed{\{1,2\}}", r"\{1,2\}", 1.0),
    "a set among several": ("math", r"\boxed{\{1,2\}}", [r"\{3\}", r"\{1,2\}"], 1.0),
    "a member of none": ("math", r"\boxed{1}", [r"\{1,2\}", "3"], 0.0),
    "an interval is one string": ("math", r"\boxed{[1,2]}", "[1,2]", 1.0),
    "one letter": ("multiple_choice", "The answer is (B).", ["B"], 1.0),
    "letters are one answer": ("multiple_choice", "The answer is (B).", ["A", "B"], 0.0),
    "letters in any order": ("multiple_choice", "The answer is B, A.", ["A", "B"], 1.0),
    "finqa": ("finqa", "ANSWER: 5%", {"answer": ["4%", "5%"]}, 1.0),
    "all of them at once": ("exact_match", "34 35", ["34", "35"], 0.0),
    "an unreadable one beside the right one": ("gsm8k", "#### 35", ["many", "35"], 1.0),
}


@pytest.mark.parametrize(("reward", "response", "reference", "score"), CASES.values(), ids=CASES)
def test_a_response_is_right_that_equals_any(reward, response, reference, score):
    (result,) = score_batch(get(reward), [sample(response, reference)])
    assert isinstance(result, Scored), result
    assert result.score.value == score


REFUSED = {
    "empty": ([], "the reference is an empty list"),
    "empty in an object": ({"answer": []}, "the reference is an empty list"),
    "in one wrapper too many": (
        wrapped(["34", "35"], MAX_WRAPPINGS + 1),
        "wrapped more than 4 times",
    ),
    "nested": ([["35"]], "the reference is a list that holds a list"),
    "null": ([None], "there is no reference"),
    "an unreadable one, and none is equal": (["34", "many"], "the reference is not one number"),
    "too many": (["1"] * (MAX_ALTERNATIVES + 1), "more than 256 answers"),
}


@pytest.mark.parametrize(("reference", "complaint"), REFUSED.values(), ids=REFUSED)
def test_a_list_that_is_no_reference_is_unscored(reference, complaint):
    (result,) = score_batch(get("gsm8k"), [sample("#### 35", reference)])
    assert isinstance(result, Unscored)
    assert isinstance(result.error, BadReference)
    assert complaint in str(result.error)


def test_the_reason_is_the_matching_ones_else_an_undecided_ones_else_the_firsts():
    math = get("math")
    different, undecided = "3", r"\text{an ellipse}"
    for references, outcome in (
        ([different, "5"], Outcome.EQUAL),
        ([different, "4"], Outcome.DIFFERENT),
        ([different, undecided], Outcome.UNDECIDED),
    ):
        evidence = math(sample(r"\boxed{5}", references)).evidence
        assert evidence is not None
        assert evidence.outcome is outcome


def test_a_right_response_is_written_for_the_first():
    for name in ("gsm8k", "math", "exact_match", "finqa"):
        spec = get(name)
        row = sample("", ["34", "35"])
        assert spec(row.answered(spec.gold_response(row))).value == 1.0


LONG = {
    "math": "so " * 1_000 + "\\boxed{7}",
    "gsm8k": "#### " + "9" * 3_000,
    "multiple_choice": "the answer is B. " * 200,
}


@pytest.mark.parametrize("name", LONG)
def test_a_long_response_is_compared_with_as_many_as_its_length_allows(name, monkeypatch):
    monkeypatch.setattr(alternatives_module, "CHARACTERS", 12 * len(LONG[name]))
    references = ["A"] * 20 if name == "multiple_choice" else [f"{n}8" for n in range(20)]
    reads = []

    def counted(row):
        reads.append(row.reference)
        return get(name)(row)

    score = any_reference(counted)(sample(LONG[name], references))
    assert score.value == 0.0
    assert reads == references[:12]
    assert "so long a response is compared with 12 of 20 references" in score.reason


def test_eight_references_are_always_tried(monkeypatch):
    monkeypatch.setattr(alternatives_module, "CHARACTERS", 0)
    answers = [str(n) for n in range(8)]
    assert get("gsm8k")("#### 7", answers).value == 1.0
    assert get("gsm8k")("#### 8", [*answers, "8"]).value == 0.0


MEMBERS = {
    "numbers": ([2, 0.5], [2, 0.5]),
    "booleans": ([True, False], [True, False]),
    "in an object": ({"answer": [1, 2]}, [1, 2]),
    "in the JSON of an object": ('{"answer": [1, 2]}', [1, 2]),
    "as text": (" [1, -2] ", [1, -2]),
    "as Python writes it": ("[True, False]", [True, False]),
    "strings": (["1", "2"], None),
    "numbers and strings": ([1, "2"], None),
    "letters": ("[a, b]", None),
    "no list": ("12", None),
    "empty": ("[]", None),
    "an object without an answer": ({"n": [1]}, None),
    "not JSON": ("[1, 2", None),
    "beyond JSON": ("[NaN, 1]", None),
}


@pytest.mark.parametrize(("reference", "found"), MEMBERS.values(), ids=MEMBERS)
def test_the_members_of_one_answer_are_numbers_or_booleans(reference, found):
    assert members(reference) == found


def test_too_many_members_are_no_reference():
    with pytest.raises(BadReference, match="more than 256"):
        members([1] * (MAX_ALTERNATIVES + 1))


def test_a_parameter_makes_every_list_one_of_alternatives():
    math = get("math")
    assert math(r"\boxed{1}", [1, -1]).value == 0.0
    assert math(r"\boxed{1}", [1, -1], reference_list="alternatives").value == 1.0
    assert math(r"\boxed{\pm1}", [1, -1]).value == 1.0
    assert math(r"\boxed{\pm1}", [1, -1], reference_list="alternatives").value == 0.0


def test_rows_are_usable_whichever_way_their_lists_are_read():
    row = sample("", [1, -1])
    assert complaint(get("math"), row) is None
    assert complaint(get("math"), row, {"reference_list": "alternatives"}) is None


def test_an_ordinary_response_is_compared_with_all():
    answers = [str(n) for n in range(MAX_ALTERNATIVES)]
    assert get("gsm8k")("So it is 255.\n#### 255", answers).value == 1.0


def test_no_clock_decides_with_how_many_a_response_is_compared(monkeypatch):
    """Each comparison lasts hours, as on a machine that does other things."""
    hours = count(0, 3_600)
    for clock in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
        monkeypatch.setattr(time, clock, lambda: next(hours))
    answers = [str(n) for n in range(40)]
    assert get("gsm8k")("#### 39", answers).value == 1.0


def test_eight_references_may_ask_for_hard_algebra(monkeypatch):
    asked = []
    monkeypatch.setattr(
        CLIENT, "compare", lambda *trees: asked.append(trees) or unknown("sympy", "")
    )
    integrals = [rf"\int_0^x \frac{{{n}}}{{\ln t}}dt" for n in range(2, 22)]
    row = sample(r"\boxed{\int_0^x \frac{1}{\ln t+t}dt}", [*integrals, "x+1"])
    assert get("math")(row).value == 0.0
    assert len(asked) == 8
    assert get("math")(row.answered(r"\boxed{x+1}")).value == 1.0, "an easy one counts after them"
    assert get("math")(sample(r"\boxed{\int_0^x \frac{1}{\ln t+t}dt}", integrals[0])).value == 0.0
    assert ALGEBRA.get() is None


@pytest.mark.parametrize("order", [*permutations([("a", 0.2), ("b", 0.7), ("c", 0.5)])])
def test_of_alternatives_that_are_none_of_them_right_the_nearest_counts(order):
    values = dict(order)
    scored = any_reference(lambda one: Score(values[one.reference], reason=one.reference))
    assert scored(sample("x", list(values))).reason == "b"


@pytest.mark.parametrize(
    ("order", "first"), [("ab", "a"), ("ba", "b"), ("aUb", "U"), ("UVa", "U"), ("aUV", "U")]
)
def test_of_equal_ones_the_first_counts_unless_another_is_undecided(order, first):
    def score(one):
        open_ = one.reference.isupper()
        evidence = Evidence("rule", outcome=Outcome.UNDECIDED if open_ else None)
        return Score(0.0, reason=one.reference, evidence=evidence)

    assert any_reference(score)(sample("x", list(order))).reason == first
