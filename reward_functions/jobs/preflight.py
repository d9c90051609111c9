"""Whether a job can teach anything, and whether it may run: asked before it costs anything.

A row of `CHECKS` is a question: which jobs it is asked of, and what finds the answer. A check
yields findings and raises nothing for what a service denies: that is an `unknown` with the name of
the permission. `role_checks` asks about the role, `reward_checks` about the deployed version.

One failure is enough not to start. `start --force REASON` passes it over, and tags the job.

Of Lambda's concurrency: how many samples Bedrock sends in an invocation, and how many invocations
it makes at once, is not documented. At most it sends every rollout of a step alone, and all
together. A function with reserved concurrency has exactly that much; any other shares what the
account has left. Source: "Lambda function scaling" in the Lambda developer guide.

Of an agent: a smoke test has no ids of a rollout, and a forwarder refuses it as a ValidationError.
That shows that it runs and speaks the contract, and not that the agent does. `reward rollouts
doctor` looks at that one. Sources: "Preparing your agent" of the SageMaker developer guide;
botocore's models of Lambda and `bedrock-agentcore`.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.aws import calls
from reward_functions.aws.calls import answer
from reward_functions.aws.catalogue import JOB_DATA_PREFIX
from reward_functions.aws.deployed.findings import (
    CheckFinding,
    CheckReport,
    CheckVerdict,
    failure,
    ok,
    unknown,
    warning,
)
from reward_functions.aws.deployed.scorer import VersionScorer, scorer_named
from reward_functions.aws.failures import AwsFailed
from reward_functions.core.types import Sample
from reward_functions.data.json_rows import Row, scan_rows
from reward_functions.data.linting import GENERATED, MAX_ROWS, MIN_ROWS, UNREADABLE, lint
from reward_functions.data.records import SYNTHETIC, is_synthetic
from reward_functions.jobs.baseline import FILE, baseline_findings, saved
from reward_functions.jobs.clients import client, endpoints
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.data import ROWS, measure
from reward_functions.jobs.drivers.agent_rft import package_groups
from reward_functions.jobs.evaluators import Registry, name_of
from reward_functions.jobs.grader import account_limits, account_of
from reward_functions.jobs.hyperparameters import AGENT, written
from reward_functions.jobs.models import find
from reward_functions.jobs.options import DEFAULT, JobAgent, granted, serverless_of
from reward_functions.jobs.plan import ROLES, plan
from reward_functions.jobs.reward_checks import contract_findings, reward_findings
from reward_functions.jobs.role_checks import Uses, role_findings
from reward_functions.jobs.services import SERVICES, DriverName, HyperparameterValue, Service
from reward_functions.serving.contract import decode_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from boto3.session import Session

    from reward_functions.aws.deployed.function import DeployedFunction
    from reward_functions.core.spec import RewardSpec
    from reward_functions.data.linting import LintFinding
    from reward_functions.jobs.preparing import PreparedJob


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
    looked = Looked(job, session, baseline, rows, progress)
    found: list[CheckFinding] = []
    for check in CHECKS:
        if check.of(SERVICES[job.driver]) and (looked.scorer is not None or not check.graded):
            if check.begins:
                progress(check.begins)
            found += check.find(looked)
    of = str(job.grader.arn) if job.grader else job.request.agent or job.request.model
    return CheckReport(of, tuple(found))


@dataclass(frozen=True)
class Looked:
    """The facts that the checks of one job read, as `preflight` was given it."""

    job: PreparedJob
    session: Session | None
    baseline: Path
    rows: int
    progress: Callable[[str], object]

    @cached_property
    def scorer(self) -> VersionScorer | None:
        """The deployed version; None where the reward is the service's own."""
        if self.job.grader is None:
            return None
        return scorer_named(str(self.job.grader.arn), self.job.stage.stage, self.session)

    @property
    def graded(self) -> VersionScorer:
        """The deployed version of a job that has one."""
        if self.scorer is None:
            raise RuntimeError("the job has no grader")
        return self.scorer

    @property
    def spec(self) -> RewardSpec | None:
        """The reward as it is installed here; None where it is not."""
        return self.scorer.spec if self.scorer else None

    @property
    def region(self) -> str:
        """Where the job runs."""
        return self.job.stage.region

    @cached_property
    def emulated(self) -> bool:
        """Whether the training double trains."""
        return endpoints(self.session).local

    @property
    def files(self) -> list[Path]:
        """The training file first; empty where invocation logs are the data."""
        return [*self.job.files.paths.values()]


