"""A job is started once, however often it is asked for, and nothing is left of one that is refused.

    1  read the files, pin the grader: together they are the name
    2  a job has the name already: that is the job
    3  every check; a failure ends here, unless it is forced
    4  upload, under the job's name: what is there already is not sent again
    5  create, with the name as its token

Before step 4 nothing exists anywhere. An interruption after it leaves a file under a name that the
next attempt has too.

The rows of a job's file are converted on the way to its service, as that reads them: Nova's jobs
read rows as they are; those of open weights read verl's (`rows.writing`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from reward_functions.aws.failures import AwsFailed
from reward_functions.data.atomic import named
from reward_functions.data.json_rows import BadInput
from reward_functions.data.rows.reading import prompts_of
from reward_functions.data.rows.writing import write
from reward_functions.jobs.configuration import BadJob, JobConfiguration
from reward_functions.jobs.job import Call, Driver, Job, JobRequest
from reward_functions.jobs.preflight import of_the_service
from reward_functions.jobs.preflight import preflight as checked
from reward_functions.jobs.preparing import PreparedJob, prepared

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from boto3.session import Session

    from reward_functions.aws.catalogue import DeployedStage
    from reward_functions.aws.deployed.findings import CheckFinding, CheckReport


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
    """The acts of a start, before they happen.

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
    """The calls of a start, without sending them: AWS is read, and no function is invoked.

    The checks that ask the deployed reward do not run.

    Args:
        asked: as for `start`, and so is the rest.
        stage: as for `start`.
        driver: as for `start`.
        session: as for `start`.
        again: as for `start`.
        force: as for `start`.
        progress: as for `start`.

    Returns:
        the calls; or the job that has the name already, which needs no calls.

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
