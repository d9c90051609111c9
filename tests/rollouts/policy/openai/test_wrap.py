"""OpenAI's clients: one for any number of rollouts, whatever form the call has."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import httpx
import httpx2
import openai
import pytest
from pydantic import BaseModel

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.openai import (
    UnsupportedClient,
    async_rollout_client,
    rollout_client,
    wrap_client,
)
from reward_functions.rollouts.policy.outgoing import PolicyTokens, UnsupportedCall
from reward_functions.rollouts.report.credentials import CredentialsMissing
from reward_functions.rollouts.request.errors import PolicyFailure, UntrustedEndpoint
from tests.rollouts.crossing import (
    AT_ONCE,
    JOB,
    TOOLS,
    assert_one_span_a_call,
    crossed,
    episode,
    metadata,
    turns,
)

ROUTE = "v1/chat/completions"
ANSWER = "The answer is 42."


def messages(number=0):
    return [{"role": "user", "content": f"solve {number}"}]


def user_client(policy, kind=openai.OpenAI, **kwargs):
    return kind(base_url=f"{policy.address}/v1", api_key="key", **kwargs)


@pytest.fixture
def client(policy):
    with user_client(policy) as own:
        yield wrap_client(own)


def create(client, number=0, **more):
    return client.chat.completions.create(model="default", messages=messages(number), **more)


def solve(client, number):
    """Two turns: the policy calls its tool, and then answers."""
    first = create(client, number, tools=TOOLS).choices[0].message
    asked = [*messages(number), first, {"role": "tool", "tool_call_id": "call_1", "content": "42"}]
    return client.chat.completions.create(model="default", messages=asked, tools=TOOLS)


async def solve_async(client, number):
    first = (await create(client, number, tools=TOOLS)).choices[0].message
    asked = [*messages(number), first, {"role": "tool", "tool_call_id": "call_1", "content": "42"}]
    return await client.chat.completions.create(model="default", messages=asked, tools=TOOLS)


def assert_as_many_rollouts(policy, episodes):
    assert len(policy.calls) == 2 * len(episodes)
    assert crossed(policy.calls) == []
    assert_one_span_a_call(policy.calls)
    for each in episodes:
        assert turns(each) == [(["calculator"], ""), (ANSWER, "")]
        assert each.turns == 2


def test_threads_over_one_client_are_as_many_rollouts(policy, client):
    episodes = [episode(number) for number in range(AT_ONCE // 2)]

    def one(number):
        with episodes[number]:
            solve(client, number)

    with ThreadPoolExecutor(len(episodes)) as pool:
        list(pool.map(one, range(len(episodes))))
    assert_as_many_rollouts(policy, episodes)
    policy.calls.clear()
    create(client)
    assert [(each.identity, each.parameters) for each in policy.calls] == [((None, None), {})]


def test_tasks_over_one_client_are_as_many_rollouts(policy):
    episodes = [episode(number) for number in range(AT_ONCE)]

    async def one(client, number):
        with episodes[number]:
            await solve_async(client, number)

    async def everyone():
        async with user_client(policy, openai.AsyncOpenAI) as own:
            client = wrap_client(own)
            await asyncio.gather(*(one(client, number) for number in range(AT_ONCE)))

    asyncio.run(everyone())
    assert_as_many_rollouts(policy, episodes)


def test_calls_of_one_episode_at_a_time_are_calls_of_their_own(policy):
    one = episode()

    async def everyone():
        async with user_client(policy, openai.AsyncOpenAI) as own:
            client = wrap_client(own)
            with one:
                await asyncio.gather(*(create(client) for _ in range(8)))

    asyncio.run(everyone())
    assert (one.turns, turns(one)) == (8, [(ANSWER, "")] * 8)
    assert_one_span_a_call(policy.calls)


class Answer(BaseModel):
    """What a typed answer is to be."""

    number: int


def streamed(client):
    with create(client, stream=True) as chunks:
        return "".join(each.choices[0].delta.content or "" for each in chunks if each.choices)


def streamed_with_events(client):
    with client.chat.completions.stream(model="default", messages=messages()) as stream:
        return stream.get_final_completion().choices[0].message.content


def parsed(client):
    made = client.chat.completions.parse(
        model="default", messages=messages(), response_format=Answer
    )
    return made.choices[0].message.parsed


def raw(client):
    return (
        client.chat.completions.with_raw_response.create(model="default", messages=messages())
        .parse()
        .choices[0]
        .message.content
    )


FORMS = {
    "create": (lambda client: create(client).choices[0].message.content, ANSWER, ANSWER),
    "stream=True": (streamed, ANSWER, ANSWER),
    "stream": (streamed_with_events, ANSWER, ANSWER),
    "parse": (parsed, '{"number": 42}', Answer(number=42)),
    "raw": (raw, ANSWER, ANSWER),
}
"""What calls, what the policy says, what its caller sees."""


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_call_is_its_users_own_and_recorded(policy, client, form):
    call, policy.answer_text, seen = FORMS[form]
    one = episode()
    with one:
        assert call(client) == seen
    assert (one.turns, turns(one)) == (1, [(policy.answer_text, "")])
    assert policy.calls[0].identity == (JOB, "rollout-0")


def test_a_stream_that_is_left_early_is_a_turn_of_what_was_read(policy, client):
    one = episode()
    with one, create(client, stream=True) as chunks:
        assert next(iter(chunks)).choices[0].delta.content == ANSWER
    assert one.turns == 1
    assert [error for _, error in turns(one)] == [""]


@pytest.mark.parametrize(
    ("status", "attempts"), [(429, 2), (500, 2), (400, 1)], ids=["throttled", "failed", "refused"]
)
def test_each_attempt_that_failed_is_marked_and_none_is_a_turn(policy, client, status, attempts):
    headers = {"retry-after-ms": "1"}
    policy.fail(ROUTE, (status, headers, b"{}"))
    one = episode()
    with one:
        if attempts == 1:
            with pytest.raises(openai.BadRequestError):
                create(client)
        else:
            create(client)
    failed = [(None, "CallRefused")]
    assert turns(one) == (failed if attempts == 1 else [*failed, (ANSWER, "")])
    assert one.turns == attempts - 1


def test_behind_the_deadline_nothing_is_sent_and_nothing_hides_it(policy, client):
    one = episode()
    one.cancelled.set()
    with one, pytest.raises(PolicyFailure, match="window is over"):
        create(client)
    assert policy.calls == []


def test_the_responses_api_is_refused_in_a_rollout_with_what_to_call(policy, client):
    with episode(), pytest.raises(UnsupportedCall, match=r"chat\.completions"):
        client.responses.create(model="default", input="hello")
    assert policy.asked == []


def test_a_client_without_an_address_calls_the_runtime_of_its_rollout(policy, monkeypatch):
    monkeypatch.setenv("RFT_RUNTIME_ENDPOINT", policy.address)
    monkeypatch.setenv("OPENAI_API_KEY", "of another service")
    with rollout_client() as client, episode():
        create(client)
    [sent] = policy.calls
    assert sent.headers["authorization"].startswith("Bearer sagemaker-api-key-")
    assert sent.headers["host"] == policy.address.removeprefix("http://")


@pytest.mark.parametrize("failures", [1, 2], ids=["renewed", "stays refused"])
def test_a_refused_token_is_minted_again_once(policy, monkeypatch, failures):
    monkeypatch.setenv("RFT_RUNTIME_ENDPOINT", policy.address)
    policy.fail(ROUTE, *[(403, {}, b"{}")] * failures)
    one = episode()

    async def call():
        async with async_rollout_client() as client:
            with one:
                return await create(client)

    if failures == 1:
        asyncio.run(call())
    else:
        with pytest.raises(openai.PermissionDeniedError):
            asyncio.run(call())
    refused = [(None, "CallRefused")]
    assert turns(one) == ([*refused, (ANSWER, "")] if failures == 1 else refused * 2)
    assert one.turns == 2 - failures


def test_a_host_that_a_payload_names_is_sent_nothing(policy):
    with rollout_client() as client, episode() as one:
        pass
    one = type(one)(metadata(endpoint=policy.address))
    with one, pytest.raises(UntrustedEndpoint):
        create(client)
    with rollout_client(trusted=[policy.address]) as trusting, one:
        create(trusting)
    assert len(policy.calls) == 1


def test_without_credentials_it_is_said_before_anything_is_sent(policy, monkeypatch):
    monkeypatch.setenv("RFT_RUNTIME_ENDPOINT", policy.address)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setattr("reward_functions.rollouts.policy.openai.TOKENS", PolicyTokens())
    with rollout_client() as client, episode(), pytest.raises(CredentialsMissing):
        create(client)


def test_the_users_client_and_his_hooks_stay_as_they_are(policy):
    seen = []
    http = httpx.Client(event_hooks={"request": [lambda request: seen.append(request.url.path)]})
    with user_client(policy, http_client=http, default_headers={"X-Mine": "m"}) as own:
        create(own)
        before = dict(vars(http)), dict(vars(own))
        client = wrap_client(own)
        with episode():
            create(client)
        assert (vars(http), vars(own)) == before
    assert seen == [f"/{ROUTE}"] * 2
    assert [each.identity for each in policy.calls] == [(None, None), (JOB, "rollout-0")]
    assert {each.headers["x-mine"] for each in policy.calls} == {"m"}


def test_a_copy_with_other_options_is_in_rollouts_too(policy, client):
    again = client.with_options(max_retries=0)
    assert isinstance(again, openai.OpenAI)
    assert wrap_client(again) is again
    one = episode()
    with one:
        create(again)
    one.cancelled.set()
    with one, pytest.raises(PolicyFailure):
        create(again)
    assert policy.calls[0].identity == (JOB, "rollout-0")


def test_a_wrapped_client_keeps_the_connections_of_a_client_that_nobody_holds(policy):
    client = wrap_client(user_client(policy))
    with episode():
        create(client)
        create(client)
    client._client.wrapped.close()


TEXT = '<tool_call>{"name": "calculator", "arguments": {"expression": "6*7"}}</tool_call>'


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("tools", [TOOLS, None], ids=["tools", "no tools"])
def test_a_tool_call_in_the_text_becomes_one(policy, stream, tools):
    policy.answer_text = TEXT
    acted = {"role": "tool", "tool_call_id": "c", "content": "7"}  # so that it answers by text
    given = {} if tools is None else {"tools": tools}
    with user_client(policy) as own, episode():
        client = wrap_client(own, recover_tool_calls=True)
        asked = {"model": "default", "messages": [*messages(), acted], **given}
        if stream:
            with client.chat.completions.stream(**asked) as chunks:
                choice = chunks.get_final_completion().choices[0]
        else:
            choice = client.chat.completions.create(**asked).choices[0]
    if tools is None:
        assert (choice.message.content, choice.finish_reason) == (TEXT, "stop")
        return
    [call] = choice.message.tool_calls
    assert (call.function.name, call.function.arguments) == ("calculator", '{"expression": "6*7"}')
    assert (choice.message.content, choice.finish_reason) == (None, "tool_calls")


UNSUPPORTED = {
    "AzureOpenAI": lambda: openai.AzureOpenAI(
        azure_endpoint="https://a.example", api_version="1", api_key="k"
    ),
    "an OpenAI over httpx2": lambda: openai.OpenAI(api_key="k", http_client=httpx2.Client()),
    "an AsyncOpenAI over httpx2.*'openai<3'": lambda: openai.AsyncOpenAI(
        api_key="k", http_client=httpx2.AsyncClient()
    ),
    "str": lambda: "client",
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_another_client_is_refused_with_what_is_supported(name):
    with pytest.raises(UnsupportedClient, match=f"not {name}.*rollout_client") as raised:
        wrap_client(UNSUPPORTED[name]())
    assert isinstance(raised.value, ConfigurationError)


def test_nothing_of_a_key_is_in_what_is_printed(policy):
    with user_client(policy) as own:
        assert "key" not in repr(wrap_client(own)).lower().replace("monkey", "")
