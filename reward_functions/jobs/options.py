"""Which service has a place for which field of a configuration, and what a stage grants its jobs.

A field that a service has no words for is refused by its name: left out of a request in silence, it
would be believed to hold.

What a job may use beside the stage's bucket and rewards is the stage's `job_rights` in `cdk.json`.

    option of a job      field of the stage           granted where
    invocation_logs      job_rights.invocation_logs   the source is that folder, or lies in it
                         read_buckets                 the same, of any of them
    vpc                  job_rights.vpc               its subnets and groups are among those
    model_key            job_rights.model_key         it is that key

A stage that was deployed before it had such rights grants none of them. The rows of a job are read
on this machine and uploaded to the stage's bucket: no address of S3 stands for a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.aws.catalogue import DATA_PREFIX
from reward_functions.jobs.configuration import MISSING_DEPLOYMENT, BadJob
from reward_functions.jobs.models import API
from reward_functions.jobs.services import SERVICES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from reward_functions.aws.catalogue import DeployedStage, JobRights
    from reward_functions.jobs.configuration import (
        InvocationLogs,
        JobConfiguration,
        Serverless,
        Vpc,
    )
    from reward_functions.jobs.job import DriverName

SOME: Final = ("deployment", "agent", "sagemaker", "invocation_logs", "model_key", "vpc")
"""Fields that some services have no place for; every service takes the others."""

SERVERLESS_ALONE: Final = ("preset_reward", "judge", "judge_prompt", "sequence_length")
"""Fields below `[sagemaker]` that its multi-turn jobs have no place for."""

MISSING: Final = MISSING_DEPLOYMENT.format(file="the job's file")

JUDGED: Final = ("judge", "judge_prompt")


def check_options(asked: JobConfiguration, driver: DriverName) -> None:
    """Refuse what a service has no place for, and what it needs and was not given.

    Raises:
        BadJob: the message names the field.
    """
    for name in SOME:
        if getattr(asked, name) is not None and name not in SERVICES[driver].takes:
            raise BadJob(f"{name}: {API[driver]} has no such setting; leave it out")
    if driver == "sagemaker":
        _check_rewards(asked)
    elif not SERVICES[driver].graded:
        _check_agent(asked)
    else:
        deployment_of(asked)


def deployment_of(asked: JobConfiguration) -> str:
    """The reward that a job names.

    Raises:
        BadJob: it names none.
    """
    if asked.deployment is None:
        raise BadJob(MISSING)
    return asked.deployment


def serverless_of(asked: JobConfiguration) -> Serverless:
    """What a user wrote for SageMaker's jobs; the defaults where nothing was written."""
    from reward_functions.jobs.configuration import Serverless  # noqa: PLC0415 - for its defaults

    return asked.sagemaker or Serverless()


def _check_rewards(asked: JobConfiguration) -> None:
    """Exactly one reward: a function of ours, one of the service's own, or its judge."""
    chosen = serverless_of(asked)
    for problem in _of_technique(chosen):
        raise BadJob(problem)
    rewards = [
        name
        for name, there in {
            "deployment": asked.deployment,
            "sagemaker.preset_reward": chosen.preset_reward,
            'sagemaker.technique "RLAIF"': chosen.technique == "RLAIF",
        }.items()
        if there
    ]
    if not rewards:
        raise BadJob(f"{MISSING}; or sagemaker.preset_reward, the service's own")
    if len(rewards) > 1:
        raise BadJob(f"{rewards[0]}: a job has one reward, and {rewards[1]} is another; keep one")


def _of_technique(chosen: Serverless) -> Iterator[str]:
    """What does not go with the technique, or is missing from it."""
    if chosen.technique == "RLAIF":
        for name in JUDGED:
            if getattr(chosen, name) is None:
                yield (
                    f"sagemaker.{name} is missing: a job of RLAIF is judged by a model, with a "
                    f"prompt: {name} = … below [sagemaker]"
                )
        return
    for name in JUDGED:
        if getattr(chosen, name) is not None:
            yield (
                f'sagemaker.{name} is for RLAIF: write technique = "RLAIF" below [sagemaker], or '
                "leave it out"
            )


def _check_agent(asked: JobConfiguration) -> None:
    if asked.agent is None:
        raise BadJob(
            "agent is missing: agent = … in the job's file, the ARN of a Lambda forwarder or an "
            "AgentCore runtime"
        )
    chosen = serverless_of(asked)
    for name in SERVERLESS_ALONE:
        if getattr(chosen, name) is not None:
            raise BadJob(f"sagemaker.{name}: {API['agent-rft']} have no such setting; leave it out")
    if chosen.technique != "RLVR" or chosen.peft != "LORA":
        raise BadJob(
            f"sagemaker: {API['agent-rft']} choose technique and adapters themselves; leave "
            "technique and peft out"
        )


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
        if stage is not None:
            read = [f"s3://{stage.bucket}/{DATA_PREFIX.rstrip('/')}", *_folders(stage)]
            if not _within(address, read):
                raise BadJob(
                    f"{field}: {address} is in a bucket outside the allow-list: jobs of the stage "
                    f"{stage.stage!r} read {' and '.join(read)}; more is named by read_buckets in "
                    "cdk.json"
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
