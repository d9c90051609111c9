"""How many functions an account runs at once, and what of it training jobs need.

A run takes its calls from the same limit as the grader of a training job, which is paid for while
it waits. Where a job runs, as many as the account had at once in the last hours are left alone.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.aws.calls import answer, client
from reward_functions.aws.failures import AwsFailed
from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from boto3.session import Session

LOOKED_BACK: Final = timedelta(hours=3)

PERIOD: Final = 300
"""Seconds of a figure of CloudWatch."""

IN_PROGRESS: Final = "InProgress"


class Shares(NamedTuple):
    """The concurrency of an account, and how much is used.

    Args:
        account: functions at once; None where it was not measured.
        unreserved: of them, that no function has for itself.
        jobs: training jobs that run; at 100 it may be more.
        peak: the most at once of late.
        unmeasured: sentences about what could not be seen.
    """

    account: int | None = None
    unreserved: int | None = None
    jobs: int = 0
    peak: int | None = None
    unmeasured: tuple[str, ...] = ()

    @property
    def needed(self) -> int:
        """By running jobs: half of what there is where nobody knows."""
        if not self.jobs:
            return 0
        return (self.unreserved or 0) // 2 if self.peak is None else self.peak

    @property
    def free(self) -> int | None:
        """For a run; None where nobody knows."""
        return None if self.unreserved is None else max(0, self.unreserved - self.needed)


def shares(region: str | None = None, session: Session | None = None) -> Shares:
    """The account's concurrency in a region; a part that you may not see is named, and no error.

    Args:
        region: the session's where not given.
        session: boto3's, for the credentials.
    """
    missing: list[str] = []

    def seen(service: str, what: str, call: str, **asked: Any) -> dict[str, Any]:
        try:
            found: Callable[..., Any] = getattr(client(service, region, session), call)
            return answer(what, found, **asked)
        except AwsFailed as error:
            missing.append(str(error))
            return {}

    limits = seen("lambda", "reading the account's concurrency", "get_account_settings")
    limit = limits.get("AccountLimit", {})
    bedrock = seen(
        "bedrock",
        "listing customization jobs",
        "list_model_customization_jobs",
        statusEquals=IN_PROGRESS,
    )
    sagemaker = seen(
        "sagemaker", "listing training jobs", "list_training_jobs", StatusEquals=IN_PROGRESS
    )
    jobs = len(bedrock.get("modelCustomizationJobSummaries", ()))
    jobs += len(sagemaker.get("TrainingJobSummaries", ()))
    return Shares(
        limit.get("ConcurrentExecutions"),
        limit.get("UnreservedConcurrentExecutions"),
        jobs,
        _peak(seen) if jobs else None,
        tuple(missing),
    )


def _peak(seen: Callable[..., dict[str, Any]]) -> int | None:
    now = datetime.now(UTC)
    found = seen(
        "cloudwatch",
        "reading how many functions ran at once",
        "get_metric_statistics",
        Namespace="AWS/Lambda",
        MetricName="ConcurrentExecutions",
        StartTime=now - LOOKED_BACK,
        EndTime=now,
        Period=PERIOD,
        Statistics=["Maximum"],
    )
    return max((int(each["Maximum"]) for each in found.get("Datapoints", ())), default=None)


def refusal(found: Shares, calls: int) -> str:
    """Why a run may not make so many calls at once; "" where it may, or where nobody knows.

    Args:
        found: of the account.
        calls: at once; a shard of the state machine is two, the shard function and the version.
    """
    if found.free is None or calls <= found.free:
        return ""
    most = f"{found.unreserved:,} functions at once"
    if found.jobs:
        running = f"{found.jobs:,} training job{'s' if found.jobs > 1 else ''}"
        return (
            f"the run wants {calls:,} calls at once; the account has {most}, and {running} that "
            f"{'are' if found.jobs > 1 else 'is'} paid for may need {found.needed:,} of them: "
            "lower --concurrency, or wait"
        )
    return (
        f"the run wants {calls:,} calls at once, and the account has {most}: lower --concurrency, "
        "or ask for more in Service Quotas"
    )


def require_room(calls: int, session: Session | None = None) -> None:
    """Refuse a run that would take calls from running jobs, or more than the account has.

    Args:
        calls: at once, as of `refusal`.
        session: boto3's, for the credentials.

    Raises:
        ConfigurationError: it would; where nobody may look, it is begun.
    """
    if why := refusal(shares(session=session), calls):
        raise ConfigurationError(why)
