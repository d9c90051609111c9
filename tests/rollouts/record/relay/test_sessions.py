"""Sessions: a key opens one session, for a time and within bounds; what has ended stays ended."""

import pytest

from reward_functions.core.http_server.messages import Refused
from reward_functions.rollouts.record.completion import TokenCapture
from reward_functions.rollouts.record.relay.sessions import Limits, Sessions
from reward_functions.rollouts.request.errors import BadRequest, MisalignedTokens, TooBusy
from reward_functions.rollouts.request.headers import JOB_HEADER, TRAJECTORY_HEADER
from tests.rollouts.record.relay.engines import completion

URL = "http://127.0.0.1:1"


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def sessions(ended=None, clock=None, **limits):
    return Sessions(Limits(**limits), ended, clock or Clock())


def status(call, *arguments):
    with pytest.raises(Refused) as refused:
        call(*arguments)
    assert "\n" not in str(refused.value)
    return refused.value.status


def turn(session, text, **changes):
    """A call that is answered."""
    number, _ = session.record.began({"messages": [{"role": "user", "content": text}]})
    reply = completion(text) | changes
    tokens = TokenCapture()
    tokens.add(reply)
    session.record.answered(number, reply, tokens.captured(None))


def test_a_key_opens_its_own_session_and_no_other():
    every = sessions()
    mine, other = every.create(URL, "mine"), every.create(URL, "other")
    assert every.of_key(mine.key) is mine
    assert every.of_key(mine.key, "mine") is mine
    assert status(every.of_key, other.key, "mine") == 401
    assert status(every.of_key, "", "mine") == 401
    assert status(every.of_key, "mine") == 401
    assert status(every.of_key, mine.key, "third") == 404
    assert mine.key not in repr(mine)
    assert len({mine.key, other.key}) == 2
    assert (mine.base_url, mine.root_url) == (f"{URL}/sessions/mine/v1", f"{URL}/sessions/mine")


def test_a_closed_session_stays_closed():
    ended = []
    every = sessions(ended.append)
    session = every.create(URL, "s")
    turn(session, "x")
    session.close()
    session.close()
    assert status(every.of_key, session.key, "s") == 410
    assert status(every.of_key, session.key) == 401
    with pytest.raises(BadRequest, match="another"):
        every.create(URL, "s")
    turn(session, "late")
    assert [len(each.turns) for each in ended] == [1]
    assert session.trajectory() == ended[0]


def test_a_call_that_runs_when_its_session_closes_is_marked():
    every = sessions()
    session = every.create(URL)
    number, _ = session.record.began({"messages": [{"role": "user", "content": "x"}]})
    kept = session.close()
    session.record.answered(number, completion("x"), TokenCapture().captured(None))
    assert [each.error for each in kept.turns] == ["SessionClosed"]
    assert session.trajectory() == kept


def test_a_session_expires_when_nobody_uses_it():
    clock, ended = Clock(), []
    every = sessions(ended.append, clock)
    short, long = every.create(URL, "a", ttl=10), every.create(URL, "b", ttl=100)
    clock.now = 9
    with every.calling(short):
        clock.now = 50
        every.sweep()
        assert every.get("a") is short
    clock.now = 61
    assert status(every.get, "a") == 410
    assert ended == []  # who asks, perhaps without a key, waits for no disk
    every.sweep()
    assert every.get("b") is long
    assert [each.id for each in ended] == ["a"]


def test_turns_sessions_and_bytes_are_bounded():
    every = sessions(sessions=2, session_bytes=100, bytes=150)
    few, other = every.create(URL, max_turns=1), every.create(URL)
    with pytest.raises(TooBusy):
        every.create(URL)
    every.admit(few)
    assert status(every.admit, few) == 429
    assert few.trajectory().truncated
    every.charge(other, 100)
    assert status(every.admit, other) == 413
    few.close()
    third = every.create(URL)
    every.charge(third, 50)
    assert status(every.admit, third) == 503
    other.close()
    every.admit(third)
    every.charge(other, 10**9)
    every.admit(third)


BAD = [
    {"id": "a/b"},
    {"id": ""},
    {"id": "x" * 129},
    {"id": 1},
    {"ttl": 0},
    {"ttl": float("nan")},
    {"max_turns": True},
    {"sampling": {"model": "x"}},
    {"sampling": {"temperature": "hot"}},
    {"sampling": {"temperature": float("inf")}},
    {"sampling": {"stop": [1]}},
    {"headers": {"Authorization": "x"}},
    {"headers": {JOB_HEADER: "a\r\nb"}},
]


@pytest.mark.parametrize("asked", BAD)
def test_a_session_that_cannot_be_is_refused(asked):
    with pytest.raises(BadRequest):
        sessions().create(URL, **asked)


def test_it_carries_the_rollout_that_it_is():
    headers = {JOB_HEADER.lower(): "arn", TRAJECTORY_HEADER: "t"}
    session = sessions().create(URL, headers=headers)
    assert session.headers == {JOB_HEADER: "arn", TRAJECTORY_HEADER: "t"}
    assert session.trajectory(rewards=(1.0,)).job == "arn"


def test_misaligned_tokens_are_marked_and_refused():
    session = sessions().create(URL)
    turn(session, "x")
    turn(session, "y", choices=[completion("y")["choices"][0] | {"token_ids": [1]}])
    assert session.trajectory().turns[1].tokens is None
    assert session.trajectory().metadata["token_gaps"]["1"].startswith("misaligned")
    with pytest.raises(MisalignedTokens, match="turn 1"):
        session.traces()


def echoed(arguments, name="add"):
    call = {"id": "call-tool", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        (echoed('{"b":2,"a":1}'), echoed('{"a": 1, "b": 2}')),
        (echoed('{"a":1,"b":3}'), echoed('{"a":1,"b":3}')),
        (echoed('{"a":1,"b":2}', "sub"), echoed('{"a":1,"b":2}', "sub")),
        (echoed("{not"), echoed("{not")),
        (echoed(None), echoed(None)),
        ({"role": "assistant", "tool_calls": ["x", {"id": []}]}, None),
        ({"role": "user", "content": "x"}, None),
    ],
)
def test_arguments_are_sent_as_the_policy_wrote_them(given, sent):
    session = sessions().create(URL)
    turn(session, "tool")
    assert session.record.as_written([given]) == [sent or given]


def test_messages_are_kept_once_and_results_join_their_calls():
    session = sessions().create(URL)
    first = [{"role": "user", "content": "tool"}]
    turn(session, "tool")
    answer = completion("tool")["choices"][0]["message"]
    result = {"role": "tool", "tool_call_id": "call-tool", "content": "3"}
    _, size = session.record.began({"messages": [*map(dict, first), answer, result]})
    before, now = session.trajectory().turns
    assert now.messages[0] is before.messages[0]
    assert size < 300
    assert [(each.call_id, each.content) for each in before.tool_results] == [("call-tool", "3")]
    assert [call.name for call in before.tool_calls] == ["add"]
