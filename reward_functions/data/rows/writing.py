"""Canonical rows in the shape that a trainer reads: the way back of `canonical`.

A writer gets the parts of one row and returns the object to write. Fields that a shape has no place
for are left out and named, so that a command can say it once with a count.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.types import ASSISTANT_ROLES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

EARLIER: Final = "turns before the last question"
ROLES: Final = "a conversation whose only turn is not the user's"
BLOCKS: Final = "content that is not text"
OTHER_REFERENCE: Final = "a reference that is not a string"
ANSWERED: Final = "a response: the evaluation job asks the model"
TAKEN: Final = "metadata under a name that the shape uses"


class Parts(NamedTuple):
    """A canonical row taken apart.

    Args:
        id: None where the row has none.
        prompt: the messages before the response.
        response: the assistant's turn; None of training data.
        reference: None where the row has none.
        metadata: further fields.
    """

    id: Any
    prompt: list[Any]
    response: dict[str, Any] | None
    reference: Any
    metadata: Mapping[str, Any]

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Parts:
        """The parts of a canonical row."""
        messages = content.get("messages")
        turns = list(messages) if isinstance(messages, list) else []
        last = turns[-1] if turns else None
        answered = isinstance(last, dict) and last.get("role") in ASSISTANT_ROLES
        return cls(
            content.get("id"),
            turns[:-1] if answered else turns,
            last if answered else None,
            content.get("reference_answer"),
            metadata_of(content),
        )


def metadata_of(content: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of a canonical row, and what it holds beside its parts."""
    metadata = content.get("metadata")
    named = {"id", "messages", "reference_answer", "metadata"}
    further = {key: value for key, value in content.items() if key not in named}
    return further | (metadata if isinstance(metadata, dict) else {})


class Written(NamedTuple):
    """An object to write, and what of the row it has no place for."""

    content: dict[str, Any]
    lost: tuple[str, ...] = ()


def write(content: Mapping[str, Any], target: str) -> Written:
    """A canonical row in the shape of that name, one of `WRITERS`."""
    return WRITERS[target](Parts.of(content))


def _bedrock(parts: Parts) -> Written:
    return Written(
        _named(parts)
        | {"messages": _turns(parts)}
        | _optional("reference_answer", parts.reference)
        | ({"metadata": dict(parts.metadata)} if parts.metadata else {})
    )


def _openai(parts: Parts) -> Written:
    content = {"messages": _turns(parts)} | _optional("reference_answer", parts.reference)
    return _beside(_named(parts) | content, parts)


def _texts(parts: Parts, prompt: str, response: str, reference: str) -> Written:
    """A string in each column, by their names."""
    text, lost = _as_text(parts.prompt)
    content: dict[str, Any] = _named(parts) | {prompt: text}
    if parts.response is not None:
        content[response], blocks = _text(parts.response.get("content"))
        lost += blocks
    return _beside(content | _optional(reference, parts.reference), parts, lost)


def _chat(parts: Parts, reference: Any) -> dict[str, Any]:
    """Lists of messages in the columns that TRL and verifiers share."""
    completion = {} if parts.response is None else {"completion": [parts.response]}
    return _named(parts) | {"prompt": parts.prompt} | completion | _optional("answer", reference)


def _trl_chat(parts: Parts) -> Written:
    return _beside(_chat(parts, parts.reference), parts)


def _verl(parts: Parts) -> Written:
    """Verl's rows, which SageMaker's serverless customization reads as well."""
    extra = {
        key: value for key, value in parts.metadata.items() if key not in ("data_source", "ability")
    }
    lost: tuple[str, ...] = ()
    content: dict[str, Any] = _named(parts) | {
        "data_source": str(
            parts.metadata.get("data_source", parts.metadata.get("dataset", "rows"))
        ),
        "prompt": parts.prompt,
        **_optional("ability", parts.metadata.get("ability")),
        "reward_model": {"style": "rule", **_optional("ground_truth", parts.reference)},
        "extra_info": extra,
    }
    if parts.response is not None:
        text, lost = _text(parts.response.get("content"))
        content["responses"] = [text]
    return Written(content, lost)


