"""A shared chat model of LangChain: every call carries its rollout, and leaves nothing."""

import asyncio
import copy
from concurrent.futures import ThreadPoolExecutor

import openai
import pytest
from langchain_openai import AzureChatOpenAI, ChatOpenAI
from pydantic import BaseModel

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.langchain import (
    RolloutCallbacks,
    RolloutChatOpenAI,
    UnsupportedModel,
    wrap_chat_model,
)
from reward_functions.rollouts.policy.outgoing import PolicyTokens
from reward_functions.rollouts.request.errors import PolicyFailure, UntrustedEndpoint
from tests.rollouts.policy.langchain.conftest import (
    JOB,
    asked,
    calculator,
    episode_of,
    graph,
    model_of,
)

AT_ONCE = 32
"""Of the nightly `make compat` it is 64."""


async def ainvoked(model, prompt):
    return await model.ainvoke(prompt)


async def astreamed(model, prompt):
    return [chunk async for chunk in model.astream(prompt)]


CALLS = {
    "invoke": lambda model, prompt: model.invoke(prompt),
    "ainvoke": lambda model, prompt: asyncio.run(ainvoked(model, prompt)),
    "stream": lambda model, prompt: list(model.stream(prompt)),
    "astream": lambda model, prompt: asyncio.run(astreamed(model, prompt)),
}
"""The four ways in which LangChain calls a chat model."""


def parameters(number):
    return {"temperature": number / 100, "topP": 1 - number / 100, "maxTokens": 100 + number}


def sent_by(number):
    return dict(
        zip(("temperature", "top_p", "max_tokens"), parameters(number).values(), strict=True)
    )


def assert_own(policy, episodes):
    """Every call with its own headers and parameters, every record with its own calls."""
    assert len(policy.calls) == 2 * len(episodes)
    for call in policy.calls:
        number = int(call.prompt.removeprefix("solve "))
        assert call.identity == (JOB, f"rollout-{number}")
        assert call.parameters == sent_by(number)
    for number, episode in enumerate(episodes):
        names = [f"call_{number}_0", f"call_{number}_1"]
        assert [called[0] for called in episode.recording.called] == names
        assert sorted(episode.recording.tools) == names
        assert episode.turns == 2


def test_tasks_over_one_model_have_trajectories_of_their_own(policy, plain):
    policy.names = ("calculator",) * 2
    agent, callbacks = graph(wrap_chat_model(plain)), RolloutCallbacks()
    episodes = [episode_of(number, parameters(number)) for number in range(AT_ONCE)]

    async def one(number):
        with episodes[number]:
            await agent.ainvoke(asked(number), {"callbacks": [callbacks]})

    async def everyone():
        await asyncio.gather(*map(one, range(AT_ONCE)))

    asyncio.run(everyone())
    assert_own(policy, episodes)


