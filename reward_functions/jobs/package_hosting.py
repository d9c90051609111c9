"""A model package of SageMaker, made askable by Converse, and what of that is there.

    weights              what is made of it                            asked by
    open                 an imported model (`importing.py`)            its ARN
    Nova, restricted     a custom model, and a deployment of it        the deployment's ARN

All of it can be made again for as long as the package is there. A custom model carries the package
as a tag, since Bedrock does not say what a model was made from.

Source: botocore's model of Bedrock (`CustomModelDataSource`, `modelPackageArnDataSource`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal
from uuid import uuid4

from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.drivers.fields import text
from reward_functions.jobs.failures import answer
from reward_functions.jobs.hosting import ACTIVE, FAILED, Hosting, InRegion, NotHosted, waited
from reward_functions.jobs.importing import DONE, Imports
from reward_functions.jobs.packages import Packages
from reward_functions.jobs.tags import MAX_VALUE, OURS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from reward_functions.jobs.hosting import CustomModel
    from reward_functions.jobs.packages import ModelPackage

PACKAGE_TAG: Final = f"{OURS}model-package"

PACKAGED: Final = frozenset({"sagemaker", "agent-rft"})
"""The services whose jobs make model packages."""

Kind = Literal["imported model", "custom model", "deployment"]


@dataclass(frozen=True, slots=True)
class HostedModel:
    """What a package was made into.

    Args:
        kind: what it is.
        arn: its own; "" while it is being imported.
        name: its own.
        status: the service's word; "Active" where it can be asked.
    """

    kind: Kind
    arn: str
    name: str
    status: str


class PackageHosting(InRegion):
    """Model packages of one account and region as models of Bedrock.

    Every method raises `AwsFailed` where a service refuses or cannot be asked.
    The arguments are those of `InRegion`.
    """

    @cached_property
    def hosting(self) -> Hosting:
        """Custom models of the same place."""
        return Hosting(self.region, self._session, pause=self._pause, clock=self._clock)

    @cached_property
    def imports(self) -> Imports:
        """Imported models of the same place."""
        return Imports(self.region, self._session, pause=self._pause, clock=self._clock)

    @cached_property
    def packages(self) -> Packages:
        """The packages themselves."""
        return Packages(self.region, self._session)

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
        found = self.packages.package(package)
        if found is None:
            raise NotHosted(f"there is no model package {package} in {self.region}")
        if found.status != "Completed":
            raise NotHosted(f"the model package {package} is {found.status}, and not Completed")
        if found.location:
            return self._imported(found, name, role, tags, wait, progress)
        if not found.restricted:
            raise NotHosted(f"the model package {package} names no files, and is none of Nova's")
        return self._custom(found, name, role, tags, wait, progress)

    def made_from(self, package: ModelPackage) -> Iterator[HostedModel]:
        """All that was made of a package, whatever its name; deployments before their model."""
        if package.location:
            for each in self.imports.imported_from(package.location, package.created):
                yield HostedModel("imported model", each.arn, each.name, ACTIVE)
            return
        for model in self.hosting.models():
            if model.created < package.created:  # the newest come first
                return
            if self._package_of(model) == package.arn:
                for host in self.hosting.deployments(model.arn):
                    yield HostedModel("deployment", host.arn, host.name, host.status)
                yield HostedModel("custom model", model.arn, model.name, model.status)

    def remove(self, arn: str) -> None:
        """Delete what was made of a package or of a job's model; nothing where it is gone."""
        if ":imported-model/" in arn:
            self.imports.delete(arn)
        elif ":custom-model-deployment/" in arn:
            self.hosting.undeploy(arn)
        else:
            self.hosting.delete_model(arn)

    def _imported(  # noqa: PLR0917 - as `host` has them
        self,
        package: ModelPackage,
        name: str,
        role: str,
        tags: Mapping[str, str],
        wait: bool,  # noqa: FBT001
        progress: Callable[[str], object],
    ) -> HostedModel:
        folder = self.packages.whole_model(package)
        if not folder:
            raise NotHosted(
                f"{package.location} holds no whole weights, and Bedrock imports no adapter: train "
                "with `merge_weights` set to true below [hyperparameters], where the recipe has it"
            )
        model = self.imports.start(name, folder, role, tags=tags)
        if wait:
            model = self.imports.wait(model, progress=lambda at: progress(at.status))
        status = ACTIVE if model.status == DONE else model.status
        return HostedModel("imported model", model.arn, model.name, status)

    def _custom(  # noqa: PLR0917 - as `host` has them
        self,
        package: ModelPackage,
        name: str,
        role: str,
        tags: Mapping[str, str],
        wait: bool,  # noqa: FBT001
        progress: Callable[[str], object],
    ) -> HostedModel:
        model = self.hosting.model(name) or self._created(package, name, role, tags)
        if self._package_of(model) != package.arn:
            raise BadJob(f"another custom model has the name {name}: choose one with --name")
        if wait:
            model = self._whole(model, progress)
        if model.status not in {ACTIVE, ""}:
            if model.status == FAILED:
                raise NotHosted(f"the custom model {name} failed, delete it: {model.failure}")
            return HostedModel("custom model", model.arn, name, model.status)
        token = f"{name}-{uuid4().hex}"
        deployed = self.hosting.deploy(name, model.arn, token=token, tags=tags)
        if wait:
            deployed = self.hosting.wait(deployed.arn, progress=lambda it: progress(it.status))
        return HostedModel("deployment", deployed.arn, name, deployed.status)

    def _created(
        self, package: ModelPackage, name: str, role: str, tags: Mapping[str, str]
    ) -> CustomModel:
        every = {**tags, PACKAGE_TAG: package.arn[:MAX_VALUE]}
        source = {"modelPackageArnDataSource": {"modelPackageArn": package.arn}}
        created = answer(
            f"making the custom model {name}",
            self._bedrock.create_custom_model,
            modelName=name,
            roleArn=role,
            customModelDataSource=source,
            modelTags=[{"key": key, "value": value} for key, value in every.items()],
            clientRequestToken=f"{name.replace('_', '-').rstrip('-')}-{uuid4().hex}",
        )
        arn = text(created.get("modelArn"))
        model = self.hosting.model(arn)
        if model is None:
            raise NotHosted(f"{name} is made as {arn}, and cannot be read yet: ask again later")
        return model

    def _whole(self, model: CustomModel, progress: Callable[[str], object]) -> CustomModel:
        def look() -> CustomModel:
            found = self.hosting.model(model.arn)
            if found is None:
                raise NotHosted(f"the custom model {model.arn} is gone: somebody deleted it")
            return found

        return waited(
            look,
            lambda at: at.status in {ACTIVE, FAILED, ""},
            pause=self._pause,
            clock=self._clock,
            progress=lambda at: progress(at.status),
        )

    def _package_of(self, model: CustomModel) -> str:
        """The ARN of the package that a model of ours was made from; "" for any other."""
        read = self._bedrock.list_tags_for_resource
        found = answer(f"reading the tags of {model.name}", read, resourceARN=model.arn)
        tags = (each for each in found.get("tags") or () if isinstance(each, dict))
        return next(
            (text(each.get("value")) for each in tags if each.get("key") == PACKAGE_TAG), ""
        )
