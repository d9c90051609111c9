"""The models that jobs make, and what hosts them.

    job of Bedrock      →  custom model         billed for storage
                        →  its deployment       what Converse is asked with: its ARN is the id

    job of SageMaker    →  model package        a version of a group, beside its checkpoints
      open weights      →  imported model       billed for storage, and for the minutes it is asked
      Nova, restricted  →  custom model         and a deployment of it, as above

A model of the OpenAI-compatible API needs no deployment.

A model made of a package can be made again as long as the package exists. Open weights are files in
S3 below the package's address: `checkpoints/hf/` an adapter, and `checkpoints/hf_merged/` a whole
model where the recipe merged the weights; Bedrock imports whole weights alone. Nova's are kept by
SageMaker (`ManagedStorageType` Restricted) and have no address. A custom model carries its package
as a tag, since Bedrock does not say what a model was made from.

An imported model has a name of its own, and its import jobs are numbered from `NAME-1`: a repeated
call finds the model or the import in progress, and a job's name is its token. After a failed
import, or where the model was deleted, the next number is used.

Sources: botocore's models of Bedrock and SageMaker; "Import a customized model into Amazon Bedrock"
in Bedrock's guide; sagemaker-train 1.27.0 for the folders.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar
from uuid import uuid4

from reward_functions.aws.calls import answer, pages, present, reading, wait
from reward_functions.aws.failures import AwsFailed
from reward_functions.core.errors import ConfigurationError
from reward_functions.jobs.clients import client
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.tags import MAX_VALUE, OURS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

    from boto3.session import Session

T = TypeVar("T")

ACTIVE: Final = "Active"
FAILED: Final = "Failed"
PROGRESS: Final = "InProgress"
DONE: Final = "Completed"
"""The services' words."""

PAUSES: Final = (1.0, 15.0)
"""Seconds between two looks at what is being made: at first, and at most; each is twice the last.
It takes minutes on AWS, and no time on the training double."""

PATIENCE: Final = 3_600.0
"""Seconds that it may take; AWS names no time."""

PAGE: Final = 100

NEWEST: Final[dict[str, Any]] = {
    "maxResults": PAGE,
    "sortBy": "CreationTime",
    "sortOrder": "Descending",
}
"""How lists of Bedrock are asked for."""

OPERATORS_OWN: Final = "a model cannot be made again, so deleting one takes the policy of `operate`"

NAME: Final = re.compile(r"[0-9A-Za-z]+(?:-[0-9A-Za-z]+)*")
"""What both an imported model and its job may be called."""

MAX_NAME: Final = 56
"""Characters: an import job's name has 63, of which the end is a number."""

ATTEMPTS: Final = 20
"""Imports of one name."""

MERGED: Final = "checkpoints/hf_merged/"
WHOLE: Final = "checkpoints/hf/config.json"
"""What the folder of a whole model holds, and that of an adapter does not (Hugging Face's)."""

PACKAGE_TAG: Final = f"{OURS}model-package"


class NotHosted(ConfigurationError):
    """There is no such model or deployment here, or it failed to be made."""


@dataclass(frozen=True, slots=True)
class ModelPackage:
    """One version of a group of model packages.

    Args:
        arn: its own.
        status: "Pending", "InProgress", "Completed", "Failed" or "Deleting".
        created: when.
        location: where its files begin, `s3://…/`; "" where SageMaker keeps them, and in a list.
        base: the model of the hub that it was made from, with its version; "" in a list.
        recipe: that it was made by; "" where not said, and in a list.
        checkpoint: whether it is one of a job, and not its result; False in a list.
        restricted: whether its weights never leave AWS, as Nova's; False in a list.
    """

    arn: str
    status: str
    created: datetime
    location: str = ""
    base: str = ""
    recipe: str = ""
    checkpoint: bool = False
    restricted: bool = False

    @property
    def group(self) -> str:
        """The group that it is a version of."""
        return self.arn.split("/")[1]


