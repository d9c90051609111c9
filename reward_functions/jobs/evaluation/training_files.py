"""The files that a job was trained on, so that a split can be compared with them.

    a file that is named              that one
    a job of Bedrock or SageMaker     its files in S3, read with the caller's own rights
    any other                         none: the service gives no file back

A file that is named counts before the job's own; one of fewer rows than the job was trained on, by
its tags, is another file.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.calls import answer
from reward_functions.aws.failures import AwsFailed
from reward_functions.core.errors import ConfigurationError
from reward_functions.data.atomic import named
from reward_functions.data.rows.formats import scan_file
from reward_functions.jobs.clients import client
from reward_functions.jobs.tags import tag

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from boto3.session import Session

    from reward_functions.jobs.job import Job

TRAINING: Final = "the training file"
VALIDATION: Final = "the validation file"

CHUNK: Final = 1 << 20

MOST_DIGITS: Final = 9

MOST: Final = 2 << 30
"""Bytes of a file: twenty thousand rows are a fiftieth of it."""


class NoTrainingFile(ConfigurationError):
    """Nothing says what the job was trained on."""


@contextmanager
def files_seen(
    job: Job | None,
    region: str,
    session: Session | None = None,
    *,
    training: Path | None = None,
    validation: Path | None = None,
) -> Iterator[Mapping[str, Path]]:
    """The job's files by what they are; those of S3 are removed at the end.

    Args:
        job: None where models are named by hand.
        region: of the bucket.
        session: boto3's; the caller's own where not given.
        training: a file in the job's place.
        validation: the same.

    Raises:
        NoTrainingFile: none is named, and the job's cannot be read; the one that is named has too
            few rows.
    """
    named = {TRAINING: training, VALIDATION: validation}
    found = {what: path for what, path in named.items() if path is not None}
    if job and training:
        _require_whole(job, training)
    with TemporaryDirectory(prefix="reward-evaluate-") as folder:
        if TRAINING not in found:
            addresses = [each for each in job.files if each.startswith("s3://")] if job else []
            if not addresses:
                raise NoTrainingFile(
                    "nothing says which prompts the tuned model has seen: give the file that it "
                    "was trained on with --train FILE"
                )
            s3 = client("s3", region, session)
            for at, address in enumerate(addresses):
                what = VALIDATION if at else TRAINING
                if what not in found:
                    found[what] = _downloaded(s3, address, Path(folder, f"{at}.jsonl"))
        yield found


def _require_whole(job: Job, training: Path) -> None:
    trained = tag(job.tags, "rows")
    if not (trained.isascii() and trained.isdecimal() and len(trained) <= MOST_DIGITS):
        return
    rows = sum(1 for _ in scan_file(str(training)))
    if rows < int(trained):
        counted = f"{rows:,} row{'' if rows == 1 else 's'}"
        raise NoTrainingFile(
            f"{training} has {counted}, and {job.name or job.id} was trained on {int(trained):,}: "
            "give all that it was trained on with --train, or leave --train out where the job's "
            "own file is in S3"
        )


def _downloaded(s3: Any, address: str, path: Path) -> Path:
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415 - 100 ms
    from urllib3.exceptions import HTTPError  # noqa: PLC0415

    bucket, _, key = address.removeprefix("s3://").partition("/")
    what = f"reading {address}"
    try:
        body = answer(what, s3.get_object, Bucket=bucket, Key=key)["Body"]
    except AwsFailed as error:
        raise NoTrainingFile(
            f"{error}; give the file that the job was trained on with --train FILE"
        ) from None
    written = 0
    try:
        with path.open("xb") as stream:
            while chunk := body.read(CHUNK):
                with named(path):
                    written += stream.write(chunk)
                if written > MOST:
                    raise NoTrainingFile(f"{address} is over 2 GB: give a file with --train FILE")
    except (BotoCoreError, HTTPError):
        raise AwsFailed(f"{what}: the connection broke off") from None
    return path
