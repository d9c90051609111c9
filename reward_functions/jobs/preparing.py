"""A job that has its name and is not started: files read, grader pinned, request written.

What makes two jobs one is decided here: the same configuration, the same bytes and the same version
have one name, and whoever has the name is found before anything is checked or uploaded.

The name of a job is what it is: PREFIX-DIGEST-RUN.

    gsm8k-1f0c9a3e-2    the second run of one configuration, on one version and the same data

Who starts the same job again meets its name, and so finds the job. Both of Bedrock's patterns take
such a name (botocore's model: `JobName` and `CustomModelName`, each of 1 to 63 characters), and
so does that of a client token.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Final

from reward_functions.aws.catalogue import OUTPUT_PREFIX
from reward_functions.jobs.configuration import BadJob, digest
from reward_functions.jobs.data import files_of
from reward_functions.jobs.evaluators import require_fitting, require_here
from reward_functions.jobs.grader import account_of, inspected, pinned
from reward_functions.jobs.hyperparameters import check, written
from reward_functions.jobs.job import JobRequest
from reward_functions.jobs.models import API, find
from reward_functions.jobs.options import check_options, check_rights, require_files, serverless_of
from reward_functions.jobs.own_resources import agent_of, check_resources, granted, with_agent
from reward_functions.jobs.recipes import recipe_of
from reward_functions.jobs.services import SERVICES
from reward_functions.jobs.tags import tags

if TYPE_CHECKING:
    from collections.abc import Callable

    from boto3.session import Session

    from reward_functions.aws.catalogue import DeployedStage
    from reward_functions.jobs.configuration import JobConfiguration
    from reward_functions.jobs.data import JobFiles
    from reward_functions.jobs.grader import PinnedGrader
    from reward_functions.jobs.job import Driver, DriverName, Job
    from reward_functions.jobs.recipes import Recipe
    from reward_functions.serving.contract import ResponseMode


MAX_PREFIX: Final = 40
"""Characters that `configuration.Prefix` allows."""

MAX_RUNS: Final = 999
"""Runs of one configuration; each is looked up by a call."""

_OTHER: Final = re.compile(r"[^a-zA-Z0-9]+")


def prefix_of(text: str) -> str:
    """How a job's name begins, from the name of a deployment or of a function."""
    return _OTHER.sub("-", text).strip("-")[:MAX_PREFIX].strip("-") or "job"


def named(stem: str, run: int) -> str:
    """The name of a run.

    Args:
        stem: PREFIX-DIGEST.
        run: from 1.
    """
    return f"{stem}-{run}"


def next_run(stem: str, driver: Driver, *, again: bool = False) -> tuple[str, Job | None]:
    """The name that a start is about, and the job that has it.

    Args:
        stem: PREFIX-DIGEST.
        driver: is asked for one run after the other.
        again: whether to take the first name that no job has.

    Returns:
        the newest run and its job; the first free name and None where there is no job, or `again`.

    Raises:
        BadJob: there are `MAX_RUNS` already.
        AwsFailed: the service cannot be asked.
    """
    newest: tuple[str, Job | None] = (named(stem, 1), None)
    for run in count(1):
        name = named(stem, run)
        job = driver.find(name)
        if job is None:
            return (name, None) if again else newest
        if run == MAX_RUNS:
            break
        newest = (name, job)
    raise BadJob(f"{stem} ran {MAX_RUNS} times already: change the job's name")


@dataclass(frozen=True, slots=True)
class PreparedJob:
    """A job that has a name and is not started: what its checks are about.

    Args:
        asked: the configuration.
        stage: whose role it runs as, and whose bucket holds its data.
        driver: of the service.
        grader: pinned; None where the reward is the service's own.
        files: read, and not yet uploaded.
        request: what the service will be asked for, without what only the upload says.
        recipe: of a serverless job; None on other services.
    """

    asked: JobConfiguration
    stage: DeployedStage
    driver: DriverName
    grader: PinnedGrader | None
    files: JobFiles
    request: JobRequest
    recipe: Recipe | None = None

    @property
    def response_mode(self) -> ResponseMode:
        """How the service reads what a reward function answers."""
        return self.recipe.response_mode if self.recipe else "list"

    @property
    def rows(self) -> str:
        """The shape in which its files are uploaded (`rows.writing`); "" for their own bytes."""
        return self.recipe.rows if self.recipe else ""


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
    require_files(asked, stage)
    asked = with_agent(asked, stage)
    progress("reading the data")
    files = files_of(asked)
    model = _possible(asked, stage, driver)
    recipe = _recipe(asked, model, stage, driver, session)
    values = recipe.values(asked.hyperparameters, serverless_of(asked)) if recipe else {}
    grader = _graded(asked, stage, driver, session, force=bool(force))
    hashed = _digest(asked, model, files, grader, driver)
    stem = f"{asked.name or _prefix(asked, grader)}-{hashed}"
    progress(f"looking for {stem}")
    name, found = next_run(stem, driver, again=again)
    if found is not None:
        return found
    if grader is not None:
        grader = inspected(grader, session, mode=recipe.response_mode if recipe else "list")
    known = tags(
        grader, stage=stage.stage, digest=hashed, rows=files.prompts, force=force, own=asked.tags
    )
    request = replace(_requested(name, asked, stage, grader, driver), model=model, tags=known)
    if recipe is None:
        return PreparedJob(asked, stage, driver.name, grader, files, request)
    length = {"sequence_length": recipe.sequence_length or None}
    chosen = serverless_of(asked).model_copy(update=length)
    request = replace(request, hyperparameters=values, sagemaker=chosen)
    return PreparedJob(asked, stage, driver.name, grader, files, request, recipe)