@dataclass(frozen=True, slots=True)
class Model:
    """A custom model of Bedrock, or one that is imported or on its way.

    Args:
        arn: its own; "" until it is imported.
        name: its own; a custom model of a job has its job's.
        status: "Creating", "InProgress", "Active", "Completed" or "Failed"; "" where not said.
        created: when, or when its import began.
        source: where its files lie, `s3://…/`; "" of a custom model.
        job: the ARN of what makes it; "" in a list.
        failure: the service's own message; "" where it did not fail.
    """

    arn: str
    name: str
    status: str
    created: datetime
    source: str = ""
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


@dataclass(frozen=True, slots=True)
class HostedModel:
    """The model that a package was made into.

    Args:
        kind: what it is.
        arn: its own; "" while it is being imported.
        name: its own.
        status: the service's word; "Active" where it can be asked.
    """

    kind: Literal["imported model", "custom model", "deployment"]
    arn: str
    name: str
    status: str


class _Asked(NamedTuple):
    """A package that is to be hosted; `watched` is given where it is waited for."""

    package: ModelPackage
    name: str
    role: str
    tags: Mapping[str, str]
    watched: Callable[[str], object] | None


class Hosting:
    """Tuned models of one account and region. Methods raise `AwsFailed` where a service refuses.

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

    @cached_property
    def _sagemaker(self) -> Any:
        return client("sagemaker", self.region, self._session)

    @cached_property
    def _s3(self) -> Any:
        return client("s3", self.region, self._session)

    def waited(
        self,
        look: Callable[[], T],
        over: Callable[[T], bool],
        progress: Callable[[T], object] | None = None,
        patience: float = PATIENCE,
    ) -> T:
        """The state at the end of a wait, or as it is when the patience is over."""
        first, longest = PAUSES
        return wait(
            look,
            over,
            seconds=patience,
            pause=first,
            longest=longest,
            progress=progress or (lambda _: None),
            sleep=self._pause,
            clock=self._clock,
        )

    def package(self, arn: str) -> ModelPackage | None:
        """A package by its ARN; None without one."""
        describe = self._sagemaker.describe_model_package
        found = present(f"reading the model package {arn}", describe, ModelPackageName=arn)
        return None if found is None else _package(found)

    def of_group(self, group: str) -> Iterator[ModelPackage]:
        """The versions of a group, newest first; none where there is no such group."""
        what, listed = f"listing the model packages of {group}", self._sagemaker.list_model_packages
        found = pages(
            what,
            lambda **asked: present(what, listed, **asked) or {"ModelPackageSummaryList": []},
            "ModelPackageSummaryList",
            marker="NextToken",
            ModelPackageGroupName=group,
            SortBy="CreationTime",
            SortOrder="Descending",
            MaxResults=PAGE,
        )
        yield from map(_package, found)

    def whole_model(self, package: ModelPackage) -> str:
        """The folder with the whole weights of a package, `s3://…/`; "" without one.

        An adapter alone is no whole model; the folder that an adapter lies in holds a whole model
        where every weight was trained.
        """
        for beginning in (MERGED, WHOLE):
            address = f"{package.location.rstrip('/')}/{beginning}"
            bucket, _, key = address.removeprefix("s3://").partition("/")
            listed, what = self._s3.list_objects_v2, f"looking for {address}"
            if answer(what, listed, Bucket=bucket, Prefix=key, MaxKeys=1).get("Contents"):
                return f"{address.rpartition('/')[0]}/"
        return ""

    def delete_package(self, arn: str) -> None:
        """Delete a package; nothing where it is gone. Files in S3 stay."""
        delete = self._sagemaker.delete_model_package
        _operated(f"deleting the model package {arn}", delete, ModelPackageName=arn)

    def model(self, identifier: str) -> Model | None:
        """A custom model by its ARN or name; None without one."""
        get = self._bedrock.get_custom_model
        found = present(f"reading the model {identifier}", get, modelIdentifier=identifier)
        return None if found is None else _model(found)

    def models(self) -> Iterator[Model]:
        """The account's own custom models, newest first."""
        listed = self._bedrock.list_custom_models
        what = f"listing the models of {self.region}"
        yield from map(_model, pages(what, listed, "modelSummaries", isOwned=True, **NEWEST))

    def delete_model(self, identifier: str) -> None:
        """Delete a model; nothing where it is gone. A deployment of it must go first."""
        delete = self._bedrock.delete_custom_model
        _operated(f"deleting the model {identifier}", delete, modelIdentifier=identifier)

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
        found = self.model(model)
        if found is None:
            raise NotHosted(f"there is no model {model} in {self.region}")
        if found.status not in {ACTIVE, ""}:
            reason = f": {found.failure}" if found.failure else ""
            raise NotHosted(f"the model {found.name} is {found.status}, and not active{reason}")
        there = self.deployment(name)
        if there is None:
            created = answer(
                f"deploying {name}",
                self._bedrock.create_custom_model_deployment,
                modelDeploymentName=name,
                modelArn=model,
                clientRequestToken=token,
                tags=_tags(tags),
            )
            arn = created["customModelDeploymentArn"]
            return _readable(self.deployment(arn), name, arn)
        if there.model != model:
            raise BadJob(f"the deployment {name} hosts another model, {there.model}: choose a name")
        return there

    def deployment(self, identifier: str) -> ModelDeployment | None:
        """A deployment by its ARN or name; None without one."""
        found = present(
            f"reading the deployment {identifier}",
            self._bedrock.get_custom_model_deployment,
            customModelDeploymentIdentifier=identifier,
        )
        return None if found is None else _deployment(found)

    def deployments(self, model: str = "") -> Iterator[ModelDeployment]:
        """Deployments, newest first; of one model, where its ARN is given."""
        chosen: dict[str, Any] = {"modelArnEquals": model} if model else {}
        found = pages(
            f"listing the deployments of {self.region}",
            self._bedrock.list_custom_model_deployments,
            "modelDeploymentSummaries",
            **NEWEST,
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

        def look() -> ModelDeployment:
            return _still(self.deployment(arn), f"the deployment {arn}")

        found = self.waited(look, lambda at: at.status in {ACTIVE, FAILED}, progress, patience)
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

    def host(
        self,
        package: str,
        name: str,
        role: str,
        *,
        tags: Mapping[str, str],
        wait: bool = True,
        progress: Callable[[str], object] = lambda _: None,
    ) -> HostedModel:
        """Make a package askable; where that is done already, what is there.

        Args:
            package: its ARN.
            name: of the model, and of its deployment.
            role: what Bedrock reads the weights as.
            tags: of what is made.
            wait: until it can be asked; else what is being made now is returned.
            progress: is called with the status at each look.

        Raises:
            NotHosted: the package is gone, not complete or has no whole weights; or making it
                failed.
            BadJob: something else has the name.
        """
        found = self.package(package)
        if found is None:
            raise NotHosted(f"there is no model package {package} in {self.region}")
        if found.status != DONE:
            raise NotHosted(f"the model package {package} is {found.status}, and not Completed")
        if not (found.location or found.restricted):
            raise NotHosted(f"the model package {package} names no files, and is none of Nova's")
        asked = _Asked(found, name, role, tags, progress if wait else None)
        return self._imported(asked) if found.location else self._deployed(asked)

    def made_from(self, package: ModelPackage) -> Iterator[HostedModel]:
        """All models made of a package, under any name; deployments before their model."""
        if package.location:
            yield from self._imports_of(package)
            return
        for model in self.models():
            if model.created < package.created:  # the newest come first
                return
            if self._package_of(model) == package.arn:
                for host in self.deployments(model.arn):
                    yield HostedModel("deployment", host.arn, host.name, host.status)
                yield HostedModel("custom model", model.arn, model.name, model.status)

    def remove(self, arn: str) -> None:
        """Delete what was made of a package or of a job's model; nothing where it is gone."""
        if ":imported-model/" in arn:
            delete = self._bedrock.delete_imported_model
            present(f"deleting the imported model {arn}", delete, modelIdentifier=arn)
        elif ":custom-model-deployment/" in arn:
            self.undeploy(arn)
        else:
            self.delete_model(arn)

    def _imported(self, asked: _Asked) -> HostedModel:
        """Import open weights, unless they are there or on their way."""
        name, watched = asked.name, asked.watched
        folder = self.whole_model(asked.package)
        if not folder:
            raise NotHosted(
                f"{asked.package.location} holds no whole weights, and Bedrock imports no adapter: "
                "train with `merge_weights` set to true below [hyperparameters], where the recipe "
                "has it"
            )
        if len(name) > MAX_NAME or not NAME.fullmatch(name):
            raise BadJob(
                f"--name {name[:80]!r}: an imported model's is 1 to {MAX_NAME} letters, digits and "
                "single hyphens"
            )
        get = self._bedrock.get_imported_model
        found = present(f"reading the imported model {name}", get, modelIdentifier=name)
        model, job = (_import(found, DONE), "") if found else self._attempt(name)
        if model is None:
            created = answer(
                f"importing {name}",
                self._bedrock.create_model_import_job,
                jobName=job,
                importedModelName=name,
                roleArn=asked.role,
                modelDataSource={"s3DataSource": {"s3Uri": folder}},
                jobTags=_tags(asked.tags),
                importedModelTags=_tags(asked.tags),
                clientRequestToken=job,
            )
            model = self._import(created["jobArn"])
        elif model.source.rstrip("/") != folder.rstrip("/"):
            raise BadJob(
                f"another model has the name {name}, imported from {model.source}: choose one with "
                "--name"
            )
        if watched and model.status != DONE:
            model = self._whole_import(model, watched)
        status = ACTIVE if model.status == DONE else model.status
        return HostedModel("imported model", model.arn, model.name, status)

    def _attempt(self, name: str) -> tuple[Model | None, str]:
        """The import in progress of a name, or None, and the name of the job to begin it by."""
        get = self._bedrock.get_model_import_job
        for number in range(1, ATTEMPTS + 1):
            job = f"{name}-{number}"
            found = present(f"reading the import {job}", get, jobIdentifier=job)
            if found is None:
                return None, job
            if found["status"] == PROGRESS:
                return _import(found), job
        raise BadJob(f"{name} was imported {ATTEMPTS} times: choose another name with --name")

    def _import(self, arn: str) -> Model:
        get = self._bedrock.get_model_import_job
        return _import(answer(f"reading the import {arn}", get, jobIdentifier=arn))

    def _whole_import(self, model: Model, watched: Callable[[str], object]) -> Model:
        """A model, once it is imported."""
        found = self.waited(
            lambda: self._import(model.job),
            lambda at: at.status != PROGRESS,
            lambda at: watched(at.status),
        )
        if found.status == PROGRESS:
            raise NotHosted(
                f"the import of {found.name} is in progress after {PATIENCE / 60:.0f} minutes; it "
                "goes on: ask again later"
            )
        if found.status == FAILED or not found.arn:
            raise NotHosted(f"the import of {found.name} failed: {found.failure or 'no reason'}")
        return found

    def _imports_of(self, package: ModelPackage) -> Iterator[HostedModel]:
        """The models that were imported from below a package's address."""
        begin = f"{package.location.rstrip('/')}/"
        for summary in pages(
            f"listing the imported models of {self.region}",
            self._bedrock.list_imported_models,
            "modelSummaries",
            creationTimeAfter=package.created,  # no model is older
            maxResults=PAGE,
        ):
            arn, get = summary["modelArn"], self._bedrock.get_imported_model
            found = present(f"reading the imported model {arn}", get, modelIdentifier=arn)
            model = _import(found, DONE) if found else None
            if model and model.source.startswith(begin):
                yield HostedModel("imported model", model.arn, model.name, ACTIVE)

    def _deployed(self, asked: _Asked) -> HostedModel:
        """Make a custom model with a deployment, unless they are there."""
        name, watched = asked.name, asked.watched
        model = self.model(name) or self._created(asked)
        if self._package_of(model) != asked.package.arn:
            raise BadJob(f"another custom model has the name {name}: choose one with --name")
        if watched:
            arn = model.arn
            model = self.waited(
                lambda: _still(self.model(arn), f"the custom model {arn}"),
                lambda at: at.status in {ACTIVE, FAILED, ""},
                lambda at: watched(at.status),
            )
        if model.status == FAILED:
            raise NotHosted(f"the custom model {name} failed, delete it: {model.failure}")
        if model.status not in {ACTIVE, ""}:
            return HostedModel("custom model", model.arn, name, model.status)
        deployed = self.deploy(name, model.arn, token=f"{name}-{uuid4().hex}", tags=asked.tags)
        if watched:
            deployed = self.wait(deployed.arn, progress=lambda at: watched(at.status))
        return HostedModel("deployment", deployed.arn, name, deployed.status)

    def _created(self, asked: _Asked) -> Model:
        name, package = asked.name, asked.package
        created = answer(
            f"making the custom model {name}",
            self._bedrock.create_custom_model,
            modelName=name,
            roleArn=asked.role,
            customModelDataSource={
                "modelPackageArnDataSource": {"modelPackageArn": package.arn},
            },
            modelTags=_tags({**asked.tags, PACKAGE_TAG: package.arn[:MAX_VALUE]}),
            clientRequestToken=f"{name.replace('_', '-').rstrip('-')}-{uuid4().hex}",
        )
        arn = created["modelArn"]
        return _readable(self.model(arn), name, arn)

    def _package_of(self, model: Model) -> str:
        """The ARN of the package that a model of ours was made from; "" for any other."""
        read = self._bedrock.list_tags_for_resource
        found = answer(f"reading the tags of {model.name}", read, resourceARN=model.arn)
        tags: dict[str, str] = {each["key"]: each["value"] for each in found["tags"]}
        return tags.get(PACKAGE_TAG, "")


def _operated(what: str, delete: Callable[..., Any], **arguments: str) -> None:
    """Delete what cannot be made again; nothing where it is gone."""
    try:
        present(what, delete, **arguments)
    except AwsFailed as error:
        if error.denied:
            raise AwsFailed(f"{error}; {OPERATORS_OWN}", error.code) from None
        raise


def _readable(found: T | None, name: str, arn: str) -> T:
    if found is None:
        raise NotHosted(f"{name} is made as {arn}, and cannot be read yet: ask again later")
    return found


def _still(found: T | None, what: str) -> T:
    if found is None:
        raise NotHosted(f"{what} is gone: somebody deleted it")
    return found


def _tags(tags: Mapping[str, str] | None) -> list[dict[str, str]]:
    return [{"key": key, "value": value} for key, value in (tags or {}).items()]


def _package(found: Mapping[str, Any]) -> ModelPackage:
    containers = found.get("InferenceSpecification", {}).get("Containers") or [{}]
    base = containers[0].get("BaseModel", {})
    names = (base.get("HubContentName"), base.get("HubContentVersion"))
    files = containers[0].get("ModelDataSource", {}).get("S3DataSource", {})
    with reading("a model package"):
        return ModelPackage(
            arn=found["ModelPackageArn"],
            status=found["ModelPackageStatus"],
            created=found["CreationTime"],
            location=files.get("S3Uri", ""),
            base=" ".join(filter(None, names)),
            recipe=base.get("RecipeName", ""),
            checkpoint=containers[0].get("IsCheckpoint", False),
            restricted=found.get("ManagedStorageType") == "Restricted",
        )


def _model(found: Mapping[str, Any]) -> Model:
    with reading("a model"):
        return Model(
            arn=found["modelArn"],
            name=found["modelName"],
            status=found.get("modelStatus", ""),
            created=found["creationTime"],
            job=found.get("jobArn", ""),
            failure=found.get("failureMessage", ""),
        )


def _import(found: Mapping[str, Any], status: str = "") -> Model:
    """Of an import job; of an imported model, which is done."""
    with reading("an imported model"):
        return Model(
            arn=found.get("modelArn") or found.get("importedModelArn", ""),
            name=found.get("modelName") or found["importedModelName"],
            status=status or found["status"],
            created=found["creationTime"],
            source=found["modelDataSource"]["s3DataSource"]["s3Uri"],
            job=found.get("jobArn", ""),
            failure=found.get("failureMessage", ""),
        )


def _deployment(found: Mapping[str, Any]) -> ModelDeployment:
    """Of an answer, or of a list's entry, which has another member for the name."""
    with reading("a deployment"):
        return ModelDeployment(
            arn=found["customModelDeploymentArn"],
            name=found.get("modelDeploymentName") or found["customModelDeploymentName"],
            model=found["modelArn"],
            status=found["status"],
            created=found["createdAt"],
            failure=found.get("failureMessage", ""),
        )
