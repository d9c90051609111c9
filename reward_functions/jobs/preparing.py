"""A job that has its name and is not started: files read, grader pinned, request written.

The name of a job is what it is: PREFIX-DIGEST-RUN. The same configuration, the same bytes and the
same version have one name, and a job that has it is found before anything is checked or uploaded.

    gsm8k-1f0c9a3e-2    the second run of one configuration, on one version and the same data

Both of Bedrock's patterns take such a name (botocore's model: `JobName` and `CustomModelName`, each
of 1 to 63 characters), and so does that of a client token.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.aws.catalogue import OUTPUT_PREFIX, DeployedStage
from reward_functions.jobs.configuration import BadJob, JobConfiguration, digest
from reward_functions.jobs.data import JobFiles, files_of
from reward_functions.jobs.evaluators import require_fitting, require_here
from reward_functions.jobs.grader import PinnedGrader, account_of, inspected, pinned
from reward_functions.jobs.hyperparameters import check, written
from reward_functions.jobs.job import Driver, Job, JobRequest
from reward_functions.jobs.models import API, find
from reward_functions.jobs.options import (
    agent_of,
    check_options,
    check_resources,
    check_rights,
    granted,
    require_files,
    serverless_of,
    with_agent,
)
from reward_functions.jobs.recipes import Recipe, recipe_of
from reward_functions.jobs.services import SERVICES, DriverName, Service
from reward_functions.jobs.tags import tags

if TYPE_CHECKING:
    from collections.abc import Callable

    from boto3.session import Session

    from reward_functions.serving.contract import ResponseMode


MAX_PREFIX: Final = 40
"""Characters that `configuration.Prefix` allows."""

MAX_RUNS: Final = 999
"""Runs of one configuration; each is looked up by a call."""

_OTHER: Final = re.compile(r"[^a-zA-Z0-9]+")


def prefix_of(text: str) -> str:
    """How a job's name begins, from the name of a deployment or of a function."""
    return _OTHER.sub("-", text).strip("-")[:MAX_PREFIX].strip("-") or "job"


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
    newest: tuple[str, Job | None] = (f"{stem}-1", None)
    for run in count(1):
        name = f"{stem}-{run}"
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
    wanted = _Wanted(with_agent(asked, stage), stage, driver, session)
    asked = wanted.asked
    progress("reading the data")
    files = files_of(asked)
    model = wanted.possible_model()
    recipe = wanted.recipe(model)
    values = recipe.values(asked.hyperparameters, serverless_of(asked)) if recipe else {}
    grader = wanted.grader(force=bool(force))
    hashed = wanted.digest(model, files, grader)
    stem = f"{asked.name or wanted.prefix(grader)}-{hashed}"
    progress(f"looking for {stem}")
    name, found = next_run(stem, driver, again=again)
    if found is not None:
        return found
    if grader is not None:
        grader = inspected(grader, session, mode=recipe.response_mode if recipe else "list")
    known = tags(
        grader, stage=stage.stage, digest=hashed, rows=files.prompts, force=force, own=asked.tags
    )
    request = replace(wanted.request(name, grader), model=model, tags=known)
    if recipe is not None:
        length = {"sequence_length": recipe.sequence_length or None}
        chosen = serverless_of(asked).model_copy(update=length)
        request = replace(request, hyperparameters=values, sagemaker=chosen)
    return PreparedJob(asked, stage, driver.name, grader, files, request, recipe)


