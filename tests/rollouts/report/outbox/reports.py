"""Reports and episodes that the tests of outboxes share."""

from __future__ import annotations

from reward_functions.rollouts.report.intents import Target, report
from reward_functions.rollouts.report.outbox import Episode

JOB = "arn:aws:sagemaker:us-west-2:111122223333:job/AgentRFT/tests"
NOW = 4_000_000_000.0
"""In 2096: the emulator looks each minute for items whose time to live is over by its own clock."""
WINDOW = 600.0


def target(rollout="r1", job=JOB, **other):
    given = {"endpoint": "http://127.0.0.1:1", "region": "us-west-2"} | other
    return Target(job_arn=job, trajectory_id=rollout, **given)


def reported(rollout="r1", *rewards, status="ready", created=NOW, expires=None, **other):
    """(completion, reward) of a rollout."""
    return report(
        target(rollout, **other),
        created=created,
        expires=created + WINDOW if expires is None else expires,
        status=status,
        rewards=rewards or (0.5,),
    )


def episode(rollout="r1", began=NOW, **other):
    given = {"expires": began + WINDOW, "minimum": -1.0, "payload": '{"prompt":"?"}'} | other
    return Episode(target=target(rollout), began=began, **given)


def outcome(kind, intent, attempts=1, **other):
    """An outcome of an intent."""
    return kind(
        operation=intent.operation,
        trajectory_id=intent.target.trajectory_id,
        attempts=attempts,
        **other,
    )
