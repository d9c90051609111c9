"""One deployed function: invoked as a trainer does, with the types of a local run in and out.

`FunctionError` says what the function did, the same for a local function and a deployed one;
`AwsFailed` what kept it from being asked.

A response is read with every breach of the contract, in the terms of a trainer. A trainer joins
results to samples and puts the numbers into a gradient. It checks little itself: a broken response
is an error at best and a wrong gradient at worst.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeGuard

from reward_functions.aws.arn import FunctionArn
from reward_functions.aws.calls import client
from reward_functions.aws.failures import OF_FUNCTIONS, in_words
from reward_functions.core.errors import DatasetError, ScoringError
from reward_functions.core.jsons import json_kind
from reward_functions.core.types import Metric, Score, Scored, Unscored
from reward_functions.serving.contract import decode_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boto3.session import Session

    from reward_functions.core.spec import Scale
    from reward_functions.core.types import RewardResult, Sample
    from reward_functions.serving.contract import ResponseMode


MAX_PAYLOAD_BYTES: Final = 6 * 1024 * 1024
"""Each way, for synchronous invocations (docs.aws.amazon.com/lambda, "Lambda quotas": 6 MB)."""


class FunctionError(Exception):
    """The error a caller of the function receives when an invocation fails.

    Args:
        error_type: the exception's class, or Lambda's own name for what happened.
        message: the exception's own.
        stack_trace: a string per frame, innermost last.
        request_id: the invocation's; empty where Lambda names it in the message, or not at all.
    """

    def __init__(
        self,
        error_type: str,
        message: str,
        stack_trace: Sequence[str] = (),
        *,
        request_id: str = "",
    ) -> None:
        super().__init__(f"{error_type}: {message}")
        self.error_type = error_type
        self.message = message
        self.stack_trace = tuple(stack_trace)
        self.request_id = request_id

    @classmethod
    def request_too_large(cls, size: int) -> Self:
        """Lambda's error for an event over its limit; the function never sees it."""
        return cls(
            "RequestEntityTooLargeException",
            f"the request has {size} bytes; Request must be smaller than {MAX_PAYLOAD_BYTES} bytes "
            "for the InvokeFunction operation",
        )

    @property
    def payload(self) -> dict[str, Any]:
        """The JSON object a caller of Lambda finds in the place of a response."""
        return {
            "errorMessage": self.message,
            "errorType": self.error_type,
            "requestId": self.request_id,
            "stackTrace": list(self.stack_trace),
        }


class FunctionEnded(FunctionError):
    """The process is over, and the next invocation starts another."""

    @property
    def payload(self) -> dict[str, Any]:
        """Lambda's own words; there is no runtime client left to add any."""
        return {"errorType": self.error_type, "errorMessage": self.message}


class InitError(FunctionEnded):
    """The function could not start: its module, settings or reward are wrong."""

    payload = FunctionError.payload


@dataclass(frozen=True, slots=True)
class Invocation:
    """A successful invocation.

    Args:
        body: the bytes that crossed the wire.
        seconds: from the request to the response; a cold one includes the start of the process.
        cold: whether the function was started for it.
    """

    body: bytes
    seconds: float
    cold: bool

    @property
    def payload(self) -> Any:
        """The decoded response."""
        return json.loads(self.body)


OK: Final = 200

REWARD: Final = "aggregate_reward_score"

SHOWN: Final = 3
"""Ids and values named in one complaint; the rest is a number."""

Kind = Literal["shape", "ids", "order", "numbers", "scale", "metrics"]


@dataclass(frozen=True, slots=True)
class Breach:
    """One way a response breaks the contract."""

    kind: Kind
    message: str


@dataclass(frozen=True, slots=True)
class Response:
    """A response that was read as far as it can be.

    Args:
        mode: its response mode; None where it is neither a list nor an envelope as trainers read
            it.
        items: the items of its list, in order.
        results: the result objects, by the id they carry.
        breaches: everything that is wrong with it, gravest first.
    """

    mode: ResponseMode | None
    items: tuple[Any, ...] = ()
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    breaches: tuple[Breach, ...] = ()

    @property
    def scores(self) -> dict[str, float]:
        """The rewards by id; those that are finite numbers."""
        rewards = {name: result.get(REWARD) for name, result in self.results.items()}
        return {name: value for name, value in rewards.items() if _is_number(value)}


def read(body: bytes, ids: Sequence[str], scale: Scale | None = None) -> Response:
    """Read the response to a batch.

    Args:
        body: the bytes that crossed the wire.
        ids: those of the batch, in order.
        scale: the reward's range, where it is known.
    """
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        return _unreadable("the response is not JSON")
    mode, items, complaint = _undressed(payload)
    if items is None:
        return _unreadable(complaint)
    shape = [Breach("shape", complaint)] if complaint else []
    objects = [item for item in items if isinstance(item, dict)]
    breaches = [
        *shape,
        *([] if len(objects) == len(items) else [Breach("shape", _strangers(items))]),
        *_identity(ids, [item.get("id") for item in objects], len(items)),
        *_numbers(objects, scale),
        *_metrics(objects),
    ]
    results = {item["id"]: item for item in objects if isinstance(item.get("id"), str)}
    return Response(mode, tuple(items), results, tuple(breaches))


def _unreadable(complaint: str) -> Response:
    return Response(None, breaches=(Breach("shape", complaint),))


