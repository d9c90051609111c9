"""What is watched of the path of deferred rewards: alarms, and its row of the dashboard.

The trainer waits for a rollout for a window of its own (600 s in `rollouts.report.settings`), and
what comes later is worth nothing: half of it in the queue is an alarm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

from reward_functions.cdk.constructs.monitoring import Watch, alarms
from reward_functions.rollouts.report.settings import RolloutSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aws_cdk import aws_sns as sns

    from reward_functions.cdk.constructs.feedback_path import FeedbackPath

MINUTE: Final = Duration.minutes(1)
"""Half a window is five of them: an alarm of five minutes would come with its end."""

OF_WINDOW: Final = 0.5

SERVICE, STAGE = "feedback", "stage"
"""The service that the function's metrics name, and their other dimension."""

ROW: Final = 8
"""Columns of a widget, of the dashboard's 24."""


def watch_feedback(path: FeedbackPath, dashboard: cloudwatch.Dashboard, topic: sns.ITopic) -> None:
    """Make the alarms of a path, published to a topic, and its row of a dashboard.

    Args:
        path: what is watched.
        dashboard: the stage's.
        topic: receives the alarms.
    """
    alarms(path, watches(path), about="Deferred rewards", topic=topic)
    dashboard.add_widgets(*_row(path))


def watches(path: FeedbackPath) -> Iterator[Watch]:
    """What can go wrong between an agent's result and the trainer."""
    yield Watch(
        "Waiting",
        path.queue.metric_approximate_age_of_oldest_message(period=MINUTE, statistic="Maximum"),
        OF_WINDOW * RolloutSettings().window,
        "a result waits for longer than half of the time that a trainer waits for its rollout.",
    )
    yield Watch(
        "Unreported",
        path.dead_letters.metric_approximate_number_of_messages_visible(
            period=MINUTE, statistic="Maximum"
        ),
        0,
        "results have no reward: `reward rollouts redrive` shows why.",
    )
    yield Watch(
        "Errors",
        path.function.metric_errors(period=MINUTE, statistic="Sum"),
        0,
        "an invocation failed, and all its results wait to be received again.",
    )
    yield Watch(
        "Throttles",
        path.function.metric_throttles(period=MINUTE, statistic="Sum"),
        0,
        "the function was turned away: raise the account's concurrency, or lower the path's.",
    )
    yield Watch(
        "Expired",
        _metric(path, "expired"),
        0,
        "rewards were not sent, as their rollouts were over.",
    )


def _metric(path: FeedbackPath, name: str) -> cloudwatch.Metric:
    """A metric of the function's own, with the dimensions it is emitted with."""
    return cloudwatch.Metric(
        namespace=path.settings.namespace,
        metric_name=name,
        dimensions_map={"service": SERVICE, STAGE: path.settings.stage},
        statistic="Sum",
        period=MINUTE,
    )


def _row(path: FeedbackPath) -> list[cloudwatch.IWidget]:
    queue, letters, function = path.queue, path.dead_letters, path.function
    return [
        cloudwatch.GraphWidget(
            title="deferred rewards: what became of them",
            left=[
                _metric(path, each)
                for each in ("rewards_reported", "dead_letters", "expired", "unscored")
            ],
            width=ROW,
        ),
        cloudwatch.GraphWidget(
            title="deferred rewards: waiting",
            left=[
                queue.metric_approximate_number_of_messages_visible(),
                letters.metric_approximate_number_of_messages_visible(),
            ],
            right=[queue.metric_approximate_age_of_oldest_message()],
            width=ROW,
        ),
        cloudwatch.GraphWidget(
            title="deferred rewards: work",
            left=[function.metric_invocations(), function.metric_errors()],
            right=[function.metric_duration(statistic=each) for each in ("p50", "p99")],
            width=ROW,
        ),
    ]
