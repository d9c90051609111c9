"""Alarms on the metrics each function emits, and one dashboard for the stage.

No alarm computes with metrics: the handler emits shares as shares, so that what is watched is what
is measured, and the local AWS emulator accepts the same template.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from constructs import Construct

from reward_functions.serving.observability import DIMENSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from aws_cdk import aws_sns as sns

    from reward_functions.cdk.constructs.reward_function import DeployedFunction
    from reward_functions.cdk.model.stages import Stage

MINUTES: Final = 5

NEAR_TIMEOUT: Final = 0.8

ABOVE: Final = cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD
AT_MOST: Final = cloudwatch.ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD


class Watch(NamedTuple):
    """One alarm: a metric, when it is too much, and what it means.

    Args:
        name: in the construct tree.
        metric: what is watched, with its statistic.
        threshold: in the metric's unit.
        means: a sentence for the reader of the alarm.
        periods: of the metric, all of which must be over.
        compared: how a value is compared with the threshold.
    """

    name: str
    metric: cloudwatch.Metric
    threshold: float
    means: str
    periods: int = 1
    compared: cloudwatch.ComparisonOperator = ABOVE


def alarms(scope: Construct, watched: Iterable[Watch], *, about: str, topic: sns.ITopic) -> None:
    """Make the alarms of what is watched.

    Args:
        scope: what is watched.
        watched: what can go wrong with it.
        about: how their descriptions begin.
        topic: receives them.
    """
    notify = actions.SnsAction(topic)
    for watch in watched:
        alarm = cloudwatch.Alarm(
            scope,
            watch.name,
            metric=watch.metric,
            threshold=watch.threshold,
            evaluation_periods=watch.periods,
            comparison_operator=watch.compared,
            # Between two training runs nobody calls, and nothing is wrong.
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
            alarm_description=f"{about}: {watch.means}",
        )
        alarm.add_alarm_action(notify)


class Monitoring(Construct):
    """Alarms of every function, published to a topic, and the dashboard of all of them.

    Args:
        scope: the stack.
        name: in the construct tree.
        stage: the dashboard's.
        functions: what is watched.
        topic: receives the alarms.
    """

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        stage: Stage,
        functions: Sequence[DeployedFunction],
        topic: sns.ITopic,
    ) -> None:
        super().__init__(scope, name)
        self.dashboard = cloudwatch.Dashboard(
            self,
            "Dashboard",
            dashboard_name=stage.names.of(f"reward-functions-{stage.name}-{stage.region}"),
        )
        for function in functions:
            alarms(function, watches(function), about=function.deployment.name, topic=topic)
            self.dashboard.add_widgets(*_row(function))


def watches(function: DeployedFunction) -> Iterator[Watch]:
    """What can go wrong with a reward while a model learns from it."""
    deployment, settings = function.deployment, function.settings
    lambda_, minutes = function.function, Duration.minutes(MINUTES)
    yield Watch(
        "Errors",
        lambda_.metric_errors(period=minutes, statistic="Sum"),
        0,
        "an invocation failed, and its whole batch has no reward.",
    )
    yield Watch(
        "Throttles",
        lambda_.metric_throttles(period=minutes, statistic="Sum"),
        0,
        "the trainer was turned away: raise the concurrency, or lower the trainer's.",
    )
    yield Watch(
        "Slow",
        lambda_.metric_duration(period=minutes, statistic="Maximum"),
        NEAR_TIMEOUT * deployment.timeout_seconds * 1000,
        f"a batch took over {NEAR_TIMEOUT:.0%} of the {deployment.timeout_seconds} s allowed.",
    )
    yield Watch(
        "Unscored",
        metric_of(function, "unscored_share", "Average"),
        settings.max_unscored / 2,
        "our failures come near the share at which invocations fail; an imputed reward has zero "
        "advantage.",
    )
    yield Watch(
        "BadReferences",
        metric_of(function, "bad_references", "Sum"),
        0,
        "rows without a usable reference: every response to them earns the minimum.",
    )
    yield Watch(
        "NoSpread",
        metric_of(function, "reward_std", "Maximum"),
        0,
        "all rewards of every batch are equal: every group has zero advantage.",
        periods=3,
        compared=AT_MOST,
    )


def metric_of(
    function: DeployedFunction,
    name: str,
    statistic: str,
    period: Duration | None = None,
) -> cloudwatch.Metric:
    """A metric of the handler's own, with the dimensions it is emitted with."""
    settings = function.settings
    return cloudwatch.Metric(
        namespace=settings.metrics_namespace,
        metric_name=name,
        dimensions_map={"service": settings.service, DIMENSION: settings.name},
        statistic=statistic,
        period=period or Duration.minutes(MINUTES),
    )


def _row(function: DeployedFunction) -> list[cloudwatch.IWidget]:
    name, lambda_ = function.deployment.name, function.function
    return [
        cloudwatch.GraphWidget(
            title=f"{name}: rewards",
            left=[
                metric_of(function, each, "Average")
                for each in ("reward_mean", "reward_std", "frac_reward_min")
            ],
            width=8,
        ),
        cloudwatch.GraphWidget(
            title=f"{name}: not scored",
            left=[
                metric_of(function, each, "Sum")
                for each in ("unscored", "out_of_time", "bad_references")
            ],
            right=[lambda_.metric_errors(), lambda_.metric_throttles()],
            width=8,
        ),
        cloudwatch.GraphWidget(
            title=f"{name}: work",
            left=[metric_of(function, "samples", "Sum"), lambda_.metric_invocations()],
            right=[metric_of(function, "milliseconds", statistic) for statistic in ("p50", "p99")],
            width=8,
        ),
    ]
