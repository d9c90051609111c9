"""Whether a job can teach anything, and whether it may run: asked before it costs anything.

    subject     checks
    data        the linter's errors are failures
    reward      the contract of the deployed version; what it pays on the job's own rows
    baseline    what the model earns before training, by the services' rule; or "not measured"
    role        trust, and the rights to invoke, read and write, simulated (Bedrock alone)
    capacity    Lambda's concurrency beside a step's rollouts
    model       the table of models; the name of the model to be

One failure is enough not to start. `start --force REASON` passes it over, and tags the job.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reward_functions.core.types import Sample
from reward_functions.serving.catalogue import JOB_DATA_PREFIX
from reward_functions.serving.contract import decode_row
from reward_functions.tools.deployed.findings import CheckReport
from reward_functions.tools.jobs.baseline_record import FILE, baseline_findings, saved
from reward_functions.tools.jobs.checks.capacity import capacity_findings
from reward_functions.tools.jobs.checks.data import data_findings
from reward_functions.tools.jobs.checks.grader import contract_findings, reward_findings
from reward_functions.tools.jobs.checks.model import base_findings, name_finding
from reward_functions.tools.jobs.checks.role import Uses, role_findings
from reward_functions.tools.jobs.clients import endpoints
from reward_functions.tools.jobs.scorer import scorer_named
from reward_functions.tools.json_rows import Row, scan_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from boto3.session import Session

    from reward_functions.tools.deployed.findings import CheckFinding
    from reward_functions.tools.jobs.preparing import PreparedJob
    from reward_functions.tools.jobs.scorer import VersionScorer


def preflight(
    job: PreparedJob,
    session: Session | None = None,
    *,
    baseline: Path = Path(FILE),
    rows: int = 0,
    progress: Callable[[str], object] = lambda _: None,
) -> CheckReport:
    """Check everything that can be checked before a job costs anything.

    The deployed version is invoked some thirty times; a judge asks its model about each answer.
    Nothing is written anywhere.

    Args:
        job: what would be started.
        session: boto3's; the caller's own where not given.
        baseline: where a record of a baseline would be.
        rows: on which the reward is tried; 0 for the usual number.
        progress: called with the step that begins.

    Raises:
        AwsFailed: a service cannot be reached, or the version cannot be invoked at all.
        WrongEndpoint: a call would reach another AWS than the one that is meant.
        OSError: a file cannot be read.
    """
    scorer = scorer_named(str(job.grader.arn), job.stage.stage, session)
    found = _findings(job, scorer, session, baseline=baseline, rows=rows, progress=progress)
    return CheckReport(str(job.grader.arn), tuple(found))


def _findings(
    job: PreparedJob,
    scorer: VersionScorer,
    session: Session | None,
    *,
    baseline: Path,
    rows: int,
    progress: Callable[[str], object],
) -> Iterator[CheckFinding]:
    region, request = job.grader.arn.region, job.request
    yield from base_findings(job.asked.model, region, job.asked.driver)
    if request.role:
        progress("looking for a model of this name")
        yield name_finding(request.name, region, session)
    progress("linting the data")
    yield from data_findings([*job.files.paths.values()], scorer.spec)
    if request.role:
        progress("simulating the role")
        yield from role_findings(request.role, _uses(job), region, session)
    progress("reading the concurrency")
    yield from capacity_findings(scorer.function, request.hyperparameters)
    if "data" in job.files.paths:
        yield from baseline_findings(
            saved(baseline),
            model=request.model,
            data=job.files.hashes["data"],
            scorer=scorer,
            simulation=endpoints(session).local,
        )
    yield from contract_findings(scorer, progress)
    files = [job.files.paths["data"]] if "data" in job.files.paths else []
    samples, places = readable(files)
    file = "".join(map(str, files))
    yield from reward_findings(scorer, samples, places, rows=rows, file=file, progress=progress)


def _uses(job: PreparedJob) -> Uses:
    """What the job's role has to be allowed; files have their addresses before they are sent."""
    bucket, name = job.stage.bucket, job.request.name
    suffixes = {"data": "", "validation": ".validation"}
    files = [
        f"s3://{bucket}/{JOB_DATA_PREFIX}{name}{suffixes[each]}.jsonl" for each in job.files.paths
    ]
    logs = [f"{job.request.logs.rstrip('/')}/"] if job.request.logs else []
    return Uses(job.grader.arn, [*files, *logs], job.request.output)


def readable(files: Sequence[Path]) -> tuple[list[Sample], list[str]]:
    """The rows of files that are valid samples, and where each stands.

    What is wrong with the others, the linter says.

    Raises:
        OSError: a file cannot be read.
    """
    samples, places = [], []
    for file in files:
        for at, row in enumerate(scan_rows(str(file))):
            sample = decode_row(row.content, at) if isinstance(row, Row) else None
            if isinstance(sample, Sample) and isinstance(row, Row):
                samples.append(sample)
                places.append(row.where)
    return samples, places
