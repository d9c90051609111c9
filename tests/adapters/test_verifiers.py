"""verifiers' call expression, recorded."""

import asyncio
import inspect
from types import SimpleNamespace as Fields

import pytest

from reward_functions.adapters.verifiers import math, reward_func
from reward_functions.core.errors import BadReference, BadSample
from tests.adapters.recorded import RESPONSE, verifiers


def scored(fn, call):
    return asyncio.run(fn(**call))


def test_the_call_by_name_is_scored_and_noted_on_the_trace():
    call = verifiers()
    assert scored(math, call) == 1.0
    assert call["trace"].metrics["math/answered"] == 1.0
    assert call["trace"].info["reward_functions"]["math"] == {
        "answer": "42",
        "reason": "the same number",
    }


def test_verifiers_finds_the_arguments_by_their_names():
    assert list(inspect.signature(reward_func("math")).parameters) == ["task", "trace"]
    assert inspect.iscoroutinefunction(reward_func("math"))
    assert reward_func("math", name="exact").__name__ == "exact"


def test_the_calls_of_the_last_reply_are_scored():
    gold = [{"name": "f", "arguments": {"x": 1}}]
    for arguments, value in (('{"x": 1}', 1.0), ('{"x": 2}', 0.0), ("{", 0.0)):
        call = verifiers("", answer=gold)
        call["trace"].messages[-1].tool_calls = [Fields(id="c", name="f", arguments=arguments)]
        assert scored(reward_func("tool_calls"), call) == value


@pytest.mark.parametrize(("tokens", "value"), [(1, 0.0), (5, -1.0)])
def test_the_tokens_of_a_trace_are_those_of_the_response(tokens, value):
    call = verifiers()
    call["trace"].num_output_tokens = tokens
    assert scored(reward_func("overlong", limit=4, buffer=1), call) == value


@pytest.mark.parametrize("counted", [{}, {"num_output_tokens": 0}], ids=["none", "no usage"])
def test_a_trace_without_usage_counts_no_tokens(counted):
    call = verifiers()
    vars(call["trace"]).update(counted)
    with pytest.raises(BadSample, match="does not count its tokens"):
        scored(reward_func("overlong"), call)


def test_two_rewards_write_notes_of_their_own():
    call = verifiers("#### 42")
    scored(math, call)
    scored(reward_func("gsm8k"), call)
    assert set(call["trace"].info["reward_functions"]) == {"math", "gsm8k"}


@pytest.mark.parametrize(
    ("fn", "call", "error", "message"),
    [
        (math, verifiers(answer=None), BadReference, "the fields are answer, id, idx, prompt"),
        (math, verifiers(answer=" "), BadReference, "the reference is empty"),
        (
            reward_func("math", reference="info.gold"),
            verifiers(),
            BadSample,
            "no field 'info.gold'",
        ),
    ],
)
def test_what_cannot_be_scored_raises(fn, call, error, message):
    with pytest.raises(error, match=message):
        scored(fn, call)
    assert call["trace"].info == {}


def test_a_response_that_is_wrong_or_empty_is_a_low_score():
    assert scored(math, verifiers(r"\boxed{41}")) == 0.0
    assert scored(math, verifiers("")) == 0.0


def test_the_messages_before_the_reply_are_the_prompt():
    seen = []

    def spy(sample):
        seen.append(sample)
        from reward_functions import Score

        return Score(1.0)

    scored(reward_func(spy), verifiers())
    assert (seen[0].prompt, seen[0].response) == ("What is 6 × 7?", RESPONSE)
