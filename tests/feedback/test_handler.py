"""The Lambda's entry: a batch of SQS on the emulator, a runtime double, and what is logged."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from time import time
from types import SimpleNamespace

import pytest

from reward_functions.feedback import handler as entry
from reward_functions.local.runtime_double import serving
from reward_functions.rollouts.report.outbox.dynamodb import create_table
from reward_functions.rollouts.report.outbox.opening import open_outbox
from reward_functions.rollouts.report.reporter import Reporter, Timing
from reward_functions.rollouts.report.settings import RolloutSettings
from reward_functions.rollouts.report.transports import open_transport
from tests.feedback.conftest import JOB, MATH, announced, graded
from tests.lambda_api import Function
from tests.waiting import until

LIMIT = 60.0


def batch(*bodies, receives=1):
    """An event of SQS; source: "Using Lambda with Amazon SQS" of Lambda's developer guide."""
    return {
        "Records": [
            {
                "messageId": f"m{at}",
                "receiptHandle": "x",
                "body": body,
                "attributes": {"ApproximateReceiveCount": str(receives)},
                "messageAttributes": {},
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:results",
                "awsRegion": "us-east-1",
            }
            for at, body in enumerate(bodies)
        ]
    }


CONTEXT = SimpleNamespace(get_remaining_time_in_millis=lambda: 120_000)


@pytest.fixture
def bound(way, api, local_aws, monkeypatch):
    """A handler bound to an environment, as a Lambda binds it, with a double for the trainer."""
    for name, value in local_aws.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", api)
    table = way.bucket
    create_table(local_aws.client("dynamodb"), table)
    with serving() as double:
        settings = replace(
            way.settings, outbox=f"dynamodb://{table}", endpoint=double.endpoint, stage="one"
        )
        environ = {**settings.to_env(), "AWS_REGION": "us-east-1"}
        yield SimpleNamespace(handle=entry.bind(environ), double=double, environ=environ)


def test_a_result_in_s3_becomes_a_reward_at_the_trainer(way, bound, capsys):
    now = time()
    record = way.record("r1", text="SECRET", created=now, expires=now + 600)
    late = way.record("late", created=now - 700, expires=now - 100)
    for rollout in ("r1", "late"):
        bound.double.register(JOB, rollout)
    bodies = [way.put(record), way.put(late), "{}"]
    assert bound.handle(batch(*bodies), CONTEXT) == {"batchItemFailures": []}
    assert bound.double.wait(JOB, "r1", LIMIT).rewards == (1.0,)
    # The duplicate meets another process, which scores nothing.
    way.functions[f"{MATH}:7"].answers = [lambda rows: graded(rows, 0.0)]
    again = entry.bind(bound.environ)
    assert again(batch(bodies[0]), CONTEXT) == {"batchItemFailures": []}
    assert bound.double.trajectory(JOB, "r1").rewards == (1.0,)
    assert len(way.functions[f"{MATH}:7"].asked) == 1
    assert bound.double.trajectory(JOB, "late").state == "PENDING"
    assert sorted(kind for kind, _ in way.letters()) == ["expired", "not_a_record"]
    written = capsys.readouterr().out
    assert "SECRET" not in written
    metrics = [json.loads(line) for line in written.splitlines() if "_aws" in line]
    assert (metrics[0]["rewards_reported"], metrics[0]["dead_letters"]) == ([1.0], [2.0])
    assert (metrics[0]["expired"], metrics[0]["stage"]) == ([1.0], "one")


def test_the_answer_names_the_messages_that_come_again(way, bound, capsys):
    way.functions[f"{MATH}:8"] = Function([lambda rows: graded(rows, unscored=1)])
    now = time()
    times = {"created": now, "expires": now + 600}
    bound.double.register(JOB, "r1")
    bodies = [way.put(way.record("r1", **times)), way.put(way.record(arn=f"{MATH}:8", **times))]
    answer = bound.handle(batch(*bodies), CONTEXT)
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m1"}]}
    assert "unscored: the reward could not score it" in capsys.readouterr().out