class JobCheck(NamedTuple):
    """A question about a job.

    Args:
        find: yields what there is to say.
        begins: what `progress` is told.
        of: whether the jobs of a service are asked it, by the service's row.
        graded: whether it takes a reward function of ours.
    """

    find: Callable[[Looked], Iterator[CheckFinding]]
    begins: str = ""
    of: Callable[[Service], bool] = lambda service: service.graded
    graded: bool = False


def _agent(looked: Looked) -> Iterator[CheckFinding]:
    job = looked.job
    agent = granted(job.request.agent, job.stage)
    yield from agent_findings(agent, job.files.paths, job.request.hyperparameters, looked.session)


def _role(looked: Looked) -> Iterator[CheckFinding]:
    job = looked.job
    yield from role_findings(job.request.role, _uses(job), job.stage.region, looked.session)


def _baseline(looked: Looked) -> Iterator[CheckFinding]:
    job = looked.job
    if "data" in job.files.paths:
        yield from baseline_findings(
            saved(looked.baseline),
            model=job.request.model,
            data=job.files.hashes["data"],
            scorer=looked.graded,
            simulation=looked.emulated,
        )


def _rewards(looked: Looked) -> Iterator[CheckFinding]:
    files = [path for name, path in looked.job.files.paths.items() if name == "data"]
    samples, places = readable(files)
    yield from reward_findings(
        looked.graded,
        samples,
        places,
        rows=looked.rows,
        file="".join(map(str, files)),
        progress=looked.progress,
    )


CHECKS: Final = (
    JobCheck(lambda at: synthetic_findings(at.files, emulated=at.emulated), of=lambda _: True),
    JobCheck(_agent, "asking the agent", lambda service: not service.graded),
    JobCheck(lambda at: base_findings(at.job.asked.model, at.region, at.job.driver)),
    JobCheck(
        lambda at: iter([name_finding(at.job.request.name, at.region, at.session)]),
        "looking for a model of this name",
        lambda service: service.makes == "custom model",
    ),
    JobCheck(
        lambda at: data_findings(at.files, at.spec, ROWS[at.job.driver]),
        "linting the data",
    ),
    JobCheck(_role, "simulating the role", lambda service: bool(service.role)),
    JobCheck(
        lambda at: capacity_findings(at.graded.function, at.job.request.hyperparameters),
        "reading the concurrency",
        graded=True,
    ),
    JobCheck(_baseline, graded=True),
    JobCheck(
        lambda at: contract_findings(at.graded, at.progress, mode=at.job.response_mode),
        graded=True,
    ),
    JobCheck(_rewards, graded=True),
)


def _uses(job: PreparedJob) -> Uses:
    """What the job's role has to be allowed; files have their addresses before they are sent."""
    request, chosen = job.request, serverless_of(job.asked)
    suffixes = {"data": "", "validation": ".validation"}
    stem = f"s3://{job.stage.bucket}/{JOB_DATA_PREFIX}{request.name}"
    data = [f"{stem}{suffixes[each]}.jsonl" for each in job.files.paths]
    if request.logs:
        data.append(f"{request.logs.rstrip('/')}/")
    uses = Uses(
        job.grader.arn if job.grader else None,
        data,
        request.output,
        job.driver,
        mlflow=chosen.mlflow or "",
    )
    if request.agent:
        packages, _ = package_groups(request.name, chosen.model_packages)
        agent = granted(request.agent, job.stage).arn
        return uses._replace(packages=packages, agent=agent)
    if not SERVICES[job.driver].recipes:
        return uses
    prompt = chosen.judge_prompt or ""
    if job.grader is not None:
        # An evaluator that is not there yet has its first ARN.
        registry = Registry(job.stage.region, account_of(job.stage))
        prompt = registry.first(name_of(job.grader.arn))
    return uses._replace(
        evaluator=prompt if prompt.startswith("arn:") else "",
        base=request.model,
        packages=(chosen.model_packages or request.name).rpartition("/")[2],
        judge=(chosen.judge or "").removeprefix("bedrock/"),
    )


