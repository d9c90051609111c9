"""A service that runs jobs, in memory, behind `job.Driver`; time passes as a test says.

A job is queued for ten seconds, makes a step every minute and ends with its last. Its record is the
service's: every driver of the service sees the same.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.job import Job, JobEvent, MetricPoint, NoSuchJob

BEGIN = datetime(2026, 11, 22, 9, tzinfo=UTC)
QUEUED = 10
STEP = 60


class Clock:
    """A time that passes while somebody sleeps."""

    def __init__(self, at=BEGIN):
        self.at = at
        self.slept = []

    def __call__(self):
        return self.at

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.at += timedelta(seconds=seconds)


@dataclass
class Record:
    """What the service keeps of a job."""

    id: str
    request: object
    created: datetime
    steps: int = 4
    outcome: str = "succeeded"
    failure: str = ""
    stopped: datetime | None = None
    driver: str = "bedrock"


@dataclass
class Service:
    """What runs jobs.

    Args:
        refusals: by method, exceptions to raise in the place of an answer, one after the other.
        losses: by method, exceptions to raise behind it: it is done, and nobody knows.
        tick: seconds that pass whenever a job is asked for, where nobody sleeps by the clock.
    """

    clock: Clock = field(default_factory=Clock)
    jobs: dict = field(default_factory=dict)
    files: dict = field(default_factory=dict)
    refusals: dict = field(default_factory=lambda: defaultdict(list))
    losses: dict = field(default_factory=lambda: defaultdict(list))
    uploads: int = 0
    tuned: str = "tuned-model"
    tick: float = 0.0

    def begun(self, **members):
        """A job that runs, as somebody started it."""
        from reward_functions.jobs.job import JobRequest

        members = {"name": "gsm8k-0a1b2c3d-1", "token": "t", "model": "m", "grader": ""} | members
        return Driver(self).start(JobRequest(**{"hyperparameters": {}} | members))


def lost(message="nobody answers"):
    return AwsFailed(f"asking the service: {message}")


def refused(code, message="no"):
    return AwsFailed(f"asking the service: {message}", code)


def method(call):
    """A method of the protocol, with the service's troubles before and behind it."""
    name = call.__name__

    def troubled(self, *arguments):
        for troubles in (self.service.refusals, self.service.losses):
            if troubles is self.service.losses:
                answer = call(self, *arguments)
            if troubles[name]:
                trouble = troubles[name].pop(0)
                if trouble is not None:
                    raise trouble
        return answer

    return troubled


class Driver:
    """One client of the service."""

    def __init__(self, service, name="bedrock", region="us-east-1"):
        self.service, self.name, self.region = service, name, region

    @method
    def upload(self, file, name, progress=None):
        content = sha256(file.read_bytes()).hexdigest()
        if self.service.files.get(name) != content:
            self.service.files[name] = content
            self.service.uploads += 1
        return f"memory://{name}"

    @method
    def discard(self, uploaded):
        self.service.files.pop(uploaded.removeprefix("memory://"), None)

    @method
    def start(self, request):
        for record in self.service.jobs.values():
            if (record.request.name, record.request.token) == (request.name, request.token):
                return self._job(record)
        number = f"{len(self.service.jobs) + 1:012}"
        made = (
            f"arn:aws:bedrock:{self.region}:000000000000:model-customization-job/m.n/{number}"
            if self.name == "bedrock"
            else f"ftjob-{number}"
        )
        self.service.jobs[made] = Record(made, request, self.service.clock(), driver=self.name)
        return self._job(self.service.jobs[made])

    @method
    def find(self, name):
        return next((job for job in self._all() if job.name == name), None)

    @method
    def get(self, identifier):
        self.service.clock.at += timedelta(seconds=self.service.tick)
        for job in self._all():
            if identifier in (job.id, job.name):
                return job
        raise NoSuchJob(f"there is no job {identifier!r}")

    @method
    def jobs(self):
        return iter(sorted(self._all(), key=lambda job: job.created, reverse=True))

    @method
    def stop(self, job):
        self.service.jobs[job.id].stopped = self.service.clock()
        return self.get(job.id)

    @method
    def events(self, job):
        record = self.service.jobs[job.id]
        made = [(0, "created"), *((QUEUED, "running"),) * (self._age(record) >= QUEUED)]
        return (
            JobEvent(f"e{at}", record.created + timedelta(seconds=at), "info", message)
            for at, message in made
        )

    @method
    def metrics(self, job):
        steps = self._steps(self.service.jobs[job.id])
        return (MetricPoint(step, "reward_mean", step / 10) for step in range(1, steps + 1))

    def _age(self, record):
        until = min(filter(None, (record.stopped, self.service.clock())))
        return (until - record.created).total_seconds()

    def _steps(self, record):
        return max(0, min(record.steps, int((self._age(record) - QUEUED) // STEP)))

    def _all(self):
        return [
            self._job(record) for record in self.service.jobs.values() if record.driver == self.name
        ]

    def _job(self, record):
        asked, job_steps = record.request, self._steps(record)
        job = Job(
            driver=self.name, id=record.id, name=asked.name, status="running", model=asked.model,
            created=record.created, grader=asked.grader, tags=asked.tags,
            hyperparameters=asked.hyperparameters, output=asked.output,
            files=tuple(filter(None, (asked.training, asked.validation))),
        )  # fmt: skip
        if record.stopped:
            return replace(job, status="stopped", ended=record.stopped)
        if self._age(record) < QUEUED:
            return replace(job, status="queued")
        if job_steps < record.steps:
            return replace(job, phase="Training")
        ended = record.created + timedelta(seconds=QUEUED + STEP * record.steps)
        tuned = self.service.tuned if record.outcome == "succeeded" else ""
        return replace(
            job, status=record.outcome, ended=ended, failure=record.failure, tuned_model=tuned
        )
