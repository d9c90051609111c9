"""Compare a job's version with what its stage has deployed now: the same version, or which other.

Nothing here is a failure of the job's: a job keeps the version that it was given. A version that is
gone is one, for the job asks it until its end. Of a multi-turn job the agent is looked at, and
whether its stage grants it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.arn import BadArn, FunctionArn
from reward_functions.aws.deployed.catalogue import deployment_of, stage_record
from reward_functions.aws.deployed.checking import configuration
from reward_functions.aws.deployed.findings import CheckFinding, failure, ok, unknown, warning
from reward_functions.aws.deployed.function import DeployedFunction
from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.options import agent_of, is_granted
from reward_functions.serving.descriptions import described

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boto3.session import Session

    from reward_functions.aws.catalogue import DeployedReward
    from reward_functions.jobs.job import Job

PARAMETERS: Final = "REWARD_PARAMETERS"
"""The variable of a function of this project that holds its reward's parameters."""


def beside_deployed(job: Job, stage: str, session: Session | None = None) -> Iterator[CheckFinding]:
    """Compare the grader of a job with the catalogue and with what Lambda stores.

    Args:
        job: of any service.
        stage: whose catalogue is read.
        session: boto3's; the caller's own where not given.

    Raises:
        AwsFailed: the catalogue cannot be read.
    """
    if not job.has_grader:
        yield from _agent(job, stage, session)
        return
    try:
        arn = FunctionArn.parse(job.grader)
    except BadArn:
        yield unknown("grader", "the service does not say which function it asks")
        return
    if arn.moves:
        yield warning("grader", f"{arn} moves: a deployment changes the reward")
    settings, stored = _stored(arn, job, session)
    yield stored
    record = deployment_of(arn, stage, session)
    if record is None:
        yield unknown("deployment", f"stage {stage!r} has none of {arn.name}")
        return
    yield _version(record, arn)
    if serves := _serves(settings):
        yield _scores(record, *serves, _parameters(settings))


def _agent(job: Job, stage: str, session: Session | None) -> Iterator[CheckFinding]:
    """Whether a multi-turn job's agent is there, and its stage's jobs may ask it."""
    # Rollouts name an extra of their own where boto3 is missing; every other job has `aws`.
    from reward_functions.jobs.preflight import there  # noqa: PLC0415

    try:
        agent = agent_of(job.grader)
    except BadJob:
        yield unknown("agent", "the service does not say which agent it asks")
        return
    yield from there(agent, session)
    if is_granted(agent, stage_record(stage, session)):
        yield ok("rights", f"the stage {stage!r} grants its jobs {agent.short}")
    else:
        after = "" if job.over else ", so that this one fails when it asks again"
        yield warning(
            "rights",
            f"the stage {stage!r} grants its jobs no right to {agent.name} any more{after}",
        )


def _stored(
    arn: FunctionArn, job: Job, session: Session | None
) -> tuple[dict[str, Any], CheckFinding]:
    """Lambda's settings of the function, and whether it is stored."""
    try:
        settings = configuration(DeployedFunction(arn, session=session))
    except AwsFailed as error:
        if not error.missing:
            return {}, unknown("function", str(error))
        after = "it cannot be asked again" if job.over else "the job fails when it asks again"
        return {}, failure("function", f"Lambda has no {arn} any more: {after}")
    if settings is None:
        message = "lambda:GetFunctionConfiguration is not allowed here"
        return {}, unknown("function", message)
    serves = _serves(settings)
    shown = "{} {} of digest {}".format(*serves) if serves else "a function of somebody else's"
    return settings, ok("function", f"{shown} is stored")


def _serves(settings: dict[str, Any]) -> tuple[str, int, str] | None:
    """The reward, its version and the digest; None of a function that names none."""
    return described(settings.get("Description") or "")


def _parameters(settings: dict[str, Any]) -> Any:
    """The reward's parameters as the function was given them; None where they cannot be read."""
    given = settings.get("Environment", {}).get("Variables", {}).get(PARAMETERS, "{}")
    try:
        return json.loads(given)
    except ValueError:
        return None


def _version(record: DeployedReward, arn: FunctionArn) -> CheckFinding:
    """Whether the catalogue gives the same version to jobs, a later one, or an earlier one."""
    given = FunctionArn.parse(record.version_arn)
    if given == arn:
        return ok("deployment", f"{record.name} gives this version to jobs")
    here, there = arn.qualifier or "", given.qualifier or ""
    if not (here.isdecimal() and there.isdecimal()):
        return warning("deployment", f"{record.name} gives another to jobs now: {given}")
    change = "was rolled back to" if int(there) < int(here) else "gives jobs"
    return warning(
        "deployment", f"{record.name} {change} version {there}, and this job keeps version {here}"
    )


def _scores(
    record: DeployedReward, reward: str, version: int, digest: str, parameters: Any
) -> CheckFinding:
    """Whether the same response earns the same score from what is deployed now."""
    if (record.reward, record.version) != (reward, version):
        return warning(
            "scores",
            f"{record.reward} {record.version} is deployed, and the job's is {reward} {version}: "
            "the same response may earn another score",
        )
    if record.parameters != parameters:
        return warning(
            "scores",
            f"{reward} {version} in both, with other parameters: the same response may earn "
            "another score",
        )
    code = "the same code" if record.digest == digest else "other code, and equal scores"
    return ok("scores", f"{reward} {version} in both, of {code}")
