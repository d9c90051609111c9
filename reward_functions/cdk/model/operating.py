"""The alarms and the saved queries of a stage, as rows: the stack and docs/how-to/operate.md.

An alarm is called as its function is, and by its condition: `reward-STAGE-NAME-errors`. Two stacks
of one account and region have no function in common, and so no alarm. No condition is the ending of
another one after a hyphen, so that a name has one reading.

A row's `construct` never changes: an alarm would be made anew under the name that it still has,
which CloudFormation refuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

RUNBOOK: Final = (
    "https://github.com/reward-functions/reward-functions/tree/main/docs/how-to/operate.md"
)
"""Below the documentation of the package's metadata: a reader of an alarm has no checkout."""

MINUTES: Final = 5

MINUTE: Final = 1
"""Half of a trainer's window is five: an alarm of five minutes would come with its end."""

TIMEOUT, MAX_UNSCORED, WINDOW = "the timeout", "`max_unscored`", "a trainer's window"
"""Bounds of which a threshold may be a share."""


class Alarm(NamedTuple):
    """One alarm of each thing of a kind.

    Args:
        condition: ends the alarm's name, and is the anchor of its runbook.
        construct: in the construct tree.
        metric: CloudWatch's name of what is watched.
        statistic: over a period.
        threshold: in the metric's unit, or a share of a bound.
        means: a sentence for the reader of the alarm.
        first: a sentence that says what to do first.
        of: the bound; "" of a threshold in the unit itself.
        minutes: of a period.
        periods: all of which must be over the threshold.
        at_most: whether a value at the threshold, or below, is wrong; else one above it.
    """

    condition: str
    construct: str
    metric: str
    statistic: str
    threshold: float
    means: str
    first: str
    of: str = ""
    minutes: int = MINUTES
    periods: int = 1
    at_most: bool = False

    def limit(self, bounds: Mapping[str, float]) -> float:
        """The threshold in the metric's unit.

        Args:
            bounds: the values of the bounds, in that unit.
        """
        return self.threshold * bounds[self.of] if self.of else self.threshold

    def describe(self, about: str) -> str:
        """The alarm's description, which names its runbook.

        Args:
            about: what is watched.
        """
        return f"{about}: {self.means} {self.first} Runbook: {RUNBOOK}#{self.condition}"


ERRORS, THROTTLES, DURATION = "Errors", "Throttles", "Duration"
"""Metrics that Lambda has of each function."""

OLDEST, VISIBLE = "ApproximateAgeOfOldestMessage", "ApproximateNumberOfMessagesVisible"
"""Metrics that SQS has of each queue."""

FUNCTION, FEEDBACK, FORWARDER = "deployment", "feedback", "forwarder"
QUEUE, SCALE, JOB_EVENTS = "queue", "scale", "job events"

NOT_FORWARDED: Final = "not-forwarded"
"""Ends the name of a forwarder's metric, too."""

