"""What a job may use beside the stage's bucket and rewards: the stage's `job_rights` in `cdk.json`.

    option of a job      field of the stage           granted where
    invocation_logs      job_rights.invocation_logs   the source is that folder, or lies in it
                         read_buckets                 the same, of any of them
    vpc                  job_rights.vpc               its subnets and groups are among those
    model_key            job_rights.model_key         it is that key

A stage that was deployed before it had such rights grants none of them. The rows of a job are read
on this machine and uploaded to the stage's bucket: no address of S3 stands for a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.aws.catalogue import DATA_PREFIX
from reward_functions.jobs.configuration import BadJob

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from reward_functions.aws.catalogue import DeployedStage, JobRights
    from reward_functions.jobs.configuration import InvocationLogs, JobConfiguration
    from reward_functions.jobs.parts import Vpc


def check_rights(asked: JobConfiguration, stage: DeployedStage) -> None:
    """Whether the stage grants what a job asks for.

    Raises:
        BadJob: it does not; one sentence that names the first field of `cdk.json` to set.
    """
    if missing := missing_rights(asked, stage):
        raise BadJob(missing[0])


def missing_rights(asked: JobConfiguration, stage: DeployedStage) -> list[str]:
    """A sentence for every option that the stage grants no right to."""
    rights = stage.job_rights
    lacks = {
        "invocation_logs": asked.invocation_logs and _logs(asked.invocation_logs, stage),
        "vpc": asked.vpc and _vpc(asked.vpc, rights),
        "model_key": asked.model_key if asked.model_key != rights.model_key else None,
    }
    return [
        f"{option}: the stage {stage.stage!r} grants its jobs no right to {lack}: "
        f"set job_rights.{option} in cdk.json and deploy"
        for option, lack in lacks.items()
        if lack
    ]


def in_s3(asked: JobConfiguration) -> dict[str, str]:
    """The addresses in S3 that stand where files should, by their fields."""
    named = {"data": asked.data, "validation": asked.validation}
    return {field: found for field, path in named.items() if path and (found := _address(path))}


def require_files(asked: JobConfiguration, stage: DeployedStage | None) -> None:
    """Refuse an address in S3 as a job's file.

    Args:
        asked: the configuration.
        stage: what jobs may read; None where nobody asks.

    Raises:
        BadJob: there is one; the message says whether the stage's jobs may read there at all.
    """
    for field, address in in_s3(asked).items():
        if stage is not None and not _within(address, [*_own(stage), *_folders(stage)]):
            raise BadJob(
                f"{field}: {address} is in a bucket outside the allow-list: jobs of the stage "
                f"{stage.stage!r} read {' and '.join([*_own(stage), *_folders(stage)])}; more is "
                "named by read_buckets in cdk.json"
            )
        raise BadJob(
            f"{field}: {address} is not on this machine, where rows are checked before they go to "
            "the stage's bucket: copy it here, and name the copy"
        )


def _address(path: Path) -> str | None:
    """The address that was read as a path, which lost one of its slashes; None of a path."""
    for at, part in enumerate(path.parts):
        if part == "s3:":
            return f"s3://{'/'.join(path.parts[at + 1 :])}"
    return None


def _own(stage: DeployedStage) -> list[str]:
    return [f"s3://{stage.bucket}/{DATA_PREFIX.rstrip('/')}"]


def _folders(stage: DeployedStage) -> list[str]:
    return [each.folder for each in stage.read_buckets]


def _within(address: str, folders: Iterable[str]) -> bool:
    """Whether an address is one of some folders, or lies in one."""
    return any(f"{address.rstrip('/')}/".startswith(f"{folder}/") for folder in folders)


def _logs(asked: InvocationLogs, stage: DeployedStage) -> str | None:
    """The source, where it lies outside of the folders that the stage's jobs read."""
    own = (stage.job_rights.invocation_logs or "").rstrip("/")
    granted = _within(asked.source, [*([own] if own else []), *_folders(stage)])
    return None if granted else asked.source


def _vpc(asked: Vpc, rights: JobRights) -> str | None:
    """The subnets and security groups that are none of the stage's."""
    granted = rights.vpc
    known = {*granted.subnets, *granted.security_groups} if granted else set()
    return ", ".join(each for each in (*asked.subnets, *asked.security_groups) if each not in known)
