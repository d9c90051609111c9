"""A job from its start to its end, in a thread of its own: read, train, write, say so.

Every API starts jobs here; they differ in where the data lies, what is written, and whose rights
the job has. The training itself is `training.run`.
"""

from __future__ import annotations

from hashlib import sha256
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import uuid4

from reward_functions.local.training_double.acting import acting
from reward_functions.local.training_double.clients import JobFailed
from reward_functions.local.training_double.grading import Grader
from reward_functions.local.training_double.job_events import deliver
from reward_functions.local.training_double.settings import SETTINGS
from reward_functions.local.training_double.state import PHASES, Event, Model, Phase, now
from reward_functions.local.training_double.training import Outcome, TrainingJob, run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boto3.session import Session

    from reward_functions.local.training_double.clients import Clients
    from reward_functions.local.training_double.datafiles import Row
    from reward_functions.local.training_double.policy import Policy
    from reward_functions.local.training_double.prompts import Prompts
    from reward_functions.local.training_double.rights import Policies
    from reward_functions.local.training_double.settings import SimulationSettings
    from reward_functions.local.training_double.state import Job, State
    from reward_functions.local.training_double.training import Answer, Step

LONGEST_MESSAGE: Final = 2048
"""Characters of a failure message: botocore's model of `GetModelCustomizationJob`."""

ENDS: Final = {"succeeded": "Completed", "stopped": "Stopped", "failed": "Failed"}
"""The status of a phase by how its job ended."""

UNEXPECTED: Final = "simulation: the training double itself failed; its log has the traceback"


class Errand(NamedTuple):
    """What differs between the APIs.

    Args:
        policies: the rights that the job has; None for those of the account's root.
        read: its training and validation rows; raises `JobFailed`.
        write: its files with the policy it ends with, once it has succeeded; raises `JobFailed`.
        step: the data of a `metrics` event; None where there are no such events.
        announce: the detail of an event about its state; None where there are no such events.
        pay: what scores the rows, where it is not the bare function of the job.
        work: what the job does in the place of training; raises `JobFailed`.
        log: writes what happened where its owner looks for it.
    """

    policies: Policies | None
    read: Callable[[Session], tuple[Sequence[Row], Sequence[Row]]]
    write: Callable[[Session, Policy], None]
    step: Callable[[Step], dict[str, Any]] | None = None
    announce: Callable[[], dict[str, Any]] | None = None
    pay: Callable[[Session], Answer] | None = None
    work: Callable[[Session], Outcome] | None = None
    log: Callable[[Session, Outcome], None] | None = None


