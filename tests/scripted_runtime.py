"""A job's runtime on the loopback interface that answers by a script, and who reports to it.

It keeps what it was sent, and takes a report once: the same token again is the same report, another
one meets a conflict. `faults` of `tests.loopback` say what else happens to the next calls, under
the operations "complete" and "reward".
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field

from reward_functions.rollouts.report.intents import Target, report
from reward_functions.rollouts.report.settings import RolloutSettings
from reward_functions.rollouts.report.transports import open_transport
from tests.loopback import Service, served

ARN = "arn:aws:sagemaker:us-west-2:123456789012:job/AgentRFT/one"
ROLLOUT = "rollout-1"
OPERATIONS = {
    "complete-rollout": "complete",
    "update-reward": "reward",
    "CompleteTrajectory": "complete",
    "UpdateReward": "reward",
}


def fault(status, error="", message="", **headers):
    """An error as the service writes it."""
    named = {"x-amzn-errortype": error} if error else {}
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, named | headers, json.dumps({"Message": message}).encode()


@dataclass
class ScriptedRuntime(Service):
    """A runtime.

    Args:
        sent: every request, in order.
        taken: by trajectory and operation, the token or the body of the report that counts.
    """

    sent: list = field(default_factory=list)
    taken: dict = field(default_factory=dict)

    def operation(self, asked):
        self.sent.append(asked)
        return OPERATIONS[asked.path[-1]], lambda: self.take(asked)

    def take(self, asked):
        fields = json.loads(asked.body)
        key = fields["TrajectoryId"], OPERATIONS[asked.path[-1]]
        token = fields.get("ClientToken", asked.body)
        if self.taken.setdefault(key, token) != token:
            return fault(409, "ConflictException", "Cannot transition trajectory")
        return 200, {}, b"{}"

    @property
    def posts(self):
        """(path, body) of every request."""
        return [("/" + "/".join(each.path), json.loads(each.body)) for each in self.sent]

    @property
    def authorizations(self):
        return [each.headers.get("authorization") for each in self.sent]


@contextmanager
def scripted():
    with served(ScriptedRuntime()) as runtime:
        yield runtime


def target(endpoint, kind="bearer", job_arn=ARN, trajectory_id=ROLLOUT):
    return Target(
        job_arn=job_arn,
        trajectory_id=trajectory_id,
        endpoint=endpoint,
        region="us-west-2",
        transport=kind,
    )


def intents(endpoint, kind="bearer", *, expires=600.0, status="ready", rewards=(1.0,), **ids):
    """A report made at the time 0."""
    return report(
        target(endpoint, kind, **ids), created=0.0, expires=expires, status=status, rewards=rewards
    )


class ReporterInMemory:
    """What a client needs of a process's reporter, with everything in lists.

    Args:
        kind: of its transport.
        durable: whether its outbox takes anything.
    """

    def __init__(self, kind="bearer", *, durable=True):
        self.settings = RolloutSettings(transport=kind)
        self.durable = durable
        self.kept, self.settled, self.counts = [], [], Counter()
        self._transports = {}

    def transport(self, kind):
        if kind not in self._transports:
            self._transports[kind] = open_transport(kind)
        return self._transports[kind]

    def keep(self, intents):
        self.kept += intents
        return self.durable

    def release(self, intents):
        pass

    def settle(self, intent, outcome):
        self.settled.append((intent.operation, outcome))
        self.counts[type(outcome).__name__] += 1


class Time:
    """A clock that moves when somebody sleeps."""

    def __init__(self, now=0.0):
        self.now = now
        self.slept = []

    def clock(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds
