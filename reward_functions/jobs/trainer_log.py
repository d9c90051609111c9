"""The errors in the log of a SageMaker job's trainer: as words, bounded, each once.

    service       log group                    streams
    sagemaker     /aws/sagemaker/TrainingJobs  NAME/…
    agent-rft     /aws/sagemaker/Job/AgentRFT  NAME/…

Only the beginning of a line that names an error is kept: what follows may quote a response.
Sources: sagemaker-train 1.27.0 (`job_wait.py`); AWS's guide to SageMaker, "CloudWatch Logs".
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.calls import client as control_plane
from reward_functions.aws.failures import in_words

if TYPE_CHECKING:
    from boto3.session import Session

    from reward_functions.jobs.job import DriverName, Job

GROUPS: Final[dict[DriverName, str]] = {
    "sagemaker": "/aws/sagemaker/TrainingJobs",
    "agent-rft": "/aws/sagemaker/Job/AgentRFT",
}

PATTERN: Final = "?Error ?ERROR ?Exception"
"""In the language of filters of CloudWatch Logs: lines with one of these."""

NAMED: Final = re.compile(r"\b[A-Za-z_.]{0,80}(?:Error|Exception)\b")
"""The error's own name."""

NAME: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,62})")

PAGES: Final = 20
KEPT: Final = 5
"""Errors, the most frequent ones."""

LONGEST: Final = 10_000
"""Characters of a line that are read."""

SHOWN: Final = 200
"""Characters of an error, from its name on."""


def trainer_errors(job: Job, region: str, session: Session | None = None) -> list[str]:
    """The errors that a trainer logged, most frequent first, with how often; none of others' jobs.

    Args:
        job: of any service.
        region: of the job.
        session: boto3's; the caller's own where not given.

    Raises:
        AwsFailed: the log is not there, or may not be read (`logs:FilterLogEvents`).
    """
    group = GROUPS.get(job.driver)
    if group is None or not NAME.fullmatch(job.name):
        return []
    client = control_plane("logs", region, session)
    asked: dict[str, Any] = {
        "logGroupName": group,
        "logStreamNamePrefix": f"{job.name}/",
        "filterPattern": PATTERN,
    }
    found: Counter[str] = Counter()
    for _ in range(PAGES):
        with in_words(f"reading the log of {job.name}"):
            page = client.filter_log_events(**asked)
        found.update(
            error for line in page.get("events", ()) if (error := _error(line.get("message", "")))
        )
        if not page.get("nextToken"):
            break
        asked["nextToken"] = page["nextToken"]
    return [
        f"{error} ({count:,} times)" if count > 1 else error
        for error, count in found.most_common(KEPT)
    ]


def _error(message: str) -> str:
    """A line from its error's name on, in one line; "" where it names none."""
    line = " ".join(message[:LONGEST].split())
    named = NAMED.search(line)
    return line[named.start() :][:SHOWN] if named else ""
