"""Events of Nova's custom metrics: an evaluation job with `lambda_type=custom_metrics`.

| `process_type` | `data` | the body of the reply |
|---|---|---|
| `preprocess` | `system`, `prompt`, `gold` | the same: the prompt stays what it is in training |
| `postprocess` | `prompt`, `inference_output`, `gold` | score and metrics, as `metric`, `value` |

Such an event names its caller, so that the reply is the same in every response mode. One answer is
sent at a time: where we cannot score it the invocation fails, as a batch of one always does.

Source: docs.aws.amazon.com/sagemaker/latest/dg, nova-model-evaluation, "Bring your own metrics",
which sends `data` as an object; the README of aws/llm-eval-kit, which shows a list of one. Never
run on AWS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypedDict

from reward_functions.core.jsons import json_kind
from reward_functions.serving.contract import BadEvent
from reward_functions.serving.evaluation_event import Keys, decoded

if TYPE_CHECKING:
    from reward_functions.core.types import Sample, Unscored
    from reward_functions.serving.contract import ResultObject

TYPE: Final = "process_type"
PREPROCESS: Final = "preprocess"
POSTPROCESS: Final = "postprocess"

BATCHES: Final = frozenset({"body", "batch"})
"""Keys of an event that is a batch, whatever else it holds."""

KEYS: Final = Keys("prompt", "inference_output", "gold")

PREPROCESSED: Final = ("system", "prompt", "gold")
"""What a preprocessor may change."""

SCORE: Final = "aggregate_reward_score"


class NovaMetric(TypedDict):
    """A number of one answer, as Nova's custom metrics name it."""

    metric: str
    value: float


class NovaReply(TypedDict):
    """The reply; its body is JSON, and not the text of it."""

    statusCode: int
    body: dict[str, Any] | list[NovaMetric]


class NovaEvent(NamedTuple):
    """An event of Nova's custom metrics.

    Args:
        step: `PREPROCESS` or `POSTPROCESS`.
        data: one row of the data set, with the answer in the second step.
    """

    step: str
    data: dict[str, Any]

    def sample(self) -> Sample | Unscored:
        """The answer to score; an `Unscored` that names what is missing."""
        return decoded(self.data, "sample-0", KEYS)


def nova_event(event: Any) -> NovaEvent | None:
    """The request of an event of Nova's custom metrics; None for any other event.

    Raises:
        BadEvent: it is one, and asks for neither step, or holds not one row.
    """
    if not isinstance(event, dict) or TYPE not in event or not BATCHES.isdisjoint(event):
        return None
    step, data = event[TYPE], event.get("data")
    if step not in (PREPROCESS, POSTPROCESS):
        raise BadEvent(f"the event's {TYPE} is neither {PREPROCESS!r} nor {POSTPROCESS!r}")
    if isinstance(data, list) and len(data) == 1:
        (data,) = data
    if not isinstance(data, dict):
        many = f" of {len(data)}" if isinstance(data, list) else ""
        raise BadEvent(f"the event's data is {json_kind(data)}{many}; expected one object")
    return NovaEvent(step, data)


def unchanged(event: NovaEvent) -> NovaReply:
    """The reply to a preprocessor's event: the row as it stands in the data set."""
    return {"statusCode": 200, "body": {name: event.data.get(name) for name in PREPROCESSED}}


def nova_reply(results: list[ResultObject]) -> NovaReply:
    """The reply to a postprocessor's event.

    Args:
        results: one.
    """
    (result,) = results
    score = NovaMetric(metric=SCORE, value=result["aggregate_reward_score"])
    listed = result.get("metrics_list", ())
    further = [NovaMetric(metric=each["name"], value=each["value"]) for each in listed]
    return {"statusCode": 200, "body": [score, *further]}