def test_a_batch_whose_every_message_comes_again_is_no_error_of_the_function(way, bound):
    way.functions[f"{MATH}:7"].answers = [lambda rows: graded(rows, unscored=1)]
    now = time()
    body = way.put(way.record(created=now, expires=now + 600))
    answer = bound.handle(batch(body), CONTEXT)
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m0"}]}


def test_the_function_starts_without_what_it_does_not_need():
    program = (
        "import sys\nimport reward_functions.feedback.handler\n"
        "print(*(n for n in ('pydantic', 'sympy', 'reward_functions.judge_runtime.panel') "
        "if n in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "\n"


def test_the_module_has_no_other_names():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = entry.nothing


def died_behind_the_result(outbox, record, environ):
    """A child that begins an episode, puts its result, and is killed before it forgets it."""
    program = (
        "import os, signal, sys, time\n"
        "import boto3\n"
        "from reward_functions.rollouts import Deferred, rollout_handler, RolloutSettings\n"
        "from reward_functions.rollouts.report.outbox.opening import open_outbox\n"
        "from reward_functions.rollouts.report.reporter import Timing\n"
        "from reward_functions.rollouts.report.reporter import Reporter\n"
        "from reward_functions.rollouts.report.transports import open_transport\n"
        "outbox, bucket, arn, job, rollout = sys.argv[1:]\n"
        "class Dying(Reporter):\n"
        "    def end(self, target):\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "reporter = Dying(RolloutSettings(transport='modelled'), open_outbox(outbox),\n"
        "    transports=open_transport, timing=Timing(lease=0.2, renew=0.05))\n"
        "deferred = Deferred(f's3://{bucket}/rollouts', version=arn)\n"
        "@rollout_handler(deferred=deferred, reporter=reporter, ping=False)\n"
        "def agent(payload):\n"
        "    return '42'\n"
        "agent({'prompt': '6 * 7?', 'metadata': {'jobArn': job, 'rolloutId': rollout}})\n"
    )
    command = [sys.executable, "-c", program, outbox, *record]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]


def adopted(outbox, double, rollout):
    """The next process of the agent, until it has reported what the first one left."""
    reporter = Reporter(
        RolloutSettings(transport="modelled"),
        open_outbox(outbox),
        transports=open_transport,
        timing=Timing(lease=0.2, renew=0.05, poll=0.05),
    )
    reporter.start()
    try:
        until(
            lambda: any(
                each.intent.target.trajectory_id == rollout and each.state != "pending"
                for each in reporter.outbox.list()
            ),
            "nobody reported the episode",
        )
    finally:
        reporter.close(patience=0)


@pytest.mark.parametrize("first", ["the function", "the agent"])
def test_an_agent_that_dies_behind_its_result_is_reported_twice_and_counted_once(
    way, bound, tmp_path, monkeypatch, first
):
    """Whoever is first: the other one is refused, which is a dead letter where it is the reward."""
    monkeypatch.setenv("RFT_RUNTIME_ENDPOINT", bound.double.endpoint)
    outbox, rollout = f"sqlite:///{tmp_path}/outbox.sqlite", f"dies-{first[4:]}"
    bound.double.register(JOB, rollout)
    environ = {**os.environ, "AWS_REGION": "us-east-1"}
    died_behind_the_result(outbox, [way.bucket, f"{MATH}:7", JOB, rollout], environ)
    (stored,) = way.s3.list_objects_v2(Bucket=way.bucket)["Contents"]
    steps = [
        lambda: bound.handle(batch(announced(way.bucket, stored["Key"])), CONTEXT),
        lambda: adopted(outbox, bound.double, rollout),
    ]
    for step in steps if first == "the function" else reversed(steps):
        step()
    found = bound.double.trajectory(JOB, rollout)
    assert found.taken("complete") == 1
    if first == "the function":
        assert (found.state, found.rewards, way.letters()) == ("REWARD_RECEIVED", (1.0,), [])
    else:
        assert (found.state, found.rewards) == ("FAILED", None)
        assert [kind for kind, _ in way.letters()] == ["refused"]
