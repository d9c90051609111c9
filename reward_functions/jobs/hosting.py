"""The models that jobs of Bedrock's control plane make, and the deployments that host them.

    job  →  custom model                    kept, and billed for storage
         →  custom model deployment         what Converse is asked with: its ARN is the model's id

A model of the OpenAI-compatible API needs no deployment; model packages of SageMaker's jobs have
`package_hosting.py`.

What is asked of Bedrock in one region, and looked at until it is done.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final, TypeVar

from reward_functions.aws.failures import AwsFailed
from reward_functions.core.errors import ConfigurationError
from reward_functions.jobs.clients import client
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.drivers.fields import moment, text
from reward_functions.jobs.failures import UNREADABLE, answer, pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

    from boto3.session import Session


class InRegion:
    """Something of one account and region.

    Args:
        region: of what is asked for.
        session: boto3's; the caller's own where not given.
        pause: waits some seconds.
        clock: seconds that pass.
    """

    def __init__(
        self,
        region: str,
        session: Session | None = None,
        *,
        pause: Callable[[float], object] = sleep,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.region = region
        self._session, self._pause, self._clock = session, pause, clock

    @cached_property
    def _bedrock(self) -> Any:
        return client("bedrock", self.region, self._session)


T = TypeVar("T")

ACTIVE: Final = "Active"
FAILED: Final = "Failed"

PAUSES: Final = (1.0, 15.0)
"""Seconds between two looks at what is being made: at first, and at most; each is twice the last.
It takes minutes on AWS, and no time on the training double."""

OPERATORS_OWN: Final = "a model cannot be made again, so deleting one takes the policy of `operate`"

PATIENCE: Final = 3_600.0
"""Seconds that it may take; AWS names no time."""

PAGE: Final = 100


class NotHosted(ConfigurationError):
    """There is no such model or deployment here, or it failed to be made."""


@dataclass(frozen=True, slots=True)
class CustomModel:
    """A model that a job made.

    Args:
        arn: what a deployment is made of.
        name: its own, which is that of its job.
        status: "Creating", "Active" or "Failed"; "" where the service does not say.
        base: the ARN of what it was made from.
        job: the ARN of its job; "" in a list.
        created: when.
        failure: the service's own message; "" where it did not fail.
    """

    arn: str
    name: str
    status: str
    base: str
    created: datetime
    job: str = ""
    failure: str = ""


@dataclass(frozen=True, slots=True)
class ModelDeployment:
    """A model that is hosted, on demand.

    Args:
        arn: the `modelId` of Converse.
        name: its own.
        model: the ARN of the model.
        status: "Creating", "Active" or "Failed".
        created: when.
        failure: the service's own message; "" where it did not fail.
    """

    arn: str
    name: str
    model: str
    status: str
    created: datetime
    failure: str = ""


class Hosting(InRegion):
    """Custom models of one account and region, and their deployments.

    Every method raises `AwsFailed` where Bedrock refuses or cannot be asked.
    The arguments are those of `InRegion`.
    """

    def model(self, identifier: str) -> CustomModel | None:
        """A model by its ARN or name; None where there is none."""
        get = self._bedrock.get_custom_model
        found = present(f"reading the model {identifier}", get, modelIdentifier=identifier)
        return None if found is None else _model(found)

    def models(self) -> Iterator[CustomModel]:
        """The account's own models, newest first."""
        found = pages(
            f"listing the models of {self.region}",
            self._bedrock.list_custom_models,
            "modelSummaries",
            maxResults=PAGE,
            sortBy="CreationTime",
            sortOrder="Descending",
            isOwned=True,
        )
        yield from map(_model, found)

    def delete_model(self, identifier: str) -> None:
        """Delete a model; nothing where it is gone. A deployment of it must go first."""
        delete = self._bedrock.delete_custom_model
        try:
            present(f"deleting the model {identifier}", delete, modelIdentifier=identifier)
        except AwsFailed as error:
            if error.denied:
                raise AwsFailed(f"{error}; {OPERATORS_OWN}", error.code) from None
            raise

    def deploy(
        self, name: str, model: str, *, token: str, tags: Mapping[str, str] | None = None
    ) -> ModelDeployment:
        """Host a model; where a deployment of this name has this model already, that one.

        Args:
            name: of the deployment, 1 to 63 letters, digits, `_` and `-`.
            model: the ARN of a model that is active.
            token: makes a repeated request one deployment.
            tags: of the deployment.

        Returns:
            it, as it is now: "Creating" for some minutes.

        Raises:
            NotHosted: the model is not there, or not active.
            BadJob: another model has the name.
        """
        self._active(model)
        there = self.deployment(name)
        if there is None:
            created = answer(
                f"deploying {name}",
                self._bedrock.create_custom_model_deployment,
                modelDeploymentName=name,
                modelArn=model,
                clientRequestToken=token,
                tags=[{"key": key, "value": value} for key, value in (tags or {}).items()],
            )
            arn = text(created.get("customModelDeploymentArn"))
            there = self.deployment(arn)
            if there is None:
                raise NotHosted(f"{name} is made as {arn}, and cannot be read yet: ask again later")
            return there
        if there.model != model:
            raise BadJob(f"the deployment {name} hosts another model, {there.model}: choose a name")
        return there

    def deployment(self, identifier: str) -> ModelDeployment | None:
        """A deployment by its ARN or name; None where there is none."""
        found = present(
            f"reading the deployment {identifier}",
            self._bedrock.get_custom_model_deployment,
            customModelDeploymentIdentifier=identifier,
        )
        return None if found is None else _deployment(found)

    def deployments(self, model: str = "") -> Iterator[ModelDeployment]:
        """Deployments, newest first; of one model, where its ARN is given."""
        chosen = {"modelArnEquals": model} if model else {}
        found = pages(
            f"listing the deployments of {self.region}",
            self._bedrock.list_custom_model_deployments,
            "modelDeploymentSummaries",
            maxResults=PAGE,
            sortBy="CreationTime",
            sortOrder="Descending",
            **chosen,
        )
        yield from map(_deployment, found)

    def wait(
        self,
        arn: str,
        *,
        patience: float = PATIENCE,
        progress: Callable[[ModelDeployment], object] | None = None,
    ) -> ModelDeployment:
        """A deployment, once it is active.

        Args:
            arn: of the deployment.
            patience: seconds to wait at most.
            progress: is called with what each look found.

        Raises:
            NotHosted: it failed, is gone, or is not active in time.
        """
        found = waited(
            lambda: self._deployed(arn),
            lambda at: at.status in {ACTIVE, FAILED},
            pause=self._pause,
            clock=self._clock,
            patience=patience,
            progress=progress,
        )
        if found.status == FAILED:
            raise NotHosted(f"the deployment {found.name} failed, delete it: {found.failure}")
        if found.status != ACTIVE:
            raise NotHosted(
                f"the deployment {found.name} is {found.status or 'not active'} after "
                f"{patience / 60:.0f} minutes; it goes on: ask again later"
            )
        return found

    def undeploy(self, identifier: str) -> None:
        """Delete a deployment; nothing where it is gone."""
        present(
            f"deleting the deployment {identifier}",
            self._bedrock.delete_custom_model_deployment,
            customModelDeploymentIdentifier=identifier,
        )

    def _active(self, model: str) -> None:
        found = self.model(model)
        if found is None:
            raise NotHosted(f"there is no model {model} in {self.region}")
        if found.status not in {ACTIVE, ""}:
            reason = f": {found.failure}" if found.failure else ""
            raise NotHosted(f"the model {found.name} is {found.status}, and not active{reason}")

    def _deployed(self, arn: str) -> ModelDeployment:
        found = self.deployment(arn)
        if found is None:
            raise NotHosted(f"the deployment {arn} is gone: somebody deleted it")
        return found


