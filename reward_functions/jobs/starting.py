"""A job is started once, however often it is asked for, and nothing is left of one that is refused.

    1  read the files, pin the grader: together they are the name
    2  a job has the name already: that is the job
    3  every check; a failure ends here, unless it is forced
    4  upload, under the job's name: what is there already is not sent again
    5  create, with the name as its token

Before step 4 nothing exists anywhere. An interruption after it leaves a file under a name that the
next attempt has too.

The name of a job is what it is: PREFIX-DIGEST-RUN. The same configuration, the same bytes and the
same version have one name, and a job that has it is found before anything is checked or uploaded.

    gsm8k-1f0c9a3e-2    the second run of one configuration, on one version and the same data

Both of Bedrock's patterns take such a name (botocore's model: `JobName` and `CustomModelName`, each
of 1 to 63 characters), and so does that of a client token.

The rows of a job's file are converted on the way to its service, as that reads them: Nova's jobs
read rows as they are; those of open weights read verl's (`rows.writing`).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.aws.catalogue import OUTPUT_PREFIX, DeployedStage
from reward_functions.aws.failures import AwsFailed
from reward_functions.data.atomic import named
from reward_functions.data.json_rows import BadInput
from reward_functions.data.rows.reading import prompts_of
from reward_functions.data.rows.writing import write
from reward_functions.jobs.configuration import BadJob, JobConfiguration, digest
from reward_functions.jobs.data import JobFiles, files_of
from reward_functions.jobs.evaluators import require_fitting, require_here
from reward_functions.jobs.grader import PinnedGrader, account_of, inspected, pinned
from reward_functions.jobs.hyperparameters import check, written
from reward_functions.jobs.job import Call, Driver, Job, JobRequest
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
from reward_functions.jobs.preflight import of_the_service
from reward_functions.jobs.preflight import preflight as checked
from reward_functions.jobs.recipes import Recipe, recipe_of
from reward_functions.jobs.services import SERVICES, DriverName, Service
from reward_functions.jobs.tags import tags

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from boto3.session import Session

    from reward_functions.aws.deployed.findings import CheckFinding, CheckReport
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
        if self.driver.name != "sagemaker":
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
        evaluated = self.driver.name == "sagemaker"
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
        service = self.service
        role: str | None = getattr(self.stage, service.role) if service.role else ""
        if not role and service.made_by:
            raise BadJob(
                f"the stage {self.stage.stage!r} has no role for jobs of {service.called}: set "
                f"{service.made_by} for it in cdk.json and deploy"
            )
        return role or ""

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


def converted(file: Path, shape: str) -> Path:
    """A file of the same rows in a shape, beside the first; the file itself where none is asked.

    Args:
        file: of any shape that `reward data` reads.
        shape: one of `rows.writing.WRITERS`; "" for the file's own bytes.

    Raises:
        BadJob: a row cannot be read, or is not of its file's shape.
        OSError: the file cannot be read, or the other not be written.
    """
    if not shape:
        return file
    made = file.with_name(f"{file.stem}.{shape}.jsonl")
    try:
        with named(made), made.open("w", encoding="utf-8") as lines:
            for row in prompts_of(str(file)):
                content = write(row.content, shape).content
                lines.write(json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n")
    except (BadInput, ValueError) as error:
        raise BadJob(f"data: {str(error).replace(f'{file.parent}/', '')}") from None
    return made


REFUSED: Final = frozenset({"denied", "missing", "conflict", "limit", "invalid"})
"""Kinds of failures after which no job was started; after every other, one may have been, or the
same request is taken later."""

FORCE: Final = "--force REASON passes this over, and tags the job with the reason"

SERVICES_OWN: Final = "the service itself refuses this"
"""What a refusal ends with: `--force` is no remedy for a limit of the service."""

UPLOADED: Final = {"data": "", "validation": ".validation"}
"""What the name of each file adds to the job's."""

SHOWN: Final = 3
"""Failures that a refusal names; `reward job preflight` shows all."""


@dataclass(frozen=True, slots=True)
class Started:
    """The one job of a start.

    Args:
        job: as its service describes it.
        fresh: whether it was made now; otherwise it was there before.
        findings: of the checks; empty where the job was there before. Failures among them were
            forced.
    """

    job: Job
    fresh: bool
    findings: tuple[CheckFinding, ...] = ()


