"""A list as a reference means any of its items; a set that is one answer is one string."""

import pytest

import reward_functions.core.alternatives as alternatives_module
from reward_functions import BadReference, Scored, Unscored, get, sample, score_batch
from reward_functions.core.alternatives import MAX_ALTERNATIVES, members
from reward_functions.core.types import Outcome
from reward_functions.tools.datasets.usable import complaint

CASES = {
    # reward, response, reference, score
    "the second": ("gsm8k", "#### 35", ["34", "35"], 1.0),
    "none": ("gsm8k", "#### 36", ["34", "35"], 0.0),
    "numbers": ("gsm8k", "#### 35", [34, 35.0], 1.0),
    "in an object": ("gsm8k", "#### 35", {"answer": ["34", "35"]}, 1.0),
    "in an object in a JSON string": ("gsm8k", "#### 35", '{"answer": ["34", "35"]}', 1.0),
    "in a wrapper": ("gsm8k", "#### 35", {"text": '{"answer": ["34", "35"]}'}, 1.0),
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


DEAR = {
    # a response that is dear to compare, and references that it equals none of
    "math": (
        "\\boxed{\\{" + ",".join(map(str, range(80))) + "\\}}",
        [f"x^{{{n}}}+1" for n in range(256)],
    ),
    "gsm8k": ("#### " + "9" * 200_000, [f"{n}7" for n in range(256)]),
}


@pytest.mark.parametrize("name", DEAR)
def test_a_response_that_is_dear_to_compare_does_not_hold_up_the_others(name, monkeypatch):
    now = iter(range(10_000))
    monkeypatch.setattr("reward_functions.core.alternatives.SECONDS", 12)
    calls = []

    def counted(row):
        calls.append(row.reference)
        return get(name)(row)

    counted = alternatives_module._any(counted, lambda: next(now))
    score = counted(sample(*DEAR[name]))
    assert score.value == 0.0
    assert 8 <= len(calls) < 24
    assert f"compared with {len(calls)} of 256 references in the time set" in score.reason


def test_eight_references_are_always_tried(monkeypatch):
    monkeypatch.setattr("reward_functions.core.alternatives.SECONDS", -1)
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
