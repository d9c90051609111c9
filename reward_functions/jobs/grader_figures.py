"""What the grader measured of its own answers: its log lines of the job's time, by minute.

A function of this project writes one set of metrics a batch in CloudWatch's embedded format
(`serving.observability`). Means, shares and standard deviations of several batches are those of
all their samples.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from math import fsum, sqrt
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.means import mean, weighted_mean
from reward_functions.jobs.figures import LARGEST, Series
from reward_functions.jobs.grader_lines import JobLines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime

    from boto3.session import Session

    from reward_functions.jobs.grader_lines import LogLine
    from reward_functions.jobs.job import Job

EMBEDDED: Final = "{ $._aws.Timestamp > 0 }"
"""Lines in the embedded format, in the language of filters of CloudWatch Logs."""

MINUTE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Batch:
    """One invocation, as the function measured it.

    Args:
        at: seconds since the job was made.
        samples: in the batch.
        unscored: that the function could not score; by its default they get their group's mean.
        bad_references: whose row or reference nobody can use; they get the minimum.
        milliseconds: from the event to the response.
        mean: of the rewards; None where nothing was scored.
        at_minimum: the share of the rewards that are the scale's minimum.
        std: the standard deviation of the rewards; 0 of a single one.
    """

    at: float
    samples: float
    unscored: float
    bad_references: float
    milliseconds: float
    mean: float | None
    at_minimum: float
    std: float

    @property
    def scored(self) -> float:
        """Samples with a reward of their own."""
        return max(0.0, self.samples - self.unscored - self.bad_references)


@dataclass(frozen=True, slots=True)
class GraderFigures:
    """What was read.

    Args:
        batches: in the order of the log.
        complete: whether all lines were read.
    """

    batches: tuple[Batch, ...]
    complete: bool = True


def read(
    job: Job,
    now: datetime,
    session: Session | None = None,
    progress: Callable[[int], object] = lambda _: None,
) -> GraderFigures:
    """Read the metrics that the grader wrote while the job ran.

    Args:
        job: with its grader.
        now: where the job has not ended.
        session: boto3's; the caller's own where not given.
        progress: called with the number of lines of each answer.

    Raises:
        AwsFailed: the log cannot be read: there is none yet, or `logs:FilterLogEvents` is missing.
        BadArn: the job does not say which function it asks.
    """
    log = JobLines(job, now, session, progress)
    return GraderFigures(tuple(batches(log, job)), log.complete)


def batches(log: JobLines, job: Job) -> Iterator[Batch]:
    """The batches of a log, in its order; lines that are none of ours are passed over.

    Raises:
        AwsFailed: the log cannot be read.
    """
    return filter(None, (_batch(line, job.created) for line in log.matching(EMBEDDED)))


def _batch(line: LogLine, created: datetime) -> Batch | None:
    """One line of the log; None of a line that is none of ours, or a broken one."""
    try:
        written = json.loads(line.message)
    except (ValueError, RecursionError):
        return None
    if (
        not isinstance(written, dict)
        or "_aws" not in written
        or _figure(written, "samples") is None
    ):
        return None
    return Batch(
        at=(line.at - created).total_seconds(),
        samples=_figure(written, "samples") or 0.0,
        unscored=_figure(written, "unscored") or 0.0,
        bad_references=_figure(written, "bad_references") or 0.0,
        milliseconds=_figure(written, "milliseconds") or 0.0,
        mean=_figure(written, "reward_mean"),
        at_minimum=_figure(written, "frac_reward_min") or 0.0,
        std=_figure(written, "reward_std") or 0.0,
    )


def _figure(written: dict[str, Any], name: str) -> float | None:
    """A metric of a line: Powertools writes a list of one value, others the value."""
    value = written.get(name)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= LARGEST else None


def minutes(found: Iterable[Batch]) -> dict[int, dict[str, float]]:
    """The figures of each minute since the job was made, in order; batches of one are pooled."""
    grouped: dict[int, list[Batch]] = defaultdict(list)
    for batch in found:
        grouped[int(batch.at // MINUTE)].append(batch)
    return {minute: _pooled(some) for minute, some in sorted(grouped.items())}


def by_minute(found: Iterable[Batch]) -> list[Series]:
    """The grader's series, at the minutes since the job was made."""
    rows = minutes(found)
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    return [
        Series(
            name,
            "grader",
            "minute",
            tuple((minute, row[name]) for minute, row in rows.items() if name in row),
        )
        for name in names
    ]


def _pooled(found: list[Batch]) -> dict[str, float]:
    """The figures of several batches taken as one."""
    scored = [(each, each.mean) for each in found if each.mean is not None and each.scored]
    rewards = fsum(each.scored for each, _ in scored)
    figures: dict[str, float] = {}
    if rewards:
        middle = weighted_mean([of for _, of in scored], [each.scored for each, _ in scored])
        square = fsum(each.scored * (each.std**2 + (of - middle) ** 2) for each, of in scored)
        figures = {
            "reward_mean": middle,
            "reward_std": sqrt(square / rewards),
            "frac_reward_min": fsum(each.scored * each.at_minimum for each, _ in scored) / rewards,
        }
    samples = fsum(each.samples for each in found)
    unscored = fsum(each.unscored for each in found)
    return figures | {
        "samples": samples,
        "batches": float(len(found)),
        "unscored": unscored,
        "unscored_share": unscored / samples if samples else 0.0,
        "bad_references": fsum(each.bad_references for each in found),
        "milliseconds": mean([each.milliseconds for each in found]),
    }