def readable(files: Sequence[Path]) -> tuple[list[Sample], list[str]]:
    """The rows of files that are valid samples, and where each stands.

    The linter says what is wrong with the others.

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


LIMITS: Final = ("not a JSON object", "too few rows", "too many rows")
"""Errors of the linter that a service refuses a file for."""


def data_findings(
    files: Sequence[Path], spec: RewardSpec | None, rows: tuple[int, int] = (MIN_ROWS, MAX_ROWS)
) -> Iterator[CheckFinding]:
    """The faults of the files.

    Args:
        files: the training file first; none where invocation logs are the data.
        spec: the reward that must read every reference; None for a function that is not this
            project's, whose references are its own affair.
        rows: the fewest and the most that the service takes.

    Raises:
        OSError: a file cannot be read.
    """
    if not files:
        yield unknown("data", "invocation logs are read by the job alone")
        return
    linted = lint([str(file) for file in files], reward=spec, rows=rows)
    groups: dict[str, list[LintFinding]] = {}
    for finding in linted.findings:
        if not _excused(finding, files, spec):
            groups.setdefault(finding.what, []).append(finding)
    for what, found in groups.items():
        first = ": ".join(filter(None, [found[0].where, found[0].detail]))
        verdict: CheckVerdict = "failure" if found[0].level == "error" else "warning"
        times = f"{len(found):,} times, first " if len(found) > 1 else ""
        yield CheckFinding(verdict, "data", f"{what}: {times}{first}")
    if not groups:
        counted = ", ".join(
            f"{len(prompts):,} rows in {file}" for file, prompts in linted.prompts.items()
        )
        yield ok("data", counted)


def synthetic_findings(files: Sequence[Path], *, emulated: bool) -> Iterator[CheckFinding]:
    """Whether a job in an account would pay for training on generated rows.

    Args:
        files: of the job, of any service's shape.
        emulated: whether the training double trains: there the rows are what they are for.

    Yields:
        a failure for each file that has such rows.

    Raises:
        OSError: a file cannot be read.
    """
    if emulated:
        return
    for file in files:
        rows = (row for row in scan_rows(str(file)) if isinstance(row, Row))
        if count := sum(is_synthetic(row.content) for row in rows):
            yield failure(
                "data",
                f"{GENERATED}: {count:,} in {file} (metadata.{SYNTHETIC}): they are generated to "
                "rehearse on the local emulator, and an account is billed for training on them: "
                "reward data prepare makes rows of the real data set",
            )


def of_the_service(finding: CheckFinding) -> bool:
    """Whether the service itself refuses what was found: then nothing here can pass it over."""
    return finding.question == "data" and finding.message.startswith(LIMITS)


def _excused(finding: LintFinding, files: Sequence[Path], spec: RewardSpec | None) -> bool:
    """Whether a job is started all the same after a finding of the linter.

    The least number of rows is that of a training file: AWS's own samples validate on 99. Of
    generated rows `synthetic_findings` has the verdict.
    """
    if finding.what == GENERATED:
        return True
    if finding.what == UNREADABLE:
        return spec is None
    return finding.what == "too few rows" and finding.where != str(files[0])


DIGITS: Final = 9
"""Of a size that is written as a string."""

FEW: Final = 10
"""Concurrent executions with which new accounts begin: too few for a step in reasonable time."""


def capacity_findings(
    function: DeployedFunction, hyperparameters: Mapping[str, HyperparameterValue]
) -> Iterator[CheckFinding]:
    """Whether Lambda can run as many copies of the grader as the job may want.

    Args:
        function: the grader.
        hyperparameters: those that were set; without both sizes nothing is compared.

    Raises:
        AwsFailed: Lambda cannot be reached.
    """
    limits = account_limits(function)
    for problem in limits.unmeasured:
        yield unknown("concurrency", problem)
    wanted = wanted_at_most(hyperparameters)
    name, reserved = function.arn.name, limits.reserved
    if reserved == 0:
        yield failure(
            "concurrency",
            f"{name} has a reserved concurrency of 0: every invocation is throttled; remove "
            "the reservation, or raise it",
        )
    elif reserved is not None:
        yield _compared(reserved, f"{name} has {reserved:,} reserved", wanted)
    elif limits.unreserved is not None:
        shared = f"the account has {limits.unreserved:,} unreserved"
        yield _compared(limits.unreserved, shared, wanted)


def wanted_at_most(hyperparameters: Mapping[str, HyperparameterValue]) -> int | None:
    """Invocations at once where each rollout of a step is sent alone; None where not known."""
    names = [[roles.get(role, "") for roles in ROLES.values()] for role in ("batch", "samples")]
    sizes = [
        next((hyperparameters[name] for name in each if name in hyperparameters), None)
        for each in names
    ]
    counts = [_count(size) for size in sizes]
    return None if None in counts else prod(filter(None, counts))


def _count(size: HyperparameterValue | None) -> int | None:
    """A whole number, also as SageMaker is sent it: a string."""
    if isinstance(size, str):
        return int(size) if size.isascii() and size.isdigit() and len(size) <= DIGITS else None
    return size if isinstance(size, int) else None


def _compared(available: int, words: str, wanted: int | None) -> CheckFinding:
    named = f"{words} concurrent executions"
    if wanted is not None and available < wanted:
        return warning(
            "concurrency",
            f"{named}, and a step has {wanted:,} rollouts: where the service sends each alone, "
            "invocations are throttled; raise the concurrency, or ask for more in Service Quotas",
        )
    if available <= FEW:
        return warning("concurrency", f"{named}: ask for more in Service Quotas before a long job")
    step = "" if wanted is None else f", and a step has {wanted:,} rollouts"
    return ok("concurrency", f"{named}{step}")


def plan_findings(job: PreparedJob) -> Iterator[CheckFinding]:
    """The warnings of a plan, but for those of the model and of the account, which others ask for.

    Raises:
        OSError: a file cannot be read.
    """
    if job.request.agent:
        with suppress(BadJob):  # of a row, of which there is a finding
            for each in plan(job.asked, stage=job.stage).warnings:
                yield warning("plan", each)
        return
    paths, sizes = job.files.paths, None
    if "data" in paths:
        with suppress(BadJob):  # the linter has a finding of it
            sizes = measure(paths["data"], paths.get("validation"), rows=ROWS[job.driver])
    planned = plan(job.asked, sizes=sizes, region=job.stage.region, recipe=job.recipe)
    for each in planned.warnings:
        if each not in planned.base.warnings:
            yield warning("plan", each)


def base_findings(model: str, region: str, driver: DriverName | None) -> Iterator[CheckFinding]:
    """The facts of the table of models about the base.

    Args:
        model: an id or an ARN.
        region: of the job.
        driver: the API that was named by hand; None for the table's.
    """
    warnings = find(model, region, driver).warnings
    for each in warnings:
        yield warning("model", each)
    if not warnings:
        yield ok("model", f"{model} is trained in {region}")


def name_finding(name: str, region: str, session: Session | None = None) -> CheckFinding:
    """Whether a custom model has the name already that a Bedrock job would give to its own.

    Raises:
        WrongEndpoint: it would reach another AWS than the one that is meant.
        AwsFailed: Bedrock cannot be asked.
    """
    bedrock = client("bedrock", region, session)
    try:
        answer(f"looking for a model {name}", bedrock.get_custom_model, modelIdentifier=name)
    except AwsFailed as error:
        if error.missing:
            return ok("model's name", f"no custom model is called {name}")
        if error.denied:
            return unknown("model's name", "bedrock:GetCustomModel is not allowed")
        raise
    return failure(
        "model's name",
        f"a custom model is called {name} already: take the next run with --again, or another "
        "name with --name",
    )


LEAST_SECONDS: Final = 30
"""Seconds of a forwarder: as long as an AgentCore runtime may take to start."""

LARGEST: Final = 64 * 1024
"""Bytes of an answer that are read."""

SHOWN: Final = 200

ERRORS: Final = frozenset({"ValidationError", "InternalServerError", "AccessDenied"})
"""The contract's own."""

