"""What holds for every adapter: one table of them, and each rule tried on all."""

import asyncio
import gc
import json
import weakref
from contextlib import aclosing, suppress

import pytest

from reward_functions.rollouts.episode.results import cause_of
from reward_functions.rollouts.policy.answers import events_of
from reward_functions.rollouts.record.types import TokenTrace, TokenUsage
from reward_functions.rollouts.request.errors import PolicyFailure
from tests.loopback import served
from tests.rollouts.acting_policy import ActingPolicy
from tests.rollouts.adapters import ADAPTERS, AS_WRITTEN, ONE_ATTEMPT, ask, chat_model
from tests.rollouts.crossing import crossed, episode, turns
from tests.waiting import until_gone

CALL = "call"
LIMIT = 30
AGAIN = (429, {"retry-after-ms": "1"}, b"{}")
EACH = pytest.mark.parametrize("adapter", sorted(ADAPTERS))
REPEATING = pytest.mark.parametrize("adapter", sorted(set(ADAPTERS) - ONE_ATTEMPT))


class Acting(ActingPolicy):
    """The policy under one name, by whichever route it is asked."""

    raw = ()
    throttling = None
    with_tokens = False

    def complete(self, asked):
        status, headers, body = super().complete(asked)
        return status, headers, traced(body, headers) if self.with_tokens else body

    def operation(self, asked):
        self.raw = (*self.raw, asked)
        if self.throttling is not None:
            self.throttling.cancelled.set()
            return CALL, lambda: AGAIN
        return CALL, lambda: self.complete(asked)


LOGPROBS = [{"token": "t", "logprob": each, "top_logprobs": []} for each in (-0.5, -0.25, 0.0)]


def traced(body, headers):
    """An answer with its tokens as vLLM gives them: a stream's in two of its chunks."""
    if headers["Content-Type"] == "application/json":
        whole = json.loads(body) | {"prompt_token_ids": [1, 2, 3]}
        whole["choices"][0] |= {"token_ids": [7, 8, 9], "logprobs": {"content": LOGPROBS}}
        return json.dumps(whole).encode()
    events = events_of(body)
    events[0]["prompt_token_ids"] = [1, 2, 3]
    for event, ids in zip(events, ([7], [8, 9]), strict=False):
        logprobs = {"content": [LOGPROBS[each - 7] for each in ids]}
        event["choices"][0] |= {"token_ids": ids, "logprobs": logprobs}
    return b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in events)


@pytest.fixture
def policy(credentials):
    service = Acting()
    with served(service):
        yield service


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    """What waits before another attempt does not."""
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.001)


def recorded(one):
    return one.recording.trajectory(id="t").turns


@REPEATING
def test_a_call_that_is_throttled_twice_is_one_turn_and_its_attempts_are_marked(policy, adapter):
    policy.fail(CALL, AGAIN, AGAIN)
    one = episode(3)
    with one:
        ask(adapter, policy.address, "solve 3")
    assert turns(one) == [(None, "CallRefused")] * 2 + [(["calculator"], "")]
    assert one.turns == 1
    assert crossed(policy.calls) == []
    spans = [each.headers["x-span-id"] for each in policy.raw]
    assert len(set(spans)) == 3, "each attempt has a span id of its own"


@EACH
def test_no_attempt_is_made_behind_the_deadline(policy, adapter):
    one = policy.throttling = episode(3)
    with one, pytest.raises(Exception, match=r"429|window|onnection") as raised:
        ask(adapter, policy.address, "solve 3")
    assert (len(policy.raw), turns(one), one.turns) == (1, [(None, "CallRefused")], 0)
    assert isinstance(cause_of(raised.value), PolicyFailure) or adapter in ONE_ATTEMPT


@EACH
@pytest.mark.parametrize("arguments", ['{"expression": ', "[1]"])
def test_arguments_that_are_no_json_object_are_recorded_as_they_were_written(
    policy, adapter, arguments
):
    policy.arguments = arguments
    with episode(3) as one, suppress(ValueError):  # a client may refuse what it cannot parse
        ask(adapter, policy.address, "solve 3")
    [turn] = recorded(one)
    [call] = turn.tool_calls
    assert (call.arguments, call.is_json, turn.unread) == (arguments, False, ())


