"""Alarms on the metrics each function emits, saved queries, and one dashboard for the stage.

No alarm computes with metrics: the handler emits shares as shares, so that what is watched is what
is measured, and the local AWS emulator accepts the same template.
"""

from __future__ import annotations

from functools import partial
from math import ceil
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_logs as logs
from constructs import Construct

from reward_functions.aws.names import Names
from reward_functions.cdk.model.operating import (
    ALARMS,
    DURATION,
    ERRORS,
    FUNCTION,
    MAX_UNSCORED,
    MINUTES,
    QUERIES,
    THROTTLES,
    TIMEOUT,
    Alarm,
)
from reward_functions.serving.observability import DEPLOYMENT, DIMENSION, STAGE, VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from aws_cdk import aws_sns as sns

    from reward_functions.cdk.constructs.reward_function import DeployedFunction
    from reward_functions.cdk.model.stages import Stage

ABOVE: Final = cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD
WIDTH: Final = 24
"""Columns of a dashboard."""

MOST_ALARMS: Final = 100
"""In a widget of their state."""

ALARMS_OF_A_LINE: Final = 6

MOST_GROUPS: Final = 50
"""Log groups that a query reads ("CloudWatch Logs quotas")."""

AT_MOST: Final = cloudwatch.ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD


class Watched(NamedTuple):
    """A thing that has alarms.

    Args:
        kind: of `ALARMS`.
        about: how the alarms' descriptions begin.
        name: an alarm's, by its condition.
        metric: what a row watches.
        bounds: values of the bounds of which thresholds are shares, in the metric's unit.
    """

    kind: str
    about: str
    name: Callable[[str], str]
    metric: Callable[[Alarm], cloudwatch.Metric]
    bounds: Mapping[str, float] = MappingProxyType({})


def alarms(scope: Construct, watched: Watched, topic: sns.ITopic) -> list[cloudwatch.Alarm]:
    """Make the alarms of a thing.

    Args:
        scope: the thing.
        watched: what the rows of its kind watch.
        topic: receives the alarms.
    """
    return [_alarm(scope, row, watched, topic) for row in ALARMS[watched.kind]]


def _alarm(scope: Construct, row: Alarm, watched: Watched, topic: sns.ITopic) -> cloudwatch.Alarm:
    alarm = cloudwatch.Alarm(
        scope,
        row.construct,
        alarm_name=watched.name(row.condition),
        metric=watched.metric(row),
        threshold=row.limit(watched.bounds),
        evaluation_periods=row.periods,
        comparison_operator=AT_MOST if row.at_most else ABOVE,
        # Between two training runs nobody calls, and nothing is wrong.
        treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        alarm_description=row.describe(watched.about),
    )
    alarm.add_alarm_action(actions.SnsAction(topic))
    return alarm


def period(row: Alarm) -> Duration:
    """Of a row's metric."""
    return Duration.minutes(row.minutes)


class Monitoring(Construct):
    """Alarms of every function, published to a topic, and the dashboard of the stage.

    The dashboard begins with the state of every alarm. The local AWS emulator takes no saved
    queries.

    Args:
        scope: the stack.
        name: in the construct tree.
        stage: the dashboard's.
        functions: what is watched.
        topic: receives the alarms.
        others: alarms that were made elsewhere.
        written: the log groups, by the kinds of what writes them.
    """

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        stage: Stage,
        functions: Sequence[DeployedFunction],
        topic: sns.ITopic,
        others: Sequence[cloudwatch.Alarm],
        written: Mapping[str, Sequence[logs.ILogGroup]],
    ) -> None:
        super().__init__(scope, name)
        self.dashboard = cloudwatch.Dashboard(
            self,
            "Dashboard",
            dashboard_name=stage.names.dashboard(stage.region),
        )
        made = [
            alarm
            for function in functions
            for alarm in alarms(function, watched(function, function.deployment.name), topic)
        ]
        every = [*others, *made]
        for first in range(0, len(every), MOST_ALARMS):
            self.dashboard.add_widgets(_states(every[first : first + MOST_ALARMS]))
        for function in functions:
            self.dashboard.add_widgets(*_row(function))
            self.dashboard.add_widgets(*_versions(function))
        if not stage.emulated:
            self._save_queries(stage, written)

    def _save_queries(self, stage: Stage, written: Mapping[str, Sequence[logs.ILogGroup]]) -> None:
        for query in QUERIES:
            read = [each for kind in sorted(query.of) for each in written.get(kind, ())]
            if read:
                logs.CfnQueryDefinition(
                    self,
                    query.name,
                    name=stage.names.query(query.name),
                    query_string=query.text,
                    log_group_names=[each.log_group_name for each in read[:MOST_GROUPS]],
                )