class Runs:
    """Starts jobs and follows them.

    Args:
        state: where they are kept.
        clients: of the emulator.
        prompts: which learn the rows of each job.
        settings: of the simulation.
    """

    def __init__(
        self,
        state: State,
        clients: Clients,
        prompts: Prompts,
        settings: SimulationSettings = SETTINGS,
    ) -> None:
        self.state, self.clients, self.prompts = state, clients, prompts
        self.settings = settings
        self._threads: list[Thread] = []

    def start(self, job: Job, errand: Errand) -> None:
        """Run a job that is in the state already."""
        thread = Thread(target=self._work, args=(job, errand), name=job.name, daemon=True)
        with self.state.lock:
            self._threads = [*filter(Thread.is_alive, self._threads), thread]
            thread.start()

    def stop(self, job: Job) -> None:
        """Ask a job to stop."""
        with self.state.changed:
            if job.status in {"queued", "running"}:
                job.status, job.stopping, job.modified = "stopping", True, now()
            self.state.changed.notify_all()

    def fail(self, job: Job, reason: str) -> None:
        """Let a job fail after its next step, as if the service had."""
        with self.state.changed:
            job.injected = reason
            self.state.changed.notify_all()

    def close(self) -> None:
        """Stop every job, and return once none runs: nothing that they made to act in is left."""
        with self.state.lock:
            jobs, threads = [*self.state.jobs.values()], [*self._threads]
        for job in jobs:
            self.stop(job)
        for thread in threads:
            thread.join()

    def note(
        self, job: Job, message: str, *, level: str = "info", data: dict[str, Any] | None = None
    ) -> None:
        """Add an event to a job: a message, or metrics where there is data."""
        kind = "message" if data is None else "metrics"
        event = Event(f"ftevent-{uuid4().hex}", now(), level, kind, message, data or {})
        with self.state.lock:
            job.events.append(event)

    def _work(self, job: Job, errand: Errand) -> None:
        outcome = Outcome(status="failed", policy=job.policy, failure=UNEXPECTED)
        try:
            self._announce(errand)
            outcome = self._outcome(job, errand)
        except JobFailed as failed:
            outcome = Outcome(status="failed", policy=job.policy, failure=str(failed))
        finally:
            self._end(job, outcome)
            self._announce(errand)

    def _announce(self, errand: Errand) -> None:
        if errand.announce is not None:
            deliver(self.clients, errand.announce(), uuid4())

    def _outcome(self, job: Job, errand: Errand) -> Outcome:
        with acting(self.clients, job.place.account, errand.policies, _digest(job)) as session:
            try:
                outcome = self._worked(job, errand, session)
            except JobFailed as failed:
                outcome = Outcome(status="failed", policy=job.policy, failure=str(failed))
            if errand.log is not None:
                errand.log(session, outcome)
            return outcome

    def _worked(self, job: Job, errand: Errand, session: Session) -> Outcome:
        self._enter(job, "validation")
        if errand.work is not None:
            self._enter(job, "training")
            return errand.work(session)
        rows, validation = errand.read(session)
        self._enter(job, "dataProcessing")
        self.prompts.add(rows)
        self.prompts.add(validation)
        self._enter(job, "training")
        outcome = run(
            TrainingJob(
                rows=rows,
                hyperparameters=job.hyperparameters,
                seed=job.seed,
                path=job.path,
                policy=job.policy,
                validation=validation,
                settings=self.settings,
            ),
            answer=errand.pay(session) if errand.pay else Grader(session, job.grader),
            publish=lambda step: self._publish(job, step, errand),
            stopping=lambda: job.stopping,
        )
        if outcome.status == "succeeded":
            errand.write(session, outcome.policy)
        return outcome

    def _enter(self, job: Job, phase: str) -> None:
        with self.state.lock:
            moment = now()
            _close(job, "Completed")
            job.phases[phase] = Phase("InProgress", moment, moment)
            job.modified = moment
            if job.status == "queued" and phase == PHASES[-1]:
                job.status = "running"

    def _publish(self, job: Job, step: Step, errand: Errand) -> None:
        with self.state.lock:
            job.steps.append(step)
            job.modified = now()
        if errand.step is not None:
            message = f"simulation: step {step.number} of {step.total}"
            self.note(job, message, data=errand.step(step))
        self.state.pass_step(job)
        if job.injected:
            raise JobFailed(job.injected)

    def _end(self, job: Job, outcome: Outcome) -> None:
        level = "error" if outcome.status == "failed" else "info"
        message = outcome.failure or f"simulation: the job has {outcome.status}"
        with self.state.lock:
            _close(job, ENDS[outcome.status])
            if outcome.status == "succeeded" and job.model:
                name = job.request.get("customModelName", job.model)
                self.state.models[job.model] = Model(
                    job.model, name, job.place, job.base, outcome.policy, job
                )
            job.failure = outcome.failure[:LONGEST_MESSAGE]
            job.status = outcome.status
            job.ended = job.modified = now()
            self.note(job, message, level=level)


def _close(job: Job, status: str) -> None:
    """End what a job is at."""
    for phase in job.phases.values():
        if phase.status == "InProgress":
            phase.status, phase.modified = status, now()


def _digest(job: Job) -> str:
    """Twelve characters that are no other job's."""
    return sha256(job.id.encode()).hexdigest()[:12]


def seed_of(text: str) -> int:
    """The same for the same text: curves of equal jobs can be compared."""
    return int.from_bytes(sha256(text.encode()).digest()[:4])
