"""The wire format of a reward Lambda: the events trainers send and the results it returns.

    event ──decode──→ [Sample | Unscored, …] ──(score_batch, imputation)──→
                      [result object, …] ──shrink_to_limit, encode──→ response

Decoding accepts every shape that trainers are known to send and loses no row: one that is not a
valid sample becomes an `Unscored` in its place, under its own id. Two callers send the same bare
list and want different replies, so the response mode is chosen when the function is deployed:

| mode | caller | response |
|---|---|---|
| `list` | Bedrock; SageMaker training of Nova models | the list of result objects |
| `envelope` | SageMaker serverless customization, open weights | status, headers, list as text |

Evaluation jobs send rows of another shape, which `evaluation_event` reads. An event of such rows
names its caller, and gets the envelope that it reads in either mode.

A failed invocation raises in both modes: the caller sees a function error with its type, and the
function's own error metric counts it, neither of which a `statusCode` of 500 would do.

Source: docs.aws.amazon.com/bedrock/latest/userguide/reward-functions-open-weight, and
`common_utils/rlvr_reward_verifier.py` of sagemaker-python-sdk.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict

from reward_functions.core.errors import BadSample, ConfigurationError, ScoringError
from reward_functions.core.jsons import json_kind
from reward_functions.core.types import Message, Metric, Sample, Scored, Unscored
from reward_functions.serving import evaluation_event
from reward_functions.serving.evaluation_event import message

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ResponseMode = Literal["list", "envelope"]

MAX_SAMPLES: Final = 10_000
"""Samples in one event: above Bedrock's largest optimiser step, 512 prompts × 16 answers."""

MAX_RESPONSE_BYTES: Final = 6 * 1024 * 1024
"""What a synchronous invocation returns (docs.aws.amazon.com/lambda, "Lambda quotas": 6 MB)."""

MAX_ESCAPED: Final = 14
"""Bytes one character of an id can take: two JSON escapes of six, and in the text of an envelope
their two backslashes once more."""

MAX_NUMBER: Final = 24
"""Characters the longest float has: `-2.2250738585072014e-308`."""

FIELDS: Final = frozenset({"id", "messages", "reference_answer", "metadata"})
"""The keys of a row that have a meaning; every other key is metadata."""


class BadEvent(ConfigurationError):
    """The event is not a batch of samples. The message says what it is."""


class TooManySamples(BadEvent):
    """The batch is over the limit the function was deployed with."""


class ResponseTooLarge(ScoringError):
    """The ids and scores alone exceed what Lambda can return; send smaller batches."""


class MetricObject(TypedDict):
    """A number beside a score, as it stands on the wire."""

    name: str
    value: float
    type: Literal["Metric", "Reward"]


class ResultObject(TypedDict, total=False):
    """The result of one sample. `metrics_list` is left out of an oversized response."""

    id: str
    aggregate_reward_score: float
    metrics_list: list[MetricObject]


class Envelope(TypedDict):
    """A response that wraps the list of result objects in an HTTP reply."""

    statusCode: int
    headers: dict[str, str]
    body: str


def decode(event: Any, *, max_samples: int = MAX_SAMPLES) -> list[Sample | Unscored]:
    """The samples of an event, in order; a row that is not a valid sample is an `Unscored` there.

    Args:
        event: a list of rows, or an object whose `body` (a list, or its JSON text) or `batch` (a
            list) is one.
        max_samples: the most rows accepted.

    Raises:
        BadEvent: the event is nothing of that kind.
        TooManySamples: it has more rows.
    """
    return decode_rows(rows_of(event, max_samples=max_samples))


def rows_of(event: Any, *, max_samples: int = MAX_SAMPLES) -> list[Any]:
    """The rows of an event, as they stand in it; arguments and errors are those of `decode`."""
    rows = _rows(event)
    if len(rows) > max_samples:
        raise TooManySamples(f"the event has {len(rows)} samples; the limit is {max_samples}")
    return rows


def decode_rows(rows: Iterable[Any]) -> list[Sample | Unscored]:
    """The samples of rows, in order; a row that is not a valid sample is an `Unscored` there."""
    return [decode_row(row, position) for position, row in enumerate(rows)]


def mode_of(rows: Iterable[Any], deployed: ResponseMode) -> ResponseMode:
    """The mode in which the caller reads its response.

    Args:
        rows: those of its event.
        deployed: the mode of the deployment, for callers that their rows do not name.
    """
    return "envelope" if evaluation_event.names_evaluation(rows) else deployed


def decode_row(row: Any, position: int) -> Sample | Unscored:
    """One row of an event; an `Unscored` with a `BadSample` that names the field otherwise.

    Only the conversation can be wrong: it cannot be read, or its answer stands in two places. An
    unusable id is replaced, an unusable reference is the reward function's to refuse, and metadata
    that is no object counts as absent.

    Args:
        row: decoded JSON, of training or of an evaluation job.
        position: counted from 0; a row without a usable id is called `sample-<position>`.
    """
    if not isinstance(row, dict):
        return Unscored(
            f"sample-{position}", BadSample(f"the row is {json_kind(row)}, not an object")
        )
    name = _identity(row.get("id"), position)
    if evaluation_event.is_evaluation(row):
        return evaluation_event.decoded(row, name)
    try:
        messages = _messages(row)
    except BadSample as error:
        return Unscored(name, error)
    metadata = row.get("metadata")
    if not isinstance(metadata, dict):
        metadata = {}
    reference = row.get("reference_answer")
    if reference is None:
        reference = metadata.get("reference_answer")
    if not row.keys() <= FIELDS:
        metadata = {key: row[key] for key in row if key not in FIELDS} | metadata
    sample = Sample(id=name, messages=messages, reference=reference, metadata=metadata)
    if evaluation_event.ANSWER in row and sample.context == messages:
        # Of training without an answer, or of an evaluation? The minimum would blame the model.
        return Unscored(
            name, BadSample("messages hold no answer, and model_response stands beside")
        )
    return sample


