"""What an evaluation job of SageMaker leaves in S3: its aggregates, and its rows where it has any.

    OUTPUT/JOB/output/output/**/results_*.json    {"results": {"all": {name: number}}}, or under the
                                                  task's name, such as "custom|gen_qa_gen_qa|0"
    OUTPUT/JOB/output/output/**/*.jsonl           {"id", "aggregate_reward_score", "metrics_list"}

The second is published for Nova's `rft` alone, whose job writes down the function's own reply; a
list of such rows in the first is read as well.
Sources: sagemaker-train 1.27.0, `show_results_utils.py`; docs.aws.amazon.com/sagemaker/latest/dg,
nova-running-evaluations. Never run on AWS: what a file holds besides is passed over.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from math import isclose
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.aws.failures import AwsFailed
from reward_functions.core.types import Sample, Scored
from reward_functions.jobs.drivers.fields import moment, number, text, within
from reward_functions.jobs.drivers.objects import whole_object
from reward_functions.jobs.failures import pages
from reward_functions.serving.contract import decode_row
from reward_functions.serving.evaluation_event import is_evaluation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reward_functions.core.types import RewardResult

MAX_OBJECTS: Final = 10_000
"""Below a job's output that are looked at."""

MAX_DOCUMENT: Final = 16_000_000
"""Bytes of a results file: read at once, JSON takes many times its size in memory."""

MAX_BYTES: Final = 64_000_000
"""Of a file of rows, which is read line by line."""

MAX_ROWS: Final = 100_000
MAX_METRICS: Final = 200
MAX_NAME: Final = 200

ALIKE: Final = 1e-6
"""By how much two scores may differ that one function gave."""


@dataclass(frozen=True, slots=True)
class EvaluatedRow:
    """One row that the job scored.

    Args:
        id: the job's.
        score: what the function replied.
        metrics: beside it, by name.
        sample: what was scored; None where the row does not hold the answer.
    """

    id: str
    score: float
    metrics: dict[str, float]
    sample: Sample | None = None


@dataclass(frozen=True, slots=True)
class EvaluationResults:
    """What a job found.

    Args:
        aggregates: finite numbers over all rows, by the service's names.
        rows: each with its score; none where the job writes down no rows.
        files: `s3://…` of what was read.
    """

    aggregates: dict[str, float]
    rows: tuple[EvaluatedRow, ...]
    files: tuple[str, ...]


class Difference(NamedTuple):
    """A row that the job and this machine score differently; `here` is None where it cannot be."""

    id: str
    there: float
    here: float | None


def results_of(name: str, output: str, client: Any) -> EvaluationResults:
    """What a job that has succeeded left.

    Args:
        name: of the job.
        output: `s3://…` that it was started with.
        client: of S3.

    Raises:
        AwsFailed: S3 refused or could not be reached; there are no results; they cannot be read.
    """
    bucket, _, key = output.removeprefix("s3://").partition("/")
    folder = "/".join(part for part in (key.strip("/"), name, "output/output/") if part)
    what = f"reading the results of {name}"
    objects = pages(what, lambda **token: _listed(client, bucket, folder, token), "Contents")
    found = sorted(islice(objects, MAX_OBJECTS), key=_newest, reverse=True)
    keys = [text(each.get("Key"), 1_024) for each in found]
    aggregated = next((each for each in keys if _is_results(each)), None)
    if aggregated is None:
        raise AwsFailed(f"{what}: there is no results_*.json below s3://{bucket}/{folder}")
    document = _parsed(
        _read(client, bucket, aggregated, MAX_DOCUMENT, what), f"{what}: {aggregated}"
    )
    lines = [each for each in keys if each.endswith(".jsonl")]
    read = [aggregated]
    rows = rows_within(document)
    for each in [] if rows else lines:
        if rows := rows_of(_read(client, bucket, each, MAX_BYTES, what)):
            read.append(each)
            break
    return EvaluationResults(
        aggregates_of(document), tuple(rows), tuple(f"s3://{bucket}/{each}" for each in read)
    )


