"""What a trainer needs of an answer, behind `strict=True`: a row a rule.

| rule | refused, which the published verifiers take |
| --- | --- |
| `a_list` | a single object, a string, the other envelope |
| `as_many` | three outputs for two samples |
| `in_order` | an id that is missing, of another sample, in another place |
| `finite` | NaN, infinity, `"0.5"`, True, null |
| `named_metrics` | a metric whose value is no finite number, two of one name |
| `the_same_again` | another answer to the same samples |
"""

from __future__ import annotations

import json
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from reward_functions.core.jsons import json_kind
from reward_functions.rollouts.request.errors import InvalidReward
from reward_functions.rollouts.request.rewards import rewards_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TYPES = ("Metric", "Reward")


def a_list(answer: Any) -> Iterator[str]:
    """The answer as a whole."""
    if isinstance(answer, list):
        return
    if isinstance(answer, dict) and "statusCode" in answer:
        yield (
            "the answer is the envelope of open-weight models, and a Nova model takes a list: "
            "check it with is_nova=False"
        )
    else:
        yield f"the answer is {json_kind(answer)}, not a list with an output for each sample"


def as_many(samples: Sequence[Any], answer: Sequence[Any]) -> Iterator[str]:
    """An output for each sample."""
    if len(answer) != len(samples):
        yield f"there are {len(answer)} outputs for {len(samples)} samples"


def problems_of(sample: Any, output: Any) -> list[str]:
    """What is wrong with an output of a sample; empty where nothing is."""
    if not isinstance(output, dict):
        return [f"is {json_kind(output)}, not an object"]
    return [*in_order(sample, output), *finite(output), *named_metrics(output)]


def in_order(sample: Any, output: dict[str, Any]) -> Iterator[str]:
    """The id of the sample in its place."""
    wanted = sample.get("id") if isinstance(sample, dict) else None
    if wanted is not None and output.get("id") != wanted:
        yield "id is not that of the sample in its place"


def finite(output: dict[str, Any]) -> Iterator[str]:
    """One finite number."""
    yield from _number("aggregate_reward_score", output.get("aggregate_reward_score"))


def named_metrics(output: dict[str, Any]) -> Iterator[str]:
    """Metrics that a trainer can draw."""
    metrics = output.get("metrics_list")
    if metrics is None:
        return
    if not isinstance(metrics, list):
        yield f"metrics_list is {json_kind(metrics)}, not a list"
        return
    names = []
    for position, metric in enumerate(metrics):
        where = f"metrics_list.{position}"
        if not isinstance(metric, dict) or not isinstance(metric.get("name"), str):
            yield f"{where} has no name"
            continue
        names.append(metric["name"])
        yield from _number(f"{where}.value", metric.get("value"))
        if metric.get("type") not in TYPES:
            yield f"{where}.type is neither Metric nor Reward"
    if len(set(names)) != len(names):
        yield "metrics_list has two metrics of one name"


def the_same_again(first: Sequence[Any], second: Any) -> Iterator[str]:
    """The same answer to the same samples."""
    again = second if isinstance(second, list) else []
    pairs = enumerate(zip_longest(first, again))
    # By their JSON: a NaN is another reward than itself.
    if differing := [at for at, (one, other) in pairs if json.dumps(one) != json.dumps(other)]:
        yield f"a second call answers otherwise, first at output {differing[0]}"


def _number(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield f"{name} is {json_kind(value)}, not a number"
        return
    try:
        rewards_of(value)
    except InvalidReward as error:
        yield f"{name}: {error}"
