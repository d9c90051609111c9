"""What the account allows a job's grader: concurrency, and the judge that is deployed with it.

What the caller may not read is unknown, and said to be: a plan is no reason to ask for rights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reward_functions.tools.deployed.configuration import configuration
from reward_functions.tools.deployed.failures import AwsFailed, in_words
from reward_functions.tools.judging.settings import load_judge_config

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.judge_runtime.config import JudgeConfig
    from reward_functions.tools.deployed.function import DeployedFunction

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
