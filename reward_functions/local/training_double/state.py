"""What the double holds, all in memory, as the emulator beside it holds what it has."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from secrets import token_hex
from threading import Condition, RLock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from reward_functions.local.loopback_service.requests import Refused, invalid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.cdk.policies.iam import Place
    from reward_functions.jobs.job import DriverName, JobStatus
    from reward_functions.local.training_double.policy import Policy
    from reward_functions.local.training_double.training import Step

PHASES: Final = ("validation", "dataProcessing", "training")
"""In their order; Bedrock's `statusDetails` has a member for each."""


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def fresh_id() -> str:
    """Twelve letters and digits, as the ARNs of jobs and models end; these say what they are."""
    return f"sim{token_hex(8)[:9]}"


@dataclass
class Phase:
    """A part of a job: its status in Bedrock's words, and when that began and changed."""

    status: str
    created: datetime
    modified: datetime


@dataclass
class Event:
    """What the OpenAI-compatible API says of a job at a moment.

    Args:
        id: its own.
        at: when.
        level: "info", "warn" or "error".
        type: "message" or "metrics".
        message: one sentence.
        data: of a `metrics` event.
    """

    id: str
    at: datetime
    level: str
    type: str
    message: str
    data: dict[str, float]


@dataclass
class Job:
    """A training job of either API.

    Args:
        id: an ARN, or `ftjob-…`.
        path: which API it came by.
        name: of a Bedrock job; the id where there is none.
        place: its partition, region and account.
        base: the id of the foundation model below it.
        grader: ARN of the reward function.
        request: its parameters, as they were given.
        hyperparameters: by Bedrock's names.
        seed: decides what is drawn.
        policy: what it begins with.
    """

    id: str
    path: DriverName
    name: str
    place: Place
    base: str
    grader: str
    request: dict[str, Any]
    hyperparameters: dict[str, Any]
    seed: int
    policy: Policy
    status: JobStatus = "queued"
    created: datetime = field(default_factory=now)
    modified: datetime = field(default_factory=now)
    ended: datetime | None = None
    failure: str = ""
    model: str = ""
    phases: dict[str, Phase] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    injected: str = ""
    stopping: bool = False

    @property
    def short(self) -> str:
        """The last part of its id."""
        return self.id.rpartition("/")[2].rpartition("-")[2]


@dataclass
class Model:
    """A model that a job made: an ARN, or the id that chat completions take."""

    id: str
    name: str
    place: Place
    base: str
    policy: Policy
    job: Job
    created: datetime = field(default_factory=now)


@dataclass
class Deployment:
    """A custom model that is hosted.

    Args:
        arn: its own; Converse takes it as a model id.
        name: its own.
        place: its partition, region and account.
        model: ARN of what it hosts.
        description: "" for none.
        before: ARN of the model that an update replaces; "" where there was none.
    """

    arn: str
    name: str
    place: Place
    model: str
    description: str = ""
    before: str = ""
    created: datetime = field(default_factory=now)
    updated: datetime = field(default_factory=now)


@dataclass
class File:
    """A file of the OpenAI-compatible API."""

    id: str
    name: str
    purpose: str
    place: Place
    content: bytes
    created: datetime = field(default_factory=now)


class State:
    """Everything that was made, by id. Whoever reads or writes holds `lock`."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.changed = Condition(self.lock)
        self.seconds_per_step = 0.0
        self.seconds_to_host = 0.2
        self.clear()

    def clear(self) -> None:
        """Forget everything that was made."""
        with self.lock:
            self.jobs: dict[str, Job] = {}
            self.models: dict[str, Model] = {}
            self.deployments: dict[str, Deployment] = {}
            self.files: dict[str, File] = {}
            self.tags: dict[str, dict[str, str]] = {}
            self.tokens: dict[tuple[Place, str, str], str] = {}
            self.throttled: Counter[str] = Counter()
            self.responses: Counter[str] = Counter()

    def throttle(self, operation: str) -> None:
        """Nothing, unless this operation is to be throttled as often as was asked for.

        Raises:
            Refused: it is.
        """
        with self.lock:
            if self.throttled[operation] > 0:
                self.throttled[operation] -= 1
                raise Refused(
                    "ThrottlingException", "Too many requests, please wait before trying again."
                )

    def settled(self, deployment: Deployment) -> bool:
        """Whether what was asked of a deployment last is done: minutes on AWS."""
        return (now() - deployment.updated).total_seconds() >= self.seconds_to_host

    def pass_step(self, job: Job) -> None:
        """Wait as long as a step takes here, unless the job stops or fails meanwhile."""
        begun = monotonic()
        with self.changed:
            while not job.stopping and not job.injected:
                left = begun + self.seconds_per_step - monotonic()
                if left <= 0:
                    return
                self.changed.wait(left)


def paged(
    items: Sequence[Any], parameters: Mapping[str, Any], *, largest: int = 100
) -> tuple[Sequence[Any], str | None]:
    """One page of a list, and the token of the next.

    Args:
        items: all of it.
        parameters: `maxResults` and `nextToken` of the request.
        largest: how many are on a page that nobody limits.

    Raises:
        Refused: the token is none of ours.
    """
    token = parameters.get("nextToken", "0")
    if not (re.fullmatch(r"[0-9]{1,9}", token) and int(token) <= len(items)):
        raise invalid("The provided nextToken is not valid")
    start = int(token)
    end = start + parameters.get("maxResults", largest)
    return items[start:end], str(end) if end < len(items) else None
