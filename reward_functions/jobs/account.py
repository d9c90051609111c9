"""What the account allows a job's grader: concurrency, and the judge that is deployed with it.

What the caller may not read is unknown, and said to be: a plan is no reason to ask for rights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.deployed.catalogue import find
from reward_functions.aws.deployed.checking import configuration
from reward_functions.aws.deployed.function import DeployedFunction
from reward_functions.aws.failures import AwsFailed, in_words
from reward_functions.calibration.settings import load_judge_config
from reward_functions.jobs.clients import endpoints

if TYPE_CHECKING:
    from collections.abc import Callable

    from boto3.session import Session

    from reward_functions.aws.catalogue import DeployedReward
    from reward_functions.judge_runtime.config import JudgeConfig

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
        """What the grader has at most; None where it was not measured."""
        return self.unreserved if self.reserved is None else self.reserved


@dataclass(frozen=True, slots=True)
class JobGrader:
    """What a plan says of a job's grader.

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
    name, client = function.arn.name, function.client
    account = _allowed("lambda:GetAccountSettings", client.get_account_settings)
    own = _allowed(
        "lambda:GetFunctionConcurrency",
        lambda: client.get_function_concurrency(FunctionName=_unqualified(function)),
        f"of {name}",
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
        with in_words(f"reading the concurrency {whose or 'of the account'}"):
            return dict(call())
    except AwsFailed as error:
        if error.denied:
            return f"{action} is not allowed here"
        raise


def _unqualified(function: DeployedFunction) -> str:
    """Concurrency is reserved for a function and all of its versions."""
    arn = function.arn
    return f"arn:{arn.partition}:lambda:{arn.region}:{arn.account}:function:{arn.name}"
