"""`reward rollouts redrive`: dead letters of a stage on the emulator, shown and sent back."""

from __future__ import annotations

import json
from itertools import count
from types import SimpleNamespace

import pytest
from botocore.stub import Stubber
from typer.testing import CliRunner

from reward_functions.aws.catalogue import FeedbackPath, stage_parameter
from reward_functions.aws.deployed.catalogue import stage_record
from reward_functions.aws.failures import AwsFailed
from reward_functions.cli import app
from reward_functions.feedback import findings
from reward_functions.feedback.findings import KINDS, Stopped
from reward_functions.rollouts.drive import redriving

NUMBERS = count()


def run(stage, *arguments):
    return CliRunner().invoke(app, ["rollouts", "redrive", "-s", stage.stage, *arguments])


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    """The emulator is one server: no receive needs to wait for others."""
    monkeypatch.setattr(redriving, "WAIT", 0)


@pytest.fixture
def queues(stage):
    """A stage with a feedback path; `dead` puts a letter into its queue."""
    sqs = stage.session.client("sqs")
    name = f"redrive-{next(NUMBERS)}"
    main, dead = (
        sqs.create_queue(QueueName=f"{name}-{part}")["QueueUrl"] for part in ("main", "dead")
    )
    record = stage_record(stage.stage, stage.session)
    path = FeedbackPath(
        results_bucket="b",
        queue_url=main,
        dead_letters_url=dead,
        function_arn="f",
        outbox_table="t",
    )
    stage.put(stage_parameter(stage.stage), record.model_copy(update={"feedback": path}))

    def put(kind, body="{}", reason="a reason"):
        if kind is None:
            sqs.send_message(QueueUrl=dead, MessageBody=body)
        else:
            findings.send(sqs, dead, body, Stopped(kind, reason), f"s3://b/{kind}")

    def bodies(queue):
        found = sqs.receive_message(
            QueueUrl=queue, MaxNumberOfMessages=10, MessageAttributeNames=["All"]
        ).get("Messages", [])
        assert not any(each.get("MessageAttributes") for each in found if queue == main)
        return sorted(each["Body"] for each in found)

    return SimpleNamespace(sqs=sqs, main=main, dead=dead, put=put, bodies=bodies)


def test_letters_are_sent_back_and_expired_ones_are_left_and_named(stage, queues):
    for at, kind in enumerate(("unscored", "unscored", "expired", None)):
        queues.put(kind, body=str(at), reason=f"because of {kind}")
    ran = run(stage, "--yes")
    assert ran.exit_code == 0, ran.stderr
    assert "because of unscored" in ran.stdout
    assert "SQS moved it" in ran.stdout
    assert "3 letters sent back, 0 forgotten, 1 left\nleft: expired s3://b/expired" in ran.stdout
    assert queues.bodies(queues.main) == ["0", "1", "3"]
    assert queues.bodies(queues.dead) == ["2"]


def test_a_dry_run_shows_and_changes_nothing(stage, queues):
    queues.put("refused")
    for _ in range(2):
        ran = run(stage, "--dry-run")
        assert (ran.exit_code, "refused" in ran.stdout) == (0, True)
    assert queues.bodies(queues.main) == []
    assert queues.bodies(queues.dead) == ["{}"]


def test_kinds_are_chosen_and_dropped(stage, queues):
    for kind in ("unscored", "refused", "expired"):
        queues.put(kind, body=kind)
    ran = run(stage, "--yes", "--only", "refused", "--drop", "expired", "--json")
    assert ran.exit_code == 0, ran.stderr
    said = json.loads(ran.stdout)
    assert (said["sent_back"], said["dropped"], said["left"]) == (1, 1, ["s3://b/unscored"])
    assert sorted(each["kind"] for each in said["letters"]) == ["expired", "refused", "unscored"]
    assert queues.bodies(queues.main) == ["refused"]
    assert queues.bodies(queues.dead) == ["unscored"]


@pytest.mark.parametrize("dropped", [["expired"], ["unscored"], ["expired", "unscored"]])
def test_to_drop_is_to_send_nothing_back(stage, queues, dropped):
    for kind in ("unscored", "refused", "expired"):
        queues.put(kind, body=kind)
    words = [word for kind in dropped for word in ("--drop", kind)]
    ran = run(stage, "--yes", "--json", *words)
    assert ran.exit_code == 0, ran.stderr
    said = json.loads(ran.stdout)
    assert (said["sent_back"], said["dropped"]) == (0, len(dropped))
    assert queues.bodies(queues.main) == []
    assert queues.bodies(queues.dead) == sorted({"unscored", "refused", "expired"} - {*dropped})


def test_more_letters_than_a_receive_has(stage, queues):
    for at in range(23):
        queues.put("unscored", body=str(at))
    assert "23 letters sent back" in run(stage, "--yes").stdout


def test_nothing_is_said_in_one_line(stage, queues):
    ran = run(stage, "--yes")
    assert (ran.exit_code, ran.stdout) == (0, f"stage {stage.stage} has no dead letters\n")


def test_a_letter_is_sent_before_it_is_deleted(stage, queues, monkeypatch):
    """What SQS does not take stays a letter, and the exit status says so."""
    queues.put("unscored", body="one")
    monkeypatch.setattr(
        redriving.DeadLetters, "_delete", lambda *_: pytest.fail("deleted before it was sent")
    )
    path = redriving.path_of(stage.stage, stage.session)
    dead = redriving.DeadLetters(path, stage.session)
    held = dead.held()
    with Stubber(dead._client) as stub:
        stub.add_client_error("send_message", "OverLimit", http_status_code=403)
        with pytest.raises(AwsFailed, match="sending a letter"):
            list(dead.sent_back(held))
    dead.release(held)
    assert queues.bodies(queues.dead) == ["one"]


def test_a_stage_without_the_path_names_the_field(stage):
    ran = run(stage, "--yes")
    assert ran.exit_code == 2
    assert '"feedback": {}' in ran.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--only", "nonsense", "--yes"), "no kind of dead letters"),
        (("--only", "gone", "--drop", "gone", "--yes"), "not both"),
        ((), "add --yes"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_a_call(stage, arguments, message):
    ran = run(stage, *arguments)
    assert ran.exit_code == 2
    assert message in " ".join(ran.stderr.split())


def test_every_kind_can_be_chosen():
    redriving.require_kinds([*KINDS, redriving.MOVED])
