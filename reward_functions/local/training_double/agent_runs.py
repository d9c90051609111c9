"""A multi-turn job from its start to its end, in a thread of its own, with the rights of its role.

A rollout is registered with the job runtime, the agent's Lambda is invoked, and the reward is
waited for: the agent samples and reports by itself. Lambda's answer is `{}`, or the error of the
contract. What ends a job, a field report says (see `agent_training`).

Not simulated: AgentCore, VPCs, encryption, checkpoints, the service's own retries.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from secrets import token_hex
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from reward_functions.local.runtime_double import RuntimeSettings
from reward_functions.local.runtime_double.runtime import Runtime
from reward_functions.local.training_double.acting import acting
from reward_functions.local.training_double.agent_policy import AgentPolicy, Drawn, cells_of
from reward_functions.local.training_double.agent_state import EVALUATION
from reward_functions.local.training_double.agent_training import (
    AgentTraining,
    Ended,
    train,
    validated,
)
from reward_functions.local.training_double.clients import JobFailed
from reward_functions.local.training_double.datafiles import LONGEST
from reward_functions.local.training_double.grading import PATIENCE, failing
from reward_functions.local.training_double.runs import UNEXPECTED, seed_of
from reward_functions.local.training_double.state import Event, fresh_id, now

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boto3.session import Session

    from reward_functions.local.runtime_double.state import Trajectory
    from reward_functions.local.training_double.agent_state import AgentJob
    from reward_functions.local.training_double.agent_training import AgentStep, Asked
    from reward_functions.local.training_double.clients import Clients
    from reward_functions.local.training_double.rights import Policies
    from reward_functions.local.training_double.state import State

    Keep = Callable[[AgentJob, Session], str]

AT_ONCE: Final = 4
"""Rollouts of a job that are asked for at a time: the emulator starts a process for each."""

GLANCE: Final = 0.25
"""Seconds between two looks at whether a job is to stop."""

LONGEST_FAILURE: Final = 1_024
"""Characters (botocore's `FailureReason`)."""

SHOWN: Final = 300

GROUP: Final = "/aws/sagemaker/Job/{category}"


class _Stopped(Exception):
    """Somebody asked the job to stop."""


class AgentRuns:
    """Starts multi-turn jobs and follows them; holds them, and the runtime that agents sample.

    Args:
        state: whose lock and pace the jobs share.
        clients: of the emulator.
        endpoint: says where agents reach the runtime.
    """

    def __init__(self, state: State, clients: Clients, endpoint: Callable[[], str]) -> None:
        self.state, self.clients, self.endpoint = state, clients, endpoint
        self.policy = AgentPolicy()
        self.runtime = Runtime(RuntimeSettings(self.policy))
        self.jobs: dict[str, AgentJob] = {}
        self._threads: list[Thread] = []

    def start(self, job: AgentJob, policies: Policies, keep: Keep) -> None:
        """Run a job that is among `jobs` already.

        Args:
            job: that begins.
            policies: the rights of its role.
            keep: makes the model package of a job that has trained, and returns its ARN.
        """
        thread = Thread(target=self._work, args=(job, policies, keep), name=job.name, daemon=True)
        with self.state.lock:
            self._threads = [*filter(Thread.is_alive, self._threads), thread]
            thread.start()

    def stop(self, job: AgentJob) -> None:
        """Ask a job to stop."""
        with self.state.changed:
            if job.status == "InProgress":
                job.status, job.stopping = "Stopping", True
                job.enter("Stopping")
            self.state.changed.notify_all()

    def close(self) -> None:
        """Stop every job, and return once none runs."""
        with self.state.lock:
            jobs, threads = [*self.jobs.values()], [*self._threads]
        for job in jobs:
            self.stop(job)
        self.runtime.end()
        for thread in threads:
            thread.join()

    def _work(self, job: AgentJob, policies: Policies, keep: Keep) -> None:
        status, failure = "Failed", UNEXPECTED
        try:
            with acting(self.clients, job.place.account, policies, fresh_id()) as session:
                _Run(self, job, session, keep).all()
            status, failure = "Completed", ""
        except _Stopped:
            status, failure = "Stopped", ""
        except JobFailed as failed:
            failure = str(failed)[:LONGEST_FAILURE]
        finally:
            with self.state.changed:
                job.end(status, failure)
                self.state.changed.notify_all()


class _Run:
    """One job at work."""

    def __init__(self, runs: AgentRuns, job: AgentJob, session: Session, keep: Keep) -> None:
        from botocore.config import Config  # noqa: PLC0415 - a tenth of a second

        self.runs, self.job, self.session, self.keep = runs, job, session, keep
        self.lambda_ = session.client(
            "lambda",
            region_name=job.place.region,
            config=Config(
                read_timeout=PATIENCE,
                max_pool_connections=AT_ONCE,
                retries={"total_max_attempts": 1},
            ),
        )
        self.asked = AgentTraining(cells=(), hyperparameters=job.hyperparameters)

    def all(self) -> None:
        """Read the data, make the rollouts, and leave a result."""
        job = self.job
        with self.runs.state.lock:
            job.enter("Downloading")
            job.run = token_hex(16) if "MlflowConfig" in job.request else ""
        cells = {name: self._cells(uri) for name, uri in _channels(job).items()}
        evaluation = job.category == EVALUATION
        held_out = cells.get("evaluation" if evaluation else "validation", [])
        self.asked = AgentTraining(
            cells=cells.get("train", []),
            validation=held_out,
            hyperparameters=job.hyperparameters,
            seed=seed_of(job.name),
            policy=job.policy,
        )
        with self.runs.state.lock:
            job.enter("Evaluating" if evaluation else "Training")
        if evaluation:
            size = self.asked.count("eval_group_size")
            found = validated(self.asked, job.policy, self._roll_out, 1, size)
            self._note(1, found)
            return
        job.progress = {
            "MaxEpoch": self.asked.count("max_epochs"),
            "StepsPerEpoch": self.asked.steps_per_epoch,
            "CurrentEpoch": 0,
            "MaxSteps": self.asked.steps,
            "CurrentStep": 0,
        }
        job.policy = train(self.asked, self._roll_out, self._publish)
        with self.runs.state.lock:
            job.enter("Uploading")
        job.package = self.keep(job, self.session)

    def _cells(self, uri: str) -> list[str]:
        parts = urlsplit(uri)
        with failing(f"Reading {uri}"):
            found = self.session.client("s3").get_object(
                Bucket=parts.netloc, Key=parts.path.lstrip("/")
            )
            if found["ContentLength"] > LONGEST:
                raise JobFailed(f"{uri} has {found['ContentLength']} bytes, more than {LONGEST}.")
            content: bytes = found["Body"].read()
        cells, problem = cells_of(content)
        if problem or not cells:
            raise JobFailed(f"{uri}: {problem or 'it holds no rows'}.")
        return cells

    def _roll_out(self, asked: Sequence[Asked]) -> list[Ended]:
        """All rollouts of a step; the first that cannot be rewarded ends the job."""
        with self.runs.state.lock:
            self.job.rollouts = {"Completed": 0, "Total": len(asked)}
        with ThreadPoolExecutor(AT_ONCE) as pool:
            futures = [pool.submit(self._rollout, each) for each in asked]
            try:
                return [future.result() for future in futures]
            finally:
                for future in futures:
                    future.cancel()

    def _rollout(self, asked: Asked) -> Ended:
        self._require_going()
        name = f"{self.job.name}-{asked.name}-{token_hex(4)}"
        drawn = Drawn(
            asked.policy,
            asked.cell,
            f"{self.asked.seed} {asked.name}",
            self.asked.number("temperature"),
        )
        runtime, policy = self.runs.runtime, self.runs.policy
        policy.begin(name, drawn)
        try:
            runtime.register(self.job.id, name)
            self._invoke(asked.cell, name)
            ended = self._rewarded(name)
        finally:
            policy.end(name)
        with self.runs.state.lock:
            self.job.rollouts["Completed"] += 1
            for kind, tokens in (
                ("PrefillTokenCount", sum(each.prompt_tokens for each in ended.turns)),
                ("SampleTokenCount", sum(each.completion_tokens for each in ended.turns)),
            ):
                self.job.tokens[kind] = self.job.tokens.get(kind, 0) + tokens
        return Ended(
            reward=sum(ended.rewards or ()),
            kind=drawn.kind,
            strategy=drawn.strategy,
            turns=len(ended.turns),
            prompt_tokens=sum(each.prompt_tokens for each in ended.turns),
            sampled_tokens=sum(each.completion_tokens for each in ended.turns),
        )

    def _invoke(self, cell: str, name: str) -> None:
        """Ask the agent for a rollout.

        Raises:
            JobFailed: its function refuses, fails, or cannot be invoked.
        """
        payload = {
            "prompt": cell,
            "metadata": {
                "jobArn": self.job.id,
                "rolloutId": name,
                "endpoint": self.runs.endpoint(),
            },
            "inferenceParams": {
                "temperature": self.asked.number("temperature"),
                "topP": self.asked.number("sampling_top_p"),
                "maxTokens": self.asked.count("sampling_max_tokens"),
            },
        }
        with failing(f"Invoking the agent {self.job.agent}"):
            answer = self.lambda_.invoke(
                FunctionName=self.job.agent, Payload=json.dumps(payload).encode()
            )
            body = answer["Payload"].read()
        try:
            answered = json.loads(body)
        except (ValueError, RecursionError):
            answered = None
        kind = answered.get("errorType") if isinstance(answered, dict) else None
        if kind or answer.get("FunctionError"):
            message = answered.get("errorMessage", "") if isinstance(answered, dict) else ""
            raise JobFailed(
                f"The agent signaled that the trajectory failed: {str(kind)[:64]}: "
                f"{str(message)[:SHOWN]}"
            )

    def _rewarded(self, name: str) -> Trajectory:
        """The trajectory once its reward has arrived.

        Raises:
            JobFailed: it failed, was never sampled, or its reward is late.
        """
        seconds = self.asked.number("rollout_timeout")
        late = monotonic() + seconds
        while True:
            self._require_going()
            left = late - monotonic()
            found = self.runs.runtime.wait(self.job.id, name, max(0.0, min(GLANCE, left)))
            if found.state == "FAILED":
                raise JobFailed("The agent signaled that the trajectory failed.")
            if found.finished and not found.turns:
                raise JobFailed("No sampling requests were received for a trajectory.")
            if found.finished:
                return found
            if left <= 0:
                raise JobFailed(f"No reward arrived within {seconds:g} seconds of a rollout.")

    def _publish(self, step: AgentStep) -> None:
        job, state = self.job, self.runs.state
        trained = sum(one.prompt_tokens + one.sampled_tokens for one in step.ended)
        with state.changed:
            job.progress |= {"CurrentEpoch": step.epoch, "CurrentStep": step.number}
            job.tokens["TrainTokenCount"] = job.tokens.get("TrainTokenCount", 0) + trained
        self._note(step.number, step.metrics)
        begun = monotonic()
        with state.changed:
            while not job.stopping and not job.injected:
                left = begun + state.seconds_per_step - monotonic()
                if left <= 0:
                    break
                state.changed.wait(left)
        self._require_going()

    def _note(self, step: int, metrics: dict[str, float]) -> None:
        """Keep a step's figures, and write its line to the log of the job, if its role may."""
        with self.runs.state.lock:
            message = f"simulation: step {step}"
            self.job.events.append(Event(token_hex(8), now(), "info", "metrics", message, metrics))
        reward = metrics.get("rollout/reward/mean", metrics.get("val/reward/mean", 0.0))
        self._log(f"simulation: step {step}, mean reward {reward:.4f}")

    def _log(self, line: str) -> None:
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

        logs = self.session.client("logs", region_name=self.job.place.region)
        group = GROUP.format(category=self.job.category)
        stream = {"logGroupName": group, "logStreamName": f"{self.job.name}/simulation"}
        event = {"timestamp": int(now().timestamp() * 1000), "message": line}
        with suppress(BotoCoreError, ClientError):
            with suppress(ClientError):  # they are there already
                logs.create_log_group(logGroupName=group)
            with suppress(ClientError):
                logs.create_log_stream(**stream)
            logs.put_log_events(**stream, logEvents=[event])

    def _require_going(self) -> None:
        """Nothing, where the job goes on.

        Raises:
            _Stopped, JobFailed: it does not.
        """
        if self.job.injected:
            raise JobFailed(self.job.injected)
        if self.job.stopping:
            raise _Stopped


def _channels(job: AgentJob) -> dict[str, str]:
    return {
        each["ChannelName"]: each["DataSource"]["S3DataSource"]["S3Uri"]
        for each in job.document["InputDataConfig"]
    }
