"""SageMaker's model packages: what a job has made, as versions of a group.

Of an open-weight model the artifacts lie in the job's bucket: an adapter below `checkpoints/hf/`,
merged weights below `checkpoints/hf_merged/`. Here they are small files that say so, with the
simulated policy in `simulation.json`. Of a Nova model there are none: the service keeps them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from reward_functions.local.loopback_service.requests import Refused
from reward_functions.local.training_double.grading import failing
from reward_functions.local.training_double.sagemaker_calls import page, require_making, tags_of
from reward_functions.local.training_double.sagemaker_state import Group, Package, absent

if TYPE_CHECKING:
    from boto3.session import Session

    from reward_functions.local.training_double.policy import Policy
    from reward_functions.local.training_double.service import Call

ADAPTER: Final = "checkpoints/hf/"
MERGED: Final = "checkpoints/hf_merged/"
POLICY_FILE: Final = "simulation.json"

KEPT: Final = ("ModelPackageGroupDescription", "ManagedConfiguration")


def create_group(call: Call) -> dict[str, Any]:
    """CreateModelPackageGroup."""
    given = call.parameters
    kept: dict[str, Any] = {name: given[name] for name in KEPT if name in given}
    group = Group(given["ModelPackageGroupName"], call.place, kept, call.caller.arn)
    require_making(call, "sagemaker:CreateModelPackageGroup", group.arn)
    with call.state.lock:
        if group.arn in call.sagemaker.groups:
            raise Refused("ValidationException", f"Model Package Group already exists: {group.arn}")
        call.sagemaker.groups[group.arn] = group
        call.state.tags[group.arn] = tags_of(given)
    return {"ModelPackageGroupArn": group.arn}


def describe_group(call: Call) -> dict[str, Any]:
    """DescribeModelPackageGroup."""
    group = _group(call, "sagemaker:DescribeModelPackageGroup")
    return group.given | {
        "ModelPackageGroupName": group.name,
        "ModelPackageGroupArn": group.arn,
        "CreationTime": group.created,
        "CreatedBy": {"IamIdentity": {"Arn": group.by}},
        "ModelPackageGroupStatus": "Completed",
    }


def list_groups(call: Call) -> dict[str, Any]:
    """ListModelPackageGroups."""
    call.require("sagemaker:ListModelPackageGroups", "*")
    with call.state.lock:
        groups = [each for each in call.sagemaker.groups.values() if each.place == call.place]
    return page(
        call,
        groups,
        "ModelPackageGroupSummaryList",
        lambda group: {
            "ModelPackageGroupName": group.name,
            "ModelPackageGroupArn": group.arn,
            "CreationTime": group.created,
            "ModelPackageGroupStatus": "Completed",
        },
        lambda group: group.name,
    )


def delete_group(call: Call) -> dict[str, Any]:
    """DeleteModelPackageGroup; one that still has packages is refused."""
    group = _group(call, "sagemaker:DeleteModelPackageGroup")
    with call.state.lock:
        if any(each.group == group for each in call.sagemaker.packages.values()):
            raise Refused("ConflictException", f"{group.name} still contains model packages")
        call.sagemaker.groups.pop(group.arn, None)
        call.state.tags.pop(group.arn, None)
    return {}


def _group(call: Call, action: str) -> Group:
    wanted = call.parameters["ModelPackageGroupName"]
    arn = wanted
    if not wanted.startswith("arn:"):
        arn = call.place.arn("sagemaker", f"model-package-group/{wanted}")
    call.require(action, arn)
    return group_at(call, arn)


def group_at(call: Call, arn: str) -> Group:
    """The group of an ARN, of the caller's account and region.

    Raises:
        Refused: there is none.
    """
    found = call.sagemaker.groups.get(arn)
    if found is None or found.place != call.place:
        raise absent(f"Model Package Group {arn} does not exist")
    return found


def describe(call: Call) -> dict[str, Any]:
    """DescribeModelPackage."""
    package = _package(call, "sagemaker:DescribeModelPackage")
    base = {
        "HubContentName": package.model,
        "HubContentVersion": package.model_version,
        "RecipeName": package.recipe,
    }
    source = {
        "S3DataSource": {
            "S3Uri": package.uri,
            "S3DataType": "S3Prefix",
            "CompressionType": "None",
        }
    }
    container = {"BaseModel": base, "IsCheckpoint": False}
    if package.uri:
        container["ModelDataSource"] = source
    return _summary(package) | {
        "ModelPackageName": package.group.name,
        "CreatedBy": {"IamIdentity": {"Arn": package.job.request["RoleArn"]}},
        "ModelPackageStatusDetails": {"ValidationStatuses": []},
        "ManagedStorageType": None if package.uri else "Restricted",
        "InferenceSpecification": {"Containers": [container]},
    }


def list_(call: Call) -> dict[str, Any]:
    """ListModelPackages."""
    call.require("sagemaker:ListModelPackages", "*")
    wanted = call.parameters.get("ModelPackageGroupName", "").rpartition("/")[2]
    with call.state.lock:
        packages = [
            each
            for each in call.sagemaker.packages.values()
            if each.group.place == call.place and wanted in {"", each.group.name}
        ]
    return page(
        call, packages, "ModelPackageSummaryList", _summary, lambda package: package.group.name
    )


def _summary(package: Package) -> dict[str, Any]:
    return {
        "ModelPackageGroupName": package.group.name,
        "ModelPackageVersion": package.version,
        "ModelPackageArn": package.arn,
        "CreationTime": package.created,
        "ModelPackageStatus": "Completed",
        "ModelApprovalStatus": "PendingManualApproval",
    }


def delete(call: Call) -> dict[str, Any]:
    """DeleteModelPackage."""
    package = _package(call, "sagemaker:DeleteModelPackage")
    with call.state.lock:
        call.sagemaker.packages.pop(package.arn, None)
        call.state.models.pop(package.arn, None)
        call.state.tags.pop(package.arn, None)
    return {}


def _package(call: Call, action: str) -> Package:
    wanted = call.parameters["ModelPackageName"]
    call.require(action, wanted)
    return package_at(call, wanted)


def package_at(call: Call, arn: str) -> Package:
    """The package of an ARN, of the caller's account and region.

    Raises:
        Refused: there is none.
    """
    found = call.sagemaker.packages.get(arn)
    if found is None or found.group.place != call.place:
        raise absent(f"ModelPackage {arn} does not exist")
    return found


def write_artifacts(session: Session, uri: str, model: str, policy: Policy) -> None:
    """Put the small files that stand for a model's weights.

    Args:
        session: of the job's role.
        uri: their folder, which ends with a slash.
        model: name of the base.
        policy: what was learnt.

    Raises:
        JobFailed: they cannot be written.
    """
    note = {"simulation": "no language model was trained", "base": model}
    learnt = note | {"policy": json.loads(policy.to_json())}
    files = {
        f"{ADAPTER}adapter_config.json": note,
        f"{MERGED}config.json": note,
        f"{MERGED}{POLICY_FILE}": learnt,
    }
    parts = urlsplit(uri)
    s3 = session.client("s3")
    for name, content in files.items():
        key = f"{parts.path.lstrip('/')}{name}"
        with failing(f"Writing s3://{parts.netloc}/{key}"):
            s3.put_object(Bucket=parts.netloc, Key=key, Body=json.dumps(content).encode())