def result_object(scored: Scored) -> ResultObject:
    """The result of a scored sample; the command line writes the same object."""
    return result_row(scored.id, scored.score.value, scored.score.metrics)


def result_row(
    id: str,  # noqa: A002 - the wire's own word
    value: float,
    metrics: Iterable[Metric],
    *,
    bad_reference: bool = False,
    unscored: bool = False,
    imputed: bool = False,
    out_of_time: bool = False,
) -> ResultObject:
    """A result object: the metrics of the score, then the four flags, 0 or 1, on every one.

    Args:
        id: the sample's.
        value: the reward.
        metrics: those the reward function declares, in its order.
        bad_reference: the data set is the cause, and the value is the minimum.
        unscored: we are the cause, and the value is not this response's own.
        imputed: the value is the mean of others.
        out_of_time: the deadline left hard algebra undecided, and the value is the minimum.
    """
    return {
        "id": id,
        "aggregate_reward_score": float(value),
        "metrics_list": [
            *[_metric(metric.name, metric.value, metric.type) for metric in metrics],
            _metric("bad_reference", bad_reference),
            _metric("unscored", unscored),
            _metric("imputed", imputed),
            _metric("out_of_time", out_of_time),
        ],
    }


def shrink_to_limit(results: list[ResultObject], mode: ResponseMode) -> list[ResultObject]:
    """The same results where they fit into a response, else without their metrics.

    Raises:
        ResponseTooLarge: they do not fit even so.
    """
    if _fits(results, mode):
        return results
    bare: list[ResultObject] = [
        {"id": result["id"], "aggregate_reward_score": result["aggregate_reward_score"]}
        for result in results
    ]
    if _fits(bare, mode):
        return bare
    raise ResponseTooLarge(
        f"{len(bare)} ids and scores exceed the {MAX_RESPONSE_BYTES} bytes of a response; "
        "send smaller batches or shorter ids"
    )


def encode(results: list[ResultObject], mode: ResponseMode) -> list[ResultObject] | Envelope:
    """The response of the function, in the shape its caller reads."""
    if mode == "list":
        return results
    return {
        "statusCode": 200,
        "headers": {"Content-Type": "application/json"},
        "body": json.dumps(results),
    }


def _metric(
    name: str,
    value: float,
    type: Literal["Metric", "Reward"] = "Metric",  # noqa: A002 - the wire's own word
) -> MetricObject:
    return {"name": name, "value": float(value), "type": type}


def _rows(event: Any) -> list[Any]:
    if isinstance(event, list):
        return event
    if not isinstance(event, dict):
        raise BadEvent(f"the event is {json_kind(event)}; expected a list of samples")
    where = "body" if event.get("body") is not None else "batch"
    rows = event.get(where)
    if where == "body" and isinstance(rows, str):
        rows = _parsed(rows)
    if isinstance(rows, list):
        return rows
    what = json_kind(rows) if where in event else "missing"
    raise BadEvent(
        f"the event is an object whose {where!r} is {what}; expected a list of samples, or an "
        "object that holds one as 'body' (or its JSON text) or as 'batch'"
    )


def _parsed(body: str) -> Any:
    try:
        return json.loads(body)
    except RecursionError:
        raise BadEvent("the event's body is JSON nested too deeply") from None
    except ValueError as error:
        # The decoder's own message can quote the text it failed on.
        where = f" (character {error.pos})" if isinstance(error, json.JSONDecodeError) else ""
        raise BadEvent(f"the event's body is not JSON{where}") from None


def _identity(raw: Any, position: int) -> str:
    """The id to echo.

    Half a surrogate pair has no UTF-8: from python3.12 on, the runtime client encodes the whole
    response as UTF-8, and one such id would lose the results of every other sample. It counts as
    no id.
    """
    if isinstance(raw, str) and raw and (raw.isascii() or _is_utf8(raw)):
        return raw
    if isinstance(raw, int) and not isinstance(raw, bool):
        try:
            return str(raw)
        except ValueError:  # more digits than Python writes
            return f"sample-{position}"
    if isinstance(raw, float) and isfinite(raw):
        from decimal import Decimal  # noqa: PLC0415 - ids are hardly ever fractions

        return format(Decimal(repr(raw)), "f")
    return f"sample-{position}"


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _messages(row: dict[str, Any]) -> tuple[Message, ...]:
    """The conversation. An error names the place and never quotes the row."""
    turns = row.get("messages")
    if isinstance(turns, list):
        return tuple([message(turn, f"messages[{at}]") for at, turn in enumerate(turns)])
    if "messages" not in row:
        raise BadSample("messages is missing")
    raise BadSample(f"messages is {json_kind(turns)}, not a list")


def _fits(results: Sequence[ResultObject], mode: ResponseMode) -> bool:
    """Whether the encoded response is within the limit; encodes only what could exceed it.

    Encoded as ASCII, which is what the runtime client posts before python3.12 and never shorter
    than the UTF-8 it posts since.
    """
    if not results:
        return True
    first = results[0]
    numbers = 1 + len(first.get("metrics_list", ()))
    most = 2 * len(json.dumps(first | {"id": ""})) + MAX_NUMBER * numbers
    ids = sum([len(result["id"]) for result in results])
    if most * len(results) + MAX_ESCAPED * ids < MAX_RESPONSE_BYTES:
        return True
    return len(json.dumps(encode(list(results), mode))) <= MAX_RESPONSE_BYTES
