"""A model that is dead is found out after ten refusals, and a model that is busy is not dead."""

import socket

import pytest

from reward_functions import Scored, get, sample, score_batch
from reward_functions.core.errors import JudgeUnavailable, NoVerdict
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from reward_functions.judge_runtime.panel import JudgePool
from reward_functions.judge_runtime.wrappers import circuit_breaker, retrying
from reward_functions.judge_runtime.wrappers.circuit_breaker import ENOUGH, FAILURES
from reward_functions.testing import FakeAsk

YES = {"same": "yes"}
GONE = JudgeUnavailable("nothing answers", "unreachable", lasting=True)
KEY = JudgeUnavailable("401", "denied", lasting=True)
ODD = JudgeUnavailable("400", "denied")
THROTTLED = JudgeUnavailable("429", "throttled")
SPENT = JudgeUnavailable("429", "throttled", 3600.0)
PAGE = JudgeUnavailable("200, and no JSON", lasting=True)
BUSY = JudgeUnavailable("503", "busy")
LATE = JudgeUnavailable("no answer in time", "timeout")


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(retrying, "FIRST_PAUSE", 0.001)


def cases(number):
    return [
        sample(f"It is the city of {at}.", "Canberra", prompt=f"Capital {at}?", id=f"s{at}")
        for at in range(number)
    ]


def batch(answers, retries=0, **settings):
    """A judge whose model answers so in turn, the last for ever; and how often it was asked."""
    left = list(answers)
    ask = FakeAsk(answer=lambda _: left.pop(0) if len(left) > 1 else left[0])
    model = JudgeModel(model="m", backend="openai", endpoint="http://localhost:1/v1")
    pool = JudgePool(JudgeConfig(models=(model,), retries=retries, **settings), asks={"m": ask})
    return pool.batch(get("reference")), ask


SCHEDULES = {
    "nobody ever listened": ([GONE], ENOUGH),
    "the key was never accepted": ([KEY], ENOUGH),
    "every request is denied from the first on": ([ODD], ENOUGH),
    "the server went away in the middle": ([YES] * 5 + [GONE], 5 + ENOUGH),
    "the key expired in the middle": ([YES] * 5 + [KEY], 5 + ENOUGH),
    "an answer in between starts the count anew": ([GONE] * 9 + [YES] + [GONE], 10 + ENOUGH),
    "so does an invalid verdict": ([GONE] * 9 + [NoVerdict("", "refused")] + [GONE], 10 + ENOUGH),
    "a throttled model is not dead": ([THROTTLED], 40),
    "a quota that comes back in an hour is spent": ([SPENT], ENOUGH),
    "a web server that is no model's": ([PAGE], ENOUGH),
    "a busy model is not dead at once": ([BUSY], 40),
    "a firewall that reads questions refuses some of them": ([YES] + [ODD] * 38 + [YES], 40),
}


@pytest.mark.parametrize(("answers", "asked"), SCHEDULES.values(), ids=SCHEDULES)
def test_ten_refusals_in_a_row_are_enough(answers, asked):
    judge, ask = batch(answers)
    results = score_batch(judge, cases(40), workers=1)
    # A refused question is asked about a neutral response once more.
    neutral = sum(isinstance(each, NoVerdict) for each in answers)
    assert len(ask.asked) - neutral in (asked, asked - neutral)
    assert bool(judge.account.stopped) == (asked < 40)
    failed = [each for each in results if not isinstance(each, Scored)]
    assert all(isinstance(each.error, JudgeUnavailable | NoVerdict) for each in failed)


def test_the_cause_is_said_by_every_row_and_once_by_the_account():
    judge, _ = batch([GONE])
    results = score_batch(judge, cases(30), workers=4)
    assert {str(each.error) for each in results} == {"nothing answers"}
    assert judge.account.stopped == ["after 10 refusals in a row: nothing answers"]
    assert {each.error.kind for each in results} == {"unreachable"}


def test_retries_of_a_dead_server_count_as_well():
    judge, ask = batch([GONE], retries=4)
    score_batch(judge, cases(100), workers=1)
    assert len(ask.asked) == ENOUGH