class StartRefused(BadJob):
    """The checks failed, and nothing was started.

    Attributes:
        failures: those of the checks, at least one.
        hint: what passes them over, or that nothing does.
    """

    def __init__(self, report: CheckReport) -> None:
        failures = [each for each in report.findings if each.verdict == "failure"]
        self.failures = failures
        # A message of the configuration's own begins with the field already.
        named = "; ".join(
            f"{each.question}: {each.message.removeprefix(f'{each.question}: ')}"
            for each in failures[:SHOWN]
        )
        more = f"; and {len(failures) - SHOWN} more" if len(failures) > SHOWN else ""
        self.hint = SERVICES_OWN if any(map(of_the_service, failures)) else FORCE
        super().__init__(f"nothing was started: {named}{more} ({self.hint})")


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a start would do.

    Args:
        name: of the job.
        uploads: where each file would go, by the field that names it.
        calls: that would follow, in their order.
        rows: the shape that the files would be written in; "" for their own bytes.
    """

    name: str
    uploads: Mapping[str, str]
    calls: list[Call]
    rows: str = ""


def dry_run(
    asked: JobConfiguration,
    stage: DeployedStage,
    driver: Driver,
    *,
    session: Session | None = None,
    again: bool = False,
    force: str = "",
    progress: Callable[[str], object] = lambda _: None,
) -> DryRun | Job:
    """What a start would send, without sending it: AWS is read, and no function is invoked.

    The checks that ask the deployed reward do not run.

    Args:
        asked: as for `start`, and so is the rest.
        stage: as there.
        driver: as there.
        session: as there.
        again: as there.
        force: as there.
        progress: as there.

    Returns:
        the calls; or the job that has the name already, for which there are none.

    Raises:
        BadJob, NotDeployed, AwsFailed, OSError: as `start`.
    """
    job = prepared(
        asked, stage, driver, session=session, again=again, force=force, progress=progress
    )
    if isinstance(job, Job):
        return job
    name = job.request.name
    with job.files.copies() as copies:
        for copy in copies.values():
            converted(copy, job.rows)
    uploads = {field: driver.address(f"{name}{UPLOADED[field]}") for field in job.files.paths}
    request = replace(
        job.request, training=uploads.get("data", ""), validation=uploads.get("validation", "")
    )
    return DryRun(name, uploads, driver.calls(request), job.rows)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in the middle of a start; the message says what exists now."""


def start(
    asked: JobConfiguration,
    stage: DeployedStage,
    driver: Driver,
    *,
    preflight: Callable[[PreparedJob], CheckReport] | None = None,
    session: Session | None = None,
    again: bool = False,
    force: str = "",
    progress: Callable[[str], object] = lambda _: None,
) -> Started:
    """Start a job, or find the one that was started.

    Args:
        asked: what is to be trained, on what, with which reward.
        stage: that is deployed in the account and region of the driver.
        driver: of the service.
        preflight: checks a job before it costs anything; `jobs.preflight` where not given.
        session: boto3's, for the catalogue and the function; the caller's own where not given.
        again: start the next run of a configuration that ran before.
        force: why failures of the checks are passed over; "" where they are not.
        progress: called with what begins.

    Raises:
        BadJob: it cannot run as it is asked for; the message names the field. Nothing was uploaded.
        Refused: a check failed. Nothing was uploaded.
        NotDeployed: the stage has no such deployment.
        AwsFailed: the service refused it, or cannot be reached; a refused job's data are removed.
        OSError: a file cannot be read.
        Interrupted: by Ctrl-C.
    """
    existing = "interrupted: nothing was uploaded or started"
    try:
        job = prepared(
            asked, stage, driver, session=session, again=again, force=force, progress=progress
        )
        if isinstance(job, Job):
            return Started(job, fresh=False)
        progress("checking the data, the reward, the role and the model")
        report = preflight(job) if preflight else checked(job, session, progress=progress)
        if not (report.passed or force):
            raise StartRefused(report)
        name = job.request.name
        progress("uploading the data")
        existing = (
            f"interrupted while uploading: {name} was not started, and its data may be there; the "
            "same command goes on from there"
        )
        request = _uploaded(job, driver)
        progress("creating the job")
        existing = (
            f"interrupted while creating: {name} may have been started; the same command"
            f"{' without --again' if again else ''} shows it"
        )
        return Started(_created(request, driver), fresh=True, findings=report.findings)
    except KeyboardInterrupt:
        raise Interrupted(existing) from None


def _uploaded(job: PreparedJob, driver: Driver) -> JobRequest:
    """The request, with exactly the bytes that name the job.

    Raises:
        BadJob: a file changed meanwhile; nothing was uploaded.
    """
    name = job.request.name
    with job.files.copies() as copies:
        ready = {field: converted(copy, job.rows) for field, copy in copies.items()}
        uploaded = {
            field: driver.upload(copy, f"{name}{UPLOADED[field]}") for field, copy in ready.items()
        }
    return replace(
        job.request,
        training=uploaded.get("data", ""),
        validation=uploaded.get("validation", ""),
    )


def _created(request: JobRequest, driver: Driver) -> Job:
    """The job, also where its answer was lost on the way.

    Raises:
        BadJob: something else has the name.
        AwsFailed: it was refused, and its data are removed; or nobody knows, and they stay.
    """
    try:
        return driver.start(request)
    except BadJob as error:
        # What has the name may be a job, and then the uploaded files are its own.
        kept = "" if _looked_for(request.name, driver) else _discarded(request, driver)
        raise BadJob(f"nothing was started: {error}{kept}") from None
    except AwsFailed as error:
        if error.kind in REFUSED:
            kept = _discarded(request, driver)
            raise AwsFailed(f"nothing was started: {error}{kept}", error.code) from None
        if job := _looked_for(request.name, driver):
            return job
        raise AwsFailed(
            f"{error}; its data are uploaded: the same command goes on from there, and starts no "
            "second job",
            error.code,
        ) from None


def _looked_for(name: str, driver: Driver) -> Job | None:
    try:
        return driver.find(name)
    except AwsFailed:
        return None


def _discarded(request: JobRequest, driver: Driver) -> str:
    """What to add to a refusal: nothing where the uploaded files are gone again."""
    kept = []
    for uploaded in filter(None, (request.training, request.validation)):
        try:
            driver.discard(uploaded)
        except AwsFailed:
            kept.append(uploaded)
    return f"; {' and '.join(kept)} cannot be removed and stays" if kept else ""
