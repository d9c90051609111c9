"""The log lines and metrics of a function: of a batch, of each reason that left a sample unscored.

Log lines are Powertools' JSON. Metrics are CloudWatch's embedded format, one object a batch, with
the dimensions `service` and `reward`, which alarms watch: they stay when the version changes. Those
of `BY_VERSION` have `stage`, `deployment` and `function_version` as well, in the same object. Each
metric costs by the month for each version that is asked: no other one is counted by version.

No line and no metric holds the text of a prompt, a response or a reference, unless the setting
`log_text_rate` asks for a share of them. Errors of this library say what shape was wrong and are
logged as they are. Any other exception can quote what it choked on, and is logged as its type and
the line of reward code it came from.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections import Counter
from functools import partial
from math import hypot, sqrt
from random import random
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TextIO

from aws_lambda_powertools.logging import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics

from reward_functions.core.errors import RewardError
from reward_functions.core.means import mean
from reward_functions.core.types import Sample, Scored, Unscored
from reward_functions.serving.imputation import is_ours

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reward_functions.core.spec import RewardSpec
    from reward_functions.core.types import RewardResult
    from reward_functions.serving.settings import LambdaSettings

DIMENSION: Final = "reward"

STAGE, DEPLOYMENT, VERSION = "stage", "deployment", "function_version"
"""Dimensions of the metrics by version."""

BY_VERSION: Final = ("samples", "unscored_share", "milliseconds", "reward_mean")
"""Metrics that are counted by version, too."""

GENERATION: Final = "--"
"""Stands before the digest in the name of an immutable function, as in `aws.arn`."""

LATEST: Final = "$LATEST"
"""The version of a function that none was published of, and of every immutable one."""

Line = tuple[str, int]
"""A module's name, and a line of it."""

RAISED_AT: Final = "raised_at"
"""The attribute of an exception of another process that holds its lines, as it has no traceback."""

MAX_KINDS: Final = 10
"""Kinds of errors in one log line; a batch of 10,000 rows can be wrong in as many ways."""