SILENCES = {
    "nothing but server errors": ([BUSY], FAILURES),
    "nothing but timeouts": ([LATE], FAILURES),
    "it went away after an answer": ([YES] * 3 + [BUSY, LATE, BUSY], 3 + FAILURES),
    "an answer in between": ([BUSY] * 19 + [YES] + [BUSY] * 19 + [YES], 40),
    "an invalid verdict is an answer": (
        [BUSY] * 19 + [NoVerdict("", "cut")] + [BUSY] * 19 + [YES],
        40,
    ),
    "throttling alone is none": ([THROTTLED], 40),
}


@pytest.mark.parametrize(("answers", "asked"), SILENCES.values(), ids=SILENCES)
def test_half_a_minute_without_an_answer_is_enough(answers, asked, monkeypatch):
    judge, ask = batch(answers)
    monkeypatch.setattr(circuit_breaker, "monotonic", lambda: 2.0 * len(ask.asked))
    score_batch(judge, cases(40), workers=1)
    again = sum(isinstance(each, NoVerdict) for each in answers)
    assert len(ask.asked) - again in (asked, asked - again)
    said = [line.startswith("after 30 s without an answer: ") for line in judge.account.stopped]
    assert said == [True] * (asked < 40)


def test_an_outage_of_seconds_stops_nothing():
    judge, _ = batch([BUSY] * 100 + [YES], retries=4)
    results = score_batch(judge, cases(40), workers=1)
    assert isinstance(results[-1], Scored)
    assert not judge.account.stopped


def test_a_pause_of_an_hour_is_not_waited_for():
    judge, ask = batch([SPENT], retries=4)
    (result,) = score_batch(judge, cases(1), workers=1)
    assert result.error.retry_after == 3600
    assert len(ask.asked) == 1


def test_those_who_wait_for_their_turn_learn_that_the_model_is_given_up():
    judge, ask = batch([KEY], concurrency=1, max_concurrency=1)
    score_batch(judge, cases(100), workers=50)
    assert len(ask.asked) == ENOUGH


def test_the_next_batch_asks_again():
    judge, _ = batch([GONE] * ENOUGH + [YES])
    assert not any(isinstance(each, Scored) for each in score_batch(judge, cases(20), workers=1))
    model = JudgeModel(model="m", backend="openai", endpoint="http://localhost:1/v1")
    left = [GONE] * ENOUGH + [YES]
    ask = FakeAsk(answer=lambda _: left.pop(0) if len(left) > 1 else left[0])
    pool = JudgePool(JudgeConfig(models=(model,), retries=0), asks={"m": ask})
    score_batch(pool.batch(get("reference")), cases(20), workers=1)
    results = score_batch(pool.batch(get("reference")), cases(20), workers=1)
    assert all(isinstance(each, Scored) for each in results)


def test_recorded_answers_that_lack_some_rows_give_the_others(tmp_path):
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"id": "s30", "verdict": {"same": "yes"}}\n')
    model = JudgeModel(model="r", backend="replay", answers=str(answers))
    judge = JudgePool(JudgeConfig(models=(model,))).batch(get("reference"))
    results = score_batch(judge, cases(31), workers=1)
    assert isinstance(results[30], Scored)


STATUSES = [
    *(("openai", status, True) for status in (401, 403, 404)),
    *(("openai", status, False) for status in (400, 429, 503)),
    *(("bedrock", status, True) for status in (403, 404)),
    *(("bedrock", status, False) for status in (400, 429, 503)),
]


@pytest.mark.parametrize(("backend", "status", "lasting"), STATUSES)
def test_a_server_refuses_all_questions_or_one(serve, backend, status, lasting):
    server = serve(schedule=lambda call, text: str(status))
    at = server.url + ("/v1" if backend == "openai" else "")
    model = JudgeModel(model="m", backend=backend, endpoint=at, region="us-east-1")
    judge = JudgePool(JudgeConfig(models=(model,), retries=0)).batch(get("reference"))
    (result,) = score_batch(judge, cases(1))
    assert result.error.lasting == lasting


@pytest.mark.parametrize("backend", ["openai", "bedrock"])
def test_nobody_listens(serve, backend):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        at = f"http://127.0.0.1:{free.getsockname()[1]}"
    at += "/v1" if backend == "openai" else ""
    model = JudgeModel(model="m", backend=backend, endpoint=at, region="us-east-1")
    judge = JudgePool(JudgeConfig(models=(model,), retries=0)).batch(get("reference"))
    results = score_batch(judge, cases(50), workers=1)
    assert judge.account["judge_calls"] == ENOUGH
    assert all(each.error.lasting for each in results)
    assert judge.account.dollars == "0.0000"
