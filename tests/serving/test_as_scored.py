"""An event that asks for results as they were scored: nothing is imputed, and nothing fails."""

import json
import re

import pytest

from reward_functions import Score, reward_function, sample
from reward_functions.core.errors import BadReference
from reward_functions.serving.as_scored import ASKED, asks_as_scored
from reward_functions.serving.handler import bind
from reward_functions.serving.settings import LambdaSettings
from reward_functions.testing import wire_row


@reward_function(name="picky", version=1)
def picky(one):
    """Fails as the response says."""
    if one.response == "data":
        raise BadReference("the reference is no number")
    if one.response == "bug":
        return 1 / 0
    if one.response == "long":
        return Score(1.0, reason="so " * 1_000)
    return Score(1.0, reason="equal")


HANDLER = bind(LambdaSettings(name="picky", on_unscored="fail", response_mode="envelope"), picky)


def event(*responses, **more):
    rows = [wire_row(sample(text, "1", id=f"{at}")) for at, text in enumerate(responses)]
    return {"reward_functions": ASKED, "body": rows} | more


def test_each_row_has_its_own_result_or_its_error():
    found = HANDLER(event("yes", "data", "bug"))
    assert found[0]["aggregate_reward_score"] == 1.0
    assert (found[0]["reason"], found[0]["rule"]) == ("equal", None)
    assert [each["name"] for each in found[0]["metrics_list"]] == [
        "bad_reference",
        "unscored",
        "imputed",
        "out_of_time",
    ]
    assert found[1] == {
        "id": "1",
        "aggregate_reward_score": None,
        "error": {
            "type": "BadReference",
            "kind": "",
            "of": "data",
            "message": "the reference is no number",
        },
    }
    assert found[2]["error"]["type"] == "ZeroDivisionError"
    assert found[2]["error"]["of"] == "code"
    message = r"division by zero \(test_as_scored\.py, line \d+\)"
    assert re.fullmatch(message, found[2]["error"]["message"])


def test_no_share_of_failures_fails_the_batch():
    assert [each["error"]["of"] for each in HANDLER(event("bug", "bug"))] == ["code", "code"]


def test_a_row_that_is_no_sample_has_its_error_in_its_place():
    found = HANDLER({"reward_functions": ASKED, "body": [{"id": "a", "messages": 7}]})
    assert (found[0]["id"], found[0]["error"]["type"]) == ("a", "BadSample")


def test_a_reason_is_bounded():
    (found,) = HANDLER(event("long"))
    assert len(found["reason"]) == 1_000


@pytest.mark.parametrize(
    "asked", [None, {}, {"results": "imputed"}, {"results": "as_scored", "more": 1}, "as_scored"]
)
def test_any_other_event_is_a_trainers(asked):
    given = event("yes", reward_functions=asked)
    assert not asks_as_scored(given)
    assert json.loads(HANDLER(given)["body"])[0]["aggregate_reward_score"] == 1.0


@pytest.mark.parametrize("given", [[], "text", None, [event("yes")]])
def test_what_is_no_object_does_not_ask(given):
    assert not asks_as_scored(given)