class Telemetry:
    """Logs and metrics of one reward as it was deployed."""

    def __init__(self, spec: RewardSpec, settings: LambdaSettings) -> None:
        self.spec = spec
        self.text_rate = settings.log_text_rate
        self.logger = Logger(
            service=settings.service,
            level=settings.log_level,
            logger_handler=StandardOutput(),
            # Powertools' own serializer writes UTF-8, which half a surrogate pair does not have.
            json_serializer=partial(json.dumps, default=str, separators=(",", ":")),
        )
        self.function_version = function_version(os.environ)
        # Ephemeral: `Metrics` shares its dimensions with every other instance in the process.
        self.metrics = MetricsByVersion(
            namespace=settings.metrics_namespace,
            service=settings.service,
            default_dimensions={DIMENSION: spec.name},
        )
        if settings.deployed_stage and settings.deployed_name:
            self.metrics.version_dimensions = {
                STAGE: settings.deployed_stage,
                DEPLOYMENT: settings.deployed_name,
                VERSION: self.function_version,
            }

    def batch(
        self,
        samples: Sequence[Sample | Unscored],
        results: Sequence[RewardResult],
        *,
        seconds: float,
        out_of_time: int = 0,
        request_id: str | None = None,
        account: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        """Report one batch, whether its invocation succeeds or not.

        Args:
            samples: what was scored; texts are drawn from them.
            results: of `score_batch`, one per sample.
            seconds: from the event to the response.
            out_of_time: how many the deadline left that earn the minimum.
            request_id: Lambda's.
            account: what judging the batch cost, by counter.
        """
        values = [result.score.value for result in results if isinstance(result, Scored)]
        failures = [result for result in results if isinstance(result, Unscored)]
        unscored = sum(map(is_ours, failures))
        counts = {
            "samples": len(results),
            "unscored": unscored,
            "bad_references": len(failures) - unscored,
            "out_of_time": out_of_time,
        }
        milliseconds = round(seconds * 1000, 3)
        kinds = Counter(self.kind(failure.error) for failure in failures)
        (self.logger.warning if failures else self.logger.info)(
            "batch scored",
            extra={
                "reward": self.spec.name,
                "version": self.spec.version,
                "function_version": self.function_version,
                "milliseconds": milliseconds,
                **counts,
                **account,
                "errors": dict(kinds.most_common(MAX_KINDS)),
                "function_request_id": request_id,
            },
        )
        self._reasons(failures, kinds, request_id)
        self._emit(counts, milliseconds, account, _statistics(values, self.spec.scale.minimum))
        if self.text_rate:
            self._texts(samples, results)

    def _reasons(
        self, failures: Sequence[Unscored], kinds: Counter[str], request_id: str | None
    ) -> None:
        """Write a line for each of the most frequent reasons: a query groups by fields alone."""
        errors = {self.kind(failure.error): type(failure.error).__name__ for failure in failures}
        for reason, count in kinds.most_common(MAX_KINDS):
            self.logger.warning(
                "not scored",
                extra={
                    "reward": self.spec.name,
                    "version": self.spec.version,
                    "function_version": self.function_version,
                    "error": errors[reason],
                    "reason": reason,
                    "samples": count,
                    "function_request_id": request_id,
                },
            )

    def _emit(
        self,
        counts: Mapping[str, int],
        milliseconds: float,
        account: Mapping[str, float],
        statistics: Mapping[str, float],
    ) -> None:
        """Write one set of metrics."""
        for name, count in counts.items():
            self.metrics.add_metric(name, "Count", count)
        self.metrics.add_metric("milliseconds", "Milliseconds", milliseconds)
        for name, value in account.items():
            self.metrics.add_metric(name, "None" if name == "judge_usd" else "Count", value)
        if counts["samples"]:  # a share of its own, so that an alarm need not divide
            share = counts["unscored"] / counts["samples"]
            self.metrics.add_metric("unscored_share", "None", share)
        for name, value in statistics.items():
            self.metrics.add_metric(name, "None", value)
        self.metrics.flush_metrics()

    def not_warmed(self, error: RewardError) -> None:
        """Report that a warm-up failed, which some samples need."""
        self.logger.warning("warm-up incomplete", error=self.kind(error))

    def not_isolated(self, error: OSError) -> None:
        """Report that no process can be started, so that a sample which blocks loses its batch."""
        self.logger.warning("scored without a process of its own", error=self.kind(error))

    def metrics_dropped(self, samples: int) -> None:
        """Report that a response was too large for the metrics of its results."""
        self.logger.warning("metrics_list dropped to fit the response", samples=samples)
        self.metrics.add_metric("metrics_dropped", "Count", 1)

    def kind(self, error: Exception) -> str:
        """The name of an error in a log."""
        if isinstance(error, RewardError):
            return f"{type(error).__name__}: {error}"
        return f"{type(error).__name__} at {self._origin(error)}"

    def _origin(self, error: Exception) -> str:
        """`module:line` of the innermost frame in this package or in the reward's own."""
        ours = {__name__.partition(".")[0], self.spec.function.__module__.partition(".")[0]}
        lines = getattr(error, RAISED_AT, None) or lines_of(error)
        theirs = [(module, line) for module, line in lines if module.partition(".")[0] in ours]
        return "{}:{}".format(*theirs[-1]) if theirs else "an unknown line"

    def _texts(self, samples: Sequence[Sample | Unscored], results: Sequence[RewardResult]) -> None:
        for sample, result in zip(samples, results, strict=True):
            if isinstance(sample, Sample) and random() < self.text_rate:  # noqa: S311 - no secret
                self.logger.info(
                    "sampled text",
                    id=sample.id,
                    prompt=sample.prompt,
                    response=sample.response,
                    score=result.score.value if isinstance(result, Scored) else None,
                )


def function_version(environ: Mapping[str, str]) -> str:
    """The version that runs, as a rollback names it: a number, or an immutable function's digest.

    Args:
        environ: Lambda's; without its variables the version is `$LATEST`.
    """
    version = environ.get("AWS_LAMBDA_FUNCTION_VERSION") or LATEST
    name = environ.get("AWS_LAMBDA_FUNCTION_NAME", "")
    return name.partition(GENERATION)[2] or version if version == LATEST else version


class MetricsByVersion(EphemeralMetrics):
    """Powertools' metrics, some of which have a second set of dimensions.

    Powertools gives a set of dimensions to all metrics of an object, and each would cost.
    """

    version_dimensions: Mapping[str, str] = MappingProxyType({})

    def serialize_metric_set(self, *given: Any, **named: Any) -> Any:
        """The object in the embedded metric format, with a directive for the second set."""
        made: dict[str, Any] = dict(super().serialize_metric_set(*given, **named))
        directives = made["_aws"]["CloudWatchMetrics"]
        (first,) = directives
        if self.version_dimensions:
            chosen = [each for each in first["Metrics"] if each["Name"] in BY_VERSION]
            dimensions = [[*self.version_dimensions]]
            directives.append({**first, "Dimensions": dimensions, "Metrics": chosen})
            made.update(self.version_dimensions)
        return made


def lines_of(error: BaseException) -> Iterator[Line]:
    """Where an exception came from, the innermost line last."""
    frame = error.__traceback__
    while frame is not None:
        yield str(frame.tb_frame.f_globals.get("__name__")), frame.tb_lineno
        frame = frame.tb_next


class StandardOutput(logging.StreamHandler[TextIO]):
    """Standard output as it is when a line is written.

    Powertools keeps one logger per service and process, and would keep the stream of the first.
    """

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:  # type: ignore[override] # as `logging.lastResort` does
        """The stream, by any object that has replaced it."""
        return sys.stdout


def _statistics(values: Sequence[float], minimum: float) -> dict[str, float]:
    """Mean, share at the minimum and, of several, standard deviation of what was scored."""
    if not values:
        return {}
    middle = mean(values)
    statistics = {"reward_mean": middle, "frac_reward_min": values.count(minimum) / len(values)}
    if len(values) > 1:  # a batch of one is no sign that all rewards are equal
        statistics["reward_std"] = hypot(*[value - middle for value in values]) / sqrt(len(values))
    return statistics