def _possible(asked: JobConfiguration, stage: DeployedStage, driver: Driver) -> str:
    """The model as the service names it, where the service and the stage allow the job.

    Raises:
        BadJob: the model is not trained here, a hyperparameter is out of its range, the service has
            no such setting, or the stage grants no right to it.
    """
    check_options(asked, driver.name)
    base = find(asked.model, driver.region, asked.driver)
    if base.driver != driver.name:
        raise BadJob(
            f"model: {asked.model} is trained on {API[base.driver]}; name it with --driver"
        )
    if not SERVICES[driver.name].packages:
        check(driver.name, asked.hyperparameters)
    if not SERVICES[driver.name].graded:
        granted(asked.agent, stage)
        written(asked.hyperparameters)
    _role(stage, driver.name)
    check_rights(asked, stage)
    check_resources(asked, stage, driver.region)
    return base.identifier


def _recipe(
    asked: JobConfiguration,
    model: str,
    stage: DeployedStage,
    driver: Driver,
    session: Session | None,
) -> Recipe | None:
    """The recipe of a serverless job; None on other services.

    Raises:
        BadJob: the model has none for what is asked, or has a licence that nobody accepted.
        AwsFailed: SageMaker's hub cannot be asked.
    """
    if driver.name != "sagemaker":
        return None
    chosen, account = serverless_of(asked), account_of(stage)
    recipe = recipe_of(model, chosen, driver.region, account, session)
    if recipe.gated and not chosen.accept_eula:
        raise BadJob(
            f"sagemaker.accept_eula: {recipe.model} has a licence of its own; read it, and write "
            "accept_eula = true below [sagemaker]"
        )
    if chosen.judge_prompt and chosen.judge_prompt.startswith("arn:"):
        require_here(chosen.judge_prompt, driver.region, account, "sagemaker.judge_prompt")
    return recipe


def _graded(
    asked: JobConfiguration,
    stage: DeployedStage,
    driver: Driver,
    session: Session | None,
    *,
    force: bool,
) -> PinnedGrader | None:
    """The reward function, pinned; None where the reward is the service's own.

    Raises:
        BadJob: the service cannot be given it.
    """
    if asked.deployment is None:
        return None
    if driver.name != "sagemaker":
        return pinned(asked.deployment, stage, driver.region, session, force=force)
    # What moves is refused below, and --force is no remedy: an evaluator takes no version.
    grader = pinned(asked.deployment, stage, driver.region, session, force=True)
    require_fitting(grader.arn)
    return grader


def _prefix(asked: JobConfiguration, grader: PinnedGrader | None) -> str:
    """How a job's name begins, where nobody named it."""
    if grader is not None:
        return prefix_of(grader.deployment or grader.arn.name)
    chosen = serverless_of(asked)
    own = agent_of(asked.agent).short if asked.agent else chosen.preset_reward
    return prefix_of(own or chosen.technique.lower())


def _role(stage: DeployedStage, driver: DriverName) -> str:
    """What a service's jobs run as; "" where they run as nobody.

    Raises:
        BadJob: the stage has no role for them.
    """
    service = SERVICES[driver]
    role: str | None = getattr(stage, service.role) if service.role else ""
    if not role and service.made_by:
        raise BadJob(
            f"the stage {stage.stage!r} has no role for jobs of {service.called}: set "
            f"{service.made_by} for it in cdk.json and deploy"
        )
    return role or ""


def _digest(
    asked: JobConfiguration,
    model: str,
    files: JobFiles,
    grader: PinnedGrader | None,
    driver: Driver,
) -> str:
    """How a number or a model is written, and whether the driver is named, make no other job."""
    numbers = {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in asked.hyperparameters.items()
    }
    written = {"driver": driver.name, "model": model, "hyperparameters": numbers}
    same = asked.model_copy(update=written)
    given = str(grader.arn) if grader else asked.agent or ""
    return digest(grader=given, contents=dict(files.hashes), asked=same)


def _requested(
    name: str,
    asked: JobConfiguration,
    stage: DeployedStage,
    grader: PinnedGrader | None,
    driver: Driver,
) -> JobRequest:
    """What the service is asked for, without what only the upload and the data say."""
    logs, role = asked.invocation_logs, _role(stage, driver.name)
    output = f"s3://{stage.bucket}/{OUTPUT_PREFIX}{name}/"
    return JobRequest(
        name=name,
        token=name,
        model=asked.model,
        grader=str(grader.arn) if grader else "",
        hyperparameters=asked.hyperparameters,
        role=role,
        output=output if SERVICES[driver.name].bucket else "",
        logs=logs.source if logs else "",
        use_prompt_response=logs.use_prompt_response if logs else False,
        filters=logs.filters if logs else None,
        sagemaker=asked.sagemaker,
        agent=asked.agent or "",
        model_key=asked.model_key or "",
        vpc=asked.vpc,
    )
