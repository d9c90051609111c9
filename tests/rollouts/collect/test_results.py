"""What an agent stored is whole, or refused with the reason."""

import json

import pytest

from reward_functions.rollouts.collect.calls import read_result
from reward_functions.rollouts.request.errors import AgentFailed, BadResult

WHOLE = {"status_code": 200, "rewards": [0.5, 1], "s3_bucket": "b", "result_key": "k"}

REFUSED = {
    # a name: what is stored, and the words of the message; by the table of `results.py`
    "half": (b'{"rewards": 1', "not whole JSON"),
    "nothing": (b"", "not whole JSON"),
    "NaN": (b'{"rewards": NaN}', "not whole JSON"),
    "bytes": (b"\xff\xfe\xfd", "not whole JSON"),
    "deep": (b"[" * 200_000, "not whole JSON"),
    "list": (b"[1]", "a list, not an object"),
    "another key": (json.dumps(WHOLE | {"result_key": "other"}).encode(), "result_key differs"),
    "another bucket": (json.dumps(WHOLE | {"s3_bucket": "other"}).encode(), "s3_bucket differs"),
    "another input": (json.dumps(WHOLE | {"input_id": "other"}).encode(), "input_id differs"),
    "status of words": (json.dumps(WHOLE | {"status_code": "200"}).encode(), "a string"),
    "status of truth": (json.dumps(WHOLE | {"status_code": True}).encode(), "a boolean"),
    "reward of words": (json.dumps(WHOLE | {"rewards": "1"}).encode(), "a string"),
    "no rewards": (json.dumps(WHOLE | {"rewards": []}).encode(), "empty"),
    "null": (json.dumps(WHOLE | {"rewards": None}).encode(), "null"),
    "infinite": (b'{"rewards": 1e999}', "finite"),
}


def read(body):
    return read_result(body, bucket="b", key="k", input_id="i")


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_whole_is_refused(name):
    body, words = REFUSED[name]
    with pytest.raises(BadResult, match=words):
        read(body)


@pytest.mark.parametrize("missing", [(), ("status_code",), ("rewards",), ("result_key",)])
def test_a_result_is_whole_without_what_an_agent_need_not_store(missing):
    stored = {name: value for name, value in WHOLE.items() if name not in missing}
    assert read(json.dumps(stored).encode()) == stored


def test_an_agents_failure_has_its_reason_on_one_line_and_its_envelope():
    stored = {"status_code": 500, "stop_reason": "out\nof\x1b[31m tools " + "x" * 9_000}
    with pytest.raises(AgentFailed, match=r"status 500: out of \[31m tools x") as caught:
        read(json.dumps(stored).encode())
    assert len(str(caught.value)) < 600
    assert caught.value.result == stored
