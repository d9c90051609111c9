"""`reward rollouts outbox`: what it shows, sends and forgets, and its exit status."""

from __future__ import annotations

import json
import os
import pty
import time

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.rollouts.report.outbox.sqlite import SqliteOutbox
from reward_functions.rollouts.request.outcomes import Conflict, Expired, Reported, Throttled
from tests import commands
from tests.commands import PIPE
from tests.loopback import Service, served
from tests.rollouts.report.outbox.reports import outcome, reported

DAY = 86_400.0


class Runtime(Service):
    """The two reports of the job runtime, all of them taken unless a fault says otherwise."""

    def operation(self, asked):
        return asked.path[-1], lambda: (200, {"Content-Type": "application/json"}, b"{}")


@pytest.fixture
def runtime(monkeypatch):
    with served(Runtime()) as double:
        environ = {
            "RFT_RUNTIME_ENDPOINT": double.address,
            "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "example",
            "AWS_REGION": "us-west-2",
        }
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        yield double


@pytest.fixture
def url(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    return f"sqlite://{tmp_path}/outbox.sqlite3"


@pytest.fixture
def store(url):
    opened = SqliteOutbox(url.removeprefix("sqlite://"))
    yield opened
    opened.close()


def run(url, command, *arguments):
    return CliRunner().invoke(app, ["rollouts", "outbox", command, *arguments, "--outbox", url])


def keep(store, rollout, *kinds, age=60.0, endpoint="http://127.0.0.1:1", **said):
    """Reports of a rollout, the first of which had these outcomes."""
    at = time.time() - age
    intents = reported(rollout, 0.5, created=at, endpoint=endpoint, transport="bearer")
    store.add(intents)
    for intent, kind in zip(intents, kinds, strict=False):
        store.settle(intent, outcome(kind, intent, **said), due=at)


def states(store):
    return {
        (each.intent.target.trajectory_id, each.intent.operation): each.state
        for each in store.list()
    }


def test_the_newest_undelivered_reports_come_first(url, store):
    keep(store, "old", Conflict, Throttled, age=3 * DAY, detail="\x1b[31mnot in valid\nstatus")
    keep(store, "done", Reported, Reported, age=1.0)
    keep(store, "new", Throttled, age=30.0)
    listed = run(url, "list")
    assert (listed.exit_code, listed.stderr) == (0, "")
    heading, *lines = listed.stdout.splitlines()
    assert heading == f"{url}: 3 pending · 2 delivered · 1 refused · 0 expired · 0 running"
    rows = [line.split()[:3] for line in lines if line.strip().startswith(("pend", "ref", "del"))]
    assert rows == [
        ["pending", "new", "reward"],
        ["pending", "new", "complete"],
        ["pending", "old", "reward"],
        ["refused", "old", "complete"],
        ["delivered", "done", "reward"],
        ["delivered", "done", "complete"],
    ]
    assert "\x1b" not in listed.stdout
    assert "Conflict: \\x1b[31mnot in valid\\nstatus" in listed.stdout
    assert "3 d" in listed.stdout


def test_an_empty_outbox_has_no_table(url):
    listed = run(url, "list")
    expected = f"{url}: 0 pending · 0 delivered · 0 refused · 0 expired · 0 running\n"
    assert (listed.exit_code, listed.stdout) == (0, expected)


def test_a_list_for_programs_has_states_and_a_limit(url, store):
    keep(store, "r1", Expired, Reported)
    keep(store, "r2", age=10.0)
    read = json.loads(run(url, "list", "--format", "json", "--state", "expired").stdout)
    assert read["outbox"] == url
    assert read["counts"]["expired"] == 1
    (only,) = read["reports"]
    assert (only["rollout"], only["operation"], only["state"]) == ("r1", "complete", "expired")
    assert (only["payload"], only["outcome"]) == ({"Status": "ready"}, "Expired")
    read = json.loads(run(url, "list", "--format", "json", "--limit", "1").stdout)
    assert [each["rollout"] for each in read["reports"]] == ["r2"]


def test_a_replay_sends_what_is_pending(url, store, runtime):
    keep(store, "r1", endpoint=runtime.address)
    keep(store, "r2", Conflict, endpoint=runtime.address)
    ran = run(url, "replay")
    assert (ran.exit_code, ran.stdout, ran.stderr) == (0, "3 Reported\n", "")
    assert states(store)["r2", "complete"] == "refused"
    assert runtime.asked.count("update-reward") == 2
    again = run(url, "replay")
    assert (again.exit_code, again.stdout) == (0, "there is nothing to send\n")


REPLAYS = [
    (["--all-refused"], {("r1", "complete")}),
    (["--expired"], {("r2", "complete"), ("r2", "reward")}),
    (["--expired", "--all-refused"], {("r1", "complete"), ("r2", "complete"), ("r2", "reward")}),
    (["r1"], {("r1", "complete"), ("r1", "reward")}),
    (["r1", "r3"], {("r1", "complete"), ("r1", "reward")}),
]


@pytest.mark.parametrize(("arguments", "sent"), REPLAYS, ids=[" ".join(row[0]) for row in REPLAYS])
def test_a_replay_sends_what_it_is_asked_to(url, store, runtime, arguments, sent):
    keep(store, "r1", Conflict, age=5 * DAY, endpoint=runtime.address)
    keep(store, "r2", Expired, Expired, age=5 * DAY, endpoint=runtime.address)
    keep(store, "r3", Reported, Reported, age=5 * DAY, endpoint=runtime.address)
    before = states(store)
    ran = run(url, "replay", *arguments)
    assert (ran.exit_code, ran.stdout) == (0, f"{len(sent)} Reported\n")
    assert states(store) == before | dict.fromkeys(sent, "delivered")
    assert len(runtime.asked) == len(sent)


def test_what_stays_undelivered_makes_the_status_1(url, store, runtime):
    keep(store, "r1", endpoint=runtime.address)
    keep(store, "r2", endpoint=runtime.address)
    refusal = (400, {"x-amzn-errortype": "ValidationException"}, b'{"Message":"no such field"}')
    slow_down = (429, {"x-amzn-errortype": "ThrottlingException"}, b"{}")
    runtime.fail("complete-rollout", refusal)
    ran = run(url, "replay", "r1")
    assert (ran.exit_code, ran.stdout) == (1, "1 Rejected · 1 Reported\n")
    assert "the complete report of rollout r1 is not valid for the service" in ran.stderr
    runtime.fail("complete-rollout", slow_down)
    ran = run(url, "replay", "r2")
    assert (ran.exit_code, ran.stdout) == (1, "1 Throttled\n")
    assert "1 report not sent: their completion goes first\n" in ran.stderr
    assert states(store)["r2", "reward"] == "pending"


def test_a_conflict_with_what_was_sent_before_is_delivered(url, store, runtime):
    keep(store, "r1", Throttled, endpoint=runtime.address)
    conflict = (409, {"x-amzn-errortype": "ConflictException"}, b"{}")
    runtime.fail("complete-rollout", conflict)
    ran = run(url, "replay", "r1")
    assert ran.exit_code == 0
    assert "1 AlreadyReported" in ran.stdout


def test_a_purge_forgets_what_is_old(url, store):
    keep(store, "old", Reported, Reported, age=8 * DAY)
    keep(store, "new", Reported, Reported, age=6 * DAY)
    ran = run(url, "purge", "--state", "delivered", "--older-than", "7d")
    assert (ran.exit_code, ran.stdout) == (0, "2 reports forgotten\n")
    assert {rollout for rollout, _ in states(store)} == {"new"}


def test_a_purge_of_undelivered_reports_asks(url, store):
    keep(store, "old", Expired, Expired, age=8 * DAY)
    arguments = ["--state", "expired", "--state", "delivered", "--older-than", "168h"]
    ran = run(url, "purge", *arguments)
    assert ran.exit_code == 2
    assert "purge asks first, and there is no terminal to ask on: add --yes" in ran.stderr
    assert len(states(store)) == 2
    ran = run(url, "purge", *arguments, "--yes")
    assert (ran.exit_code, ran.stdout) == (0, "2 reports forgotten\n")


def typed(answer, url, *arguments):
    """What purge prints to a person at a terminal who types an answer, and its exit status."""
    leader, follower = pty.openpty()
    os.write(leader, answer)
    command = ["rollouts", "outbox", "purge", *arguments, "--outbox", url]
    try:
        ended = commands.run(command, stdin=follower, stdout=PIPE, stderr=PIPE)
    finally:
        os.close(leader)
        os.close(follower)
    return ended.returncode, ended.stdout, ended.stderr


ASKED = "Forget 2 reports that the trainer never got? It cannot be undone. [y/N]: "


@pytest.mark.parametrize(
    ("answer", "status", "printed", "more", "left"),
    [(b"\n", 2, "", "nothing was forgotten\n", 2), (b"y\n", 0, "2 reports forgotten\n", "", 0)],
    ids=["no", "yes"],
)
def test_a_person_at_a_terminal_is_asked(url, store, answer, status, printed, more, left):
    keep(store, "old", Expired, Expired, age=8 * DAY)
    arguments = ("--state", "expired", "--older-than", "7d")
    assert typed(answer, url, *arguments) == (status, printed, f"{ASKED}{more}")
    assert len(states(store)) == left


COMPLAINTS = [
    (["list"], "memory:", "an outbox in memory is its process's own: nobody else can read it"),
    (["list"], "sqs://q", "an outbox is sqlite:///PATH, dynamodb://TABLE?region=REGION or memory:"),
    (["purge", "--state", "delivered", "--older-than", "a week"], "", "'a week' is no age: write"),
    (["replay", "r2"], "", "the outbox has no report of rollout 'r2'; there are r1"),
    (["list"], "sqlite:///proc/none/outbox.db", "choose another file with REWARD_ROLLOUTS_OUTBOX"),
]


@pytest.mark.parametrize(("arguments", "other", "message"), COMPLAINTS)
def test_what_cannot_be_done_is_one_line(url, store, arguments, other, message):
    keep(store, "r1")
    ran = run(other or url, *arguments)
    assert (ran.exit_code, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert message in ran.stderr


def test_the_outbox_of_the_environment_is_the_default(url, store, monkeypatch):
    keep(store, "r1")
    monkeypatch.setenv("REWARD_ROLLOUTS_OUTBOX", url)
    listed = CliRunner().invoke(app, ["rollouts", "outbox", "list"])
    assert listed.stdout.startswith(f"{url}: 2 pending")


def test_a_table_is_made_and_used(local_aws, monkeypatch):
    for name, value in local_aws.environment.items():
        monkeypatch.setenv(name, value)

    def outbox(*arguments):
        return CliRunner().invoke(app, ["rollouts", "outbox", *arguments])

    missing = outbox("list", "--outbox", "dynamodb://made-by-cli")
    assert missing.exit_code == 2
    assert "made-by-cli does not exist: `reward rollouts outbox create` makes it" in missing.stderr
    made, again = (outbox("create", "made-by-cli") for _ in range(2))
    assert made.stdout == "made-by-cli is made: REWARD_ROLLOUTS_OUTBOX=dynamodb://made-by-cli\n"
    assert (again.exit_code, again.stdout[:29]) == (0, "made-by-cli was there already")
    listed = outbox("list", "--outbox", "dynamodb://made-by-cli")
    assert listed.stdout.startswith("dynamodb://made-by-cli: 0 pending")


@pytest.mark.parametrize("name", ["a", "a b", "x" * 256])
def test_a_table_that_no_table_can_be_called_is_one_line(name):
    ran = CliRunner().invoke(app, ["rollouts", "outbox", "create", name])
    assert (ran.exit_code, ran.stderr.count("\n")) == (2, 1)
    assert "3 to 255 letters, digits" in ran.stderr
