"""What the state machine does next, and what who waits for it sees: on a folder, without AWS."""

from __future__ import annotations

import io
import json
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from reward_functions.aws.failures import AwsFailed
from reward_functions.scoring import Plan, Run, cancel, score_file
from reward_functions.scoring import shard as working
from reward_functions.scoring.aws.steps import OVER, keep_count, next_step
from reward_functions.scoring.engines import aws
from reward_functions.scoring.folder import RunIncomplete, RunNotUsable
from reward_functions.scoring.places import place_of
from reward_functions.scoring.shard import work
from reward_functions.scoring.shards import Done, Shard

LINES = "".join(
    f"{json.dumps({'prompt': 'p', 'response': f'#### {n % 3}', 'answer': '1'})}\n"
    for n in range(40)
)

MACHINE = "arn:aws:states:us-east-1:000000000000:stateMachine:reward-scale-dev"


@pytest.fixture
def begun(tmp_path):
    """A run in a folder, in shards of some rows."""

    def made(text=LINES, **given):
        (tmp_path / "rows.jsonl").write_text(text)
        options = {"shard_mb": 0.0006, **given}
        plan = Plan.of(str(tmp_path / "rows.jsonl"), str(tmp_path / "run"), "gsm8k", **options)
        return Run.begun(plan.place, plan.asked, plan.shards)

    return made


def listed(run):
    """The shards of the round."""
    lines = run.place.read("todo.jsonl").splitlines()
    return [Shard.of(json.loads(line)) for line in lines]


def does(run, state, shards):
    """What the function does with shards of a round."""
    for shard in shards:
        done = work(run, state["task"], shard)
        if state["task"] == "count":
            keep_count(run.place, done)


def test_a_run_is_counted_scored_and_finished_and_equals_a_file_s(begun, tmp_path):
    run = begun()
    state = {"run": run.place.address, "concurrency": 2}
    tasks = []
    while (state := next_step(state))["task"] != OVER:
        tasks.append(state["task"])
        does(run, state, listed(run))
    assert tasks == ["count", "score"]
    assert len(json.dumps(state)) < 4096
    joined = io.BytesIO()
    run.join(joined)
    score_file("gsm8k", tmp_path / "rows.jsonl", tmp_path / "out.jsonl")
    assert joined.getvalue() == (tmp_path / "out.jsonl").read_bytes()
    assert run.state().finished


@pytest.mark.parametrize("task", ["count", "score"])
def test_a_round_names_what_the_last_one_left(begun, task):
    run = begun()
    state = next_step({"run": run.place.address})
    if task == "score":
        does(run, state, listed(run))
        state = next_step(state)
    first, *others = listed(run)
    assert others
    does(run, state, others)
    state = next_step(state)
    assert (state["task"], listed(run), state["idle"]) == (task, [first], 0)


def test_a_run_fails_where_nothing_changes_and_not_where_something_does(begun):
    run = begun()
    state = next_step({"run": run.place.address})
    for idle in (1, 2):
        state = next_step(state)
        assert state["idle"] == idle
    does(run, state, listed(run)[:1])
    state = next_step(state)
    assert state["idle"] == 0
    for _ in range(2):
        state = next_step(state)
    with pytest.raises(RunIncomplete, match="parts stay missing, the first is part 1"):
        next_step(state)


def test_a_shard_whose_time_was_short_is_a_change(begun):
    run = begun(shard_mb=64)
    (shard,) = run.shards()
    state = next_step({"run": run.place.address})
    assert state["task"] == "score"  # one shard needs no count
    run.place.write(shard.begun, b"{}\n")
    assert next_step(state)["idle"] == 0


def test_a_count_that_failed_leaves_nothing(begun):
    run = begun()
    keep_count(run.place, Done(0, error="throttled"))
    keep_count(run.place, Done(0, unusable="line 1"))
    assert not [each.name for each in run.place.objects("part-")]


def test_a_cancelled_run_is_over_without_a_summary(begun):
    run = begun()
    run.stop()
    assert next_step({"run": run.place.address})["task"] == OVER
    assert not run.state().finished


def test_a_run_that_is_not_usable_fails(begun):
    run = begun()
    run.mark_unusable("rows.jsonl, line 3: no object")
    with pytest.raises(RunNotUsable, match="line 3"):
        next_step({"run": run.place.address})


def test_a_run_with_too_many_rows_without_a_score_has_no_summary(begun):
    text = LINES + json.dumps({"prompt": "p", "response": "#### 1", "answer": "none"}) + "\n"
    run = begun(text, shard_mb=64, max_unscored=0.01)
    state = next_step({"run": run.place.address})
    does(run, state, listed(run))
    with pytest.raises(RunIncomplete, match="1 of 41 rows are without a score, more than 1%"):
        next_step(state)
    assert not run.state().finished


class Machine:
    """The client of Step Functions, with executions by their names."""

    def __init__(self, **executions):
        self.executions, self.stopped = executions, []

    def describe_execution(self, *, executionArn):  # noqa: N803 - boto3's
        name = executionArn.rpartition(":")[2]
        if name.rpartition("-")[2] not in self.executions:
            raise AwsFailed("no", kind="missing", code="ExecutionDoesNotExist")
        return {"status": self.executions[name.rpartition("-")[2]]}

    def start_execution(self, *, name, **_):
        self.executions[name.rpartition("-")[2]] = "RUNNING"
        return {}

    def stop_execution(self, *, executionArn):  # noqa: N803 - boto3's
        self.stopped.append(executionArn.rpartition("-")[2])
        return {}