def _verifiers(parts: Parts) -> Written:
    """The answer is a string there; the task and everything further goes into `info`."""
    reference = parts.reference
    lost: tuple[str, ...] = ()
    if reference is not None and not isinstance(reference, str):
        reference, lost = json.dumps(reference), (OTHER_REFERENCE,)
    return Written(_chat(parts, reference) | {"info": dict(parts.metadata)}, lost)


def _sagemaker_evaluation(parts: Parts) -> Written:
    """The data set of a custom scorer, whose `response` is what the answer is compared with.

    It takes text alone: another reference stands in the metadata as well, where
    `serving.evaluation_event` reads it first. So does the id, for which there is no column.
    """
    opening = parts.prompt[:1] if len(parts.prompt) > 1 else []
    systems = [turn for turn in opening if isinstance(turn, dict) and turn.get("role") == "system"]
    query, lost = _as_text(parts.prompt[len(systems) :])
    content: dict[str, Any] = {"query": query}
    for turn in systems:
        content["system"], blocks = _text(turn.get("content"))
        lost += blocks
    reference, metadata = parts.reference, dict(parts.metadata)
    if reference is None:
        reference = metadata.get("reference_answer")
    elif not (reference and isinstance(reference, str)) or "reference_answer" in metadata:
        metadata["reference_answer"] = reference
    gold = "" if reference is None else reference
    content["response"] = gold if isinstance(gold, str) else json.dumps(gold)
    lost += () if parts.response is None else (ANSWERED,)
    lost += (TAKEN,) if parts.id is not None and "id" in metadata else ()
    metadata = _named(parts) | metadata
    return Written(content | ({"metadata": metadata} if metadata else {}), lost)


WRITERS: Final[Mapping[str, Callable[[Parts], Written]]] = {
    "bedrock": _bedrock,
    "openai": _openai,
    "qrr": partial(_texts, prompt="question", response="response", reference="reference"),
    "sagemaker": _verl,
    "sagemaker-eval": _sagemaker_evaluation,
    "trl": partial(_texts, prompt="prompt", response="completion", reference="answer"),
    "trl-chat": _trl_chat,
    "verifiers": _verifiers,
    "verl": _verl,
}
"""What rows can be written as, by the name of `--to`."""


def _turns(parts: Parts) -> list[Any]:
    return [*parts.prompt, *([] if parts.response is None else [parts.response])]


def _named(parts: Parts) -> dict[str, Any]:
    return _optional("id", parts.id)


def _optional(key: str, value: Any) -> dict[str, Any]:
    return {} if value is None else {key: value}


def _beside(content: dict[str, Any], parts: Parts, lost: tuple[str, ...] = ()) -> Written:
    """The object with the metadata as columns of its own."""
    taken = (TAKEN,) if content.keys() & parts.metadata.keys() else ()
    return Written(dict(parts.metadata) | content, lost + taken)


def _as_text(turns: list[Any]) -> tuple[str, tuple[str, ...]]:
    """A prompt as one string: that of the last turn of the user."""
    users = [turn for turn in turns if isinstance(turn, dict) and turn.get("role") == "user"]
    if not users:
        return "", (ROLES,)
    text, lost = _text(users[-1].get("content"))
    return text, (*lost, EARLIER) if len(turns) > 1 else lost


def _text(content: Any) -> tuple[str, tuple[str, ...]]:
    """A message's content as a string; of blocks, the text in them."""
    if isinstance(content, str):
        return content, ()
    blocks = content if isinstance(content, list) else [content]
    texts = [
        block if isinstance(block, str) else block.get("text")
        for block in blocks
        if isinstance(block, str | dict)
    ]
    found = [text for text in texts if isinstance(text, str)]
    return "\n".join(found), () if len(found) == len(blocks) else (BLOCKS,)
