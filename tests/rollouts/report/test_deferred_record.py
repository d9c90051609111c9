"""Records of deferred episodes: written and read again, and what is none of them."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reward_functions.core.types import FunctionCall, Message, Sample
from reward_functions.rollouts.report.deferred import (
    LARGEST,
    BadRecord,
    DeferredRecord,
    NotDeferred,
    PinnedReward,
    read_record,
)
from reward_functions.rollouts.request.contract import RolloutMetadata

ARN = "arn:aws:lambda:us-east-1:123456789012:function:SageMaker-reward-dev-math:7"
JOB = "arn:aws:sagemaker:us-west-2:123456789012:job/AgentRFT/one"


def record(response="42", *, job=JOB, rollout="r1", reference="42", metadata=None):
    sample = Sample(
        id="row", messages=(Message("user", "?"),), reference=reference, metadata=metadata or {}
    )
    return DeferredRecord(
        scorer=PinnedReward(arn=ARN, reward="math", version=3),
        metadata=RolloutMetadata(job_arn=job, trajectory_id=rollout),
        sample=sample.answered(response),
        created=1.0,
        expires=601.0,
    )


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(-1e9, 1e9) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=30)
@given(st.text(), texts.filter(bool), values, st.dictionaries(st.text(), values, max_size=3))
def test_what_is_written_is_read_as_it_was(response, rollout, reference, metadata):
    written = record(response, rollout=rollout, reference=reference, metadata=metadata)
    assert read_record(written.body()) == written


def test_the_calls_of_a_context_are_kept_and_nobody_elses_bytes_change():
    plain = record()
    assert b"tool_calls" not in plain.body()
    call = FunctionCall("weather", '{"city": "Bern"}')
    turns = (Message("user", "?"), Message("assistant", "", (call,)), Message("tool", "sunny"))
    written = replace(plain, sample=replace(plain.sample, messages=turns).answered("42"))
    assert read_record(written.body()) == written


@settings(max_examples=50)
@given(st.binary(max_size=200) | values.map(lambda value: json.dumps(value).encode()))
def test_anything_else_is_refused_in_words(given_bytes):
    with pytest.raises(BadRecord):
        read_record(given_bytes)


@settings(max_examples=50)
@given(st.data())
def test_a_record_with_any_value_in_any_field_is_read_or_refused(data):
    fields = json.loads(record().body())
    name = data.draw(st.sampled_from(sorted(fields)))
    changed = json.dumps(fields | {name: data.draw(values)}).encode()
    with suppress(BadRecord):
        assert read_record(changed).metadata.complete


@settings(max_examples=30)
@given(texts, texts, texts, texts)
def test_the_key_follows_from_job_and_rollout_alone(job, rollout, other, response):
    first = record(response, job=job, rollout=rollout)
    assert first.key == record("?", job=job, rollout=rollout).key
    assert (first.key == record(job=job, rollout=other).key) == (rollout == other)
    assert first.key.isascii()
    assert "\n" not in first.key


def changed(**fields):
    return json.dumps(json.loads(record().body()) | fields).encode()


HOSTILE = {
    "nothing": b"",
    "no UTF-8": b"\xff\xfe\x00",
    "a list": b"[]",
    "deep": b"[" * 100_000,
    "deep inside": changed(
        sample={
            "id": "x",
            "messages": [],
            "metadata": json.loads('{"a":' * 80 + "1" + "}" * 80),
        }
    ),
    "large": changed(response="x" * LARGEST),
    "NaN": record().body().replace(b"601.0", b"NaN"),
    "infinite": record().body().replace(b"601.0", b"1e999"),
    "infinite inside": record(reference=7).body().replace(b":7,", b":1e999,"),
    "digits": record().body().replace(b"601.0", b"9" * 5000),
    "a name twice": record().body().replace(b'"record":1', b'"record":1,"record":1'),
    "another format": changed(record=2),
    "true for 1": changed(record=True),
    "a field more": changed(rewards=[1.0]),
    "milliseconds": changed(expires=1e15),
    "backwards": changed(created=700.0),
    "negative": changed(created=-1.0),
    "an alias": changed(scorer={"arn": ARN.replace(":7", ":live")}),
    "the latest": changed(scorer={"arn": ARN.replace(":7", ":$LATEST")}),
    "version 0": changed(scorer={"arn": ARN.replace(":7", ":0")}),
    "a newline behind": changed(scorer={"arn": f"{ARN}\n"}),
    "a model": changed(scorer={"arn": "arn:aws:bedrock:us-east-1::foundation-model/x"}),
    "true for a version": changed(scorer={"arn": ARN, "version": True}),
    "no ids": changed(metadata={"jobArn": "", "rolloutId": ""}),
    "half a character": record().body().replace(b'"r1"', rb'"\ud800"'),
    "a message without text": changed(sample={"id": "x", "messages": [{"role": "user"}]}),
    "text in blocks": changed(
        sample={"id": "x", "messages": [{"role": "user", "content": [{"text": "?"}]}]}
    ),
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_record_is_refused_in_one_sentence_without_its_text(body):
    with pytest.raises(BadRecord) as error:
        read_record(body)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 200


def test_a_record_of_another_reward_is_its_agents():
    with pytest.raises(NotDeferred, match="its agent reports it"):
        read_record(changed(reward="math"))


def test_two_rollouts_of_one_row_have_two_ids():
    first, second = record(rollout="r1"), record(rollout="r2")
    assert first.sample.id == second.sample.id
    assert first.row["id"] != second.row["id"]


UNWRITABLE = [{"x": float("nan")}, {"x": object()}, {"x": "y" * LARGEST}]


@pytest.mark.parametrize("metadata", UNWRITABLE, ids=["NaN", "an object", "large"])
def test_an_episode_that_is_no_record_is_refused_where_it_is_written(metadata):
    with pytest.raises(BadRecord):
        record(metadata=metadata).body()


def test_a_prompt_is_in_no_representation():
    assert "?" not in repr(record())