SESSION: Final = "reward-functions-smoke-test".ljust(33, "0")
"""AgentCore's sessions have an id of 33 characters at least."""


def agent_findings(
    agent: JobAgent,
    files: Mapping[str, Path],
    hyperparameters: Mapping[str, HyperparameterValue],
    session: Session | None = None,
) -> Iterator[CheckFinding]:
    """The findings about a job's agent before it costs anything; the agent is asked once.

    Args:
        agent: that the stage grants.
        files: of the job, by the field that names them.
        hyperparameters: that were given.
        session: boto3's; the caller's own where not given.

    Raises:
        AwsFailed: AWS cannot be reached.
        OSError: a file cannot be read.
    """
    from reward_functions.jobs.data import counted  # noqa: PLC0415 - 50 ms of rollouts

    yield from there(agent, session)
    if agent.moves:
        yield warning(
            "version",
            f"{agent.arn} moves: a deployment in the middle of the job changes the agent, which "
            "ends it; publish a version, and give its ARN",
        )
    yield from _smoke(agent, session)
    rows = 0
    for field, file in files.items():
        try:
            found = counted(file)
        except BadJob as error:
            yield failure(field, str(error).removeprefix("data: "))
            continue
        rows = found.number if field == "data" else rows
        yield ok(field, f"{found.number:,} rows have a prompt")
        if found.with_reference:
            yield warning(
                field,
                f"{found.with_reference:,} prompts are the JSON of their row, which holds the "
                "answer for the reward: an agent that hands its prompt on to the model shows it "
                "the answer; let it read the question out of it",
            )
    yield from _rollouts(rows, hyperparameters)


