"""What SageMaker's part of the double holds.

SageMaker has codes of its own for what is missing and for what is in use.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from reward_functions.local.loopback_service.requests import Refused
from reward_functions.local.training_double.state import now

if TYPE_CHECKING:
    from datetime import datetime

    from reward_functions.cdk.policies.iam import Place
    from reward_functions.local.training_double.policy import Policy
    from reward_functions.local.training_double.state import Job


@dataclass(frozen=True, slots=True)
class Hub:
    """A private hub."""

    name: str
    place: Place
    description: str
    created: datetime = field(default_factory=now)

    @property
    def arn(self) -> str:
        """Its own."""
        return self.place.arn("sagemaker", f"hub/{self.name}")


@dataclass(frozen=True, slots=True)
class Content:
    """A version of something in a hub.

    Args:
        hub: that it is in.
        kind: such as "JsonDoc".
        name: its own; its versions have it in common.
        version: three numbers with dots.
        document: JSON, as it was given.
        given: further members of the request, which descriptions repeat.
    """

    hub: Hub
    kind: str
    name: str
    version: str
    document: str
    given: dict[str, Any]
    created: datetime = field(default_factory=now)

    @property
    def arn(self) -> str:
        """Its own, with its version."""
        name = f"hub-content/{self.hub.name}/{self.kind}/{self.name}/{self.version}"
        return self.hub.place.arn("sagemaker", name)

    def inner(self) -> dict[str, Any]:
        """What a document holds in its `JsonContent`; nothing where it holds none."""
        try:
            outer = json.loads(self.document)
            inner = json.loads(outer["JsonContent"])
        except (ValueError, TypeError, LookupError, RecursionError):
            return {}
        return inner if isinstance(inner, dict) else {}


@dataclass(frozen=True, slots=True)
class Group:
    """A group of model packages.

    Args:
        name: its own.
        place: where it is.
        given: of the request, which descriptions repeat.
        by: ARN of who made it.
    """

    name: str
    place: Place
    given: dict[str, Any]
    by: str
    created: datetime = field(default_factory=now)

    @property
    def arn(self) -> str:
        """Its own."""
        return self.place.arn("sagemaker", f"model-package-group/{self.name}")


@dataclass(frozen=True, slots=True)
class Package:
    """A version of a group: what a job has made.

    Args:
        group: that it is of.
        version: from 1.
        job: that made it.
        model: name of the base in the public hub.
        model_version: of the base.
        recipe: name of the job's recipe.
        uri: folder of its artifacts; "" where the service keeps them to itself.
        policy: what it answers with.
    """

    group: Group
    version: int
    job: Job
    model: str
    model_version: str
    recipe: str
    uri: str
    policy: Policy
    created: datetime = field(default_factory=now)

    @property
    def arn(self) -> str:
        """Its own."""
        return self.group.place.arn("sagemaker", f"model-package/{self.group.name}/{self.version}")


@dataclass(slots=True)
class Import:
    """An import job, and the model that it makes.

    Args:
        arn: its own.
        name: its own.
        place: where it is.
        model: ARN of the imported model.
        model_name: of that.
        given: the request.
        policy: what was read; None where the job failed, or the model was deleted.
        failure: why; "" where it did not.
    """

    arn: str
    name: str
    place: Place
    model: str
    model_name: str
    given: dict[str, Any]
    policy: Policy | None
    failure: str
    created: datetime = field(default_factory=now)


@dataclass(slots=True)
class Registry:
    """Everything, by ARN."""

    hubs: dict[str, Hub] = field(default_factory=dict)
    contents: dict[str, Content] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    packages: dict[str, Package] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)

    def clear(self) -> None:
        """Forget everything."""
        for held in (self.hubs, self.contents, self.groups, self.packages, self.versions):
            held.clear()


def absent(message: str) -> Refused:
    """Something that does not exist, as SageMaker says it."""
    return Refused("ResourceNotFound", message)


def in_use(message: str) -> Refused:
    """Something that exists already, as SageMaker says it."""
    return Refused("ResourceInUse", message)


def run_id(job: Job) -> str:
    """The id of a job's MLflow run: 32 hexadecimal digits."""
    return blake2b(job.id.encode(), digest_size=16).hexdigest()