def aggregates_of(document: Any) -> dict[str, float]:
    """The finite numbers of a results file: those over all tasks, else those of the first task."""
    results = within(document, "results")
    tasks = [results.get("all"), *results.values()] if isinstance(results, dict) else []
    chosen = next((each for each in tasks if isinstance(each, dict) and each), {})
    return _numbers(chosen.items())


def rows_within(document: Any) -> list[EvaluatedRow]:
    """The scored rows of a results file: those of the first list that has any."""
    lists = document.values() if isinstance(document, dict) else ()
    found = (
        [row for each in items[:MAX_ROWS] if (row := _row(each))]
        for items in lists
        if isinstance(items, list)
    )
    return next((rows for rows in found if rows), [])


def rows_of(lines: str) -> list[EvaluatedRow]:
    """The scored rows of a file of JSON lines, in its order; what is none is passed over."""
    # Not splitlines: a string of JSON may hold other ends of lines. Line by line: a file of empty
    # ones is millions of them.
    found = (_row(_decoded(line)) for line in islice(StringIO(lines, newline="\n"), MAX_ROWS))
    return [row for row in found if row]


def _row(row: Any) -> EvaluatedRow | None:
    score = number(within(row, "aggregate_reward_score"))
    if score is None:
        return None
    listed = row.get("metrics_list")
    pairs = (
        (each.get("name"), each.get("value"))
        for each in (listed if isinstance(listed, list) else ())
        if isinstance(each, dict)
    )
    return EvaluatedRow(text(row.get("id"), MAX_NAME), score, _numbers(pairs), _sample(row))


def differences(
    rows: Sequence[EvaluatedRow], score: Callable[[Sample], RewardResult]
) -> list[Difference]:
    """The rows that the same reward scores differently here; of rows with their answers alone.

    Args:
        rows: of a job.
        score: the reward as it is deployed; a judge's may differ and be no fault.
    """
    different = []
    for row in rows:
        if row.sample is None:
            continue
        result = score(row.sample)
        here = result.score.value if isinstance(result, Scored) else None
        if here is None or not isclose(here, row.score, rel_tol=ALIKE, abs_tol=ALIKE):
            different.append(Difference(row.id, row.score, here))
    return different


def _sample(row: dict[str, Any]) -> Sample | None:
    """What was scored, where the row holds the answer beside the score."""
    if not (isinstance(row.get("messages"), list) or is_evaluation(row)):
        return None
    replied = ("aggregate_reward_score", "metrics_list")
    decoded = decode_row({key: row[key] for key in row if key not in replied}, 0)
    answered = isinstance(decoded, Sample) and len(decoded.context) < len(decoded.messages)
    return decoded if isinstance(decoded, Sample) and answered else None


def _numbers(pairs: Any) -> dict[str, float]:
    found = ((text(name, MAX_NAME), number(value)) for name, value in islice(pairs, MAX_METRICS))
    return {name: value for name, value in found if name and value is not None}


def _is_results(key: str) -> bool:
    name = key.rpartition("/")[2]
    return name.startswith("results_") and name.endswith(".json")


def _newest(found: dict[str, Any]) -> tuple[float, str]:
    modified = moment(found.get("LastModified"))
    return (modified.timestamp() if modified else 0.0, text(found.get("Key")))


def _listed(client: Any, bucket: str, folder: str, token: dict[str, str]) -> dict[str, Any]:
    """A page of S3's list, with the members that `pages` reads."""
    following = {"ContinuationToken": token["nextToken"]} if token else {}
    page = client.list_objects_v2(Bucket=bucket, Prefix=folder, **following)
    return {"Contents": page.get("Contents", []), "nextToken": page.get("NextContinuationToken")}


def _read(client: Any, bucket: str, key: str, most: int, what: str) -> str:
    """A file, whole.

    Raises:
        AwsFailed: it is larger than any results are, late, or the connection broke off.
    """
    content = whole_object(client, bucket, key, most, f"{what}: {key}")
    return content.decode("utf-8-sig", errors="replace")


def _parsed(document: str, where: str) -> Any:
    try:
        return json.loads(document)
    except (ValueError, RecursionError):
        raise AwsFailed(f"{where} is not JSON") from None


def _decoded(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