def there(agent: JobAgent, session: Session | None = None) -> Iterator[CheckFinding]:
    """Whether an agent's forwarder is there, and has the time to hand a request on.

    Of an AgentCore runtime nothing is said: it is asked.

    Args:
        agent: of either kind.
        session: boto3's; the caller's own where not given.

    Raises:
        AwsFailed: Lambda cannot be reached.
    """
    if agent.kind != "lambda":
        return
    lambda_ = calls.client("lambda", agent.region, session)
    try:
        found = answer(
            f"reading the settings of {agent.arn}",
            lambda_.get_function_configuration,
            FunctionName=agent.arn,
        )
    except AwsFailed as error:
        if error.missing:
            yield failure("agent", f"Lambda has no {agent.arn}: deploy the forwarder")
        elif error.denied:
            yield unknown("agent", "lambda:GetFunctionConfiguration is not allowed here")
        else:
            raise
        return
    state, seconds = found.get("State", "Active"), found.get("Timeout")
    if state not in {"Active", "Inactive"}:
        yield failure("agent", f"{agent.arn} is {state}: deploy it again")
    elif isinstance(seconds, int) and seconds < LEAST_SECONDS:
        yield warning(
            "agent",
            f"{agent.arn} is ended after {seconds} s: give it {LEAST_SECONDS} or more, since an "
            "agent may have to start first",
        )
    else:
        yield ok("agent", f"{agent.arn} is there")


def _smoke(agent: JobAgent, session: Session | None) -> Iterator[CheckFinding]:
    # Rollouts name an extra of their own where boto3 is missing; every other job has `aws`.
    from reward_functions.rollouts.episode.smoke import FIELD  # noqa: PLC0415

    asked = json.dumps({FIELD: True}).encode()
    ask = _asked_lambda if agent.kind == "lambda" else _asked_runtime
    try:
        failed, body = ask(agent, asked, session)
    except AwsFailed as error:
        if error.denied:
            yield unknown("answer", f"{agent.arn} may not be asked here")
        elif not error.missing:  # what is missing has been said
            yield failure("answer", str(error))
        return
    yield _judged(body, failed=failed)


def _judged(body: bytes, *, failed: bool) -> CheckFinding:
    """What an answer to the smoke test says of an agent."""
    try:
        answered: Any = json.loads(body)
    except (ValueError, RecursionError):
        answered = None
    named = answered if isinstance(answered, dict) else {}
    kind, message = str(named.get("errorType", "")), str(named.get("errorMessage", ""))[:SHOWN]
    if failed:
        return failure("answer", f"the agent's function failed: {kind[:64]}: {message}")
    if kind == "ValidationError":
        return ok("answer", "it speaks the contract, and refuses a request without a rollout's ids")
    if kind in ERRORS:
        return failure("answer", f"the agent answered {kind}: {message}; a job would end at once")
    if isinstance(answered, dict) and not kind:
        return ok("answer", "it answers, without an error")
    return warning(
        "answer",
        "it answers neither {} nor an errorType of the contract: the trainer may take that for a "
        "failure",
    )


def _asked_lambda(agent: JobAgent, body: bytes, session: Session | None) -> tuple[bool, bytes]:
    service = calls.client("lambda", agent.region, session)
    found = answer(f"asking {agent.arn}", service.invoke, FunctionName=agent.arn, Payload=body)
    return "FunctionError" in found, found["Payload"].read(LARGEST)


def _asked_runtime(agent: JobAgent, body: bytes, session: Session | None) -> tuple[bool, bytes]:
    service = calls.client("bedrock-agentcore", agent.region, session)
    named: dict[str, Any] = {
        "agentRuntimeArn": agent.name,
        "qualifier": agent.qualifier or DEFAULT,
        "runtimeSessionId": SESSION,
    }
    found = answer(
        f"asking {agent.arn}",
        service.invoke_agent_runtime,
        **named,
        contentType="application/json",
        accept="application/json",
        payload=body,
    )
    content = found["response"].read(LARGEST)
    with suppress(AwsFailed):  # an idle session ends by itself
        answer("ending the session", service.stop_runtime_session, **named)
    return False, content


def _rollouts(
    rows: int, hyperparameters: Mapping[str, HyperparameterValue]
) -> Iterator[CheckFinding]:
    """How many rollouts a step asks for, beside how many rows there are."""
    sent = written(hyperparameters)
    batch, group = (
        int(float(sent.get(name, str(AGENT[name].default))))
        for name in ("global_batch_size", "group_size")
    )
    yield ok(
        "rollouts",
        f"a step asks the agent for up to {min(batch, rows or batch) * group:,} rollouts",
    )
