"""Model packages: what a job of SageMaker made, and its checkpoints.

    open weights   files in S3 below the package's address: `checkpoints/hf/` an adapter, and
                   `checkpoints/hf_merged/` a whole model where the recipe merged the weights
    Nova           kept by SageMaker (`ManagedStorageType` Restricted): no address

Sources: botocore's model of SageMaker (`DescribeModelPackage`, `ListModelPackages`);
sagemaker-train 1.27.0 for the folders.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.clients import client
from reward_functions.jobs.drivers.fields import moment, text, within
from reward_functions.jobs.failures import UNREADABLE, answer, pages
from reward_functions.jobs.hosting import OPERATORS_OWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from boto3.session import Session

ARN: Final = re.compile(
    r"arn:aws[a-z-]*:sagemaker:[a-z0-9-]{1,20}:[0-9]{12}:model-package/"
    r"(?P<group>[a-zA-Z0-9-]{1,63})(?:/(?P<version>[0-9]{1,9}))?"
)

MERGED: Final = "checkpoints/hf_merged/"
ADAPTER: Final = "checkpoints/hf/"

WHOLE: Final = "config.json"
"""What the folder of a whole model holds, and that of an adapter does not (Hugging Face's)."""

RESTRICTED: Final = "Restricted"

PAGE: Final = 100

MISSING: Final = "does not exist"
"""What SageMaker says, under the name of a validation error, of what is not there."""


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
        """The group that it is a version of; "" where the ARN names none."""
        found = ARN.fullmatch(self.arn)
        return found["group"] if found else ""


class Packages:
    """Model packages of one account and region.

    Every method raises `AwsFailed` where SageMaker or S3 refuses or cannot be asked.

    Args:
        region: of the packages.
        session: boto3's; the caller's own where not given.
    """

    def __init__(self, region: str, session: Session | None = None) -> None:
        self.region = region
        self._session = session

    @cached_property
    def _sagemaker(self) -> Any:
        return client("sagemaker", self.region, self._session)

    @cached_property
    def _s3(self) -> Any:
        return client("s3", self.region, self._session)

    def package(self, arn: str) -> ModelPackage | None:
        """A package by its ARN; None where there is none."""
        describe = self._sagemaker.describe_model_package
        try:
            found = answer(f"reading the model package {arn}", describe, ModelPackageName=arn)
        except AwsFailed as error:
            if _gone(error):
                return None
            raise
        return _package(found)

    def of_group(self, group: str) -> Iterator[ModelPackage]:
        """The versions of a group, newest first; none where there is no such group."""
        what = f"listing the model packages of {group}"
        listed = self._sagemaker.list_model_packages
        try:
            for each in pages(
                what,
                lambda **asked: _page(listed, group, asked),
                "ModelPackageSummaryList",
            ):
                yield _package(each)
        except AwsFailed as error:
            if not _gone(error):
                raise

    def whole_model(self, package: ModelPackage) -> str:
        """The folder with the whole weights of a package, `s3://…/`; "" where there is none.

        An adapter alone is none; the folder that an adapter lies in holds a whole model where every
        weight was trained.
        """
        for folder, marker in ((MERGED, ""), (ADAPTER, WHOLE)):
            address = f"{package.location.rstrip('/')}/{folder}"
            if self._there(address + marker):
                return address
        return ""

    def delete(self, arn: str) -> None:
        """Delete a package; nothing where it is gone. Files in S3 stay."""
        delete = self._sagemaker.delete_model_package
        try:
            answer(f"deleting the model package {arn}", delete, ModelPackageName=arn)
        except AwsFailed as error:
            if _gone(error):
                return
            if error.denied:
                raise AwsFailed(f"{error}; {OPERATORS_OWN}", error.code) from None
            raise

    def _there(self, address: str) -> bool:
        """Whether an object's key begins so."""
        bucket, _, key = address.removeprefix("s3://").partition("/")
        what = f"looking for {address}"
        found = answer(what, self._s3.list_objects_v2, Bucket=bucket, Prefix=key, MaxKeys=1)
        return bool(found.get("Contents"))


def _page(listed: Any, group: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """A page of SageMaker's list, with the token that Bedrock's lists have."""
    following = {"NextToken": asked["nextToken"]} if asked else {}
    page = listed(
        ModelPackageGroupName=group,
        SortBy="CreationTime",
        SortOrder="Descending",
        MaxResults=PAGE,
        **following,
    )
    return {**page, "nextToken": page.get("NextToken")}


def _gone(error: AwsFailed) -> bool:
    return error.missing or (error.code == "ValidationException" and MISSING in str(error))


def _package(found: Mapping[str, Any]) -> ModelPackage:
    arn, created = text(found.get("ModelPackageArn")), moment(found.get("CreationTime"))
    if not arn or created is None:
        raise AwsFailed(f"reading a model package: {UNREADABLE}")
    containers = within(dict(found), "InferenceSpecification", "Containers")
    container = containers[0] if isinstance(containers, list) and containers else {}
    base = within(container, "BaseModel")
    names = (text(within(base, "HubContentName")), text(within(base, "HubContentVersion")))
    location = text(within(container, "ModelDataSource", "S3DataSource", "S3Uri"))
    return ModelPackage(
        arn=arn,
        status=text(found.get("ModelPackageStatus")),
        created=created,
        location=location if location.startswith("s3://") else "",
        base=" ".join(filter(None, names)),
        recipe=text(within(base, "RecipeName")),
        checkpoint=within(container, "IsCheckpoint") is True,
        restricted=found.get("ManagedStorageType") == RESTRICTED,
    )
