"""Files that were written before the rooms: today's readers read them, and go on with them.

Each was made by a command or a class of that time: `cases/before_rooms/README.md` names it.
"""

from __future__ import annotations

import json
import shutil
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from reward_functions.aws.catalogue import (
    DeployedReward,
    DeployedStage,
    deployment_parameter,
    stage_parameter,
)
from reward_functions.calibration.asking import AnswerLedger as Ratings
from reward_functions.calibration.asking import Rating, Trial
from reward_functions.cli import app
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.types import Usage
from reward_functions.feedback.settings import FeedbackSettings
from reward_functions.jobs.asking import AnswerAttempt, AnswerFile, ModelAnswer, Sampling, setup
from reward_functions.jobs.baseline import baseline_findings, saved
from reward_functions.jobs.configuration import load
from reward_functions.jobs.evaluation.evaluation_record import EvaluationRecord
from reward_functions.rollouts.collect.ledger import forget, open_sessions
from reward_functions.rollouts.drive.records import RecordFile, read_records
from reward_functions.rollouts.record.jsonl import read, written
from reward_functions.rollouts.report.deferred import read_record
from reward_functions.rollouts.report.outbox.sqlite import SqliteOutbox
from reward_functions.rollouts.request.clock import steady
from reward_functions.rollouts.serve.forwarder import ForwarderSettings
from reward_functions.serving.settings import LambdaSettings
from tests.rollouts.reporters import Scripted, reporter_of
from tests.waiting import until

FILES = Path(__file__).parent / "cases" / "before_rooms"

BASE = "us.amazon.nova-2-lite-v1:0"


@pytest.fixture
def before(tmp_path, monkeypatch):
    """A copy of the files, which is the working directory."""
    copy = tmp_path / "before"
    shutil.copytree(FILES, copy)
    monkeypatch.chdir(copy)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("REWARD_JUDGE", raising=False)
    return copy


