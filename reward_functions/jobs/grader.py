"""The reward of a job, pinned: what was asked for becomes an ARN that no deployment changes.

    asked for                                   the job is given
    a deployment of the stage                   the version that the catalogue gives to jobs
    NAME:7, or an immutable deployment's ARN    that one
    NAME, NAME:$LATEST, NAME:live               nothing, unless it is forced: they move

A grader runs in the account and region of its job. Both of Bedrock's APIs read a bare list
(docs.aws.amazon.com/bedrock/latest/userguide/reward-functions-open-weight), and so do SageMaker's
jobs of Nova; those of open weights read an envelope (sagemaker-train, `rlvr_reward_verifier.py`).

Find out what the account allows a job's grader: concurrency, and the judge that is deployed with
it.

A value that the caller may not read is unknown, and said to be: a plan is no reason to ask for
rights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.arn import Arn, FunctionArn
from reward_functions.aws.deployed.catalogue import deployment_named, find
from reward_functions.aws.deployed.checking import configuration
from reward_functions.aws.deployed.function import (
    DeployedFunction,
)
from reward_functions.aws.failures import OF_FUNCTIONS, AwsFailed, in_words
from reward_functions.calibration.settings import load_judge_config
from reward_functions.jobs.clients import endpoints
from reward_functions.jobs.configuration import BadJob
from reward_functions.serving.descriptions import described

if TYPE_CHECKING:
    from collections.abc import Callable

    from boto3.session import Session

    from reward_functions.aws.catalogue import DeployedReward, DeployedStage
    from reward_functions.judge_runtime.config import JudgeConfig

RESPONSE_MODE: Final = "REWARD_RESPONSE_MODE"
"""The variable of a function of this project that says how it answers."""

ANSWERS: Final = {"list": "a bare list", "envelope": "SageMaker's envelope"}
"""The two modes, in words."""


@dataclass(frozen=True, slots=True)
class PinnedGrader:
    """The function of a job, and what is known of it.

    Args:
        arn: what the job is given.
        deployment: as the stage's catalogue names it; "" for a function that it does not name.
        reward: as `reward list` names it; "" for a function that is not this project's.
        version: the reward's; None where `reward` is "".
        digest: the artifact's; "" where `reward` is "".
        response_mode: "list" or "envelope"; "" where the function does not say.
    """

    arn: FunctionArn
    deployment: str = ""
    reward: str = ""
    version: int | None = None
    digest: str = ""
    response_mode: str = ""

    @property
    def function_version(self) -> str:
        """Lambda's number of the version; of an immutable deployment the name of its function."""
        return self.arn.qualifier or self.arn.name


def pinned(
    asked: str,
    stage: DeployedStage,
    region: str,
    session: Session | None = None,
    *,
    force: bool = False,
) -> PinnedGrader:
    """Find the grader of a job in the catalogue; whether it is stored, `inspected` says.

    Args:
        asked: a deployment of the stage, or the ARN of any function.
        stage: whose catalogue is read, and in whose account the job runs.
        region: where the job runs.
        session: boto3's; the caller's own where not given.
        force: take an ARN that a deployment can move under the job.

    Raises:
        BadJob: it moves, or is in another region or account.
        BadArn: it begins as an ARN and is not one of a function.
        NotDeployed: the stage has no such deployment.
        AwsFailed: the catalogue cannot be read.
    """
    arn, record = deployment_named(asked, stage.stage, session)
    grader = _of(record) if record else PinnedGrader(arn)
    if grader.arn != arn:
        grader = PinnedGrader(arn, deployment=grader.deployment)
    if grader.arn.moves and not force:
        raise BadJob(_moving(grader))
    _require_here(grader.arn, stage, region)
    return grader


def _of(record: DeployedReward) -> PinnedGrader:
    return PinnedGrader(
        arn=FunctionArn.parse(record.version_arn),
        deployment=record.name,
        reward=record.reward,
        version=record.version,
        digest=record.digest,
        response_mode=record.response_mode,
    )


def _moving(grader: PinnedGrader) -> str:
    instead = grader.deployment or f"{replace(grader.arn, qualifier=None)}:VERSION"
    return (
        f"{grader.arn} moves: a deployment changes the reward under the job; give {instead}, which "
        "holds still, or say why with --force"
    )


def _require_here(arn: FunctionArn, stage: DeployedStage, region: str) -> None:
    """Refuse a function that the job cannot reach.

    Raises:
        BadJob: it is in another region or account than the job.
    """
    if arn.region != region:
        raise BadJob(
            f"{arn} is in {arn.region}, and the job runs in {region}: a job invokes functions of "
            "its own region; deploy the reward there, or name a stage of that region with --stage"
        )
    role = Arn.read(stage.training_role_arn, "iam", "role/.+")
    if role is not None and arn.account != role.account:
        raise BadJob(
            f"{arn} belongs to account {arn.account}, and the job runs in {role.account}: "
            "deploy the reward there; graders of other accounts are not documented"
        )


def account_of(stage: DeployedStage) -> str:
    """The account of a stage, by the roles that its jobs run as; "" where neither says.

    Args:
        stage: its record.
    """
    for arn in (stage.sagemaker_role_arn, stage.training_role_arn):
        if role := Arn.read(arn, "iam", "role/.+"):
            return role.account
    return ""


