"""Rows of SageMaker's evaluation jobs are read as those of training: one response, one score."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reward_functions import specs
from reward_functions.core.batch import score_batch
from reward_functions.core.errors import BadSample
from reward_functions.core.spec import reward_function
from reward_functions.core.types import Message, Sample, Scored, Unscored
from reward_functions.data.rows.writing import write
from reward_functions.local.function_runtime import LocalRuntime
from reward_functions.serving.contract import MAX_SAMPLES, BadEvent, TooManySamples, decode
from reward_functions.serving.handler import bind
from reward_functions.serving.imputation import BatchFailed
from reward_functions.serving.nova_metrics import nova_event
from reward_functions.serving.settings import LambdaSettings
from reward_functions.testing.assertions import wire_row

SPECS = specs()

PUBLISHED = {
    "id": "hash",
    "model_response": "It is \\boxed{42}.",
    "query": "6 × 7?",
    "response": "42",
    "reference_answer": {"text": "42"},
    "metadata": {},
    "processor_config": {},
}
"""As awslabs/agent-plugins publishes it: custom-scorer-evaluation-dataset-formats.md."""


def without(*names, **fields):
    return {key: value for key, value in PUBLISHED.items() if key not in names} | fields


def sample(*names, **fields):
    (decoded,) = decode([without(*names, **fields)])
    assert isinstance(decoded, Sample), decoded
    return decoded


def test_the_published_row_is_a_sample():
    assert sample() == Sample(
        id="hash",
        messages=(Message("user", "6 × 7?"), Message("assistant", "It is \\boxed{42}.")),
        reference="42",
        metadata={},
    )


@pytest.mark.parametrize(
    ("row", "reference"),
    [
        (without("reference_answer"), "42"),
        (without("response"), "42"),
        (without(reference_answer="43"), "43"),  # reward_function_source_template.py: "or str"
        (without(reference_answer=""), "42"),
        (without(reference_answer={"text": ""}), "42"),
        (without(reference_answer={"text": None}), "42"),
        (without(reference_answer=None), "42"),
        (without(reference_answer=0), 0),
        (without(reference_answer=["42", "forty-two"]), ["42", "forty-two"]),
        (without(reference_answer={"text": ["42", "43"]}), ["42", "43"]),
        (without(reference_answer={"text": "4", "unit": "m"}), {"text": "4", "unit": "m"}),
        (without(reference_answer={"x": 4}), {"x": 4}),
        (without(reference_answer='{"x": 4}'), '{"x": 4}'),
        (without(metadata={"reference_answer": {"x": 4}}), {"x": 4}),
        (without(metadata={"reference_answer": None}), "42"),
        (without(metadata={"reference_answer": ""}), "42"),
        (without(metadata={"reference_answer": {}}), "42"),
        (without(metadata={"reference_answer": 0}), 0),
        (without(metadata={"reference_answer": False}), False),
        (without(reference_answer={}), "42"),
        (without(reference_answer=[]), "42"),
        (without("reference_answer", response=[]), None),
        (without("response", "reference_answer"), None),
        (without("reference_answer", response=None), None),
    ],
)
def test_the_reference_is_the_metadata_s_then_the_evaluation_s_then_the_gold_text(row, reference):
    (decoded,) = decode([row])
    assert decoded.reference == reference


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("42", "42"),
        ("", ""),
        (None, ""),
        ([], ""),
        (["4", "2"], "4\n2"),
        ([{"type": "text", "text": "42"}], "42"),
        ({"text": "42"}, "42"),
        ([{"type": "thinking", "text": "41"}, {"text": "42"}], "42"),
        ("a\0b\ud800", "a\0b\ud800"),
    ],
)
def test_an_answer_is_text_in_every_form_of_a_content(answer, text):
    assert sample(model_response=answer).response == text


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (without("model_response"), "model_response is missing"),
        (without("query"), "query is missing"),
        (without(model_response=42), "model_response is a number, not a string"),
        (without(model_response=True), "model_response is a boolean, not a string"),
        (without(model_response={"answer": "42"}), "model_response is an object without text"),
        (without(model_response=["4", 2]), "model_response[1] is a number, not a string"),
        (without(query=7), "query is a number, not a string"),
        (without(system=7), "system is a number, not a string"),
        ({"response": "42"}, "messages is missing"),
        (without("model_response", "query"), "messages is missing"),
        (
            without(messages=[{"role": "user", "content": "6 × 7?"}]),
            "messages hold no answer, and model_response stands beside",
        ),
    ],
)
def test_a_row_that_cannot_be_read_names_the_field_under_its_own_id(row, message):
    (good, bad) = decode([PUBLISHED, row])
    assert isinstance(good, Sample)
    assert isinstance(bad, Unscored)
    assert isinstance(bad.error, BadSample)
    assert str(bad.error) == message
    assert bad.id == row.get("id", "sample-1")


@pytest.mark.parametrize("system", [None, "", []])
def test_no_system_prompt_is_no_turn(system):
    assert len(sample(system=system).messages) == 2


def test_a_system_prompt_opens_the_conversation():
    assert sample(system="Be brief.").messages[0] == Message("system", "Be brief.")


def test_metadata_is_as_of_training_and_the_job_s_own_keys_are_none():
    hostile = {"reference_answer": "41", "messages": [], "__class__": "x"}
    assert sample(processor_config=hostile, level=3).metadata == {"level": 3}
    assert sample(level=3, metadata={"level": 4}).metadata == {"level": 4}
    for broken in ("{}", [1], 7, None):
        assert sample(metadata=broken).metadata == {}


def test_a_conversation_goes_before_the_keys_of_an_evaluation():
    (decoded,) = decode([without(messages=[{"role": "assistant", "content": "41"}])])
    assert decoded.response == "41"
    for empty in (None, [], ""):
        assert sample(messages=empty).response == PUBLISHED["model_response"]


def test_both_kinds_of_rows_stand_in_one_list_and_duplicate_ids_are_kept():
    training = {"id": "hash", "messages": [{"role": "assistant", "content": "42"}]}
    rows = decode([PUBLISHED, training, PUBLISHED, {"query": "?"}])
    assert [row.id for row in rows] == ["hash", "hash", "hash", "sample-3"]
    assert [isinstance(row, Sample) for row in rows] == [True, True, True, False]


def test_a_batch_of_the_limit_is_read_and_one_more_is_refused():
    assert len(decode([PUBLISHED] * MAX_SAMPLES)) == MAX_SAMPLES
    with pytest.raises(TooManySamples):
        decode([PUBLISHED] * (MAX_SAMPLES + 1))


def test_huge_fields_are_read_once_and_not_copied_into_metadata():
    huge = "9" * 2_000_000
    decoded = sample(model_response=huge, processor_config={"x": [huge] * 9})
    assert decoded.response is huge
    assert decoded.metadata == {}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)
KEYS = ("id", *PUBLISHED, "system", "prompt", "inference_output", "gold", "messages")


@settings(derandomize=True, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(KEYS, JSON)), max_size=2),
    JSON,
)
def test_whatever_an_evaluation_sends_is_a_reply_or_a_typed_refusal(rows, step):
    replies = results(SERVED([PUBLISHED, *rows]))
    assert len(replies) == len(rows) + 1
    json.dumps(replies, ensure_ascii=False).encode()
    for each in [*rows, step]:
        for asked in (step, "preprocess", "postprocess"):
            with suppress(BadEvent):
                assert SERVED({"process_type": asked, "data": each})["statusCode"] == 200


# The same score as in training, for every reward.

EXAMPLES = [
    pytest.param(spec, at, id=f"{spec.name}-{at}")
    for spec in SPECS.values()
    for at in range(len(spec.examples))
]


def evaluation_row(given):
    """What SageMaker sends of a row of a data set that we wrote, by the published table."""
    row = wire_row(given)
    asked = row | {"messages": row["messages"][: len(given.context)]}
    data, lost = write(asked, "sagemaker-eval")
    assert not lost or len(given.context) > 1, "only a longer conversation loses anything"
    gold = {"text": data["response"]}
    answer = {"model_response": given.response, "reference_answer": gold}
    return {"id": given.id, **data, **answer, "processor_config": {}}


def dressings(row):
    """The row in every form that AWS publishes, or a container may send."""
    yield row
    yield {key: value for key, value in row.items() if key != "reference_answer"}
    yield row | {"reference_answer": row["response"]}
    yield row | {"model_response": [{"type": "text", "text": row["model_response"]}]}
    yield row | {"metadata": row.get("metadata", {}), "messages": None}


@pytest.mark.parametrize(("spec", "at"), EXAMPLES)
def test_a_response_has_one_score_in_training_and_in_evaluation(spec, at):
    example = spec.examples[at]
    given = example.sample()
    row = evaluation_row(given)
    turn = {"prompt": row["query"], "inference_output": row["model_response"]}
    further = {key: row[key] for key in ("system", "metadata") if key in row}
    event = {"process_type": "postprocess", "data": turn | {"gold": row["response"]} | further}
    asked = nova_event(event)
    assert asked is not None
    samples = decode([wire_row(given), *dressings(row)])
    training, *evaluations = [
        # One by one: the script of a judge's example answers the questions of one sample.
        score_batch(spec.bound_to_example(example), [each], workers=1)[0]
        for each in (*samples, asked.sample())
    ]
    assert isinstance(training, Scored)
    for evaluation in evaluations:
        assert isinstance(evaluation, Scored)
        assert evaluation.score == training.score


@pytest.mark.parametrize("spec", [spec for spec in SPECS.values() if spec.needs.group])
def test_answers_to_one_query_in_one_event_are_one_group(spec):
    example = spec.examples[0]
    given = [replace(example.sample(), id=str(at)) for at in range(3)]
    reward = spec.bound_to_example(example)
    training = score_batch(reward, decode([wire_row(each) for each in given]), workers=1)
    evaluation = score_batch(reward, decode([evaluation_row(each) for each in given]), workers=1)
    assert [type(each) for each in evaluation] == [type(each) for each in training]
    assert [each.score for each in evaluation if isinstance(each, Scored)] == [
        each.score for each in training if isinstance(each, Scored)
    ]


# Through the handler, and through AWS's own runtime client.

QUESTION = "12 trays of 8 rolls, 75 sold: how many are left?"
ANSWERS = ["12 × 8 = 96, and 96 - 75 = 21.\n#### 21", "#### 20", "", "21"]


def training_event(answers=ANSWERS):
    return [
        {
            "id": f"row-{at}",
            "messages": [
                {"role": "user", "content": QUESTION},
                {"role": "assistant", "content": answer},
            ],
            "reference_answer": "21",
        }
        for at, answer in enumerate(answers)
    ]


def evaluation_event(answers=ANSWERS):
    return [
        without(id=f"row-{at}", query=QUESTION, model_response=answer, response="21")
        | {"reference_answer": {"text": "21"}}
        for at, answer in enumerate(answers)
    ]


def nova(data, step="postprocess"):
    return {"process_type": step, "data": data}


def answered(answer, **fields):
    return nova({"prompt": QUESTION, "inference_output": answer, "gold": "21", **fields})


def results(reply):
    """The list of results, out of its envelope."""
    if isinstance(reply, list):
        return reply
    assert reply["statusCode"] == 200
    return json.loads(reply["body"])


def by_name(reply):
    assert reply["statusCode"] == 200
    return {each["metric"]: each["value"] for each in reply["body"]}


@pytest.mark.parametrize("mode", ["list", "envelope"])
def test_through_the_runtime_client_both_events_have_one_answer(mode):
    settings = LambdaSettings(name="gsm8k", response_mode=mode)
    with LocalRuntime(settings.to_env()) as runtime:
        training = runtime.invoke(training_event()).payload
        evaluation = runtime.invoke(evaluation_event()).payload
        metrics = [by_name(runtime.invoke(answered(answer)).payload) for answer in ANSWERS]
    rows = results(training)
    assert isinstance(training, list if mode == "list" else dict)
    assert evaluation.keys() == {"statusCode", "headers", "body"}
    assert results(evaluation) == rows
    assert [row["id"] for row in rows] == [f"row-{at}" for at in range(len(ANSWERS))]
    assert [row["aggregate_reward_score"] for row in rows] == [1.0, 0.0, 0.0, 0.0]
    assert metrics == [
        {"aggregate_reward_score": row["aggregate_reward_score"]}
        | {metric["name"]: metric["value"] for metric in row["metrics_list"]}
        for row in rows
    ]


SERVED = bind(LambdaSettings(name="gsm8k"))
ENVELOPED = bind(LambdaSettings(name="gsm8k", response_mode="envelope"))


def test_a_mixed_list_is_answered_in_its_order():
    mixed = [training_event()[0], evaluation_event()[1], evaluation_event()[0]]
    assert [each["aggregate_reward_score"] for each in SERVED(mixed)] == [1.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("event", "mode"),
    [
        # The container of open weights refuses a body that is no text: custom-lambda-scorer.md.
        ([PUBLISHED], "envelope"),
        ([PUBLISHED, without(messages=[])], "envelope"),
        ({"body": json.dumps([PUBLISHED])}, "envelope"),
        ({"batch": [PUBLISHED]}, "envelope"),
        ([{"query": QUESTION}], "envelope"),  # what is missing does not hide who asks
        ([PUBLISHED, None, 7], "envelope"),
        (training_event(), "list"),
        ([*training_event(), PUBLISHED], "list"),
        ([PUBLISHED, {"id": "of training, and broken"}], "list"),
        ([training_event()[0] | {"query": "a column", "model_response": "another"}], "list"),
        ([None], "list"),
        ([], "list"),
    ],
)
def test_an_event_of_an_evaluation_alone_is_answered_in_its_envelope_by_every_deployment(
    event, mode
):
    assert isinstance(SERVED(event), dict if mode == "envelope" else list)
    assert isinstance(ENVELOPED(event), dict)
    assert results(SERVED(event)) == results(ENVELOPED(event))


def test_one_bad_row_of_an_evaluation_harms_no_neighbour():
    bad = [{"query": QUESTION}, without("query"), evaluation_event()[0] | {"model_response": 3}]
    replies = results(SERVED([*bad, *evaluation_event()]))
    flagged = [
        next(
            metric["value"] for metric in reply["metrics_list"] if metric["name"] == "bad_reference"
        )
        for reply in replies
    ]
    assert flagged == [1, 1, 1, 0, 0, 0, 0]
    assert replies[3:] == results(SERVED(evaluation_event()))


def test_nova_s_preprocessor_changes_nothing():
    data = {"system": "Be brief.", "prompt": QUESTION, "gold": "21"}
    assert SERVED(nova(data, "preprocess")) == {"statusCode": 200, "body": data}
    assert SERVED(nova([{"prompt": QUESTION, "gold": ""}], "preprocess"))["body"] == {
        "system": None,
        "prompt": QUESTION,
        "gold": "",
    }


@pytest.mark.parametrize(
    ("event", "bad_reference", "score"),
    [
        (answered(ANSWERS[0]), 0, 1.0),
        (nova([answered(ANSWERS[0])["data"]]), 0, 1.0),
        (answered(None), 0, 0.0),
        (answered([{"text": ANSWERS[0]}]), 0, 1.0),
        (answered(ANSWERS[0], messages=[], model_response="#### 1", query="?"), 0, 1.0),
        (answered(ANSWERS[0], gold=None), 1, 0.0),
        (answered(ANSWERS[0], gold="", metadata={"reference_answer": 21}), 0, 1.0),
        (answered(21), 1, 0.0),
        (nova({"prompt": QUESTION, "gold": "21"}), 1, 0.0),
        (nova({}), 1, 0.0),
    ],
)
def test_nova_s_postprocessor_is_answered_with_the_score_and_the_flags(event, bad_reference, score):
    metrics = by_name(SERVED(event))
    assert metrics["bad_reference"] == bad_reference
    assert metrics["aggregate_reward_score"] == score


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (nova({}, "process"), "neither 'preprocess' nor 'postprocess'"),
        (nova({}, ["postprocess"]), "neither"),
        (nova({}, None), "neither"),
        (nova([]), "data is a list of 0"),
        (nova([{}, {}]), "data is a list of 2"),
        (nova("secret"), "data is a string; expected one object"),
        ({"process_type": "postprocess"}, "data is null; expected one object"),
    ],
)
def test_an_event_of_nova_that_holds_no_row_fails_the_invocation(event, message):
    with pytest.raises(BadEvent, match=message):
        SERVED(event)


def test_a_batch_with_a_key_of_nova_is_still_a_batch():
    event = {"process_type": "postprocess", "batch": training_event()}
    assert SERVED(event) == SERVED(training_event())


@reward_function(version=1, scale=(0.0, 1.0))
def broken(sample):
    """Fails."""
    raise ZeroDivisionError(sample.response)


def test_an_answer_that_we_fail_to_score_is_no_number_for_nova():
    with pytest.raises(BatchFailed):
        bind(LambdaSettings(name="broken"), broken)(answered("21"))
