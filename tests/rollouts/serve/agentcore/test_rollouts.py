"""`AgentCoreRLApp` over both hosts, behind HTTP, with an S3 on the loopback interface.

The cases restate what agentcore-rl-toolkit 0.2.0 does (its app.py) where it is right, and its bugs
as refusals.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading

import pytest

from reward_functions.rollouts import AgentCoreRLApp, PolicyFailure
from reward_functions.rollouts.episode.background import Background
from reward_functions.rollouts.request.errors import (
    BadRequest,
    ConflictingReport,
    RefusedResult,
    ResultNotKept,
    TooBusy,
    UntrustedBucket,
)
from reward_functions.rollouts.serve.agentcore.apps import INTERRUPTED
from reward_functions.rollouts.serve.agentcore.own_host import OwnHost
from tests.rollouts.serve.agentcore.hosts import (
    BUCKET,
    LIMIT,
    SESSION,
    ask,
    ping,
    rl_app,
    serving,
)
from tests.waiting import until

ROLLOUT = {"exp_id": "exp-1", "input_id": "row-7", "s3_bucket": BUCKET}
PAYLOAD = {"prompt": "6 × 7?", "answer": "42", "_rollout": {**ROLLOUT, "api_key": "sk-secret"}}
PROCESSING = {
    "status": "processing",
    "s3_bucket": BUCKET,
    "result_key": f"exp-1/row-7/{SESSION}.json",
}


def sync_one(payload):
    return {"rewards": [1.0], "seen": payload["prompt"]}


def sync_two(payload, context):
    return {"rewards": [1.0], "seen": payload["prompt"], "session": context.session_id}


async def async_one(payload):
    await asyncio.sleep(0)
    return {"rewards": [1.0], "seen": payload["prompt"]}


async def async_two(payload, context):
    await asyncio.sleep(0)
    return {"rewards": [1.0], "seen": payload["prompt"], "session": context.session_id}


def items(payload):
    yield {"rewards": [0.0]}
    yield {"rewards": [1.0], "seen": payload["prompt"]}


@pytest.mark.parametrize("agent", [sync_one, sync_two, async_one, async_two, items])
def test_an_agent_of_any_form_is_answered_at_once_and_its_result_is_stored(host, s3, agent):
    app = rl_app(host, s3_client=s3.client)
    assert app.rollout_entrypoint(agent) is agent
    with serving(app) as url:
        assert ask(url, PAYLOAD) == (200, PROCESSING)
        found = s3.stored(PROCESSING)
        until(lambda: ping(url) == "Healthy")
    assert found.pop("session", SESSION) == SESSION
    assert found == {
        "rewards": [1.0],
        "seen": "6 × 7?",
        "status_code": 200,
        "stop_reason": "end_turn",
        "input_id": "row-7",
        "s3_bucket": BUCKET,
        "result_key": PROCESSING["result_key"],
        "payload": {"prompt": "6 × 7?", "_rollout": ROLLOUT},
    }
    assert app.counts == {"stored": 1}


def test_the_session_stays_busy_until_the_result_is_stored(host, s3):
    app, go = rl_app(host, s3_client=s3.client), threading.Event()

    @app.rollout_entrypoint
    def agent(payload):
        assert go.wait(LIMIT)
        return {"rewards": 0.5}

    with serving(app) as url:
        assert ping(url) == "Healthy"
        assert ask(url, PAYLOAD) == (200, PROCESSING)
        assert ping(url) == "HealthyBusy"
        go.set()
        assert s3.stored(PROCESSING)["rewards"] == 0.5
        until(lambda: ping(url) == "Healthy")


def test_a_rollout_asked_for_again_while_it_runs_runs_once(host, s3):
    app, go, begun = rl_app(host, s3_client=s3.client), threading.Event(), []

    @app.rollout_entrypoint
    async def agent(payload):
        begun.append(payload["prompt"])
        await asyncio.to_thread(go.wait, LIMIT)
        return {"rewards": 1}

    with serving(app) as url:
        assert [ask(url, PAYLOAD), ask(url, PAYLOAD)] == [(200, PROCESSING)] * 2
        go.set()
        s3.stored(PROCESSING)
    assert (len(begun), app.counts) == (1, {"stored": 1})


@pytest.mark.parametrize("config", [None, {}, {"base_url": "http://127.0.0.1:1/v1"}])
def test_without_a_place_the_agent_runs_and_nothing_is_stored(host, s3, config):
    app, ran = rl_app(host, s3_client=s3.client), threading.Event()
    app.rollout_entrypoint(lambda payload: ran.set())
    payload = {"prompt": "x"} | ({} if config is None else {"_rollout": config})
    with serving(app) as url:
        assert ask(url, payload) == (200, {"status": "processing"})
        assert ran.wait(LIMIT)
    assert (s3.objects, app.counts) == ({}, {})


def test_without_a_session_each_request_has_a_key_of_its_own(host, s3):
    app = rl_app(host, s3_client=s3.client)
    app.rollout_entrypoint(sync_one)
    with serving(app) as url:
        keys = {ask(url, PAYLOAD, session=None)[1]["result_key"] for _ in range(2)}
    assert len(keys) == len(s3.objects) == 2


class Sneaky(dict):
    def __iter__(self):
        raise LookupError("the model's words")

    keys = items = __iter__


def raising(_):
    password = "the model's words"
    raise ValueError(password)


FAILURES = {
    # name: (agent, stop_reason, what else is in the traceback)
    "raises": (raising, "the agent raised ValueError", "ValueError\n"),
    "exits": (lambda _: sys.exit(3), "the agent raised SystemExit", "SystemExit"),
    "no object": (
        lambda _: [1.0],
        "Return value must be a dict when S3 save is configured, got list",
        "",
    ),
    "nothing": (
        lambda _: None,
        "Return value must be a dict when S3 save is configured, got NoneType",
        "",
    ),
    "NaN": (
        lambda _: {"rewards": float("nan")},
        "rewards of the result: a reward is nan, not a finite number",
        "",
    ),
    "NaN elsewhere": (lambda _: {"metrics": {"x": float("inf")}}, "the result is not strict", ""),
    "bytes": (lambda _: {"rollout_data": b"x"}, "the result is not strict JSON", ""),
    "a string reward": (lambda _: {"rewards": "0.5"}, "rewards of the result: a reward is", ""),
    "a boolean reward": (lambda _: {"rewards": True}, "rewards of the result: a reward is", ""),
    "no rewards": (lambda _: {"rewards": []}, "rewards of the result: a list of rewards is", ""),
    "a status of words": (lambda _: {"status_code": "ok"}, "status_code is a string", ""),
    "raises when read": (lambda _: Sneaky(a=1), "reading the result raised", "LookupError"),
}


@pytest.mark.parametrize("failing", FAILURES.values(), ids=FAILURES)
def test_a_failure_is_stored_as_one_and_quotes_nothing(s3, failing, caplog):
    agent, sentence, trace = failing
    app = rl_app(OwnHost, s3_client=s3.client)
    app.rollout_entrypoint(agent)
    with serving(app) as url:
        answer = ask(url, PAYLOAD)[1]
        found = s3.stored(answer)
    assert (found["status_code"], app.counts) == (500, {"failed": 1})
    assert found["stop_reason"].startswith(sentence)
    assert trace in found["traceback"]
    assert "rewards" not in found
    assert found["input_id"] == "row-7"
    everything = json.dumps(found) + caplog.text
    for word in ("the model's words", "sk-secret", "password"):
        assert word not in everything


@pytest.mark.parametrize("agent", [raising, sync_one])
def test_failures_and_results_are_the_same_on_both_hosts(host, s3, agent):
    app = rl_app(host, s3_client=s3.client)
    app.rollout_entrypoint(agent)
    with serving(app) as url:
        found = s3.stored(ask(url, PAYLOAD)[1])
    assert found["status_code"] == (500 if agent is raising else 200)


@pytest.mark.parametrize("wrapped", [False, True], ids=["raised", "raised from"])
@pytest.mark.parametrize(("given", "stored"), [(0.25, 0.25), (None, -1.0)])
def test_a_policy_failure_is_a_result(s3, given, stored, wrapped):
    app = rl_app(OwnHost, s3_client=s3.client, minimum=-1.0)

    @app.rollout_entrypoint
    def agent(payload):
        failure = PolicyFailure("it gave up", reward=given)
        if wrapped:
            raise RuntimeError("as a framework does") from failure
        raise failure

    with serving(app) as url:
        found = s3.stored(ask(url, PAYLOAD)[1])
    assert (found["status_code"], found["stop_reason"]) == (200, "policy_failure")
    assert found["rewards"] == stored


REFUSED = {
    # name: (payload, session, words of the answer)
    "no input id": ({"_rollout": {"exp_id": "e", "s3_bucket": BUCKET}}, SESSION, "'input_id'"),
    "a bucket alone": ({"_rollout": {"s3_bucket": BUCKET}}, SESSION, "'exp_id'"),
    "another bucket": (
        {"_rollout": ROLLOUT | {"s3_bucket": "somebody-elses"}},
        SESSION,
        "REWARD_ROLLOUTS_RESULT_BUCKETS",
    ),
    "a bucket of a list": ({"_rollout": ROLLOUT | {"s3_bucket": [BUCKET]}}, SESSION, "bucket"),
    "up": ({"_rollout": ROLLOUT | {"input_id": ".."}}, SESSION, "_rollout.input_id"),
    "a path": ({"_rollout": ROLLOUT | {"input_id": "../../x"}}, SESSION, "_rollout.input_id"),
    "a backslash": ({"_rollout": ROLLOUT | {"exp_id": "a\\b"}}, SESSION, "_rollout.exp_id"),
    "a line": ({"_rollout": ROLLOUT | {"exp_id": "a\nb"}}, SESSION, "_rollout.exp_id"),
    "a zero byte": ({"_rollout": ROLLOUT | {"exp_id": "a\0b"}}, SESSION, "_rollout.exp_id"),
    "half a pair": ({"_rollout": ROLLOUT | {"exp_id": "\ud800"}}, SESSION, "_rollout.exp_id"),
    "empty": ({"_rollout": ROLLOUT | {"exp_id": ""}}, SESSION, "_rollout.exp_id"),
    "long": ({"_rollout": ROLLOUT | {"exp_id": "x" * 257}}, SESSION, "_rollout.exp_id"),
    "a long key": (
        {"_rollout": ROLLOUT | {"exp_id": "字" * 256, "input_id": "字" * 256}},
        SESSION,
        "1024",
    ),
    "a boolean": ({"_rollout": ROLLOUT | {"input_id": True}}, SESSION, "_rollout.input_id"),
    "a null": ({"_rollout": ROLLOUT | {"input_id": None}}, SESSION, "_rollout.input_id"),
    "a session of a path": ({"_rollout": ROLLOUT}, "a/../b", "the session id"),
    "a list": ({"_rollout": [1]}, SESSION, "a list"),
    "no object": ([1, 2], SESSION, "not an object"),
    "no JSON": (b"{", SESSION, "strict JSON"),
    "NaN": (b'{"x": NaN}', SESSION, "strict JSON"),
    "twice": (b'{"_rollout": {}, "_rollout": {}}', SESSION, "twice"),
    "no UTF-8": (b'{"x": "\xff"}', SESSION, "strict JSON"),
    "deep": (b'{"x":' + b"[" * 100 + b"]" * 100 + b"}", SESSION, "64 levels"),
    "very deep": (b"[" * 100_000, SESSION, "strict JSON"),
}


def test_what_is_refused_is_refused_before_the_agent_runs(host, s3):
    app, ran = rl_app(host, s3_client=s3.client), []
    app.rollout_entrypoint(ran.append)
    with serving(app) as url:
        for name, (payload, session, words) in REFUSED.items():
            status, content = ask(url, payload, session)
            assert (name, status) == (name, 400)
            assert words in content["error"], name
        assert ping(url) == "Healthy"
    assert (ran, s3.objects) == ([], {})


def test_a_process_that_names_no_bucket_writes_to_none(monkeypatch):
    monkeypatch.delenv("REWARD_ROLLOUTS_RESULT_BUCKETS", raising=False)
    app = AgentCoreRLApp()
    app.rollout_entrypoint(sync_one)
    with pytest.raises(UntrustedBucket, match="REWARD_ROLLOUTS_RESULT_BUCKETS"):
        app._begin(PAYLOAD, None)


def test_the_first_result_counts_and_the_second_is_a_conflict(host, s3, caplog):
    app = rl_app(host, s3_client=s3.client)
    rewards = iter([1.0, 2.0])
    app.rollout_entrypoint(lambda payload: {"rewards": next(rewards)})
    with serving(app) as url:
        for number in (1, 2):
            ask(url, PAYLOAD)
            until(lambda number=number: sum(app.counts.values()) == number)
    assert s3.stored(PROCESSING)["rewards"] == 1.0
    assert app.counts == {"stored": 1, "conflict": 1}
    assert "ConflictingReport" in caplog.text


def test_a_write_whose_reply_was_lost_is_no_conflict(s3):
    app = rl_app(OwnHost, s3_client=s3.client)
    app.rollout_entrypoint(sync_one)
    s3.fail("put", "lost")
    with serving(app) as url:
        ask(url, PAYLOAD)
        s3.stored(PROCESSING)
    assert (app.counts, s3.asked) == ({"stored": 1}, ["put", "put", "get"])


REFUSAL = (403, {"Content-Type": "application/xml"}, b"<Error><Code>AccessDenied</Code></Error>")


@pytest.mark.parametrize(
    ("pauses", "counts"), [((0.0,), {"stored": 1}), ((), {"lost": 1})], ids=["again", "never"]
)
def test_what_s3_refuses_is_tried_again_and_then_said(s3, caplog, pauses, counts):
    app = rl_app(OwnHost, s3_client=s3.client, pauses=pauses)
    app.rollout_entrypoint(sync_one)
    s3.fail("put", REFUSAL)
    with serving(app) as url:
        ask(url, PAYLOAD)
        until(lambda: app.counts)
    assert app.counts == counts
    assert "AccessDenied" in caplog.text


def test_an_agent_that_never_ends_fails_at_its_deadline_and_its_late_result_is_counted(host, s3):
    app, go = rl_app(host, s3_client=s3.client, deadline=0.05), threading.Event()

    @app.rollout_entrypoint
    def agent(payload):
        assert go.wait(LIMIT)
        return {"rewards": 1.0}

    with serving(app) as url:
        ask(url, PAYLOAD)
        found = s3.stored(PROCESSING)
        until(lambda: ping(url) == "Healthy")
        go.set()
        until(lambda: app.counts["late"])
    assert (found["status_code"], "rewards" in found) == (500, False)
    assert found["stop_reason"] == "the agent did not end within 0.05 seconds"
    assert app.counts == {"failed": 1, "late": 1}


def test_at_the_end_of_the_process_what_still_runs_is_stored_as_failed(host, s3):
    app, go = rl_app(host, s3_client=s3.client, grace=0.0), threading.Event()
    app.rollout_entrypoint(lambda payload: go.wait(LIMIT) and {"rewards": 1.0})
    with serving(app) as url:
        ask(url, PAYLOAD)
    assert s3.stored(PROCESSING)["stop_reason"] == INTERRUPTED
    assert app.counts == {"failed": 1}
    go.set()
    until(lambda: app.counts["late"])
    with pytest.raises(TooBusy):
        app._begin(PAYLOAD, None)


def test_at_the_end_of_the_process_what_ends_in_time_is_stored(host, s3):
    app, begun, go = rl_app(host, s3_client=s3.client), threading.Event(), threading.Event()

    @app.rollout_entrypoint
    def agent(payload):
        begun.set()
        assert go.wait(LIMIT)
        return {"rewards": 1.0}

    with serving(app) as url:
        ask(url, PAYLOAD)
        assert begun.wait(LIMIT)
        threading.Timer(0.05, go.set).start()
    assert s3.stored(PROCESSING)["rewards"] == 1.0


def test_a_full_agent_answers_503_and_keeps_no_session(host, s3):
    full = Background(1, waiting=0)
    app, go = rl_app(host, s3_client=s3.client, executor=full), threading.Event()
    app.rollout_entrypoint(lambda payload: go.wait(LIMIT) and {"rewards": 1.0})
    with serving(app) as url:
        assert ask(url, PAYLOAD)[0] == 200
        status, content = ask(url, PAYLOAD, session="b" * 33)
        assert (status, "1 episodes run" in content["error"]) == (503, True)
        go.set()
        s3.stored(PROCESSING)
        until(lambda: ping(url) == "Healthy")
        assert ask(url, PAYLOAD, session="b" * 33)[0] == 200


class TestSaveResult:
    KEY = PROCESSING["result_key"]

    def test_it_stores_and_leaves_its_arguments_alone(self, s3):
        app, result = rl_app(OwnHost, s3_client=s3.client), {"rewards": 1.0}
        app.save_result(result, ROLLOUT, self.KEY, PAYLOAD)
        assert result == {"rewards": 1.0}
        assert s3.stored(PROCESSING)["payload"]["_rollout"] == ROLLOUT
        with pytest.raises(ConflictingReport):
            app.save_result({"rewards": 2.0}, ROLLOUT, self.KEY)

    @pytest.mark.parametrize(
        ("result", "config", "key", "error"),
        [
            ({}, {"exp_id": "e"}, KEY, BadRequest),
            ({}, {}, KEY, BadRequest),
            ({}, ROLLOUT, "exp-1/other/x.json", BadRequest),
            ({}, ROLLOUT | {"s3_bucket": "somebody-elses"}, KEY, UntrustedBucket),
            ({"x": {1, 2}}, ROLLOUT, KEY, RefusedResult),
        ],
    )
    def test_it_refuses(self, s3, result, config, key, error):
        with pytest.raises(error):
            rl_app(OwnHost, s3_client=s3.client).save_result(result, config, key)

    def test_it_says_that_s3_did_not_take_it(self, s3):
        s3.fail("put", REFUSAL)
        with pytest.raises(ResultNotKept, match="AccessDenied"):
            rl_app(OwnHost, s3_client=s3.client).save_result({}, ROLLOUT, self.KEY)
