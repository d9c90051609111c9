"""The log of a multi-turn job, as events; a caller who may not read it gets none.

Source: `/aws/sagemaker/Job/AgentRFT`, sagemaker-train 1.27. How its streams are called is
documented nowhere: those that begin with the job's name and a slash are read, as a training job's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.drivers.fields import moment, text
from reward_functions.jobs.failures import answer
from reward_functions.jobs.job import JobEvent

if TYPE_CHECKING:
    from collections.abc import Iterator

GROUP: Final = "/aws/sagemaker/Job/{category}"

MOST: Final = 1_000
"""Lines of a log that are read: its first ones."""

MILLISECONDS: Final = 1_000


def log_events(client: Any, name: str, category: str) -> Iterator[JobEvent]:
    """The lines of a job's log; none where there is no log, or the caller may not read it.

    Args:
        client: of CloudWatch Logs.
        name: of the job.
        category: of the job.

    Raises:
        AwsFailed: CloudWatch cannot be reached.
    """
    group = GROUP.format(category=category)
    try:
        found = answer(
            f"reading the log {group}",
            client.filter_log_events,
            logGroupName=group,
            logStreamNamePrefix=f"{name}/",
            limit=MOST,
        )
    except AwsFailed as error:
        if error.missing or error.denied:
            return
        raise
    for each in found.get("events") or []:
        # A service that ignores the prefix would give this job the lines of another.
        if not text(each.get("logStreamName")).startswith(f"{name}/"):
            continue
        at, message = each.get("timestamp"), text(each.get("message")).strip()
        when = moment(at / MILLISECONDS) if isinstance(at, int) else None
        if when and message:
            known = text(each.get("eventId")) or f"log-{at}-{message[:64]}"
            yield JobEvent(known, when, "info", message)
