"""Rollouts under every accident at once: a service with faults, and an agent that is killed.

    trainer (this process) ──POST──→ the agent's server (a child, killed with SIGKILL, restarted)
         └──────── the runtime double ←── policy calls, reports ──┘

Every rollout has a reward of its own, so that one that crosses shows. What was durable at a kill is
read from the outbox before the next child starts.

    python -m tests.rollout_crashes FOLDER ENDPOINT      the agent
"""

import http.client
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition, Event, Thread
from time import monotonic, sleep
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[1]
JOB = "arn:aws:sagemaker:us-east-1:123456789012:job/AgentRFT/crashes"
TURNS = 3
LEASE = 2.0
"""Seconds after which a dead process's episodes are taken over: a fifteenth of the default."""

ATTEMPTS = 8
"""Of a policy call: the double lets two in a row fail."""

PATIENCE = 240.0
"""Seconds for one rollout to end, kills, faults and a busy machine included."""


def name_of(number):
    return f"rollout-{number:05}"


def reward_of(name):
    """A number that no other rollout has."""
    return 1 + int(name.rpartition("-")[2]) / 100_000


def outbox_of(folder):
    return f"sqlite:///{Path(folder) / 'outbox.sqlite'}"


def serve_agent(folder, endpoint):
    """The agent's process: prints its address, and serves until it is killed."""
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError

    from reward_functions.rollouts import EnvironmentFailure, RolloutApp, rollout_handler
    from reward_functions.rollouts.report.outbox.opening import open_outbox
    from reward_functions.rollouts.report.reporter import Reporter, Timing
    from reward_functions.rollouts.report.settings import RolloutSettings
    from reward_functions.rollouts.report.transports import open_transport

    # botocore waits for seconds between attempts, and sends no 403 again.
    config = Config(retries={"total_max_attempts": 1}, max_pool_connections=64)
    policy = boto3.client(
        "sagemakerjobruntime", region_name="us-east-1", endpoint_url=endpoint, config=config
    )
    reporter = Reporter(
        RolloutSettings(),
        open_outbox(outbox_of(folder)),
        transports=open_transport,
        timing=Timing(lease=LEASE, renew=LEASE / 4, hold=0.5, poll=0.1),
    )

    def sampled(name, asked):
        for _ in range(ATTEMPTS):
            try:
                policy.sample(JobArn=JOB, TrajectoryId=name, Body=json.dumps(asked).encode())
            except (BotoCoreError, ClientError):
                sleep(0.05)
            else:
                return
        raise EnvironmentFailure("the policy does not answer")

    returned = os.open(Path(folder) / "returned", os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)

    @rollout_handler(reporter=reporter)
    def agent(payload, ctx):
        name = ctx.metadata.trajectory_id
        for _ in range(1 + int(name[-1]) % TURNS):
            ctx.policy_call()
            sampled(name, {"messages": [{"role": "user", "content": payload["prompt"]}]})
        os.write(returned, f"{name}\n".encode())
        return reward_of(name)

    with RolloutApp(agent).serving() as url:
        print(url, flush=True)
        Event().wait()


class Agent:
    """The agent's process and its successors; `address` is that of the one that lives."""

    def __init__(self, folder, endpoint):
        self._folder, self._endpoint = folder, endpoint
        self._changed = Condition()
        self._address = ""
        self._start()

    def _start(self):
        environ = {
            **os.environ,
            "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "example",
            "AWS_REGION": "us-east-1",
            "RFT_RUNTIME_ENDPOINT": self._endpoint,
        }
        with (Path(self._folder) / "agent.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.rollout_crashes", str(self._folder), self._endpoint],
                cwd=ROOT,
                env=environ,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        address = self._process.stdout.readline().strip()
        assert address, (Path(self._folder) / "agent.log").read_text()[-2000:]
        with self._changed:
            self._address = urlsplit(address).netloc
            self._changed.notify_all()

    def restart(self, between):
        """Kill it with no warning, look at what it left, and start the next one."""
        with self._changed:
            self._address = ""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        self._process.stdout.close()
        between()
        self._start()

    def end(self):
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def ask(self, payload):
        """Send a rollout request, again after each kill, until it is accepted."""
        late = monotonic() + PATIENCE
        while monotonic() < late:
            with self._changed:
                self._changed.wait_for(lambda: self._address, 1.0)
                address = self._address
            with suppress(OSError, http.client.HTTPException):
                connection = http.client.HTTPConnection(address, timeout=30)
                try:
                    connection.request("POST", "/rollout", json.dumps(payload))
                    if connection.getresponse().status == http.HTTPStatus.OK:
                        return
                finally:
                    connection.close()
            sleep(0.05)
        raise AssertionError(f"{payload['metadata']['rolloutId']} was not accepted")


