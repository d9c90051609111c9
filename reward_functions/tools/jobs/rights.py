"""What a job may use beside the stage's bucket and rewards: the stage's `job_rights` in `cdk.json`.

    option of a job      field of the stage           granted where
    invocation_logs      job_rights.invocation_logs   the source is that folder, or lies in it
    vpc                  job_rights.vpc               its subnets and groups are among those
    model_key            job_rights.model_key         it is that key

A stage that was deployed before it had such rights grants none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.tools.jobs.configuration import BadJob

if TYPE_CHECKING:
    from reward_functions.serving.catalogue import DeployedStage, JobRights
    from reward_functions.tools.jobs.configuration import InvocationLogs, JobConfiguration
    from reward_functions.tools.jobs.parts import Vpc


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
        "invocation_logs": asked.invocation_logs and _logs(asked.invocation_logs, rights),
        "vpc": asked.vpc and _vpc(asked.vpc, rights),
        "model_key": asked.model_key if asked.model_key != rights.model_key else None,
    }
    return [
        f"{option}: the stage {stage.stage!r} grants its jobs no right to {lack}: "
        f"set job_rights.{option} in cdk.json and deploy"
        for option, lack in lacks.items()
        if lack
    ]


def _logs(asked: InvocationLogs, rights: JobRights) -> str | None:
    """The source, where it lies outside of the stage's folder."""
    folder = (rights.invocation_logs or "").rstrip("/")
    within = folder and f"{asked.source.rstrip('/')}/".startswith(f"{folder}/")
    return None if within else asked.source


def _vpc(asked: Vpc, rights: JobRights) -> str | None:
    """The subnets and security groups that are none of the stage's."""
    granted = rights.vpc
    known = {*granted.subnets, *granted.security_groups} if granted else set()
    return ", ".join(each for each in (*asked.subnets, *asked.security_groups) if each not in known)
