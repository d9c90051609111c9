"""The commands of every reward, where the reward is a judge: somebody is named, and asked."""

import json
from contextlib import contextmanager

import pytest

from reward_functions import Scored, get, sample, specs
from reward_functions.cli import _progress
from reward_functions.judge_runtime.config_reading import config_of
from reward_functions.testing import FakeAsk

PROMPT = "Which city is the capital of Australia?"


def row(number, said, truth="Canberra"):
    messages = [{"role": "user", "content": PROMPT}, {"role": "assistant", "content": said}]
    return {"id": f"s-{number}", "messages": messages, "reference_answer": truth}


@pytest.fixture
def rows(write):
    said = ["It is the city of Canberra.", "Canberra", "Final answer:"]
    return write("rows.jsonl", [row(number, each) for number, each in enumerate(said)])


def scores(ran):
    return [json.loads(line)["aggregate_reward_score"] for line in ran.stdout.splitlines()]


def test_a_file_is_scored_by_the_model_that_is_named(reward, serve, settings, rows):
    server = serve()
    ran = reward("score", "reference", rows, "--judge", settings(server))
    assert ran.exit_code == 0, ran.stderr
    assert scores(ran) == [1.0, 1.0, 0.0]
    assert len(server.requests) == 1
    told = "judge calls 1 · answers 1 · questions without a verdict 0 · tokens 120"
    assert f"{told} · dollars unknown" in ran.stderr


def test_the_model_of_the_environment_is_asked(reward, serve, settings, rows, monkeypatch):
    server = serve(verdict=lambda talk: {"same": "no"})
    monkeypatch.setenv("REWARD_JUDGE", settings(server))
    assert scores(reward("score", "reference", rows)) == [0.0, 1.0, 0.0]


def test_the_function_is_invoked_with_the_model_that_is_named(reward, serve, settings, rows):
    server = serve()
    ran = reward("invoke", "reference", rows, "--judge", settings(server))
    assert ran.exit_code == 0, ran.output
    assert scores(ran) == [1.0, 1.0, 0.0]
    assert len(server.requests) == 1


def test_a_verifier_asks_nobody(reward, serve, settings, rows, monkeypatch):
    server = serve()
    monkeypatch.setenv("REWARD_JUDGE", settings(server))
    assert reward("score", "exact_match", rows).exit_code == 0
    assert not server.requests


@pytest.mark.parametrize("judge", [name for name, each in specs().items() if each.needs.judge])
def test_without_a_model_nothing_is_scored_and_one_error_says_how_to_name_it(
    reward, rows, tmp_path, judge
):
    ran = reward("score", judge, rows, "-o", tmp_path / "out.jsonl")
    assert ran.exit_code == 2
    assert not ran.stdout
    assert not (tmp_path / "out.jsonl").exists()
    (line,) = ran.stderr.splitlines()
    assert line.startswith(f"error: {judge} asks a judge model")
    assert "--judge FILE" in line
    assert "REWARD_JUDGE" in line
    copied = line.partition("--judge '")[2].partition("'")[0]
    assert config_of(json.loads(copied)).models[0].backend == "openai"


def test_explaining_what_needs_no_model_needs_none(reward):
    said = ("--response", "", "--reference", "Canberra")
    assert "the response is empty" in reward("explain", "reference", *said).stdout


def test_settings_that_cannot_be_used_score_nothing(reward, rows):
    ran = reward("score", "reference", rows, "--judge", '{"models": []}')
    assert ran.exit_code == 2
    assert "no judge model is named" in ran.stderr
    assert not ran.stdout


def test_one_response_is_explained(reward, serve, settings):
    said = ("--response", "It is the city of Canberra.", "--reference", "Canberra")
    ran = reward("explain", "reference", *said, "--judge", settings(serve()))
    assert ran.exit_code == 0, ran.stderr
    assert "the judge finds the answer the same" in ran.stdout


@pytest.mark.parametrize("shown", [True, False])
def test_siblings_are_known_whether_or_not_somebody_watches(monkeypatch, shown):
    @contextmanager
    def bar(*_, **__):
        yield (lambda count: None) if shown else None

    monkeypatch.setattr(_progress, "_bar", bar)
    judge = get("pairwise").bind({"against": "group"}, ask=FakeAsk({"better": "tie"}))
    texts = ("Canberra, since 1913.", "Sydney, I believe.")
    batch = [sample(text, None, prompt=PROMPT) for text in texts]
    results = _progress.scored(judge, batch, 1)
    assert all(isinstance(result, Scored) for result in results), results


@pytest.fixture
def prepared(write):
    """Rows as `data prepare pandalm` writes them."""
    prompt = "Which response is better? Answer with JUDGMENT and REASONING."
    user = [{"role": "user", "content": f"{prompt} Pair {number}."} for number in range(6)]
    rows = [
        {"id": f"pandalm-{at}", "messages": [turn], "reference_answer": {"label": at % 3}}
        for at, turn in enumerate(user)
    ]
    return write("pandalm.jsonl", rows)


@pytest.mark.parametrize(("reasons", "status"), [("yes", 0), ("no", 1)])
def test_prepared_pandalm_rows_replay_with_a_recorded_judge(
    reward, prepared, write, reasons, status
):
    criteria = dict.fromkeys(get("pandalm").examples[0].verdicts[0], reasons)
    recorded = [
        {"id": json.loads(line)["id"], "turn": 0, "verdict": criteria}
        for line in prepared.read_text().splitlines()
    ]
    answers = write("answers.jsonl", recorded)
    judge = {"models": [{"model": "recorded", "backend": "replay", "answers": str(answers)}]}
    asked = ["--class", "EX-WRONG,EX-EMPTY", "--yes", "--allow-undecided", "--judge"]
    ran = reward("audit", "pandalm", prepared, *asked, json.dumps(judge))
    assert ran.exit_code == status, ran.output
