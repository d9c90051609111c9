"""A policy call: one within another, several at a time, streamed, repeated, cancelled."""

import asyncio
from contextvars import copy_context

import pytest

from reward_functions.rollouts.policy.calls import open_call, policy_call
from reward_functions.rollouts.request.errors import PolicyFailure
from tests.rollouts.crossing import episode, turns

REQUEST = {"messages": [{"role": "user", "content": "hello"}]}


def completion(text="42"):
    message = {"role": "assistant", "content": text}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


@pytest.fixture
def one():
    with episode() as entered:
        yield entered


def test_a_call_within_a_call_is_the_same_call(one):
    with policy_call(REQUEST) as outer:
        with policy_call(REQUEST) as inner:
            assert inner is outer
            inner.answered(completion("of the engine"))
        outer.answered(completion("as the framework reads it"))
    assert (one.turns, turns(one)) == (1, [("of the engine", "")])


def test_what_the_inner_call_tried_again_is_in_the_record(one):
    with policy_call(REQUEST):
        with policy_call(REQUEST) as inner:
            inner.failed(TimeoutError())
        with policy_call(REQUEST) as inner:
            inner.answered(completion())
    assert (one.turns, turns(one)) == (1, [(None, "TimeoutError"), ("42", "")])


def test_an_answer_that_cannot_be_used_came_all_the_same(one):
    def call_and_parse():
        with policy_call(REQUEST) as call:
            call.answered(completion())
            raise KeyError

    with pytest.raises(KeyError):
        call_and_parse()
    assert (one.turns, turns(one)) == (1, [("42", "")])


@pytest.mark.parametrize("error", [ConnectionError, asyncio.CancelledError, KeyboardInterrupt])
def test_a_call_that_ends_without_an_answer_is_no_turn(one, error):
    with pytest.raises(error), policy_call(REQUEST):
        raise error
    assert (one.turns, turns(one)) == (0, [(None, error.__name__)])


def test_calls_that_run_at_a_time_are_calls_of_their_own(one):
    async def call(text):
        with policy_call(REQUEST) as made:
            await asyncio.sleep(0)
            made.answered(completion(text))

    async def everyone():
        await asyncio.gather(*(call(str(number)) for number in range(8)))

    asyncio.run(everyone())
    assert one.turns == 8
    assert sorted(text for text, _ in turns(one)) == [str(number) for number in range(8)]


def test_a_task_that_outlives_a_call_makes_calls_of_its_own(one):
    with policy_call(REQUEST) as call:
        call.answered(completion("first"))
        inherited = copy_context()

    def later():
        with policy_call(REQUEST) as again:
            again.answered(completion("second"))

    inherited.run(later)
    assert turns(one) == [("first", ""), ("second", "")]


def test_a_generator_that_holds_the_block_may_be_closed_in_another_context(one):
    def held():
        with policy_call(REQUEST) as call:
            yield call

    holder = held()
    copy_context().run(next, holder)
    holder.close()
    assert turns(one) == [(None, "GeneratorExit")]


@pytest.mark.parametrize("begin", [lambda: policy_call(REQUEST).__enter__(), open_call])
def test_behind_the_deadline_there_is_no_call(one, begin):
    one.cancelled.set()
    with pytest.raises(PolicyFailure, match="window is over"):
        begin()


def test_outside_an_episode_a_call_is_nobodys():
    with policy_call(REQUEST) as call:
        call.answering()
        call.answered(completion())
    assert call.handle is None
