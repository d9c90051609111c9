"""Rows as the trainers send them, in every shape that is known, and their results read strictly.

Which trainer sends which shape is not settled: AWS's pages and samples contradict each other. So
each shape has its turn, row by row, and a reward that reads only one of them is found out here.

| what | shapes |
| --- | --- |
| the generated turn's role | `assistant`, `nova_assistant` |
| content | a string, a list of text blocks, an object with `text` |
| the reference | at the top, in `metadata`, in both; the OpenAI-compatible API wraps strings |
| further fields | at the top, in `metadata` |
| ids | the row's with a number, digits, hexadecimal |
| rows of an invocation | a whole step; 1, 2, 4, … |

Sources: docs.aws.amazon.com/bedrock/latest/userguide/reward-functions-open-weight;
docs.aws.amazon.com/nova/latest/nova2-userguide/nova-implementing-reward-functions; the graders of
aws-samples/amazon-bedrock-samples (85fba9d). The rows of an invocation are documented nowhere: a
group may be torn apart, as a service may tear it.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from itertools import product
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.jsons import json_kind
from reward_functions.data.records import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reward_functions.jobs.job import DriverName

MAX_EVENT: Final = 4 * 1024 * 1024
"""Bytes of the rows of an invocation; Lambda takes 6 MB."""

OWN: Final = frozenset({"id", "messages", "reference_answer", "metadata"})
"""Keys of a row of training data that have a meaning; every other is a further field."""


class GraderFailed(ConfigurationError):
    """The reward function failed, or returned something else than one finite score for each row."""


class Shape(NamedTuple):
    """One way to send a row; see the module."""

    role: str
    content: Literal["string", "blocks", "object"]
    reference: Literal["top", "metadata", "both"]
    further: Literal["top", "metadata"]


_ROLES: Final = ("assistant", "nova_assistant")
_CONTENTS: Final = ("string", "blocks", "object")
_REFERENCES: Final = ("top", "metadata", "both")
_FURTHER: Final = ("top", "metadata")

SHAPES: Final[Mapping[DriverName, tuple[Shape, ...]]] = {
    "bedrock": tuple(map(Shape._make, product(_ROLES, _CONTENTS, _REFERENCES, _FURTHER))),
    "sagemaker": tuple(map(Shape._make, product(_ROLES, _CONTENTS, _REFERENCES, _FURTHER))),
    "openai": tuple(map(Shape._make, product(_ROLES[:1], _CONTENTS[:1], _REFERENCES, _FURTHER))),
}


def event_row(
    row: Mapping[str, Any], response: str, number: int, path: DriverName
) -> dict[str, Any]:
    """A rollout as a trainer sends it.

    Args:
        row: of the training data.
        response: the generated turn.
        number: of the rollout in its job, from 0; chooses the shape, and makes the id its own.
        path: whose shapes.
    """
    shape = SHAPES[path][number % len(SHAPES[path])]
    metadata = row.get("metadata")
    metadata = dict(metadata) if isinstance(metadata, dict) else {}
    reference = metadata.pop("reference_answer", None)
    reference = row.get("reference_answer", reference)
    if path == "openai" and isinstance(reference, str):
        reference = {"text": reference}
    further = {key: value for key, value in row.items() if key not in OWN}
    turns = [
        turn | {"content": _content(text_of(turn.get("content")), shape)}
        for turn in row["messages"]
    ]
    sent = {
        "id": _identity(row, number),
        "messages": [*turns, {"role": shape.role, "content": _content(response, shape)}],
        "metadata": metadata,
    }
    if shape.reference != "metadata":
        sent["reference_answer"] = reference
    if shape.reference != "top":
        metadata["reference_answer"] = reference
    (sent if shape.further == "top" else metadata).update(further)
    return sent


def invocations(rows: Sequence[dict[str, Any]], step: int) -> Iterator[list[dict[str, Any]]]:
    """The rows of a step as they are sent: all at once, or by 1, 2, 4, …, in turn.

    Args:
        rows: of the step.
        step: its number; an odd one is sent at once, as far as Lambda takes it.
    """
    most, size = (len(rows), 0) if step % 2 else (1, 0)
    batch: list[dict[str, Any]] = []
    for row in rows:
        length = len(json.dumps(row))
        if batch and (len(batch) == most or size + length > MAX_EVENT):
            yield batch
            batch, size, most = [], 0, 2 * most
        batch.append(row)
        size += length
    if batch:
        yield batch


def rewards_of(sent: Sequence[Mapping[str, Any]], response: Any) -> list[float]:
    """The scores of the rows that were sent, in their order, whatever the order of the results.

    Raises:
        GraderFailed: it is not a bare list with one finite `aggregate_reward_score` for each id.
    """
    if not isinstance(response, list):
        raise GraderFailed(
            f"the reward function returned {json_kind(response)} where a list of results is read"
            f"{_hint(response)}"
        )
    scores = dict(map(_score, response))
    if len(response) != len(sent) or len(scores) != len(response):
        raise GraderFailed(
            f"the reward function returned {len(response):,} results with {len(scores):,} ids for "
            f"{len(sent):,} rows"
        )
    try:
        return [scores[row["id"]] for row in sent]
    except KeyError:
        raise GraderFailed("the reward function returned an id that was not sent") from None


def _score(result: Any) -> tuple[str, float]:
    if not isinstance(result, dict):
        raise GraderFailed(f"a result of the reward function is {json_kind(result)}, not an object")
    identity, score = result.get("id"), result.get("aggregate_reward_score")
    if not isinstance(identity, str):
        raise GraderFailed(f"the id of a result is {json_kind(identity)}, not a string")
    if isinstance(score, bool) or not isinstance(score, int | float) or not isfinite(score):
        raise GraderFailed("an aggregate_reward_score is missing, or is not a finite number")
    return identity, float(score)


def _hint(response: Any) -> str:
    wrapped = isinstance(response, dict) and "statusCode" in response
    return ": it was deployed with the response mode `envelope`" if wrapped else ""


def _content(text: str, shape: Shape) -> Any:
    match shape.content:
        case "blocks":
            return [{"type": "text", "text": text}]
        case "object":
            return {"text": text}
        case _:
            return text


def _identity(row: Mapping[str, Any], number: int) -> str:
    """An id of the rollout's own, in one of three styles."""
    name = row.get("id")
    styles = (
        f"{name if isinstance(name, str) else 'row'}-{number}",
        str(number),
        blake2b(str(number).encode(), digest_size=16).hexdigest(),
    )
    return styles[number % len(styles)]
