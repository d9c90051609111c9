"""Whether a job can teach anything, and whether it may run: asked before it costs anything.

    subject     checks
    data        the linter's errors are failures, and so are synthetic rows in an account
    reward      the contract of the deployed version; what it pays on the job's own rows
    baseline    what the model earns before training, by the services' rule; or "not measured"
    role        trust, and the rights to invoke, read and write, simulated
    agent       of a multi-turn job, in the place of the reward
    capacity    Lambda's concurrency beside a step's rollouts
    model       the table of models; the name of the model to be

One failure is enough not to start. `start --force REASON` passes it over, and tags the job.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from reward_functions.aws.catalogue import JOB_DATA_PREFIX
from reward_functions.aws.deployed.findings import CheckReport
from reward_functions.core.types import Sample
from reward_functions.data.json_rows import Row, scan_rows
from reward_functions.jobs.agents import granted
from reward_functions.jobs.baseline_record import FILE, baseline_findings, saved
from reward_functions.jobs.checks.capacity import capacity_findings
from reward_functions.jobs.checks.data import data_findings, synthetic_findings
from reward_functions.jobs.checks.grader import contract_findings, reward_findings
from reward_functions.jobs.checks.plan import base_findings, name_finding
from reward_functions.jobs.checks.role import Uses, role_findings
from reward_functions.jobs.clients import endpoints
from reward_functions.jobs.data import ROWS
from reward_functions.jobs.drivers.agent_rft import group_names
from reward_functions.jobs.evaluators import Registry, name_of
from reward_functions.jobs.grader import account_of
from reward_functions.jobs.options import serverless_of
from reward_functions.jobs.scorer import scorer_named
from reward_functions.serving.contract import decode_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from boto3.session import Session

    from reward_functions.aws.deployed.findings import CheckFinding
    from reward_functions.jobs.preparing import PreparedJob
    from reward_functions.jobs.scorer import VersionScorer


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
    files = [*job.files.paths.values()]
    generated = synthetic_findings(files, emulated=endpoints(session).local)
    if job.driver == "agent-rft":
        of, found = job.request.agent, _of_an_agent(job, session, progress)
    elif job.grader is None:
        of, found = job.request.model, _of_any_reward(job, None, session, progress)
    else:
        of, scorer = (
            str(job.grader.arn),
            scorer_named(str(job.grader.arn), job.stage.stage, session),
        )
        found = _findings(job, scorer, session, baseline=baseline, rows=rows, progress=progress)
    return CheckReport(of, (*generated, *found))


def _of_an_agent(
    job: PreparedJob, session: Session | None, progress: Callable[[str], object]
) -> Iterator[CheckFinding]:
    """What is asked of a multi-turn job: its agent and its rows, and the role that asks it."""
    # Rollouts name an extra of their own where boto3 is missing; every other job has `aws`.
    from reward_functions.jobs.checks.agent import agent_findings  # noqa: PLC0415

    request = job.request
    agent = granted(request.agent, job.stage)
    progress("asking the agent")
    yield from agent_findings(agent, job.files.paths, request.hyperparameters, session)
    progress("simulating the role")
    chosen = serverless_of(job.asked)
    packages, _ = group_names(request.name, chosen.model_packages)
    uses = Uses(
        grader=None,
        data=_files(job),
        output=request.output,
        driver="agent-rft",
        packages=packages,
        mlflow=chosen.mlflow or "",
        agent=agent.arn,
    )
    yield from role_findings(request.role, uses, job.stage.region, session)


def _of_any_reward(
    job: PreparedJob,
    scorer: VersionScorer | None,
    session: Session | None,
    progress: Callable[[str], object],
) -> Iterator[CheckFinding]:
    """What is asked of every job, whoever grades it: the model, the data, the role."""
    region, request = job.stage.region, job.request
    yield from base_findings(job.asked.model, region, job.driver)
    if job.driver == "bedrock":
        progress("looking for a model of this name")
        yield name_finding(request.name, region, session)
    progress("linting the data")
    spec = scorer.spec if scorer else None
    yield from data_findings([*job.files.paths.values()], spec, ROWS[job.driver])
    if job.driver in SIMULATED:
        progress("simulating the role")
        yield from role_findings(request.role, _uses(job), region, session)


def _findings(
    job: PreparedJob,
    scorer: VersionScorer,
    session: Session | None,
    *,
    baseline: Path,
    rows: int,
    progress: Callable[[str], object],
) -> Iterator[CheckFinding]:
    request = job.request
    yield from _of_any_reward(job, scorer, session, progress)
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
    yield from contract_findings(scorer, progress, mode=job.response_mode)
    files = [job.files.paths["data"]] if "data" in job.files.paths else []
    samples, places = readable(files)
    file = "".join(map(str, files))
    yield from reward_findings(scorer, samples, places, rows=rows, file=file, progress=progress)


SIMULATED: Final = frozenset({"bedrock", "sagemaker"})
"""Drivers whose jobs run as a role, and read what lies below `rft-data/`."""


def _uses(job: PreparedJob) -> Uses:
    """What the job's role has to be allowed; files have their addresses before they are sent."""
    logs = [f"{job.request.logs.rstrip('/')}/"] if job.request.logs else []
    function = job.grader.arn if job.grader else None
    uses = Uses(function, [*_files(job), *logs], job.request.output, job.driver)
    return _of_sagemaker(job, uses) if job.driver == "sagemaker" else uses


def _of_sagemaker(job: PreparedJob, uses: Uses) -> Uses:
    """What a serverless job uses beside; an evaluator that is not there yet has its first ARN."""
    request, chosen, prompt = job.request, serverless_of(job.asked), ""
    if job.grader is not None:
        registry = Registry(job.stage.region, account_of(job.stage))
        prompt = registry.first(name_of(job.grader.arn))
    elif (chosen.judge_prompt or "").startswith("arn:"):
        prompt = chosen.judge_prompt or ""
    return uses._replace(
        evaluator=prompt,
        base=request.model,
        packages=(chosen.model_packages or request.name).rpartition("/")[2],
        mlflow=chosen.mlflow or "",
        judge=(chosen.judge or "").removeprefix("bedrock/"),
    )


def _files(job: PreparedJob) -> list[str]:
    """Where the files of a job will be."""
    suffixes = {"data": "", "validation": ".validation"}
    stem = f"s3://{job.stage.bucket}/{JOB_DATA_PREFIX}{job.request.name}"
    return [f"{stem}{suffixes[each]}.jsonl" for each in job.files.paths]


def readable(files: Sequence[Path]) -> tuple[list[Sample], list[str]]:
    """The rows of files that are valid samples, and where each stands.

    What is wrong with the others, the linter says.

    Raises:
        OSError: a file cannot be read.
    """
    samples, places = [], []
    for file in files:
        for at, row in enumerate(scan_rows(str(file), whole=True)):
            sample = decode_row(row.content, at) if isinstance(row, Row) else None
            if isinstance(sample, Sample) and isinstance(row, Row):
                samples.append(sample)
                places.append(row.where)
    return samples, places
