"""A whole Lambda function with a judge, against a model server that misbehaves on a schedule."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import cycle
from statistics import fmean
from time import monotonic
from types import SimpleNamespace

import pytest

from reward_functions.core.errors import NoJudge
from reward_functions.judge_runtime.wrappers import retrying
from reward_functions.serving.handler import bind
from reward_functions.serving.imputation import BatchFailed
from reward_functions.serving.settings import BadSettings, LambdaSettings

BACKENDS = ["bedrock", "openai"]
TRANSIENT = ["429", "500", "503", "hang up", "empty body", "cut body", "408", "no JSON"]
INVALID = ["truncated", "prose", "wrong schema", "wrong choice", "wrong checksum"]


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(retrying, "FIRST_PAUSE", 0.02)


@pytest.fixture
def metrics(capsys):
    """The counters of the last batch, as CloudWatch reads them."""

    def last():
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        blob = next(line for line in reversed(lines) if "_aws" in line)
        return {name: value[0] for name, value in blob.items() if isinstance(value, list)}

    return last


def deploy(server, backend="bedrock", *, timeout=10.0, **settings):
    endpoint = server.url if backend == "bedrock" else f"{server.url}/v1"
    model = {"model": "judge", "backend": backend, "endpoint": endpoint, "region": "us-east-1"}
    model["timeout"] = timeout
    judge = {"models": [model], **settings}
    return bind(LambdaSettings(name="reference", judge=judge))


def context(seconds):
    left = monotonic() + seconds
    return SimpleNamespace(
        aws_request_id="r", get_remaining_time_in_millis=lambda: (left - monotonic()) * 1000
    )


def row(at, answer, prompt, reference="yes"):
    turns = [{"role": "user", "content": prompt}, {"role": "assistant", "content": answer}]
    return {"id": f"id-{at}", "messages": turns, "reference_answer": reference}


def rows(count, answer):
    return [row(at, answer(at), f"Question {at // 8}?") for at in range(count)]


def by_answer(talk):
    """The scripted model: an answer is right when it says so."""
    answer = re.findall(r'<data name="answer" mark="\w+">\n(.*)\n', talk.text)[-1]
    return {"same": "yes" if "right" in answer else "no"}


def answer_of(at):
    return f"answer {at} is {'right' if at % 3 else 'another'}"


def values(results):
    return [result["aggregate_reward_score"] for result in results]


def flag(result, name):
    return next(each["value"] for each in result["metrics_list"] if each["name"] == name)


ROWS = 160
"""As many as each kind of failure happens in once, at one call in twenty."""


@pytest.mark.parametrize("backend", BACKENDS)
def test_transient_failures_of_one_call_in_twenty_change_no_score(serve, backend, metrics):
    failures = cycle(TRANSIENT)

    def schedule(call, _):
        return next(failures) if call % 20 == 7 else "ok"

    server = serve(verdict=by_answer, schedule=schedule)
    function = deploy(server, backend)
    results = function(rows(ROWS, answer_of), context(30))
    assert [result["id"] for result in results] == [f"id-{at}" for at in range(ROWS)]
    assert values(results) == [float(at % 3 > 0) for at in range(ROWS)]
    assert not any(flag(result, "unscored") for result in results)
    told = metrics()
    failed = sum(call % 20 == 7 for call in range(len(server.requests)))
    assert told["judge_answers"] == ROWS
    # A connection the server has closed meanwhile fails a call that never reached it.
    assert (
        told["judge_calls"] == ROWS + told["judge_retries"] >= len(server.requests) >= ROWS + failed
    )
    assert told["judge_failures"] == 0
    assert told["judge_input_tokens"] == ROWS * 100


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_sample_nobody_judges_gets_its_groups_mean_and_a_flag(serve, backend, metrics):
    stubborn = {at: INVALID[at // 20 % 5] for at in range(3, ROWS, 20)}

    def schedule(_, text):
        at = int(re.search(r"answer (\d+) is", text)[1])
        return stubborn.get(at, "ok")

    function = deploy(serve(verdict=by_answer, schedule=schedule), backend)
    results = function(rows(ROWS, answer_of), context(60))
    assert [result["id"] for result in results] == [f"id-{at}" for at in range(ROWS)]
    for at, result in enumerate(results):
        siblings = [each for each in range(at // 8 * 8, at // 8 * 8 + 8) if each not in stubborn]
        mean = fmean(float(each % 3 > 0) for each in siblings)
        value = result["aggregate_reward_score"]
        assert value == (pytest.approx(mean) if at in stubborn else float(at % 3 > 0))
        assert flag(result, "imputed") == flag(result, "unscored") == (at in stubborn)
    told = metrics()
    assert told["judge_failures"] == told["judge_reasks"] == told["unscored"] == len(stubborn)


@pytest.mark.parametrize("how", ["429", "500", "404", "refused", "prose"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_when_every_call_fails_the_invocation_fails(serve, backend, how):
    function = deploy(serve(schedule=lambda *_: how), backend, retries=1)
    with pytest.raises(BatchFailed, match=r"NoVerdict|JudgeUnavailable"):
        function(rows(24, answer_of), context(30))


def test_one_bad_reference_fails_nothing(serve):
    batch = rows(8, answer_of)
    batch[2]["reference_answer"] = None
    results = deploy(serve(verdict=by_answer))(batch, context(30))
    assert values(results) == [0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0]
    assert [flag(result, "bad_reference") for result in results] == [0, 0, 1, 0, 0, 0, 0, 0]


def test_a_batch_of_one_whose_judge_fails_raises(serve):
    with pytest.raises(BatchFailed):
        deploy(serve(schedule=lambda *_: "refused"))(rows(1, answer_of), context(30))


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_id_is_back_before_the_deadline(serve, backend):
    server = serve(verdict=by_answer)

    def slow_from_the_third(call, _):
        server.delay = 0.2 * (call > 1)
        return "ok"

    server.schedule = slow_from_the_third
    function = deploy(server, backend, timeout=1.0, concurrency=2, max_concurrency=2)
    function = bind(replace(function.settings, max_unscored=1.0, deadline_margin_ms=1000))
    results = function(rows(200, answer_of), context(2.8))
    # Two at once, each of a fifth of a second: after the deadline there would be more.
    assert len(server.requests) <= 2 + 2 * 2.8 / 0.2
    assert [result["id"] for result in results] == [f"id-{at}" for at in range(200)]
    assert any(flag(result, "unscored") for result in results)
    assert not all(flag(result, "unscored") for result in results)


def test_duplicates_cost_one_call(serve, metrics):
    server = serve(verdict=by_answer, delay=0.02)
    batch = [row(at, "the right answer", "Question?") for at in range(64)]
    assert values(deploy(server)(batch, context(30))) == [1.0] * 64
    assert len(server.requests) == 1
    told = metrics()
    assert told["judge_shared"] == 63
    assert told["judge_input_tokens"] == 100


def test_a_warm_function_caches_verdicts_and_no_failures(serve, metrics):
    server = serve(verdict=by_answer, schedule=lambda call, _: "400" if call == 0 else "ok")
    function = deploy(server, max_concurrency=1, concurrency=1)
    batch = rows(8, answer_of)
    first = function(batch, context(30))
    assert sum(flag(result, "unscored") for result in first) == 1
    second = function(batch, context(30))
    assert not any(flag(result, "unscored") for result in second)
    assert len(server.requests) == 9
    assert metrics()["judge_cache_hits"] == 7


def test_no_more_calls_at_once_than_allowed(serve):
    server = serve(verdict=by_answer, delay=0.02)
    deploy(server, concurrency=4, max_concurrency=4)(rows(64, answer_of), context(30))
    assert server.most_at_once == 4


def test_the_prefilter_asks_nobody(serve):
    server = serve(verdict=by_answer)
    batch = [row(at, text, "Capital?") for at, text in enumerate(["", "Solution:", "capital ?"])]
    assert values(deploy(server)(batch, context(30))) == [0.0] * 3
    assert not server.requests


def test_a_judge_without_a_model_does_not_start():
    with pytest.raises(NoJudge, match="REWARD_JUDGE"):
        bind(LambdaSettings(name="reference"))


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ("nothing", "takes a JSON object"),
        ('{"models": [{"modell": "x"}]}', "models.0.modell"),
        ('{"models": [{"model": "x", "backend": "azure"}]}', "models.0.backend"),
        ('{"model": "x"}', "models"),
    ],
)
def test_settings_that_are_none_are_named(judge, said):
    with pytest.raises(BadSettings, match=re.escape(said)):
        LambdaSettings.from_env({"REWARD_NAME": "reference", "REWARD_JUDGE": judge})


def test_the_settings_of_a_judge_survive_the_environment():
    judge = {
        "models": [{"model": "a", "profile": "us.a", "destinations": ["us-east-1", "us-west-2"]}],
        "fallback": {"model": "b", "backend": "openai", "endpoint": "http://localhost:1/v1"},
        "max_usd": 1.5,
        "prices": {"a": [1, 2], "b": [1, 2, 0.1, 1.25]},
    }
    settings = LambdaSettings(name="reference", judge=judge)
    assert LambdaSettings.from_env(settings.to_env()) == settings
