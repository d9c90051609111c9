"""One deployed function: invoked as a trainer does, with the types of a local run in and out.

Exceptions are those of `aws.deployed.invocation`: what handles a local function handles this
one: `FunctionError` for what the function did, `AwsFailed` for what kept it from being asked.
"""

from __future__ import annotations

import json
from base64 import b64decode
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.arn import FunctionArn
from reward_functions.aws.deployed.invocation import MAX_PAYLOAD_BYTES, FunctionError, Invocation
from reward_functions.aws.deployed.response import read
from reward_functions.aws.failures import in_words
from reward_functions.aws.shell import aws_session
from reward_functions.core.errors import DatasetError, ScoringError
from reward_functions.core.types import Metric, Score, Scored, Unscored
from reward_functions.serving.contract import decode_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boto3.session import Session

    from reward_functions.core.types import RewardResult, Sample

LONGEST: Final = 900.0
"""Seconds a synchronous invocation can take; the SDK's own patience ends after 60."""

MARGIN: Final = 10.0
"""Seconds for the way there and back."""

COLD: Final = b"Init Duration:"
"""What the last lines of the log say of an invocation that had to start the function."""

FLAGS: Final = ("bad_reference", "unscored", "imputed", "out_of_time")


class BrokenContract(ScoringError):
    """A response that is not one result per sample. The message says what is wrong."""


class ScoredElsewhere(ScoringError):
    """The function could not score the sample; the number it returned is not a score."""


class DeployedFunction:
    """A Lambda function that exists; not necessarily one of this project's.

    Args:
        arn: its ARN, in any partition, with or without a qualifier. It is invoked in its own
            region, whatever the caller's is.
        session: boto3's, for the credentials; the caller's own where not given.
        attempts: how often a call is made that AWS throttles; 1 shows the first throttle.

    Raises:
        BadArn: the text is no ARN of a function.
    """

    def __init__(
        self, arn: str | FunctionArn, *, session: Session | None = None, attempts: int = 4
    ) -> None:
        self.arn = FunctionArn.parse(arn) if isinstance(arn, str) else arn
        self._session = session
        self._attempts = attempts

    @cached_property
    def client(self) -> Any:
        """The boto3 client of Lambda in the function's region."""
        from botocore.config import Config  # noqa: PLC0415

        patience = Config(
            read_timeout=LONGEST + MARGIN,
            connect_timeout=MARGIN,
            retries={"mode": "standard", "total_max_attempts": self._attempts},
            tcp_keepalive=True,  # a gateway forgets a connection that is silent for some minutes
        )
        with in_words("connecting to Lambda"):
            session = self._session or aws_session()
            return session.client("lambda", region_name=self.arn.region, config=patience)

    def invoke(self, event: Any) -> Invocation:
        """Call the function and wait for its answer.

        Args:
            event: JSON data, or the bytes of a JSON text.

        Returns:
            the response; `cold` is what the function's log says, and False where it says nothing.

        Raises:
            FunctionError: the function failed, or the event is over Lambda's limit.
            AwsFailed: it could not be invoked.
        """
        body = event if isinstance(event, bytes) else json.dumps(event).encode()
        if len(body) > MAX_PAYLOAD_BYTES:
            raise FunctionError.request_too_large(len(body))
        client = self.client
        began = perf_counter()
        with in_words(f"invoking {self.arn.name}"):
            answer = client.invoke(FunctionName=str(self.arn), Payload=body, LogType="Tail")
            payload = answer["Payload"].read()
        seconds = perf_counter() - began
        if "FunctionError" in answer:
            raise _function_error(payload)
        return Invocation(payload, seconds, COLD in b64decode(answer.get("LogResult", "")))

    def score(self, samples: Sequence[Sample]) -> list[RewardResult]:
        """The results for a batch, as `score_batch` gives them for the same reward here.

        Values and metrics come back; the answer that was found, and why, stay there. A sample the
        function could not score is an `Unscored`, although a trainer would receive a number.

        Args:
            samples: of different ids, in one batch.

        Raises:
            BrokenContract: the response is not one result for each sample.
            FunctionError: the function failed, or the batch is over Lambda's limit.
            AwsFailed: it could not be invoked.
        """
        from reward_functions.testing import wire_row  # noqa: PLC0415 - it is for tests otherwise

        return self.results([wire_row(sample) for sample in samples])

    def results(self, rows: Sequence[dict[str, Any]]) -> list[RewardResult]:
        """The same for rows as a trainer sends them, which need not be valid samples.

        Raises:
            BrokenContract: the response is not one result for each row.
            FunctionError: the function failed, or the batch is over Lambda's limit.
            AwsFailed: it could not be invoked.
        """
        sent = [decode_row(row, place).id for place, row in enumerate(rows)]
        invocation = self.invoke(list(rows))
        response = read(invocation.body, sent)
        if response.breaches:
            raise BrokenContract(f"{self.arn.name}: {response.breaches[0].message}")
        return [_result(response.results[name]) for name in sent]


def flagged(row: dict[str, Any]) -> set[str]:
    """The flags of a result whose number stands for no score; empty where it is a score."""
    metrics = row.get("metrics_list")
    return {
        metric["name"]
        for metric in (metrics if isinstance(metrics, list) else ())
        if isinstance(metric, dict) and metric.get("name") in FLAGS and metric.get("value")
    }


def _result(row: dict[str, Any]) -> RewardResult:
    metrics = row.get("metrics_list") or ()
    raised = flagged(row)
    if "bad_reference" in raised:
        return Unscored(row["id"], DatasetError("the row or its reference cannot be used"))
    if "unscored" in raised:
        return Unscored(row["id"], ScoredElsewhere("the function could not score this sample"))
    own = [metric for metric in metrics if metric["name"] not in FLAGS]
    return Scored(
        row["id"],
        Score(
            float(row["aggregate_reward_score"]),
            tuple(Metric(each["name"], float(each["value"]), each["type"]) for each in own),
        ),
    )


def _function_error(payload: bytes) -> FunctionError:
    """The error a failed function returned; some runtimes return a message alone, or no JSON."""
    try:
        error = json.loads(payload)
    except ValueError:
        error = payload.decode(errors="replace")
    if not isinstance(error, dict):
        return FunctionError("Unhandled", str(error))
    trace = error.get("stackTrace")
    return FunctionError(
        str(error.get("errorType") or "Unhandled"),
        str(error.get("errorMessage") or ""),
        [str(frame) for frame in trace] if isinstance(trace, list) else (),
        request_id=str(error.get("requestId") or ""),
    )
