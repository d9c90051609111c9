"""Verdicts on disk: none is paid for twice, none is lost, and the file is its owner's alone."""

import json
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from time import time

import pytest

from reward_functions import Scored, get, sample, score_batch
from reward_functions.core.errors import BadJudge, JudgeUnavailable
from reward_functions.judge_runtime import verdict_store
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from reward_functions.judge_runtime.panel import JudgePool
from reward_functions.judge_runtime.verdict_store import VerdictStore
from reward_functions.testing import FakeAsk

YES = {"same": "yes", "reason": "The same city, SAID-BY-JUDGE."}
SERVER = {"model": "m", "backend": "openai", "endpoint": "http://localhost:1/v1"}
PROMPT = "Which capital, ASKED-IN-PROMPT?"


def cases(count):
    return [
        sample(f"It is the city of WRITTEN-{at}.", "TRUTH", prompt=PROMPT, id=f"s{at}")
        for at in range(count)
    ]


def run(path, count=3, *, asks=None, answer=YES, reward="reference", parameters=None, **settings):
    """Score with a fresh pool, as a fresh command does; the results and how often was asked."""
    models = settings.pop("models", [SERVER])
    asks = asks or {each["model"]: FakeAsk(answer=lambda _: answer) for each in models}
    config = JudgeConfig(models=tuple(JudgeModel(**each) for each in models), retries=0, **settings)
    store = VerdictStore(path)
    try:
        judge = JudgePool(config, asks=asks, store=store).batch(get(reward), parameters)
        results = score_batch(judge, cases(count))
        return results, sum(len(ask.asked) for ask in asks.values()), judge
    finally:
        store.close()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "verdicts.sqlite3"


def test_the_same_run_again_asks_nobody_and_says_the_same(path):
    first, asked, _ = run(path)
    again, none, judge = run(path)
    assert (asked, none) == (3, 0)
    assert again == first
    assert again[0].score.evidence == first[0].score.evidence  # the judge's reasons with it
    assert judge.account["judge_cache_hits"] == 3
    assert judge.account.dollars == "0.0000"


def test_only_what_has_no_verdict_is_asked(path):
    run(path, 3)
    _, asked, _ = run(path, 5)
    assert asked == 2


CHANGES = {
    "another model": {"models": [SERVER | {"model": "n"}]},
    "another endpoint": {"models": [SERVER | {"endpoint": "http://localhost:2/v1"}]},
    "another temperature": {"models": [SERVER | {"temperature": 1.0}]},
    "another limit of tokens": {"models": [SERVER | {"max_tokens": 99}]},
    "another output mode": {"models": [SERVER | {"output_mode": "json"}]},
    "another judge": {"reward": "rubric", "answer": {}},
}


@pytest.mark.parametrize("changed", CHANGES.values(), ids=CHANGES)
def test_what_changes_an_answer_is_asked_anew(path, changed):
    run(path)
    assert run(path, **changed)[1] == 3


SAME = {
    "concurrency": {"concurrency": 2},
    "prices": {"prices": {"m": (1.0, 2.0)}},
    "a timeout": {"models": [SERVER | {"timeout": 5.0}]},
    "a key": {"models": [SERVER | {"key": "env:SOME_KEY"}]},
}


@pytest.mark.parametrize("changed", SAME.values(), ids=SAME)
def test_what_changes_no_answer_is_not_asked_anew(path, changed):
    run(path)
    assert run(path, **changed)[1] == 0


def test_each_seat_of_a_model_gives_a_verdict_of_its_own(path):
    models = [SERVER | {"temperature": 1.0}] * 3
    left = [{"same": "yes"}, {"same": "no"}, {"same": "no"}]
    asks = {"m": FakeAsk(answer=lambda _: left.pop(0))}
    (first,), asked, _ = run(path, 1, models=models, asks=asks)
    assert asked == 3
    assert first.score.value == pytest.approx(1 / 3)
    (again,), none, _ = run(path, 1, models=models)
    assert none == 0
    assert again.score.value == first.score.value


