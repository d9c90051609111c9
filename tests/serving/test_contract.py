"""Decoding loses nothing, and encoding is what each caller reads."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reward_functions.core.errors import BadSample
from reward_functions.core.types import Message, Metric, Sample, Score, Scored, Unscored
from reward_functions.serving import contract
from reward_functions.serving.contract import (
    BadEvent,
    ResponseTooLarge,
    TooManySamples,
    decode,
    decode_row,
    encode,
    result_object,
    result_row,
    shrink_to_limit,
)

TURNS = [{"role": "user", "content": "6 × 7?"}, {"role": "assistant", "content": "42"}]


def sample(**fields) -> Sample:
    decoded = decode_row({"id": "a", "messages": TURNS, **fields}, 0)
    assert isinstance(decoded, Sample), decoded
    return decoded


def complaint(row) -> str:
    decoded = decode_row(row, 3)
    assert isinstance(decoded, Unscored)
    assert isinstance(decoded.error, BadSample)
    return str(decoded.error)


def response(content) -> str:
    return sample(messages=[{"role": "assistant", "content": content}]).response


ROW = {"id": "a", "messages": TURNS}


@pytest.mark.parametrize(
    "event",
    [
        [ROW],
        {"body": [ROW]},
        {"body": json.dumps([ROW])},
        {"batch": [ROW]},
        {"body": None, "batch": [ROW], "headers": {}},
    ],
)
def test_a_batch_is_found_wherever_a_caller_put_it(event):
    assert decode(event) == [sample()]


@pytest.mark.parametrize("event", [[], {"body": []}, {"body": "[]"}, {"batch": []}])
def test_an_empty_batch_is_a_batch(event):
    assert decode(event) == []


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (None, "the event is null; expected a list"),
        ("[]", "the event is a string; expected a list"),
        (3, "the event is a number; expected a list"),
        (b"[]", "the event is of type bytes; expected a list"),
        ({}, "'batch' is missing"),
        ({"batch": "[]"}, "'batch' is a string"),
        ({"body": "{}"}, "'body' is an object"),
        ({"body": 0}, "'body' is a number"),
        ({"body": "[{]"}, r"body is not JSON \(character 2\)"),
        ({"body": "[" + "9" * 5000 + "]"}, "body is not JSON"),
        ({"body": "[" * 100_000}, "nested too deeply"),
        ({"body": '{"a":' * 100_000}, "nested too deeply"),
    ],
)
def test_an_event_that_is_no_batch_is_called_what_it_is(event, message):
    with pytest.raises(BadEvent, match=message):
        decode(event)


def test_a_batch_over_the_limit_is_refused_whole():
    assert len(decode([ROW] * 3, max_samples=3)) == 3
    with pytest.raises(TooManySamples, match="4 samples; the limit is 3"):
        decode([ROW] * 4, max_samples=3)


@pytest.mark.parametrize(
    ("received", "echoed"),
    [
        ("a", "a"),
        (" ", " "),
        ("日本", "日本"),
        ("\0", "\0"),
        (7, "7"),
        (-0.0, "-0.0"),
        (1.5, "1.5"),
        (1e22, "10000000000000000000000"),
        (1e-7, "0.0000001"),
        (10**22, "10000000000000000000000"),
    ],
)
def test_an_id_is_echoed_as_received(received, echoed):
    assert sample(id=received).id == echoed


@pytest.mark.parametrize(
    "unusable",
    [None, "", True, False, float("nan"), float("inf"), [], {}, ["a"], "a\ud800"],
)
def test_an_unusable_id_becomes_the_position(unusable):
    assert decode([ROW, {"id": unusable, "messages": TURNS}, 0])[1].id == "sample-1"


def test_an_id_of_more_digits_than_python_writes_becomes_the_position():
    assert sample(id=10**5000).id == "sample-0"


def test_a_missing_id_becomes_the_position_and_duplicates_are_kept():
    rows = [{"messages": TURNS}, ROW, ROW, {"messages": None}, "no row"]
    assert [row.id for row in decode(rows)] == ["sample-0", "a", "a", "sample-3", "sample-4"]


@pytest.mark.parametrize(
    ("fields", "reference"),
    [
        ({}, None),
        ({"reference_answer": "18"}, "18"),
        ({"reference_answer": 18}, 18),
        ({"reference_answer": {"text": "18"}}, {"text": "18"}),
        ({"metadata": {"reference_answer": "18"}}, "18"),
        ({"reference_answer": "18", "metadata": {"reference_answer": "19"}}, "18"),
        ({"reference_answer": None, "metadata": {"reference_answer": 0}}, 0),
        ({"reference_answer": "", "metadata": {"reference_answer": "19"}}, ""),
        ({"reference_answer": "18", "metadata": "wrong"}, "18"),
        ({"metadata": [1]}, None),
    ],
)
def test_a_reference_at_top_level_wins_and_null_is_absent(fields, reference):
    assert sample(**fields).reference == reference


def test_unknown_fields_are_metadata_unless_metadata_says_otherwise():
    assert sample(task="a", level=1, metadata={"level": 2}).metadata == {"task": "a", "level": 2}
    assert sample(task="a", metadata=7).metadata == {"task": "a"}
    assert sample(metadata=None).metadata == {}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("42", "42"),
        (None, ""),
        ([], ""),
        ("a\0b\ud800", "a\0b\ud800"),
        (["4", "2"], "4\n2"),
        ([{"type": "text", "text": "4"}, {"type": "output_text", "text": "2"}], "4\n2"),
        ([{"text": "42"}], "42"),
        ({"text": "42"}, "42"),
        ({"text": None}, ""),
        ([{"type": "text", "text": None}, {"text": "42"}], "42"),
        ([{"type": "thinking", "thinking": "41", "text": "41"}, {"text": "42"}], "42"),
        ([{"type": "reasoning", "text": "41"}, {"text": "42"}], "42"),
        ([{"type": "redacted_thinking", "data": "41"}], ""),
        ([{"reasoningContent": {"reasoningText": {"text": "41"}}}, {"text": "42"}], "42"),
        ({"reasoningContent": {}}, ""),
        ([{"image": {"format": "png"}}, {"type": "image_url", "image_url": {}}], ""),
        ([{"type": ["thinking"], "text": "42"}], "42"),
    ],
)
def test_content_of_every_shape_is_its_text(content, text):
    assert response(content) == text


def test_messages_that_are_not_plain_stand_among_plain_ones_in_order():
    messages = [
        {"role": "system", "content": "s", "name": "ignored"},
        {"role": "user\ud800", "content": [{"text": "u"}]},
        {"role": "nova_assistant", "content": "a", "tool_calls": []},
        {"role": "assistant"},
    ]
    assert sample(messages=messages).messages == (
        Message(role="system", content="s"),
        Message(role="user\ud800", content="u"),
        Message(role="nova_assistant", content="a"),
        Message(role="assistant", content=""),
    )


@pytest.mark.parametrize("messages", [[], TURNS[:1]])
def test_a_missing_generated_turn_is_an_empty_answer(messages):
    assert sample(messages=messages).response == ""


def with_message(message):
    return {"id": "a", "messages": [*TURNS, message]}


MALFORMED = [
    (None, "the row is null, not an object"),
    ([], "the row is a list, not an object"),
    ("secret", "the row is a string, not an object"),
    (3, "the row is a number, not an object"),
    (True, "the row is a boolean, not an object"),
    ({}, "messages is missing"),
    ({"messages": None}, "messages is null, not a list"),
    ({"messages": "secret"}, "messages is a string, not a list"),
    ({"messages": {"role": "user"}}, "messages is an object, not a list"),
    ({"messages": 3}, "messages is a number, not a list"),
    (with_message(None), "messages[2] is null, not an object"),
    (with_message("secret"), "messages[2] is a string, not an object"),
    (with_message(["secret"]), "messages[2] is a list, not an object"),
    (with_message({}), "messages[2].role is null, not a string"),
    (with_message({"role": 3, "content": "secret"}), "messages[2].role is a number, not a string"),
    (with_message({"role": "user", "content": 3}), "messages[2].content is a number, not a string"),
    (
        with_message({"role": "user", "content": 0.5}),
        "messages[2].content is a number, not a string",
    ),
    (
        with_message({"role": "a", "content": True}),
        "messages[2].content is a boolean, not a string",
    ),
    (with_message({"role": "a", "content": {}}), "messages[2].content is an object without text"),
    (
        with_message({"role": "a", "content": ["secret", 3]}),
        "messages[2].content[1] is a number, not a string",
    ),
    (
        with_message({"role": "a", "content": {"text": ["secret"]}}),
        "messages[2].content.text is a list, not a string",
    ),
    (
        with_message({"role": "a", "content": [{"type": "text", "text": {"value": "secret"}}]}),
        "messages[2].content[0].text is an object, not a string",
    ),
]


@pytest.mark.parametrize(("row", "message"), MALFORMED)
def test_a_row_that_is_no_sample_names_the_field_and_quotes_nothing(row, message):
    assert complaint(row) == message


def test_of_several_faults_the_first_is_named():
    messages = [{"role": "user", "content": 1}, *TURNS, {"role": None}]
    assert complaint({"messages": messages}) == "messages[0].content is a number, not a string"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)
MESSAGE = JSON | st.fixed_dictionaries({}, optional={"role": JSON, "content": JSON})
ROWS = JSON | st.fixed_dictionaries(
    {"id": JSON},
    optional={
        "messages": JSON | st.lists(MESSAGE, max_size=3),
        "reference_answer": JSON,
        "metadata": JSON,
    },
)


@settings(derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(ROWS, max_size=2))
def test_whatever_the_rows_are_each_has_an_id_that_can_be_sent(rows):
    decoded = decode(rows)
    assert len(decoded) == len(rows)
    assert all(row.id and row.id.encode() for row in decoded)


SCORED = Scored("a", Score(1, (Metric("share", 0.5, "Reward"),)))


def test_a_result_object_has_the_metrics_of_the_score_and_the_four_flags():
    assert result_object(SCORED) == {
        "id": "a",
        "aggregate_reward_score": 1.0,
        "metrics_list": [
            {"name": "share", "value": 0.5, "type": "Reward"},
            {"name": "bad_reference", "value": 0.0, "type": "Metric"},
            {"name": "unscored", "value": 0.0, "type": "Metric"},
            {"name": "imputed", "value": 0.0, "type": "Metric"},
            {"name": "out_of_time", "value": 0.0, "type": "Metric"},
        ],
    }
    assert json.dumps(result_object(SCORED)).count("1.0") == 1, "values are written as floats"


def test_both_response_modes():
    results = [result_object(SCORED)]
    assert encode(results, "list") is results
    envelope = encode(results, "envelope")
    assert envelope["statusCode"] == 200
    assert envelope["headers"] == {"Content-Type": "application/json"}
    assert json.loads(envelope["body"]) == results


def size(results, mode) -> int:
    return len(json.dumps(encode(results, mode)))


@pytest.mark.parametrize("mode", ["list", "envelope"])
@pytest.mark.parametrize("letter", ["a", '"', "\0", "é", "🎉"])
def test_metrics_are_dropped_exactly_when_the_response_would_not_fit(monkeypatch, mode, letter):
    results = [result_row(letter * 40, 1 / 3, [Metric("m", 1 / 7)])] * 20
    limit = size(results, mode)
    monkeypatch.setattr(contract, "MAX_RESPONSE_BYTES", limit)
    assert shrink_to_limit(results, mode) is results
    monkeypatch.setattr(contract, "MAX_RESPONSE_BYTES", limit - 1)
    bare = shrink_to_limit(results, mode)
    assert bare == [{"id": letter * 40, "aggregate_reward_score": 1 / 3}] * 20
    monkeypatch.setattr(contract, "MAX_RESPONSE_BYTES", size(bare, mode) - 1)
    with pytest.raises(ResponseTooLarge, match="20 ids and scores"):
        shrink_to_limit(results, mode)


def test_no_results_fit():
    assert shrink_to_limit([], "envelope") == []
