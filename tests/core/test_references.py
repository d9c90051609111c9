"""The ground truth is found in every shape trainers and data sets give it."""

import json

import pytest

from reward_functions import BadReference
from reward_functions.core.references import reference_text


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("18", "18"),
        (18, "18"),
        (1.5, "1.5"),
        (0, "0"),
        ({"final_answer": "18"}, "18"),
        ({"answer": 18}, "18"),
        ({"text": "18"}, "18"),
        ({"final_answer": None, "answer": "18"}, "18"),
        ({"text": "no", "value": "no", "ground_truth": "no", "answer": "18"}, "18"),
        ('{"final_answer": "18"}', "18"),
        ({"text": '{"final_answer": "18"}'}, "18"),
        ({"text": {"answer": {"value": "18"}}}, "18"),
        ("{1, 2}", "{1, 2}"),
        ("{}", "{}"),
        ("{" * 100_000, "{" * 100_000),
        ('"18"', '"18"'),
        (" 18 ", " 18 "),
    ],
)
def test_read(reference, text):
    assert reference_text(reference) == text


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (None, "no reference"),
        ("", "empty"),
        ("  \n", "empty"),
        ({}, "without any of"),
        ({"label": "18"}, "without any of final_answer"),
        ({"answer": ""}, "empty"),
        ({"answer": None}, "without any of"),
        ([1, 2], "type list"),
        (True, "type bool"),
        (float("nan"), "not finite"),
        (float("inf"), "not finite"),
        ({"answer": ["18"]}, "type list"),
        ({"answer": {"answer": {"answer": {"answer": {"answer": "18"}}}}}, "wrapped"),
    ],
)
def test_refused(reference, message):
    with pytest.raises(BadReference, match=message):
        reference_text(reference)


def test_a_number_python_will_not_print_is_refused():
    with pytest.raises(BadReference, match="too many digits"):
        reference_text(10**5000)


def test_a_reward_may_read_other_keys():
    assert reference_text({"gold": "x", "answer": "y"}, keys=["gold"]) == "x"


def test_an_error_never_quotes_the_reference():
    with pytest.raises(BadReference) as caught:
        reference_text(json.dumps({"secret": "hunter2"}))
    assert "hunter2" not in str(caught.value)