def test_threads_over_one_model_have_trajectories_of_their_own(policy, plain):
    policy.names = ("calculator",) * 2
    agent, callbacks = graph(wrap_chat_model(plain)), RolloutCallbacks()
    episodes = [episode_of(number, parameters(number)) for number in range(AT_ONCE // 2)]

    def one(number):
        with episodes[number]:
            agent.invoke(asked(number), {"callbacks": [callbacks]})

    with ThreadPoolExecutor(AT_ONCE // 2) as pool:
        list(pool.map(one, range(AT_ONCE // 2)))
    assert_own(policy, episodes)
    policy.calls.clear()
    wrap_chat_model(plain).invoke("hello")
    assert [(each.identity, each.parameters) for each in policy.calls] == [((None, None), {})]


@pytest.mark.parametrize("way", CALLS)
def test_each_way_of_calling_is_a_turn_and_recorded_as_it_was_written(policy, plain, way):
    policy.thought = "Hm."
    episode = episode_of(3, parameters(3))
    with episode:
        CALLS[way](wrap_chat_model(plain).bind_tools([calculator]), "solve 3")
    [call] = policy.calls
    assert (call.identity, call.parameters) == ((JOB, "rollout-3"), sent_by(3))
    assert "max_completion_tokens" not in call.body, "the service refuses both spellings"
    record = episode.recording
    assert record.called == [("call_3_0", "calculator", '{"expression": "3"}')]
    assert record.messages[0]["reasoning_content"] == "Hm."
    assert record.replies[0]["model"] == "the-policy"
    assert record.replies[0]["choices"][0]["finish_reason"] == "tool_calls"
    assert (record.requests[0]["messages"][0]["content"], episode.turns) == ("solve 3", 1)


@pytest.mark.parametrize("way", CALLS)
def test_outside_a_rollout_it_is_the_users_model(policy, plain, way):
    CALLS[way](wrap_chat_model(plain), "hello")
    assert [(each.identity, each.parameters) for each in policy.calls] == [((None, None), {})]


@pytest.mark.parametrize("way", CALLS)
def test_behind_the_deadline_the_policy_is_not_called(policy, plain, way):
    episode = episode_of()
    episode.cancelled.set()
    with episode, pytest.raises(PolicyFailure, match="window is over"):
        CALLS[way](wrap_chat_model(plain), "hello")
    assert policy.calls == []


@pytest.mark.parametrize("way", CALLS)
def test_a_throttled_call_is_no_turn_and_recorded_as_failed(policy, plain, way):
    policy.fail("v1/chat/completions", (429, {}, b"{}"))
    model, episode = wrap_chat_model(plain), episode_of()
    with episode:
        with pytest.raises(openai.RateLimitError):
            CALLS[way](model, "hello")
        assert episode.turns == 0
        CALLS[way](model, "hello")
    assert list(episode.recording.errors) == [0]
    assert (list(episode.recording.replies), episode.turns) == ([1], 1)


@pytest.mark.parametrize("way", CALLS)
def test_a_refused_token_is_minted_again_once(policy, monkeypatch, way):
    monkeypatch.setenv("RFT_RUNTIME_ENDPOINT", policy.address)
    tokens = PolicyTokens()
    for module in ("openai", "langchain"):
        monkeypatch.setattr(f"reward_functions.rollouts.policy.{module}.TOKENS", tokens)
    policy.fail("v1/chat/completions", (403, {}, b"{}"))
    episode = episode_of()
    with episode:
        CALLS[way](RolloutChatOpenAI(), "hello")
    assert len(policy.asked) == 2
    assert policy.calls[0].headers["authorization"].startswith("Bearer sagemaker-api-key-")
    assert episode.turns == 1, "a refused call is no turn"


@pytest.mark.parametrize("way", CALLS)
def test_a_call_that_stays_refused_fails(policy, plain, way):
    policy.fail("v1/chat/completions", *[(401, {}, b"{}")] * 3)
    with episode_of(), pytest.raises(openai.AuthenticationError):
        CALLS[way](wrap_chat_model(plain), "hello")
    assert len(policy.asked) == 1, "the user's key is not ours to renew"


def test_a_key_of_the_environment_is_not_sent_to_the_runtime(policy, monkeypatch):
    monkeypatch.setenv("RFT_RUNTIME_ENDPOINT", policy.address)
    monkeypatch.setenv("OPENAI_API_KEY", "of another service")
    with episode_of():
        wrap_chat_model(ChatOpenAI(model="default")).invoke("hello")
    [sent] = policy.calls
    assert sent.headers["authorization"].startswith("Bearer sagemaker-api-key-")


def test_a_payload_that_names_another_host_is_sent_nothing(policy):
    with episode_of(endpoint=policy.address), pytest.raises(UntrustedEndpoint):
        RolloutChatOpenAI().invoke("hello")
    assert policy.calls == []


def test_one_model_calls_the_runtime_that_each_rollout_names(policy):
    model = RolloutChatOpenAI(api_key="mine", trusted=[policy.address])
    with episode_of(endpoint=policy.address):
        model.invoke("hello")
    assert policy.calls[0].headers["authorization"] == "Bearer mine"


def test_the_model_that_is_wrapped_stays_as_it_was(policy):
    model = model_of(policy, default_headers={"X-Mine": "m"}, seed=7)
    before = copy.copy(vars(model))
    wrapped = wrap_chat_model(model)
    with episode_of(1, {"temperature": 0.1}):
        wrapped.invoke("hello")
        model.invoke("hello")
    assert {name: vars(model)[name] for name in before} == before
    first, second = policy.calls
    assert (first.identity, first.headers["x-mine"]) == ((JOB, "rollout-1"), "m")
    assert first.body["seed"] == 7
    assert (second.identity, second.parameters) == ((None, None), {})


class Answer(BaseModel):
    """What a structured output is to be."""

    number: int


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize(("text", "fits"), [('{"number": 42}', True), ("forty-two", False)])
def test_a_structured_output_is_a_turn_whether_it_fits_or_not(policy, plain, text, fits, waits):
    policy.answer_text = text
    model, episode = wrap_chat_model(plain).with_structured_output(Answer), episode_of()
    call = CALLS["ainvoke" if waits else "invoke"]
    with episode:
        if fits:
            assert call(model, "hello") == Answer(number=42)
        else:
            with pytest.raises(ValueError, match="Invalid JSON"):
                call(model, "hello")
    assert [each["content"] for each in episode.recording.messages] == [text]
    assert (episode.recording.errors, episode.turns) == ({}, 1)


WRITTEN = '<tool_call>{"name": "calculator", "arguments": {"expression": "6*7"}}</tool_call>'


@pytest.mark.parametrize("way", CALLS)
@pytest.mark.parametrize("recovers", [True, False])
def test_tool_calls_in_the_text_are_calls_where_that_is_asked_for(policy, plain, way, recovers):
    policy.written = WRITTEN
    model, episode = wrap_chat_model(plain, recover_tool_calls=recovers), episode_of()
    with episode:
        answer = CALLS[way](model.bind_tools([calculator]), "solve 0")
    message = sum(answer[1:], answer[0]) if isinstance(answer, list) else answer
    called = [(each["name"], each["args"]) for each in message.tool_calls]
    assert called == [("calculator", {"expression": "6*7"})] * recovers
    assert episode.recording.messages[0]["content"] == WRITTEN, "recorded as it was written"


class Mine(ChatOpenAI):
    """A class of a user's own."""

    greeting: str = "mine"

    def _get_request_payload(self, *args, **kwargs):
        return super()._get_request_payload(*args, **kwargs) | {"user": self.greeting}


def test_what_a_class_of_ones_own_does_stays(policy):
    wrapped = wrap_chat_model(model_of(policy, Mine, greeting="loud"))
    assert isinstance(wrapped, Mine)
    assert wrap_chat_model(wrapped) is wrapped
    with episode_of(2):
        wrapped.invoke("hello")
    assert (policy.calls[0].body["user"], policy.calls[0].identity) == ("loud", (JOB, "rollout-2"))


def responses():
    return ChatOpenAI(model="default", api_key="key", use_responses_api=True)


def azure():
    return AzureChatOpenAI(azure_endpoint="https://x", api_version="1", api_key="key")


UNSUPPORTED = {
    "a ChatOpenAI that uses the Responses API": responses,
    "AzureChatOpenAI": azure,
    "a model with tools bound to it": lambda: ChatOpenAI(model="m", api_key="key").bind_tools(
        [calculator]
    ),
    "str": lambda: "default",
}
"""By their names in the message, what builds one."""


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_another_model_is_refused_with_what_is_supported(name):
    with pytest.raises(UnsupportedModel, match=f"not {name}.*ChatOpenAI") as raised:
        wrap_chat_model(UNSUPPORTED[name]())
    assert isinstance(raised.value, ConfigurationError)


def test_a_call_that_would_go_to_the_responses_api_is_refused(policy, plain):
    model = wrap_chat_model(plain).bind_tools([{"type": "web_search"}])
    with episode_of(), pytest.raises(UnsupportedModel, match="use_responses_api=False"):
        model.invoke("hello")
    assert policy.calls == []


def test_nothing_of_a_key_is_in_what_is_printed(policy):
    model = wrap_chat_model(model_of(policy, api_key="s3cret"))
    with episode_of():
        assert "s3cret" not in repr(model)
