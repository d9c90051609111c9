"""A job that has its name and is not started: files read, grader pinned, request written.

What makes two jobs one is decided here: the same configuration, the same bytes and the same version
have one name, and whoever has the name is found before anything is checked or uploaded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from reward_functions.serving.catalogue import OUTPUT_PREFIX
from reward_functions.tools.jobs.configuration import BadJob, digest
from reward_functions.tools.jobs.data import files_of
from reward_functions.tools.jobs.grader import inspected, pinned
from reward_functions.tools.jobs.hyperparameters import check
from reward_functions.tools.jobs.job import JobRequest
from reward_functions.tools.jobs.models import API, find
from reward_functions.tools.jobs.naming import next_run, prefix_of
from reward_functions.tools.jobs.rights import check_rights
from reward_functions.tools.jobs.tags import tags

if TYPE_CHECKING:
    from collections.abc import Callable

    from boto3.session import Session

    from reward_functions.serving.catalogue import DeployedStage
    from reward_functions.tools.jobs.configuration import JobConfiguration
    from reward_functions.tools.jobs.data import JobFiles
    from reward_functions.tools.jobs.grader import PinnedGrader
    from reward_functions.tools.jobs.job import Driver, Job

CONTROL_PLANE_ALONE: Final = ("invocation_logs", "model_key", "vpc")
"""Fields of a configuration for which the OpenAI-compatible API has no words."""


@dataclass(frozen=True, slots=True)
class PreparedJob:
    """A job that has a name and is not started: what its checks are about.

    Args:
        asked: the configuration.
        stage: whose role it runs as, and whose bucket holds its data.
        grader: pinned.
        files: read, and not yet uploaded.
        request: what the service will be asked for, without what only the upload says.
    """

    asked: JobConfiguration
    stage: DeployedStage
    grader: PinnedGrader
    files: JobFiles
    request: JobRequest


def prepared(
    asked: JobConfiguration,
    stage: DeployedStage,
    driver: Driver,
    *,
    session: Session | None = None,
    again: bool = False,
    force: str = "",
    progress: Callable[[str], object] = lambda _: None,
) -> PreparedJob | Job:
    """A job with its name; where one has this name already, that one.

    Nothing is uploaded, and nothing is checked that takes an invocation.

    Args:
        asked: what is to be trained, on what, with which reward.
        stage: that is deployed in the account and region of the driver.
        driver: of the service.
        session: boto3's, for the catalogue and the function; the caller's own where not given.
        again: take the first name that no job has.
        force: why checks will be passed over; "" where they will not.
        progress: called with what begins.

    Raises:
        BadJob: it cannot run as it is asked for; the message names the field.
        NotDeployed: the stage has no such deployment.
        AwsFailed: a service cannot be asked.
        OSError: a file cannot be read.
    """
    progress("reading the data")
    files = files_of(asked)
    model = _possible(asked, stage, driver)
    grader = pinned(asked.deployment, stage, driver.region, session, force=bool(force))
    hashed = _digest(asked, model, files, grader, driver)
    stem = f"{asked.name or prefix_of(grader.deployment or grader.arn.name)}-{hashed}"
    progress(f"looking for {stem}")
    name, found = next_run(stem, driver, again=again)
    if found is not None:
        return found
    grader = inspected(grader, session)
    known = tags(
        grader, stage=stage.stage, digest=hashed, rows=files.prompts, force=force, own=asked.tags
    )
    request = replace(_requested(name, asked, stage, grader, driver), model=model, tags=known)
    return PreparedJob(asked, stage, grader, files, request)


def _possible(asked: JobConfiguration, stage: DeployedStage, driver: Driver) -> str:
    """The model as the service names it, where the service and the stage allow the job.

    Raises:
        BadJob: the model is not trained here, a hyperparameter is out of its range, the service has
            no such setting, or the stage grants no right to it.
    """
    if driver.name == "openai":
        for name in CONTROL_PLANE_ALONE:
            if getattr(asked, name) is not None:
                raise BadJob(f"{name}: the OpenAI-compatible API has no such setting; leave it out")
    base = find(asked.model, driver.region, asked.driver)
    if base.driver != driver.name:
        raise BadJob(
            f"model: {asked.model} is trained on {API[base.driver]}; name it with --driver"
        )
    check(driver.name, asked.hyperparameters)
    check_rights(asked, stage)
    return base.identifier


def _digest(
    asked: JobConfiguration, model: str, files: JobFiles, grader: PinnedGrader, driver: Driver
) -> str:
    """How a number or a model is written, and whether the driver is named, make no other job."""
    numbers = {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in asked.hyperparameters.items()
    }
    written = {"driver": driver.name, "model": model, "hyperparameters": numbers}
    same = asked.model_copy(update=written)
    return digest(grader=str(grader.arn), contents=dict(files.hashes), asked=same)


def _requested(
    name: str,
    asked: JobConfiguration,
    stage: DeployedStage,
    grader: PinnedGrader,
    driver: Driver,
) -> JobRequest:
    """What the service is asked for, without what only the upload and the data say."""
    logs, bedrock = asked.invocation_logs, driver.name == "bedrock"
    return JobRequest(
        name=name,
        token=name,
        model=asked.model,
        grader=str(grader.arn),
        hyperparameters=asked.hyperparameters,
        role=stage.training_role_arn if bedrock else "",
        output=f"s3://{stage.bucket}/{OUTPUT_PREFIX}{name}/" if bedrock else "",
        logs=logs.source if logs else "",
        use_prompt_response=logs.use_prompt_response if logs else False,
        filters=logs.filters if logs else None,
        model_key=asked.model_key or "",
        vpc=asked.vpc,
    )