def typed(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def objects(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


# A job


def test_a_job_file_is_read_with_its_paths():
    asked = load(FILES / "job" / "job.toml", {})
    assert (asked.deployment, asked.hyperparameters) == ("good", {"maxPromptLength": 1024})
    assert asked.data == FILES / "job" / "train.jsonl"


def test_a_baseline_counts_for_its_job():
    record = saved(FILES / "job" / "baseline.json")
    scorer = SimpleNamespace(arn=record.grader, deployed=None)
    given = {"model": record.model, "scorer": scorer, "simulation": True}
    data = sha256((FILES / "job" / "train.jsonl").read_bytes()).hexdigest()
    found = list(baseline_findings(record, data=data, **given))
    assert "not measured" not in str(found)
    (other,) = baseline_findings(record, data="another", **given)
    assert "is of other data" in other.message


KEPT = [
    ("job/answers.jsonl", BASE, Sampling(), 12),
    ("evaluation/answers/base-greedy.jsonl", BASE, Sampling(0.0, 64), 8),
]


@pytest.mark.parametrize(("name", "model", "sampling", "count"), KEPT)
def test_answers_are_not_asked_again_and_others_follow_them(before, name, model, sampling, count):
    path, made = before / name, setup(SimpleNamespace(model=model), sampling)
    old = path.read_bytes()
    further = AnswerAttempt("0" * 32, 0), ModelAnswer("#### 1", "end", Usage(10, 5), 0.5)
    with AnswerFile(path, made) as file:
        assert len(file.given) == count
        assert {answer.ended for answer in file.given.values()} == {"end"}
        file.keep(*further)
    assert path.read_bytes().startswith(old)
    with AnswerFile(path, made) as file:
        assert len(file.given) == count + 1
        assert file.given[further[0]] == further[1]


def test_an_evaluation_is_read_whole():
    text = (FILES / "evaluation" / "evaluation.json").read_text()
    found = EvaluationRecord.model_validate_json(text)
    assert (found.job, found.mcnemar.gained, found.reward_version) == ("gsm8k-0a1b2c3d-1", 4, 3)
    split = (FILES / "evaluation" / "test.jsonl").read_bytes()
    assert found.split_sha256 == sha256(split).hexdigest()
    assert json.loads(found.model_dump_json()) == json.loads(text)


# Reports of rollouts


def by_name(outbox):
    stored = outbox.list()
    return {(each.intent.target.trajectory_id, each.intent.operation): each for each in stored}


def test_an_outbox_is_listed_and_a_successor_delivers_what_is_due(before):
    url = f"sqlite://{before}/outbox.sqlite3"
    listed = typed("rollouts", "outbox", "list", "--outbox", url)
    assert listed.exit_code == 0, listed.output
    heading = f"{url}: 5 pending · 2 delivered · 1 refused · 0 expired · 1 running"
    assert listed.stdout.splitlines()[0] == heading
    transport = Scripted()
    outbox = SqliteOutbox(before / "outbox.sqlite3")
    old = {
        (each.intent.target.trajectory_id, each.intent.operation): each for each in outbox.list()
    }
    due = {name for name, each in old.items() if each.state == "pending"}
    reporter = reporter_of(outbox, transport, steady)
    reporter.start()
    until(lambda: outbox.counts()["pending"] == 0)
    reporter.close(patience=0.0)
    assert due <= set(transport.sent)
    assert {name for name, _ in set(transport.sent) - due} <= {"left"}
    outbox = SqliteOutbox(before / "outbox.sqlite3")
    new = {
        (each.intent.target.trajectory_id, each.intent.operation): each for each in outbox.list()
    }
    assert {name: new[name].intent for name in old} == {name: old[name].intent for name in old}
    assert {new[name].state for name in due} == {"delivered"}
    assert new["refused", "complete"].state == "refused"
    outbox.close()


def test_a_deferred_record_is_read_and_written_the_same():
    body = (FILES / "deferred.json").read_bytes()
    found = read_record(body)
    assert (found.scorer.reward, found.sample.reference, found.sample.response) == (
        "math",
        "42",
        "42",
    )
    assert found.body() == body


def test_sessions_are_open_and_are_forgotten_one_by_one(before):
    first, second = open_sessions(before / "sessions")
    assert (first.session[:4], second.session[:4], first.live) == ("left", "more", False)
    forget(first)
    assert [each.session for each in open_sessions(before / "sessions")] == [second.session]
    forget(second)
    assert not list((before / "sessions").iterdir())


# Rollouts and trajectories


def test_rollouts_are_reported_beside_their_trajectories(before):
    folder = before / "rollouts"
    records = read_records(str(folder / "rollouts.jsonl"))
    lines = (folder / "trajectories.jsonl").read_text().splitlines()
    kept = [read(line) for line in lines]
    assert sorted(each.id for each in kept) == sorted(each.rollout for each in records)
    assert [written(each).strip() for each in kept] == lines
    ran = typed(
        "rollouts", "report", folder / "rollouts.jsonl",
        "--trajectories", folder / "trajectories.jsonl", "--format", "json",
    )  # fmt: skip
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout)["statuses"]["rewarded"] == 6


def test_rollouts_of_an_agent_that_rewards_itself_are_gone_on_with(before):
    path = before / "agent" / "rollouts.jsonl"
    old = path.read_bytes()
    records = read_records(str(path))
    with RecordFile(path, records[0].setup, resume=True) as file:
        assert len(file.kept) == 2
        file.add(records[1])
    assert path.read_bytes().startswith(old)
    assert [each.attempt for each in read_records(str(path))] == list(file.kept)


def test_rollouts_of_a_pinned_reward_are_scored_again_by_todays(before):
    ran = typed("score", "think_format", "rollouts/rollouts.jsonl", "-o", "new")
    assert ran.exit_code == 0, ran.stderr
    old, new = objects("rollouts/rollouts.jsonl"), objects("new")
    assert [each["aggregate_reward_score"] for each in new] == [each["reward"] for each in old]


# Scores and ratings


def test_an_interrupted_run_goes_on_and_its_rows_stay(before, monkeypatch):
    monkeypatch.chdir(before / "score")
    (kept,) = Path("think_format.jsonl.partial").read_text().splitlines()[1:]
    ran = typed("score", "think_format", "rows.jsonl", "-o", "think_format.jsonl", "--resume")
    assert ran.exit_code == 0, ran.stderr
    assert Path("think_format.jsonl").read_text().startswith(kept.rpartition("\t")[0])
    new, old = objects("think_format.jsonl"), objects("whole.think_format.jsonl")
    value = "aggregate_reward_score"
    assert [(row["id"], row[value]) for row in new] == [(row["id"], row[value]) for row in old]


def test_an_interrupted_run_of_a_reward_that_changed_is_refused(before, monkeypatch):
    monkeypatch.chdir(before / "score")
    old = Path("gsm8k.jsonl.partial").read_bytes()
    ran = typed("score", "gsm8k", "rows.jsonl", "-o", "gsm8k.jsonl", "--resume")
    assert ran.exit_code == 2
    assert "is of another run: it differs in the reward's version; remove it" in ran.stderr
    assert Path("gsm8k.jsonl.partial").read_bytes() == old


def test_ratings_are_kept_and_others_follow_them(before):
    path = before / "calibration.jsonl"
    old, made = path.read_bytes(), objects(path)[0]["setup"]
    further = Rating(trial=Trial("p3", swapped=False, repeat=0), value=1.0)
    with Ratings(path, made, resume=True) as ledger:
        assert [trial.case for trial in ledger.given] == ["p0", "p1", "p2", "p4"]
        assert [rating.value for rating in ledger.given.values()] == [1.0, 0.0, 1.0, 1.0]
        ledger.keep([further])
    assert path.read_bytes().startswith(old)
    with Ratings(path, made, resume=True) as ledger:
        assert ledger.given[further.trial] == further
    with pytest.raises(ConfigurationError, match="belongs to another run: the judge"):
        Ratings(path, "of a judge that changed", resume=True)


# A stage

STAGE = json.loads((FILES / "stage.json").read_text())


def test_records_of_a_stage_are_read_whole():
    left = dict(STAGE["parameters"])
    record = DeployedStage.model_validate(left.pop(stage_parameter("dev")))
    assert (
        record.model_dump(mode="json", exclude_unset=True)
        == STAGE["parameters"][stage_parameter("dev")]
    )
    assert record.feedback.outbox_table == "outbox"
    for name, immutable in (("gsm8k", False), ("pair", True)):
        given = left.pop(deployment_parameter("dev", name))
        reward = DeployedReward.model_validate(given)
        assert (reward.model_dump(mode="json"), reward.immutable) == (given, immutable)
        assert reward.spec().name == name
    assert not left


SETTINGS = {
    "gsm8k": LambdaSettings.from_env,
    "pair": LambdaSettings.from_env,
    "feedback": FeedbackSettings.from_env,
    "tool": ForwarderSettings.from_env,
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_settings_of_a_function_are_read_whole(name):
    given = STAGE["functions"][name]["environment"]
    settings = SETTINGS[name](given)
    if name == "tool":
        assert settings.queue == given["AGENT_QUEUE_URL"]
    else:
        assert settings.to_env() == given


@pytest.mark.parametrize("name", SETTINGS)
def test_the_handler_of_a_function_is_bound_by_its_old_name(name, monkeypatch):
    function = STAGE["functions"][name]
    for variable, value in function["environment"].items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    module, _, entry = function["handler"].rpartition(".")
    found = import_module(module)
    if hasattr(found, "__getattr__"):  # it binds when it is asked: what is bound here is not kept
        monkeypatch.setitem(vars(found), entry, None)
        del vars(found)[entry]
    handler = getattr(found, entry)
    assert callable(handler)
    if name in ("gsm8k", "pair"):
        turns = [{"role": "user", "content": "1 + 1?"}, {"role": "assistant", "content": "#### 2"}]
        answer = handler([{"id": "a", "messages": turns, "reference_answer": "2"}], None)
        score = {"gsm8k": 1.0, "pair": 0.9}[name]
        [row] = answer if isinstance(answer, list) else json.loads(answer["body"])
        assert row["aggregate_reward_score"] == score