@dataclass
class Found:
    """What was seen of all rollouts.

    Args:
        rewarded: those whose own reward was counted.
        failed: those that were reported as failed.
        computed: of them, those whose agent had returned its reward.
        wrong: sentences, one for each rollout that has neither, or something else.
        durable: intents that lay in the outbox at the kills, and were not delivered yet.
        cut: episodes that had begun, and had no report, at the kills.
        kills: of the agent.
        reports: that arrived, and how many of them were counted.
        seconds: in all.
    """

    rewarded: int = 0
    failed: int = 0
    computed: int = 0
    wrong: list = field(default_factory=list)
    durable: dict = field(default_factory=dict)
    cut: int = 0
    kills: int = 0
    reports: int = 0
    counted: int = 0
    seconds: float = 0.0


def crash(folder, *, rollouts, at_once, kills, faults):
    """Run rollouts against a double with faults, kill the agent on the way, and look at the end."""
    from reward_functions.local.runtime_double import (
        FaultPlan,
        RuntimeSettings,
        ScriptedPolicy,
        serving,
    )
    from reward_functions.rollouts.report.outbox.opening import open_outbox

    found, began, ended = Found(), monotonic(), Condition()
    done = [0]
    settings = RuntimeSettings(ScriptedPolicy("It is 4."), FaultPlan.parse(faults, seed=7))
    with serving(settings) as double:
        agent = Agent(folder, double.endpoint)

        def remember():
            outbox = open_outbox(outbox_of(folder))
            for stored in outbox.list(["pending"], limit=1_000_000):
                found.durable[stored.intent.key] = stored.intent
            found.cut += outbox.counts()["running"]
            outbox.close()
            found.kills += 1

        def killer():
            for kill in range(1, kills + 1):
                share = rollouts * kill // (kills + 1)
                with ended:
                    ended.wait_for(lambda share=share: done[0] >= share, PATIENCE)
                agent.restart(remember)

        def one(number):
            name = name_of(number)
            double.register(JOB, name)
            metadata = {"jobArn": JOB, "rolloutId": name}
            agent.ask({"prompt": f"{number} + 1", "metadata": metadata})
            try:
                double.wait(JOB, name, PATIENCE)
            finally:
                with ended:
                    done[0] += 1
                    ended.notify_all()

        killing = Thread(target=killer)
        killing.start()
        try:
            with ThreadPoolExecutor(at_once) as pool:
                list(pool.map(one, range(rollouts)))
            killing.join()
        finally:
            agent.end()
        trajectories = [double.trajectory(JOB, name_of(number)) for number in range(rollouts)]
    _count(found, trajectories)
    returned = set((Path(folder) / "returned").read_text().split())
    failed = {each.trajectory_id for each in trajectories if each.state == "FAILED"}
    found.computed = len(failed & returned)
    found.seconds = monotonic() - began
    return found


def _count(found, trajectories):
    for each in trajectories:
        name = each.trajectory_id
        found.reports += len(each.deliveries)
        found.counted += each.taken("complete") + each.taken("reward")
        if each.state == "REWARD_RECEIVED" and each.rewards == (reward_of(name),):
            found.rewarded += 1
        elif each.state == "FAILED" and each.rewards is None:
            found.failed += 1
        else:
            found.wrong.append(f"{name}: {each.state}, rewards {each.rewards}")
        if max(each.taken("complete"), each.taken("reward")) > 1:
            found.wrong.append(f"{name} was counted twice")
    states = {each.trajectory_id: each for each in trajectories}
    for (_, name, operation), intent in found.durable.items():
        each = states[name]
        expected = {"ready": "REWARD_RECEIVED", "failed": "FAILED"}
        if operation == "complete" and each.state != expected[intent.payload["Status"]]:
            found.wrong.append(f"{name}: durable as {intent.payload}, and {each.state}")
        wanted = tuple(intent.payload.get("Rewards", ()))
        if operation == "reward" and each.state == "REWARD_RECEIVED" and each.rewards != wanted:
            found.wrong.append(f"{name}: durable {intent.payload}, counted {each.rewards}")


if __name__ == "__main__":
    serve_agent(*sys.argv[1:])