ALARMS: Final[Mapping[str, tuple[Alarm, ...]]] = {
    FUNCTION: (
        Alarm(
            *("errors", "Errors", ERRORS, "Sum", 0),
            "An invocation failed: its whole batch has no reward.",
            "Run `errors-by-type`.",
        ),
        Alarm(
            *("throttles", "Throttles", THROTTLES, "Sum", 0),
            "Lambda turned the trainer away.",
            "Raise the concurrency, or lower the trainer's.",
        ),
        Alarm(
            *("slow", "Slow", DURATION, "Maximum", 0.8),
            "A batch came near the timeout.",
            "Run `slowest-requests`.",
            of=TIMEOUT,
        ),
        Alarm(
            *("unscored", "Unscored", "unscored_share", "Average", 0.5),
            "We fail to score samples; more, and invocations fail.",
            "Run `unscored-by-reason`.",
            of=MAX_UNSCORED,
        ),
        Alarm(
            *("bad-references", "BadReferences", "bad_references", "Sum", 0),
            "Rows have no usable reference: every response to them earns the minimum.",
            "Run `unscored-by-reason`.",
        ),
        Alarm(
            *("no-spread", "NoSpread", "reward_std", "Maximum", 0),
            "All rewards of every batch are equal: no group has an advantage.",
            "Compare the versions on the dashboard.",
            periods=3,
            at_most=True,
        ),
    ),
    FEEDBACK: (
        Alarm(
            *("waiting", "Waiting", OLDEST, "Maximum", 0.5),
            "A result waits too long: its rollout may be over before it is scored.",
            "Look at the alarms `errors` and `throttles`.",
            of=WINDOW,
            minutes=MINUTE,
        ),
        Alarm(
            *("unreported", "Unreported", VISIBLE, "Maximum", 0),
            "Results have no reward; they are dead letters.",
            "Run `reward rollouts redrive --dry-run`.",
            minutes=MINUTE,
        ),
        Alarm(
            *("errors", "Errors", ERRORS, "Sum", 0),
            "An invocation failed: its results wait to be received again.",
            "Run `errors-by-type`.",
            minutes=MINUTE,
        ),
        Alarm(
            *("throttles", "Throttles", THROTTLES, "Sum", 0),
            "Lambda turned the queue away.",
            "Raise the account's concurrency, or lower the path's.",
            minutes=MINUTE,
        ),
        Alarm(
            *("expired", "Expired", "expired", "Sum", 0),
            "Rewards came after their rollouts were over, and were not sent.",
            "Look at the alarm `waiting`.",
            minutes=MINUTE,
        ),
    ),
    FORWARDER: (
        Alarm(
            *("errors", "Errors", ERRORS, "Sum", 0),
            "An invocation ended without an answer, as at its timeout.",
            "Run `errors-by-type`.",
        ),
        Alarm(
            *("throttles", "Throttles", THROTTLES, "Sum", 0),
            "Lambda turned the trainer away.",
            "Raise the concurrency.",
        ),
        Alarm(
            *(NOT_FORWARDED, "NotForwarded", NOT_FORWARDED, "Sum", 0),
            "A request did not reach the agent.",
            "Run `not-forwarded`.",
        ),
    ),
    QUEUE: (
        Alarm(
            *("dead-letters", "DeadLettersThere", VISIBLE, "Maximum", 0),
            "The agent took a request three times and never deleted it.",
            "Read the agent's log.",
        ),
    ),
    SCALE: (
        Alarm(
            *("failed-runs", "FailedRuns", "ExecutionsFailed", "Sum", 0),
            "A run ended without its summary.",
            "Run `reward runs show`.",
        ),
    ),
    JOB_EVENTS: (
        Alarm(
            *("undelivered", "NotTold", VISIBLE, "Maximum", 0),
            "Job events did not reach the topic; they wait in a queue.",
            "Deploy the stage again.",
        ),
    ),
}
"""By what is watched: each deployment, the path of deferred rewards, each forwarder, each queue of
a forwarder, files that are scored on AWS, and the events of jobs."""


class Query(NamedTuple):
    """A query of CloudWatch Logs Insights that every stage saves.

    Args:
        name: ends its name, after the stage's folder.
        shows: what it answers.
        lines: its commands.
        of: the kinds of what writes the logs that it reads.
    """

    name: str
    shows: str
    lines: tuple[str, ...]
    of: frozenset[str] = frozenset({FUNCTION})

    @property
    def text(self) -> str:
        """The query as Logs Insights takes it."""
        return "\n| ".join(self.lines)


LOGGING: Final = frozenset({FUNCTION, FEEDBACK, FORWARDER, SCALE})

QUERIES: Final = (
    Query(
        "by-version",
        "batches, rows without a score or a reference, and latency of each version",
        (
            'filter message = "batch scored"',
            (
                "stats count(*) as batches, sum(samples) as rows, sum(unscored) as without_a_score,"
                " sum(bad_references) as without_a_reference, pct(milliseconds, 99) as p99_ms"
                " by service, version, function_version"
            ),
            "sort service, function_version",
        ),
    ),
    Query(
        "cold-starts",
        "how many environments started, and how long that took",
        (
            (
                'filter type = "platform.report" and (ispresent(record.metrics.initDurationMs)'
                " or ispresent(record.metrics.restoreDurationMs))"
            ),
            (
                "stats count(*) as starts, max(record.metrics.initDurationMs) as slowest_start_ms,"
                " max(record.metrics.restoreDurationMs) as slowest_restore_ms by @log, bin(1h)"
            ),
        ),
        LOGGING,
    ),
    Query(
        "errors-by-type",
        "failed invocations by their error",
        (
            'filter ispresent(errorType) or record.status = "timeout" or record.status = "error"',
            "fields coalesce(errorType, record.status) as error",
            "stats count(*) as invocations, latest(errorMessage) as newest by @log, error",
            "sort invocations desc",
        ),
        LOGGING,
    ),
    Query(
        NOT_FORWARDED,
        "requests that a forwarder could not hand on, newest first",
        (
            "filter message like /^not forwarded/",
            "sort @timestamp desc",
            "display @timestamp, @log, message",
            "limit 50",
        ),
        frozenset({FORWARDER}),
    ),
    Query(
        "slowest-requests",
        "the twenty slowest batches",
        (
            'filter message = "batch scored"',
            "sort milliseconds desc",
            (
                "display @timestamp, service, function_version, milliseconds, samples, out_of_time,"
                " function_request_id"
            ),
            "limit 20",
        ),
    ),
    Query(
        "unscored-by-reason",
        "samples without a score by the reason, and by version",
        (
            'filter message = "not scored"',
            "stats sum(samples) as rows by service, function_version, error, reason",
            "sort rows desc",
        ),
    ),
)
