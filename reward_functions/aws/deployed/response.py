"""Reads a response and lists every breach of the contract, in the terms of a trainer.

A trainer joins results to samples and puts the numbers into a gradient. It checks little itself: a
broken response is an error at best and a wrong gradient at worst.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, Literal, TypeGuard

from reward_functions.core.jsons import json_kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reward_functions.core.spec import Scale
    from reward_functions.serving.contract import ResponseMode

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
        items: whatever stands in its list, in order.
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