class _Wanted(NamedTuple):
    """A job that is asked for, and where. Methods raise `BadJob` for what cannot be."""

    asked: JobConfiguration
    stage: DeployedStage
    driver: Driver
    session: Session | None

    @property
    def service(self) -> Service:
        """What the service does not share with the others."""
        return SERVICES[self.driver.name]

    def possible_model(self) -> str:
        """The model as the service names it, where the service and the stage allow the job."""
        asked, driver, stage = self.asked, self.driver, self.stage
        check_options(asked, driver.name)
        base = find(asked.model, driver.region, asked.driver)
        if base.driver != driver.name:
            raise BadJob(
                f"model: {asked.model} is trained on {API[base.driver]}; name it with --driver"
            )
        if not self.service.packages:
            check(driver.name, asked.hyperparameters)
        if not self.service.graded:
            granted(asked.agent, stage)
            written(asked.hyperparameters)
        self.role()
        check_rights(asked, stage)
        check_resources(asked, stage, driver.region)
        return base.identifier

    def recipe(self, model: str) -> Recipe | None:
        """The recipe of a serverless job; None on other services.

        Raises:
            AwsFailed: SageMaker's hub cannot be asked.
        """
        if not self.service.recipes:
            return None
        chosen, account = serverless_of(self.asked), account_of(self.stage)
        recipe = recipe_of(model, chosen, self.driver.region, account, self.session)
        if recipe.gated and not chosen.accept_eula:
            raise BadJob(
                f"sagemaker.accept_eula: {recipe.model} has a licence of its own; read it, and "
                "write accept_eula = true below [sagemaker]"
            )
        if chosen.judge_prompt and chosen.judge_prompt.startswith("arn:"):
            require_here(chosen.judge_prompt, self.driver.region, account, "sagemaker.judge_prompt")
        return recipe

    def grader(self, *, force: bool) -> PinnedGrader | None:
        """The reward function, pinned; None where the reward is the service's own."""
        if self.asked.deployment is None:
            return None
        # An evaluator takes no version, so that --force is no remedy for what moves.
        evaluated = self.service.recipes
        grader = pinned(
            self.asked.deployment,
            self.stage,
            self.driver.region,
            self.session,
            force=force or evaluated,
        )
        if evaluated:
            require_fitting(grader.arn)
        return grader

    def prefix(self, grader: PinnedGrader | None) -> str:
        """How a job's name begins, where nobody named it."""
        if grader is not None:
            return prefix_of(grader.deployment or grader.arn.name)
        chosen, agent = serverless_of(self.asked), self.asked.agent
        own = agent_of(agent).short if agent else chosen.preset_reward
        return prefix_of(own or chosen.technique.lower())

    def role(self) -> str:
        """What the jobs run as; "" where they run as nobody."""
        service, role = self.service, self.service.role
        found = role.of(self.stage) if role else ""
        if role and role.made_by and not found:
            raise BadJob(
                f"the stage {self.stage.stage!r} has no role for jobs of {service.called}: set "
                f"{role.made_by} for it in cdk.json and deploy"
            )
        return found

    def digest(self, model: str, files: JobFiles, grader: PinnedGrader | None) -> str:
        """How a number or a model is written, and whether a driver is named, make no other job."""
        numbers = {
            name: int(value) if isinstance(value, float) and value.is_integer() else value
            for name, value in self.asked.hyperparameters.items()
        }
        same = self.asked.model_copy(
            update={"driver": self.driver.name, "model": model, "hyperparameters": numbers}
        )
        given = str(grader.arn) if grader else self.asked.agent or ""
        return digest(grader=given, contents=dict(files.hashes), asked=same)

    def request(self, name: str, grader: PinnedGrader | None) -> JobRequest:
        """What the service is asked for, without what only the upload and the data say."""
        asked, logs = self.asked, self.asked.invocation_logs
        output = f"s3://{self.stage.bucket}/{OUTPUT_PREFIX}{name}/"
        return JobRequest(
            name=name,
            token=name,
            model=asked.model,
            grader=str(grader.arn) if grader else "",
            hyperparameters=asked.hyperparameters,
            role=self.role(),
            output=output if self.service.bucket else "",
            logs=logs.source if logs else "",
            use_prompt_response=logs.use_prompt_response if logs else False,
            filters=logs.filters if logs else None,
            sagemaker=asked.sagemaker,
            agent=asked.agent or "",
            model_key=asked.model_key or "",
            vpc=asked.vpc,
        )