def waited(
    look: Callable[[], T],
    over: Callable[[T], bool],
    *,
    pause: Callable[[float], object],
    clock: Callable[[], float],
    patience: float = PATIENCE,
    progress: Callable[[T], object] | None = None,
) -> T:
    """What a look finds once it is over, or as it is when the patience is.

    Args:
        look: reads it.
        over: whether nothing more is to be waited for.
        pause: waits some seconds.
        clock: seconds that pass.
        patience: seconds to wait at most.
        progress: is called with what each look found.
    """
    end = clock() + patience
    seconds, longest = PAUSES
    while True:
        found = look()
        if progress:
            progress(found)
        if over(found) or clock() + seconds > end:
            return found
        pause(seconds)
        seconds = min(2 * seconds, longest)


def present(what: str, call: Callable[..., Any], **arguments: str) -> dict[str, Any] | None:
    """The answer about something; None where it does not exist."""
    try:
        return answer(what, call, **arguments)
    except AwsFailed as error:
        if error.missing:
            return None
        raise


def _model(found: Mapping[str, Any]) -> CustomModel:
    arn, created = text(found.get("modelArn")), moment(found.get("creationTime"))
    if not arn or created is None:
        raise AwsFailed(f"reading a model: {UNREADABLE}")
    return CustomModel(
        arn=arn,
        name=text(found.get("modelName")),
        status=text(found.get("modelStatus")),
        base=text(found.get("baseModelArn")),
        created=created,
        job=text(found.get("jobArn")),
        failure=text(found.get("failureMessage")),
    )


def _deployment(found: Mapping[str, Any]) -> ModelDeployment:
    """Of an answer, or of a list's entry, which has another member for the name."""
    name = found.get("modelDeploymentName") or found.get("customModelDeploymentName")
    arn, created = text(found.get("customModelDeploymentArn")), moment(found.get("createdAt"))
    if not arn or created is None:
        raise AwsFailed(f"reading a deployment: {UNREADABLE}")
    return ModelDeployment(
        arn=arn,
        name=text(name),
        model=text(found.get("modelArn")),
        status=text(found.get("status")),
        created=created,
        failure=text(found.get("failureMessage")),
    )
