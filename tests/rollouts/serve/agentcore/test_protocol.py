"""The envelope of the start/get protocol: what is one, and what is refused (0.2.0)."""

import pytest

from reward_functions.rollouts.request.errors import BadRequest
from reward_functions.rollouts.serve.agentcore.invocations import Invocation, read_invocation

START = {"version": 1, "operation": "start", "invocation_id": "a-1"}
GET = START | {"operation": "get"}

READ = [
    (START, Invocation(operation="start", invocation_id="a-1")),
    (
        START | {"background": True},
        Invocation(operation="start", invocation_id="a-1", background=True),
    ),
    (START | {"background": False}, Invocation(operation="start", invocation_id="a-1")),
    (GET, Invocation(operation="get", invocation_id="a-1")),
    (GET | {"invocation_id": "9" * 128}, Invocation(operation="get", invocation_id="9" * 128)),
    (GET | {"invocation_id": "A_b-"}, Invocation(operation="get", invocation_id="A_b-")),
]


@pytest.mark.parametrize(("given", "read"), READ)
def test_an_envelope_is_read(given, read):
    assert read_invocation(given) == read


REFUSED = {
    "no object": (["start"], "a list"),
    "null": (None, "null"),
    "an unknown field": (START | {"payload": {}}, "a field that is none"),
    "no version": ({"operation": "start", "invocation_id": "a"}, "version"),
    "another version": (START | {"version": 2}, "version"),
    "a version of words": (START | {"version": "1"}, "version"),
    "a boolean version": (START | {"version": True}, "version"),
    "a broken version": (START | {"version": 1.0}, "version"),
    "no operation": ({"version": 1, "invocation_id": "a"}, "operation"),
    "another operation": (START | {"operation": "stop"}, "operation"),
    "a list of operations": (START | {"operation": ["start"]}, "operation"),
    "no id": ({"version": 1, "operation": "start"}, "invocation_id"),
    "an empty id": (START | {"invocation_id": ""}, "invocation_id"),
    "a number": (START | {"invocation_id": 7}, "invocation_id"),
    "a mark first": (START | {"invocation_id": "-a"}, "invocation_id"),
    "a path": (START | {"invocation_id": "../a"}, "invocation_id"),
    "a dot": (START | {"invocation_id": "a.b"}, "invocation_id"),
    "a line": (START | {"invocation_id": "a\n"}, "invocation_id"),
    "a letter of another script": (START | {"invocation_id": "é"}, "invocation_id"),
    "too long": (START | {"invocation_id": "a" * 129}, "invocation_id"),
    "a background of words": (START | {"background": "yes"}, "background"),
    "a get behind the answer": (GET | {"background": False}, "background"),
}


@pytest.mark.parametrize(("given", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_envelope_is_refused_by_its_field(given, words):
    with pytest.raises(BadRequest, match=words):
        read_invocation(given)
