"""Lambda's concurrency beside what a job may want of it.

How many samples Bedrock sends in an invocation, and how many invocations it makes at once, is not
documented. At most it sends every rollout of a step alone, and all together:

    wanted, at most = prompts of a step × rollouts of a prompt

A function with reserved concurrency has exactly that much; any other shares what the account has
left. Source: "Lambda function scaling" in the Lambda developer guide.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from reward_functions.aws.deployed.findings import CheckFinding
from reward_functions.jobs.account import account_limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reward_functions.aws.deployed.function import DeployedFunction
    from reward_functions.jobs.job import HyperparameterValue

BATCH: Final = ("batchSize", "batch_size", "global_batch_size")
ROLLOUTS: Final = ("trainingSamplePerPrompt", "rollout_n")
"""Names of hyperparameters, in all APIs; OpenAI's has none for the rollouts of a prompt."""

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
        yield CheckFinding("unknown", "concurrency", problem)
    wanted = wanted_at_most(hyperparameters)
    name, reserved = function.arn.name, limits.reserved
    if reserved == 0:
        yield CheckFinding(
            "failure",
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
    sizes = [
        next((hyperparameters[name] for name in names if name in hyperparameters), None)
        for names in (BATCH, ROLLOUTS)
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
        return CheckFinding(
            "warning",
            "concurrency",
            f"{named}, and a step has {wanted:,} rollouts: where the service sends each alone, "
            "invocations are throttled; raise the concurrency, or ask for more in Service Quotas",
        )
    if available <= FEW:
        return CheckFinding(
            "warning", "concurrency", f"{named}: ask for more in Service Quotas before a long job"
        )
    step = "" if wanted is None else f", and a step has {wanted:,} rollouts"
    return CheckFinding("ok", "concurrency", f"{named}{step}")