def test_failures_are_asked_again(path):
    down = FakeAsk(answer=lambda _: JudgeUnavailable("busy", "busy"))
    results, _, _ = run(path, asks={"m": down})
    assert not any(isinstance(each, Scored) for each in results)
    assert run(path)[1] == 3


def test_recorded_answers_are_not_kept(path, tmp_path):
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"id": "s0", "verdict": {"same": "yes"}}\n')
    store = VerdictStore(path)
    config = JudgeConfig(models=(JudgeModel(model="r", backend="replay", answers=str(answers)),))
    score_batch(JudgePool(config, store=store).batch(get("reference")), cases(1))
    assert store.holdings().verdicts == 0
    store.close()


def test_the_file_is_its_owners_and_holds_no_prompt_no_response_and_no_key(path, monkeypatch):
    monkeypatch.setenv("SOME_KEY", "sk-SECRET")
    run(path, models=[SERVER | {"key": "env:SOME_KEY"}])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    kept = path.read_bytes()
    for text in (b"ASKED-IN-PROMPT", b"WRITTEN-", b"TRUTH", b"SECRET", b"SOME_KEY"):
        assert text not in kept
    assert b"SAID-BY-JUDGE" in kept


def test_threads_and_commands_share_a_file(path):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda at: run(path, 5 * at), range(1, 9)))
    assert run(path, 40)[1] == 0


def test_a_killed_process_loses_no_verdict(path):
    code = (
        "import os, sys; from pathlib import Path\n"
        "from tests.judge_runtime.test_verdict_store import run\n"
        "from reward_functions.judge_runtime.verdict_store import VerdictStore\n"
        "VerdictStore.close = lambda self: os._exit(9)\n"
        "run(Path(sys.argv[1]), 7)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert done.returncode == 9
    assert run(path, 7)[1] == 0


def tampered(path, values):
    with sqlite3.connect(path) as database:
        database.execute("UPDATE verdicts SET verdict = ?", (values,))
    database.close()


@pytest.mark.parametrize(
    "values", ["", "null", "[]", "7", '{"same": "very"}', '{"same": "yes"}', "{" * 9_999, '"x"']
)
def test_a_verdict_that_is_none_is_asked_anew(path, values):
    run(path)
    tampered(path, values)
    results, asked, _ = run(path)
    assert asked == 3
    assert all(isinstance(each, Scored) for each in results)


def test_old_verdicts_are_removed(path, monkeypatch):
    run(path)
    monkeypatch.setattr(verdict_store, "time", lambda: time() + 91 * 86_400)
    assert run(path)[1] == 3


def test_what_is_older_is_cleared(path):
    run(path)
    store = VerdictStore(path)
    assert store.clear(days=1) == 0
    assert store.clear() == 3
    assert store.holdings().verdicts == 0
    store.close()


def another_database(path):
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE mine (x)")
    database.close()


UNUSABLE = {
    "another program's database": (another_database, "another program's database"),
    "no database": (lambda path: path.write_text("{}\n" * 999), "not a store of verdicts"),
    "a folder": (lambda path: path.mkdir(), "verdicts cannot be kept"),
}


@pytest.mark.parametrize(("made", "said"), UNUSABLE.values(), ids=UNUSABLE)
def test_what_is_no_store_is_left_as_it_is(tmp_path, made, said):
    path = tmp_path / "x.sqlite3"
    made(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(BadJudge, match=said):
        VerdictStore(path)
    assert (path.read_bytes() if path.is_file() else None) == before


def test_a_store_that_breaks_fails_no_sample(path):
    store = VerdictStore(path)
    judge = JudgePool(
        JudgeConfig(models=(JudgeModel(**SERVER),)), asks={"m": FakeAsk(YES)}, store=store
    ).batch(get("reference"))
    store.close()  # every statement fails from here on
    results = score_batch(judge, cases(3))
    assert all(isinstance(each, Scored) for each in results)
    assert json.dumps(store.failure)
    assert str(path) in store.failure
