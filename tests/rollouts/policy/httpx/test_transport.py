"""Transports of httpx: what calls the policy carries its rollout, and all else passes as it is."""

import asyncio
import json

import httpx
import pytest

from reward_functions.rollouts.httpx import (
    RolloutAuth,
    RolloutTransport,
    async_rollout_http_client,
    rollout_http_client,
    wrap_http_client,
)
from reward_functions.rollouts.policy.httpx import UnsupportedClient
from reward_functions.rollouts.request.errors import PolicyFailure
from tests.rollouts.crossing import AT_ONCE, JOB, assert_one_span_a_call, crossed, episode, turns

ROUTE = "v1/chat/completions"
ANSWER = "The answer is 42."


def asked(number=0, **more):
    return {"model": "m", "messages": [{"role": "user", "content": f"solve {number}"}]} | more


@pytest.fixture
def url(policy):
    return f"{policy.address}/{ROUTE}"


def test_tasks_over_one_client_are_as_many_rollouts(policy, url):
    episodes = [episode(number) for number in range(AT_ONCE)]

    async def one(client, number):
        with episodes[number]:
            await client.post(url, json=asked(number))

    async def everyone():
        async with async_rollout_http_client() as client:
            await asyncio.gather(*(one(client, number) for number in range(AT_ONCE)))

    asyncio.run(everyone())
    assert crossed(policy.calls) == []
    assert_one_span_a_call(policy.calls)
    assert [turns(each) for each in episodes] == [[(ANSWER, "")]] * AT_ONCE


def test_a_stream_comes_piece_by_piece_and_is_recorded_at_its_end():
    pieces = [b'data: {"choices": [{"delta": {"content": "4"}}]}\n\n', b"data: [DONE]\n\n"]
    read = []

    class Stream(httpx.SyncByteStream):
        def __iter__(self):
            for piece in pieces:
                read.append(piece)
                yield piece

    answer = httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Stream())
    transport = RolloutTransport(httpx.MockTransport(lambda _: answer))
    one = episode()
    with httpx.Client(transport=transport) as client, one:
        with client.stream("POST", "https://p.example/chat/completions", json=asked()) as response:
            raw = response.iter_raw()
            assert next(raw) == pieces[0]
            assert (len(read), turns(one)) == (1, [(None, "")])
            assert list(raw) == pieces[1:]
        assert turns(one) == [("4", "")]


@pytest.mark.parametrize(
    "send",
    [
        lambda client, base: client.get(f"{base}/v1/chat/completions"),
        lambda client, base: client.post(f"{base}/v1/embeddings", json=asked()),
    ],
    ids=["no POST", "another route"],
)
def test_what_calls_no_policy_passes_as_it_is(send):
    seen = []
    transport = RolloutTransport(
        httpx.MockTransport(lambda request: seen.append(request) or httpx.Response(200))
    )
    one = episode()
    with httpx.Client(transport=transport) as client, one:
        send(client, "https://p.example")
    assert not [name for name in seen[0].headers if name.startswith("x-")]
    assert (one.turns, turns(one)) == (0, [])


@pytest.mark.parametrize("body", [b"no JSON", b"[]", b'{"messages": []}'])
def test_a_body_of_any_kind_is_sent_and_a_turn(body):
    transport = RolloutTransport(httpx.MockTransport(lambda r: httpx.Response(200, content=b"{}")))
    one = episode(inference_params=None)
    with httpx.Client(transport=transport) as client, one:
        response = client.post("https://p.example/chat/completions", content=body)
    assert json.loads(response.request.content) if body[:1] == b"{" else True
    assert one.turns == 1


def test_hooks_of_the_caller_are_called_and_stay_his_own(policy, url):
    seen = []

    async def note(request):
        seen.append(request.url.path)

    async def both():
        async with httpx.AsyncClient(event_hooks={"request": [note]}) as own:
            before = dict(vars(own))
            wrapped = wrap_http_client(own)
            with episode():
                await wrapped.post(url, json=asked())
                await own.post(url, json=asked())
            wrapped.event_hooks["request"].clear()
            return before | {"_state": None} == vars(own) | {"_state": None}, own.event_hooks

    same, hooks = asyncio.run(both())
    assert same
    assert hooks["request"] == [note]
    assert seen == [f"/{ROUTE}"] * 2
    assert [each.identity for each in policy.calls] == [(JOB, "rollout-0"), (None, None)]


def test_closing_a_copy_leaves_the_connections_of_its_owner_open(policy, url):
    with httpx.Client() as own:
        wrap_http_client(own).close()
        assert own.post(url, json=asked()).status_code == 200


@pytest.mark.parametrize("failures", [0, 1, 2])
def test_a_call_without_a_key_to_a_runtime_has_a_token_that_is_renewed_once(
    policy, url, monkeypatch, failures
):
    monkeypatch.setenv("RFT_RUNTIME_ENDPOINT", policy.address)
    policy.fail(ROUTE, *[(401, {}, b"{}")] * failures)
    with rollout_http_client() as client, episode() as one:
        response = client.post(url, json=asked())
    assert response.status_code == (401 if failures == 2 else 200)
    assert len(policy.asked) == min(failures, 1) + 1
    assert [error for _, error in turns(one)] == ["CallRefused"] * failures + [""] * (failures < 2)


def test_a_users_own_key_is_sent_and_never_replaced(policy, url, monkeypatch):
    monkeypatch.setenv("RFT_RUNTIME_ENDPOINT", policy.address)
    with rollout_http_client(headers={"Authorization": "Bearer mine"}) as client, episode():
        client.post(url, json=asked())
    assert policy.calls[0].headers["authorization"] == "Bearer mine"


def test_a_connection_that_breaks_is_a_failed_call(policy, url):
    policy.fail(ROUTE, "before")
    with rollout_http_client() as client, episode() as one, pytest.raises(httpx.HTTPError):
        client.post(url, json=asked())
    assert (one.turns, turns(one)) == (0, [(None, "RemoteProtocolError")])


def test_behind_the_deadline_nothing_is_sent(policy, url):
    with rollout_http_client() as client, episode() as one:
        one.cancelled.set()
        with pytest.raises(PolicyFailure):
            client.post(url, json=asked())
    assert policy.asked == []


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("failures", [1, 2])
def test_authentication_alone_signs_and_renews_once(
    policy, url, monkeypatch, failures, asynchronous
):
    monkeypatch.setenv("RFT_RUNTIME_ENDPOINT", policy.address)
    policy.fail(ROUTE, *[(403, {}, b"{}")] * failures)

    async def send():
        async with httpx.AsyncClient(auth=RolloutAuth()) as client:
            return await client.post(url, json=asked())

    with episode():
        if asynchronous:
            response = asyncio.run(send())
        else:
            with httpx.Client(auth=RolloutAuth()) as client:
                response = client.post(url, json=asked())
    assert response.status_code == (403 if failures == 2 else 200)
    assert len(policy.asked) == 2
    for call in policy.calls:
        assert call.identity == (JOB, "rollout-0")
        assert call.headers["authorization"].startswith("Bearer sagemaker-api-key-")


@pytest.mark.parametrize("client", [None, "client", {}], ids=repr)
def test_another_client_is_refused(client):
    with pytest.raises(UnsupportedClient, match=r"httpx\.Client"):
        wrap_http_client(client)