def _states(shown: Sequence[cloudwatch.Alarm]) -> cloudwatch.IWidget:
    return cloudwatch.AlarmStatusWidget(
        title="alarms",
        alarms=[*shown],
        width=WIDTH,
        height=2 + ceil(len(shown) / ALARMS_OF_A_LINE),
        sort_by=cloudwatch.AlarmStatusWidgetSortBy.STATE_UPDATED_TIMESTAMP,
    )


def watched(function: DeployedFunction, about: str) -> Watched:
    """A reward's metrics and bounds: it can go wrong while a model learns from it.

    Args:
        function: the reward.
        about: how the alarms' descriptions begin.
    """
    settings = function.settings
    return Watched(
        kind=FUNCTION,
        about=about,
        name=partial(Names.alarm, settings.service),
        metric=partial(_watched_metric, function),
        bounds={
            TIMEOUT: 1000.0 * function.deployment.timeout_seconds,
            MAX_UNSCORED: settings.max_unscored,
        },
    )


def _watched_metric(function: DeployedFunction, row: Alarm) -> cloudwatch.Metric:
    if row.metric in {ERRORS, THROTTLES, DURATION}:
        return function.function.metric(row.metric, period=period(row), statistic=row.statistic)
    return metric_of(function, row.metric, row.statistic, period(row))


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


def _versions(function: DeployedFunction) -> list[cloudwatch.IWidget]:
    """Each version by itself, so that a rollback is seen; those without data are left out."""
    name = function.deployment.name
    found = [
        _graph(f"{name} by version: {title}", _by_version(function, metric, statistic))
        for title, metric, statistic in BY_VERSION_SHOWN
    ]
    if not function.deployment.immutable:
        title = f"{name} by version: errors"
        found.append(_graph(title, _errors_by_version(function), "${PROP('Dim.Resource')}"))
    return found


BY_VERSION_SHOWN: Final = (
    ("rewards", "reward_mean", "Average"),
    ("share not scored", "unscored_share", "Average"),
    ("latency", "milliseconds", "p99"),
)


def _by_version(function: DeployedFunction, metric: str, statistic: str) -> str:
    """A search for a metric of the handler's own by the versions of one deployment."""
    settings = function.settings
    wanted = {STAGE: settings.deployed_stage, DEPLOYMENT: settings.deployed_name}
    schema = (settings.metrics_namespace, STAGE, DEPLOYMENT, VERSION)
    return _search(schema, {"MetricName": metric, **wanted}, statistic)


def _errors_by_version(function: DeployedFunction) -> str:
    """A search for Lambda's own metric by what was invoked: a version, or `live`."""
    wanted = {"MetricName": ERRORS, "FunctionName": function.settings.service}
    return _search(("AWS/Lambda", "FunctionName", "Resource"), wanted, "Sum")


def _search(schema: Sequence[str], wanted: Mapping[str, str | None], statistic: str) -> str:
    """A search expression. A name with an underscore stands in quotes, and so all of them do."""
    quoted = ",".join(f'"{each}"' for each in schema)
    terms = " ".join(f'{name}="{value}"' for name, value in wanted.items())
    return f"SEARCH('{{{quoted}}} {terms}', '{statistic}', {60 * MINUTES})"


def _graph(
    title: str, expression: str, label: str = f"${{PROP('Dim.{VERSION}')}}"
) -> cloudwatch.IWidget:
    searched = cloudwatch.SearchExpression(expression=expression, label=label)
    return cloudwatch.GraphWidget(title=title, left=[searched], width=6)


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