def inspected(
    grader: PinnedGrader, session: Session | None = None, *, mode: str = "list"
) -> PinnedGrader:
    """The same, with what Lambda's settings of the function say; denied, it stays as it is.

    Args:
        grader: pinned.
        session: boto3's; the caller's own where not given.
        mode: how it must answer: "list" or "envelope".

    Raises:
        BadJob: there is no such function or version, or it answers in the other mode.
        AwsFailed: the settings cannot be read.
    """
    try:
        settings = configuration(DeployedFunction(grader.arn, session=session))
    except AwsFailed as error:
        if error.missing:
            raise BadJob(
                f"Lambda has no {grader.arn} any more: deploy the reward again, or give a version "
                "that is stored (`reward deployed list`)"
            ) from None
        raise
    grader = grader if settings is None else _described(grader, settings)
    require_mode(grader.response_mode, mode, str(grader.arn))
    return grader


def require_mode(has: str, needs: str, whose: str) -> None:
    """Refuse a reward that answers otherwise than the service reads.

    Args:
        has: its mode; "" where it does not say.
        needs: "list" or "envelope".
        whose: that mode is.

    Raises:
        BadJob: it answers in the other one.
    """
    if has and has != needs:
        raise BadJob(
            f"{whose} answers with {ANSWERS[has]}, and this job's service reads {ANSWERS[needs]}: "
            f'deploy it with "response_mode": "{needs}"'
        )


def _described(grader: PinnedGrader, settings: dict[str, Any]) -> PinnedGrader:
    mode = settings.get("Environment", {}).get("Variables", {}).get(RESPONSE_MODE, "")
    serves = described(settings.get("Description") or "")
    if grader.reward or serves is None:
        return replace(grader, response_mode=grader.response_mode or mode)
    reward, version, digest = serves
    return replace(grader, reward=reward, version=version, digest=digest, response_mode=mode)


JUDGE: Final = "REWARD_JUDGE"
"""The variable that holds a deployed judge's settings, as JSON."""


@dataclass(frozen=True, slots=True)
class AccountLimits:
    """Invocations at a time, in the grader's account and region.

    Args:
        concurrency: of all functions together; None where it was not measured.
        unreserved: what no function has for itself; None where it was not measured.
        reserved: what the grader has for itself, which is its most too; None where it has none, or
            where that was not measured.
        unmeasured: why something was not measured, in sentences.
        reserved_measured: whether `reserved` was.
    """

    concurrency: int | None = None
    unreserved: int | None = None
    reserved: int | None = None
    unmeasured: tuple[str, ...] = ()
    reserved_measured: bool = True

    @property
    def available(self) -> int | None:
        """The grader's maximum; None where it was not measured."""
        return self.unreserved if self.reserved is None else self.reserved


@dataclass(frozen=True, slots=True)
class JobGrader:
    """The plan's facts about a job's grader.

    Args:
        region: where it is; "" where no stage was read, and so is the next.
        arn: its own, of the version that the job would be given.
        deployed: the stage's record of it; None for a function that was named by its ARN.
        account: what the account allows it; None where no stage was read.
        judge: the settings of its judge; None where it has none, or the caller may not read them.
    """

    region: str = ""
    arn: str = ""
    deployed: DeployedReward | None = None
    account: AccountLimits | None = None
    judge: JudgeConfig | None = None


NOWHERE: Final = JobGrader()
"""No stage was read."""


def graded_by(deployment: str, stage: str, session: Session) -> JobGrader:
    """Read what a stage has of a deployment, or Lambda of a function by its ARN.

    Args:
        deployment: its name, or an ARN.
        stage: a stage that is deployed.
        session: boto3's.

    Raises:
        WrongEndpoint: the shell points to two kinds of AWS.
        NotDeployed: the stage has no such deployment.
        AwsFailed: it cannot be read.
    """
    endpoints(session).check_one_aws()
    deployed = None if deployment.startswith("arn:") else find(deployment, stage, session)
    function = DeployedFunction(deployed.version_arn if deployed else deployment, session=session)
    return JobGrader(
        region=function.arn.region,
        arn=str(function.arn),
        deployed=deployed,
        account=account_limits(function),
        judge=deployed_judge(function),
    )


def account_limits(function: DeployedFunction) -> AccountLimits:
    """Read the limits of a grader.

    Raises:
        AwsFailed: Lambda cannot be reached, or there is no such function.
    """
    client = function.client
    whole = replace(function.arn, qualifier=None)  # concurrency is of all versions together
    account = _allowed("lambda:GetAccountSettings", client.get_account_settings)
    own = _allowed(
        "lambda:GetFunctionConcurrency",
        lambda: client.get_function_concurrency(FunctionName=str(whole)),
        f"of {whole.name}",
    )
    limits = account["AccountLimit"] if isinstance(account, dict) else {}
    return AccountLimits(
        concurrency=limits.get("ConcurrentExecutions"),
        unreserved=limits.get("UnreservedConcurrentExecutions"),
        reserved=own.get("ReservedConcurrentExecutions") if isinstance(own, dict) else None,
        unmeasured=tuple(each for each in (account, own) if isinstance(each, str)),
        reserved_measured=isinstance(own, dict),
    )


def deployed_judge(function: DeployedFunction) -> JudgeConfig | None:
    """The settings of a deployed judge; None where it has none, or the caller may not read them.

    Raises:
        AwsFailed: its configuration cannot be read for another reason.
        BadJudge: the settings are of another version of this package.
    """
    settings = configuration(function)
    variables = settings.get("Environment", {}).get("Variables", {}) if settings else {}
    return load_judge_config(variables[JUDGE]) if variables.get(JUDGE) else None


def _allowed(action: str, call: Callable[[], Any], whose: str = "") -> dict[str, Any] | str:
    """What a call returns, or a sentence where the caller may not make it."""
    try:
        with in_words(f"reading the concurrency {whose or 'of the account'}", OF_FUNCTIONS):
            return dict(call())
    except AwsFailed as error:
        if error.denied:
            return f"{action} is not allowed here"
        raise
