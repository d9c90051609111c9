"""Findings from a function's name and settings alone: nothing is invoked."""

from __future__ import annotations

from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.deployed.findings import CheckFinding
from reward_functions.aws.failures import AwsFailed, in_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.aws.arn import FunctionArn
    from reward_functions.aws.deployed.function import DeployedFunction

VCPU_MEMORY: Final = 1769
"""Megabytes with which Lambda gives a function one whole processor."""

DEFAULT_TIMEOUT: Final = 3
"""Lambda's own default, in seconds, with which SDKs deploy."""

DEFAULT_MEMORY: Final = 128

PATIENCE: Final = 30.0
"""Seconds to wait for a function that was created or updated a moment ago."""

PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 2.0
"""Seconds between two looks at it; each pause is twice the one before."""


def name_findings(arn: FunctionArn) -> Iterator[CheckFinding]:
    """Findings about the function's name and ARN."""
    if "SageMaker" not in arn.name:
        yield CheckFinding(
            "warning",
            "name",
            f"{arn.name} has no 'SageMaker' in it, in this case: HyperPod and SageMaker's own "
            "policies invoke no other functions",
        )
    if arn.moves:
        yield CheckFinding(
            "warning",
            "version",
            f"{_moving(arn)}: a deployment in the middle of a job changes the reward under it; "
            "give the job the version",
        )


def _moving(arn: FunctionArn) -> str:
    """Why an ARN moves."""
    if arn.qualifier in (None, "$LATEST"):
        return "the ARN names whatever is deployed last"
    return f"the alias {arn.qualifier!r} moves"


def envelope_findings(arn: FunctionArn) -> Iterator[CheckFinding]:
    """Findings about the ARN of a function that answers SageMaker's serverless customization.

    Its client, the SageMaker Python SDK, takes neither a qualifier nor a dot. Whoever reads a bare
    list may be Bedrock, which takes both: a check of such a function does not speak of it.
    """
    if not arn.immutable:
        yield CheckFinding(
            "warning",
            "ARN",
            "SageMaker's own client takes no qualifier and no dot, and a plain ARN moves: give it "
            'the ARN of a deployment with "immutable": true',
        )


def configuration(function: DeployedFunction) -> dict[str, Any] | None:
    """Lambda's settings of the function; None where the caller may not read them.

    One that is being created or updated is waited for, some seconds: until then Lambda refuses to
    run it, or runs what was deployed before.

    Raises:
        AwsFailed: they cannot be read for another reason.
    """
    end, pause = monotonic() + PATIENCE, PAUSE
    try:
        while _changing(settings := _read(function)) and monotonic() < end:
            sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
    except AwsFailed as error:
        if error.denied:
            return None
        raise
    return settings


def _read(function: DeployedFunction) -> dict[str, Any]:
    with in_words(f"reading the configuration of {function.arn.name}"):
        return dict(function.client.get_function_configuration(FunctionName=str(function.arn)))


def _changing(settings: dict[str, Any]) -> bool:
    return settings.get("State") == "Pending" or (settings.get("LastUpdateStatus") == "InProgress")


def timeout_of(settings: dict[str, Any]) -> int:
    """Seconds an invocation may take."""
    return int(settings.get("Timeout", DEFAULT_TIMEOUT))


def configuration_findings(settings: dict[str, Any] | None) -> Iterator[CheckFinding]:
    """Findings about its timeout, memory and state."""
    if settings is None:
        yield CheckFinding(
            "unknown", "configuration", "lambda:GetFunctionConfiguration is not allowed here"
        )
        return
    timeout, memory = timeout_of(settings), settings.get("MemorySize", DEFAULT_MEMORY)
    state = settings.get("State", "Active")
    if timeout <= DEFAULT_TIMEOUT:
        yield CheckFinding(
            "failure",
            "timeout",
            f"{timeout} seconds is no more than Lambda's default: a cold start and a batch do not "
            "fit",
        )
    if memory < VCPU_MEMORY:
        yield CheckFinding(
            "warning",
            "memory",
            f"{memory} MB get a part of a processor; a whole one comes with {VCPU_MEMORY:,} MB",
        )
    if state not in ("Active", "Inactive"):  # the second starts again when it is invoked
        yield CheckFinding("failure", "state", f"the function is {state}")
    updated = settings.get("LastUpdateStatus", "Successful")
    if updated != "Successful":
        yield CheckFinding(
            "warning",
            "update",
            f"its last update is {updated}: it may answer with what was deployed before",
        )
