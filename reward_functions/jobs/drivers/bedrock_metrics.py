"""The figures that a job of Bedrock leaves in S3: two CSV files, whatever columns they have.

AWS documents their places for every kind of customization, and their columns (`step_number`,
`epoch_number`, a loss, a perplexity) for fine-tuning alone: those of reinforcement fine-tuning are
not verified. Every column of numbers is a metric here, and a cell that is no number is none.

Source: AWS's guide to Bedrock, "Analyze the results of a model customization job".
"""

from __future__ import annotations

import csv
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.drivers.fields import number, text
from reward_functions.jobs.failures import answer, pages
from reward_functions.jobs.job import MetricPoint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.jobs.job import Job

FILES: Final[tuple[tuple[str, Literal["training", "validation"]], ...]] = (
    ("training_artifacts/step_wise_training_metrics.csv", "training"),
    ("validation_artifacts/post_fine_tuning_validation/validation_metrics.csv", "validation"),
)
"""Below the job's own folder, and what their figures are of."""

STEPS: Final = ("step_number", "step")
"""Columns that count steps; where there is none, a row is a step, from 1."""

PLACES: Final = frozenset({*STEPS, "epoch_number", "epoch"})
"""Columns that say where a figure belongs, and are no figures."""

MAX_BYTES: Final = 16_000_000
"""Of a file that are read: 50 epochs of 20,000 rows in batches of 16 are 62,500 steps."""

MAX_COLUMNS: Final = 200
MAX_NAME: Final = 200
"""Characters of a metric's name that are kept."""

MAX_STEP: Final = 1_000_000_000


def metrics_of(job: Job, client: Any) -> Iterator[MetricPoint]:
    """Every figure that is there so far, by file and row.

    Args:
        job: with its output.
        client: of S3.

    Raises:
        AwsFailed: S3 refused, or could not be reached. A file that is not there is no error.
    """
    bucket, slash, key = job.output.removeprefix("s3://").partition("/")
    if not (job.output.startswith("s3://") and slash):
        return
    folder = f"{key.rstrip('/')}/".lstrip("/") + f"model-customization-job-{_number(job)}/"
    what = f"reading the metrics of {job.name}"
    # Who may list some prefixes alone gets 403, and not 404, for an object that is not there.
    objects = pages(what, lambda **token: _listed(client, bucket, folder, token), "Contents")
    there = {text(each.get("Key")) for each in objects}
    for name, split in FILES:
        if folder + name in there:
            body = answer(what, client.get_object, Bucket=bucket, Key=folder + name)["Body"]
            yield from points(_text(body, what), split)


def points(lines: str, split: Literal["training", "validation"]) -> Iterator[MetricPoint]:
    """The figures of one file.

    A row that is not written to its end, or has a cell longer than any figure, is passed over; the
    rows behind it are read.
    """
    rows = map(_cells, lines.splitlines())
    header = [text(name.strip(), MAX_NAME) for name in next(rows, [])]
    at = next((header.index(name) for name in STEPS if name in header), None)
    for row, cells in enumerate(rows, start=1):
        if len(cells) != len(header):
            continue
        step = row if at is None else _figure(cells[at])
        if step is None or not 0 <= step <= MAX_STEP:
            continue
        for name, cell in islice(zip(header, cells, strict=True), MAX_COLUMNS):
            value = _figure(cell)
            if value is not None and name and name not in PLACES:
                yield MetricPoint(int(step), name, value, split)


def _cells(line: str) -> list[str]:
    """The cells of one line; none where one has no end, or is longer than `csv` reads."""
    try:
        return next(csv.reader([line], strict=True), [])
    except csv.Error:
        return []


def _listed(client: Any, bucket: str, folder: str, token: dict[str, str]) -> dict[str, Any]:
    """A page of S3's list, with the members that Bedrock's lists have."""
    following = {"ContinuationToken": token["nextToken"]} if token else {}
    page = client.list_objects_v2(Bucket=bucket, Prefix=folder, **following)
    return {
        "Contents": page.get("Contents", []),
        "nextToken": page.get("NextContinuationToken"),
    }


def _number(job: Job) -> str:
    """What AWS numbers the job with, the end of its ARN."""
    return job.id.rpartition("/")[2]


def _text(body: Any, what: str) -> str:
    """The beginning of a file, in whole lines where it is cut."""
    found = bytearray()
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415 - 100 ms
    from urllib3.exceptions import HTTPError  # noqa: PLC0415

    try:
        while len(found) <= MAX_BYTES and (chunk := body.read(65_536)):
            found += chunk
    except (BotoCoreError, HTTPError):
        raise AwsFailed(f"{what}: the connection broke off") from None
    if len(found) > MAX_BYTES:
        del found[found.rfind(b"\n") + 1 :]
    return found.decode("utf-8-sig", errors="replace")


def _figure(cell: str) -> float | None:
    try:
        return number(float(cell))
    except ValueError:
        return None
