"""A pool of judges that begins anew, as a copy of its process has to."""

from __future__ import annotations

import pytest

from reward_functions import Scored, get, sample, score_batch
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from reward_functions.judge_runtime.panel import JudgePool

BACKENDS = ["bedrock", "openai"]


def pool_of(server, backend, **settings):
    endpoint = server.url if backend == "bedrock" else f"{server.url}/v1"
    about = {"model": "some-judge", "region": "us-east-1"} | settings
    model = JudgeModel(backend=backend, endpoint=endpoint, **about)
    return JudgePool(JudgeConfig(models=(model,), retries=0))


def ask(pool, text):
    (result,) = score_batch(pool.batch(get("reference")), [sample(text, reference="Canberra")])
    assert isinstance(result, Scored), result
    return result


def connections(server):
    return [headers["connection-of"] for headers in server.headers]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_pool_that_was_closed_asks_on_another_connection(serve, backend):
    server = serve()
    pool = pool_of(server, backend)
    for text in ("I think of Canberra", "It is Canberra"):
        ask(pool, text)
    pool.close()
    ask(pool, "Why, Canberra")
    first, second, third = connections(server)
    assert first == second != third


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_pool_that_began_anew_shares_no_connection_and_remembers_nothing(serve, backend):
    server = serve()
    pool = pool_of(server, backend)
    ask(pool, "It is Canberra")
    ask(pool, "It is Canberra")
    assert len(server.requests) == 1  # from the cache
    pool.reopen()
    ask(pool, "It is Canberra")
    first, second = connections(server)
    assert first != second


def test_a_key_is_read_anew(serve, monkeypatch):
    server = serve()
    monkeypatch.setenv("JUDGE_KEY", "of-the-snapshot")
    pool = pool_of(server, "openai", key="env:JUDGE_KEY")
    monkeypatch.setenv("JUDGE_KEY", "rotated")
    pool.reopen()
    ask(pool, "It is Canberra")
    assert server.headers[0]["authorization"] == "Bearer rotated"


def test_credentials_are_read_anew(serve, monkeypatch):
    server = serve()
    pool = pool_of(server, "bedrock")
    ask(pool, "It is Canberra")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDRESTORED")
    pool.reopen()
    ask(pool, "It is Canberra")
    signed = [headers["Authorization"] for headers in server.headers]
    assert ["AKIDRESTORED" in each for each in signed] == [False, True]