def _undressed(payload: Any) -> tuple[ResponseMode | None, list[Any] | None, str]:
    """The mode, the results, and what is wrong with what they stand in.

    Results that no trainer finds are read all the same: what else is wrong with them is reported
    at once, and not when the envelope is mended.
    """
    if isinstance(payload, list):
        return "list", payload, ""
    if not isinstance(payload, dict) or "body" not in payload:
        return (
            None,
            None,
            (
                f"the response is {_kind(payload)}: Bedrock and Nova's trainers read a list of "
                "results, SageMaker's serverless customization an envelope with that list as "
                "a string"
            ),
        )
    status = payload.get("statusCode")
    if status != OK:
        complaint = f"the envelope's statusCode is {status!r}: only 200 is a success"
        return None, _listed(payload["body"]), complaint
    if not isinstance(payload["body"], str):
        complaint = f"the envelope's body is {_kind(payload['body'])}, not a JSON string"
        return None, _listed(payload["body"]), complaint
    try:
        items = json.loads(payload["body"])
    except (ValueError, RecursionError):
        return None, None, "the envelope's body is not JSON"
    if not isinstance(items, list):
        return None, None, f"the envelope's body is {_kind(items)}, not a list of results"
    return "envelope", items, ""


def _listed(body: Any) -> list[Any] | None:
    """The list in the body of an envelope that no trainer takes, be it a string or the list."""
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except (ValueError, RecursionError):
            return None
    return body if isinstance(body, list) else None


def _strangers(items: Sequence[Any]) -> str:
    strangers = [item for item in items if not isinstance(item, dict)]
    return f"{len(strangers)} of the results are not objects but {_kind(strangers[0])}"


def _identity(sent: Sequence[str], returned: Sequence[Any], count: int) -> Iterator[Breach]:
    if count != len(sent):
        yield Breach(
            "ids",
            f"{count} results for {len(sent)} samples: a trainer that pairs them by place gives "
            "rewards to the wrong responses",
        )
    named = [name for name in returned if isinstance(name, str)]
    if len(named) < len(returned):
        other = next(name for name in returned if not isinstance(name, str))
        yield Breach(
            "ids", f"{len(returned) - len(named)} results have no string as id but {_kind(other)}"
        )
    wanted, got = Counter(sent), Counter(named)
    if lost := list((wanted - got).elements()):
        yield Breach("ids", f"no result for {_some(lost)}: those rewards are lost")
    if invented := list((got - wanted).elements()):
        yield Breach("ids", f"results for {_some(invented)}, which nobody sent, or sent once")
    if not lost and not invented and named != list(sent):
        yield Breach(
            "order",
            "the results are in another order than the samples: a trainer that pairs them by place "
            "gives rewards to the wrong responses",
        )


def _numbers(objects: Sequence[dict[str, Any]], scale: Scale | None) -> Iterator[Breach]:
    absent = [item for item in objects if REWARD not in item]
    if absent:
        yield Breach("numbers", f"{len(absent)} results have no {REWARD}: they have no reward")
    rewards = [item[REWARD] for item in objects if REWARD in item]
    if wrong := [value for value in rewards if not _is_number(value)]:
        yield Breach("numbers", _no_number(wrong))
    values = [value for value in rewards if _is_number(value)]
    outside = [value for value in values if scale and not scale.minimum <= value <= scale.maximum]
    if outside and scale:
        yield Breach(
            "scale",
            f"{len(outside)} rewards such as {outside[0]:g} are outside the reward's own scale, "
            f"{scale.minimum:g} to {scale.maximum:g}",
        )


def _no_number(wrong: Sequence[Any]) -> str:
    """What stands where a reward should; a number that is not finite is the worst."""
    infinite = [value for value in wrong if isinstance(value, float)]
    if infinite:
        return (
            f"{len(infinite)} rewards are {infinite[0]}, which is not JSON: a strict parser "
            "refuses the whole response, a lax one spoils the gradient of the whole step"
        )
    return (
        f"{len(wrong)} rewards are {_kind(wrong[0])}, not numbers: a trainer refuses or drops them"
    )


def _metrics(objects: Sequence[dict[str, Any]]) -> Iterator[Breach]:
    for item in objects:
        metrics = item.get("metrics_list")
        if metrics is None:
            continue
        complaint = _metrics_complaint(metrics)
        if complaint:
            yield Breach("metrics", f"{complaint}; AWS's verifier refuses the function")
            return
    names = {tuple(metric["name"] for metric in item.get("metrics_list") or ()) for item in objects}
    if len(names) > 1:
        yield Breach(
            "metrics", "results carry different metrics: their averages mix different samples"
        )


def _metrics_complaint(metrics: Any) -> str:
    if not isinstance(metrics, list):
        return f"metrics_list is {_kind(metrics)}, not a list"
    for metric in metrics:
        if not isinstance(metric, dict) or not isinstance(metric.get("name"), str):
            return "a metric has no name"
        name = metric["name"]
        if not _is_number(metric.get("value")):
            return f"the value of metric {name!r} is {_kind(metric.get('value'))}, not a number"
        if metric.get("type") not in ("Metric", "Reward"):
            return f"metric {name!r} is of type {metric.get('type')!r}: exactly Metric or Reward"
    return ""


def _is_number(value: Any) -> TypeGuard[float]:
    """Whether it is a number a double can hold; JSON's may have any number of digits."""
    try:
        return type(value) in (int, float) and isfinite(value)
    except OverflowError:
        return False


def _some(ids: Sequence[str]) -> str:
    named = ", ".join(map(repr, ids[:SHOWN]))
    return named if len(ids) <= SHOWN else f"{named} and {len(ids) - SHOWN:,} more"


def _kind(value: Any) -> str:
    """What a JSON value is, in JSON's words."""
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool) and not _is_number(value):
        return "a number of too many digits"
    return json_kind(value)


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
            region, in spite of the caller's.
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
        return client(
            "lambda",
            self.arn.region,
            self._session,
            attempts=self._attempts,
            seconds=LONGEST + MARGIN,
        )

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
        with in_words(f"invoking {self.arn.name}", OF_FUNCTIONS):
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