@EACH
def test_tool_calls_of_one_step_are_each_in_the_turn_as_the_engine_wrote_it(policy, adapter):
    policy.names, policy.thought = ("calculator",) * 3, "Hm."
    with episode(3) as one:
        _, calls = ask(adapter, policy.address, "solve 3")
    assert calls == [("calculator", '{"expression": "3"}')] * 3
    [turn] = recorded(one)
    assert [call.id for call in turn.tool_calls] == ["call_3_0", "call_3_1", "call_3_2"]
    assert (turn.response["content"], turn.response["reasoning_content"]) == (None, "Hm.")
    assert (turn.model, turn.finish_reason) == ("the-policy", "tool_calls")
    assert turn.usage == TokenUsage(input=7, output=3)
    assert turn.parameters["temperature"] == 0.03


@EACH
def test_token_ids_and_log_probabilities_of_the_engine_are_in_the_turn(policy, adapter):
    policy.with_tokens = True
    with episode(3) as one:
        ask(adapter, policy.address, "solve 3")
    [turn] = recorded(one)
    assert turn.tokens == TokenTrace(
        prompt_ids=(1, 2, 3), completion_ids=(7, 8, 9), logprobs=(-0.5, -0.25, 0.0)
    )


WRITTEN = '<tool_call>{"name": "calculator", "arguments": {"expression": "6*7"}}</tool_call>'


@EACH
def test_a_tool_call_in_the_text_is_recovered_and_recorded_as_it_was_written(policy, adapter):
    policy.written = WRITTEN
    options = {} if adapter in AS_WRITTEN else {"recover_tool_calls": True}
    with episode(3) as one:
        _, calls = ask(adapter, policy.address, "solve 3", **options)
    assert calls == [("calculator", '{"expression": "6*7"}')] * bool(options)
    [turn] = recorded(one)
    assert turn.response["content"] == WRITTEN
    assert [(call.name, call.recovered) for call in turn.tool_calls] == [("calculator", True)]


@EACH
def test_outside_a_rollout_the_request_is_the_users_byte_for_byte(policy, adapter):
    for wrapped in (True, False):
        ask(adapter, policy.address, "solve 3", wrapped=wrapped)
    ours, theirs = (
        (each.method, each.path, each.query, headers_of(each), each.body) for each in policy.raw
    )
    assert ours == theirs


def headers_of(asked):
    """All headers; a signature and the name of an attempt are others at each call."""
    signed = {"authorization", "x-amz-date"} if "x-amz-date" in asked.headers else set()
    signed.add("amz-sdk-invocation-id")
    return {name: value for name, value in asked.headers.items() if name not in signed}


def left_sync(model):
    chunks = model.stream("solve 3")
    next(chunks)
    chunks.close()


def dropped_sync(model):
    next(model.stream("solve 3"))
    gc.collect()


async def left(model):
    async with aclosing(model.astream("solve 3")) as chunks:
        await anext(chunks)


async def cancelled(model):
    async def slowly(reading):
        async for _ in model.astream("solve 3"):
            reading.set()
            await asyncio.sleep(LIMIT)

    reading = asyncio.Event()
    task = asyncio.create_task(slowly(reading))
    await reading.wait()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    gc.collect()
    await asyncio.sleep(0)  # where the loop closes what nobody reads any more
    await asyncio.get_running_loop().shutdown_asyncgens()


@pytest.mark.parametrize("leave", [left_sync, dropped_sync, left, cancelled])
def test_a_stream_that_is_left_is_one_turn_of_what_was_read(policy, leave):
    """LangChain's: its generators are closed wherever Python likes, and leave nothing there."""
    one = episode(3)
    with one:
        model = chat_model(policy.address, wrapped=True, options={})
        if asyncio.iscoroutinefunction(leave):
            asyncio.run(leave(model))
        else:
            leave(model)
        assert len(turns(one)) == one.turns == 1
        assert turns(one)[0][1] in {"", "UnreadableAnswer"}
        ask("langchain_stream", policy.address, "solve 3")
    assert (one.turns, turns(one)[1:]) == (2, [(["calculator"], "")])


@pytest.mark.parametrize("adapter", sorted(ADAPTERS))
def test_nobody_holds_an_episode_that_is_over(policy, adapter):
    with episode(3) as one:
        ask(adapter, policy.address, "solve 3")
    alive = weakref.ref(one)
    del one
    until_gone(alive)
