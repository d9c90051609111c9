"""The grader of a job: the very version that was named, invoked with the rights of the job.

What the function says when it fails is what the job's owner reads.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.arn import FunctionArn
from reward_functions.local.training_double.batches import GraderFailed
from reward_functions.local.training_double.clients import JobFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boto3.session import Session

    from reward_functions.local.training_double.datafiles import Row

PATIENCE: Final = 910
"""Seconds: a function runs 900 at most."""

ATTEMPTS: Final = 3
"""How often a call that AWS throttles is made."""

SHOWN: Final = 1_000
"""Characters of an error that a failure quotes."""


class Grader:
    """A deployed reward function.

    Args:
        session: whose rights it is invoked with.
        arn: of the version.
    """

    def __init__(self, session: Session, arn: str) -> None:
        from botocore.config import Config  # noqa: PLC0415 - a tenth of a second

        self._arn = arn
        self._client = session.client(
            "lambda",
            region_name=FunctionArn.parse(arn).region,
            config=Config(
                read_timeout=PATIENCE,
                retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
            ),
        )

    def __call__(self, rows: list[Row]) -> Any:
        """What the function returned for one batch, decoded.

        Raises:
            JobFailed: it did not run.
            GraderFailed: it ran, and failed.
        """
        with failing(f"Invoking the reward function {self._arn}"):
            answer = self._client.invoke(FunctionName=self._arn, Payload=json.dumps(rows).encode())
            payload = answer["Payload"].read()
        returned = _decoded(payload)
        if "FunctionError" in answer:
            raise GraderFailed(f"The reward function {self._arn} failed: {_words(returned)}")
        return returned


@contextmanager
def failing(what: str) -> Iterator[None]:
    """Let a call that AWS refuses be the failure of the job, in AWS's words.

    Args:
        what: was tried, such as "Reading s3://bucket/key".

    Raises:
        JobFailed: in the place of the SDK's exceptions.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise JobFailed(f"{what}: {str(error)[:SHOWN]}") from None


def _decoded(payload: bytes) -> Any:
    try:
        return json.loads(payload)
    except (ValueError, RecursionError):
        return payload.decode(errors="replace")


def _words(error: Any) -> str:
    """The function's own words: Lambda reports an exception as its type and its message."""
    if isinstance(error, dict):
        kind, message = error.get("errorType", ""), error.get("errorMessage", "")
        return f"{kind}: {message}"[:SHOWN] if kind else str(message)[:SHOWN]
    return str(error)[:SHOWN]
