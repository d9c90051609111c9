"""Rows in every shape the trainers have, all of which mean the same; and results, read strictly."""

import json

import pytest

from reward_functions.core.references import reference_text
from reward_functions.core.types import Sample
from reward_functions.local.training_double import training
from reward_functions.local.training_double.training import (
    SHAPES,
    JobFailed,
    event_row,
    invocations,
    rewards_of,
)
from reward_functions.serving.contract import decode

ROW = {
    "id": "gsm8k-train-1",
    "messages": [
        {"role": "system", "content": "End with ####."},
        {"role": "user", "content": [{"type": "text", "text": "How many?"}]},
    ],
    "reference_answer": "42",
    "metadata": {"dataset": "gsm8k"},
    "difficulty": "easy",
}
OWN_REFERENCE = {"final_answer": "42"}


def sent(path, row=ROW, count=72):
    return [event_row(row, "#### 42", number, path) for number in range(count)]


@pytest.mark.parametrize("path", SHAPES)
def test_every_shape_is_the_same_sample(path):
    for sample in decode(sent(path)):
        assert isinstance(sample, Sample)
        assert sample.response == "#### 42"
        assert [turn.content for turn in sample.context] == ["End with ####.", "How many?"]
        assert reference_text(sample.reference) == "42"
        assert sample.metadata["difficulty"] == "easy"
        assert sample.metadata["dataset"] == "gsm8k"


def test_bedrock_sends_every_shape_of_the_contract():
    rows = sent("bedrock")
    turns = [row["messages"][-1] for row in rows]
    assert {turn["role"] for turn in turns} == {"assistant", "nova_assistant"}
    assert {type(turn["content"]) for turn in turns} == {str, list, dict}
    places = {("reference_answer" in row, "reference_answer" in row["metadata"]) for row in rows}
    assert places == {(True, False), (False, True), (True, True)}
    assert {"difficulty" in row for row in rows} == {True, False}
    assert len({json.dumps(row | {"id": ""}, sort_keys=True) for row in rows}) == 36


def test_the_openai_path_wraps_a_string_reference_and_leaves_others():
    (row, *_) = sent("openai")
    assert row["reference_answer"] == {"text": "42"}
    (row, *_) = sent("openai", ROW | {"reference_answer": OWN_REFERENCE})
    assert row["reference_answer"] == OWN_REFERENCE
    assert {row["messages"][-1]["role"] for row in sent("openai")} == {"assistant"}


@pytest.mark.parametrize("path", SHAPES)
def test_a_reference_in_the_metadata_of_the_file_is_found(path):
    row = {"messages": ROW["messages"], "metadata": {"reference_answer": "42"}}
    assert {reference_text(each.reference) for each in decode(sent(path, row))} == {"42"}


def test_no_two_rollouts_share_an_id_and_the_file_is_left_alone():
    before = json.dumps(ROW)
    assert len({row["id"] for row in sent("bedrock", count=1000)}) == 1000
    assert json.dumps(ROW) == before


@pytest.mark.parametrize(
    ("step", "count", "sizes"),
    [(1, 20, [20]), (2, 20, [1, 2, 4, 8, 5]), (2, 1, [1]), (1, 0, [])],
)
def test_a_step_is_sent_at_once_or_in_growing_pieces(step, count, sizes):
    rows = sent("bedrock", count=count)
    pieces = list(invocations(rows, step))
    assert [len(piece) for piece in pieces] == sizes
    assert [row for piece in pieces for row in piece] == rows


def test_no_invocation_is_larger_than_lambda_takes(monkeypatch):
    monkeypatch.setattr(training, "MAX_EVENT", 2_000)
    for step in (1, 2):
        pieces = list(invocations(sent("bedrock"), step))
        assert sum(map(len, pieces)) == 72
        assert all(sum(len(json.dumps(row)) for row in piece) <= 2_000 for piece in pieces)


def result(identity, score=1.0, **further):
    return {"id": identity, "aggregate_reward_score": score, **further}


IDS = [{"id": "a"}, {"id": "b"}]


def test_results_are_read_by_their_ids():
    assert rewards_of(IDS, [result("b", 0), result("a", 1, metrics_list=None)]) == [1.0, 0.0]


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (None, "returned null where a list"),
        ("[]", "returned a string where a list"),
        ({"statusCode": 200, "body": "[]"}, "deployed with the response mode `envelope`"),
        ([], "0 results with 0 ids for 2 rows"),
        ([result("a")], "1 results with 1 ids for 2 rows"),
        ([result("a"), result("a")], "2 results with 1 ids for 2 rows"),
        ([result("a"), result("c")], "an id that was not sent"),
        ([result("a"), None], "is null, not an object"),
        ([result("a"), result(2)], "id of a result is a number, not a string"),
        ([result("a"), {"id": "b"}], "is missing, or is not a finite number"),
        ([result("a"), result("b", None)], "is missing, or is not a finite number"),
        ([result("a"), result("b", "1.0")], "is missing, or is not a finite number"),
        ([result("a"), result("b", True)], "is missing, or is not a finite number"),
        ([result("a"), result("b", float("nan"))], "is missing, or is not a finite number"),
        ([result("a"), result("b", float("inf"))], "is missing, or is not a finite number"),
    ],
)
def test_what_is_not_one_finite_score_for_each_row_fails_in_words(response, words):
    with pytest.raises(JobFailed, match=words.replace("[", r"\[")):
        rewards_of(IDS, response)