@pytest.fixture
def engine(monkeypatch):
    def made(run, **executions):
        machine = Machine(**executions)
        monkeypatch.setattr(aws, "client", lambda *_: machine)
        found = aws.Aws(MACHINE, f"{run.place.address}/", wait=lambda _: None)

        return found, machine

    return made


EXECUTIONS = [
    # what there is of a run, and which execution does it
    ({}, "1"),
    ({"1": "RUNNING"}, "1"),
    ({"1": "FAILED"}, "2"),
    ({"1": "ABORTED", "2": "SUCCEEDED"}, "3"),
    ({"1": "FAILED", "2": "RUNNING"}, "2"),
]


@pytest.mark.parametrize(("there", "number"), EXECUTIONS)
def test_one_execution_does_a_run_however_often_it_is_begun(begun, engine, there, number):
    run = begun()
    found, machine = engine(run, **there)
    assert found.detach(run).rpartition("-")[2] == number
    assert found.detach(run).rpartition("-")[2] == number
    assert machine.executions[number] == "RUNNING"


def test_names_of_executions_are_those_that_aws_takes(begun, engine):
    run = begun()
    found, _ = engine(run)
    name = found.detach(run).rpartition(":")[2]
    assert len(name) <= 80
    assert name.replace("-", "").isalnum()


def test_who_is_interrupted_stops_the_execution_and_who_ends_does_not(begun, engine):
    run = begun()
    found, machine = engine(run)
    shards = run.shards()
    keep_count(run.place, Done(0, lines=1, rows=1))
    ran = found.run(run, "count", shards)
    assert next(ran) == Done(0, 1, 1)
    ran.close()
    assert machine.stopped == ["1"]
    machine.stopped.clear()
    for shard in shards:
        keep_count(run.place, Done(shard.part, lines=1, rows=1))
    assert [each.part for each in found.run(run, "count", shards)] == [*range(len(shards))]
    assert machine.stopped == []


def test_what_an_ended_execution_has_not_done_failed(begun, engine):
    run = begun()
    found, machine = engine(run)
    machine.start_execution = lambda *, name, **_: machine.executions.update({"1": "FAILED"})
    (first, *_) = found.run(run, "count", run.shards())
    assert "is failed" in first.error


def test_an_execution_that_cannot_be_looked_at_is_not_taken_for_one_that_is_not_there(
    begun, engine
):
    def denied(**_):
        raise AwsFailed("not authorized", kind="denied", code="AccessDeniedException")

    run = begun()
    found, machine = engine(run)
    machine.describe_execution = denied
    with pytest.raises(AwsFailed, match="not authorized"):
        found.detach(run)
    assert machine.executions == {}, "nothing was begun twice"


@pytest.mark.parametrize(
    ("code", "raised"), [("ValidationException", False), ("AccessDeniedException", True)]
)
def test_stopping_what_has_ended_meanwhile_is_no_failure_and_any_other_is(
    begun, engine, code, raised
):
    def refused(**_):
        raise AwsFailed("it cannot be stopped", code=code)

    run = begun()
    found, machine = engine(run, **{"1": "RUNNING"})
    found.detach(run)
    machine.stop_execution = refused
    with pytest.raises(AwsFailed, match="cannot be stopped") if raised else nullcontext():
        cancel(run)


def test_cancelling_marks_the_folder_and_stops_what_runs(begun, engine):
    run = begun()
    found, machine = engine(run, **{"1": "RUNNING"})
    assert found.detach(run).rpartition("-")[2] == "1"
    cancel(run)
    assert (run.state().word, machine.stopped) == ("cancelled", ["1"])
    _, machine = engine(run, **{"1": "SUCCEEDED"})
    cancel(run)
    assert machine.stopped == []


def test_cancelling_a_run_that_no_machine_does_asks_none(begun, monkeypatch):
    monkeypatch.setattr(aws, "client", None)
    run = begun()
    cancel(run)
    assert run.state().word == "cancelled"


def test_a_failure_that_lasts_ends_the_machine_and_says_why(begun):
    run = begun()
    state = next_step({"run": run.place.address})
    run.stop("there is no such version")
    with pytest.raises(RunIncomplete, match="there is no such version"):
        next_step(state)


def test_who_watches_the_folder_is_told_why_the_machine_failed(begun):
    run = begun()
    state = next_step({"run": run.place.address})
    for _ in range(2):
        state = next_step(state)
    with pytest.raises(RunIncomplete):
        next_step(state)
    assert "parts stay missing" in run.state().stopped


def test_a_stage_without_a_machine_is_a_sentence(monkeypatch):
    record = SimpleNamespace(scale_machine_arn=None, bucket="b")
    monkeypatch.setattr(aws, "stage_record", lambda *_: record)
    with pytest.raises(aws.ConfigurationError, match="the stage dev has no state machine: add"):
        aws.Aws.of("dev")


class Session:
    """boto3's, which makes clients of no service."""

    def client(self, service, **_):
        return SimpleNamespace(service=service)


def test_a_process_that_lives_on_makes_one_session_of_a_folder(monkeypatch):
    made = []
    monkeypatch.setattr(working, "aws_session", lambda: made.append(Session()) or made[-1])
    asked = []
    monkeypatch.setattr(Run, "opened", lambda place, session: asked.append((place, session)))
    for _ in range(3):
        working.run_at("s3://bucket/a-run-of-this-test")
    assert len(made) == 1
    assert {session for _, session in asked} == set(made)
    source = place_of("s3://bucket/source", made[0])
    assert source.client is asked[0][0].client
