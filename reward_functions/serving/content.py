"""The text of what a row calls a message: a string, blocks, or an object; errors name the place."""

from __future__ import annotations

from typing import Any, Final

from reward_functions.core.errors import BadSample
from reward_functions.core.jsons import json_kind
from reward_functions.core.types import Message

REASONING: Final = frozenset({"reasoning", "thinking", "redacted_thinking"})
"""Types of content blocks that hold what a model thought and not what it answered."""


def message(turn: Any, where: str) -> Message:
    """One turn of a conversation.

    Args:
        turn: decoded JSON.
        where: its place in the row, for the error.

    Raises:
        BadSample: it is none. The message never quotes the row.
    """
    if not isinstance(turn, dict):
        raise BadSample(f"{where} is {json_kind(turn)}, not an object")
    role, content = turn.get("role"), turn.get("content")
    if not isinstance(role, str):
        raise BadSample(f"{where}.role is {json_kind(role)}, not a string")
    if not isinstance(content, str):
        content = text(content, f"{where}.content")
    return Message(role=role, content=content)


def text(content: Any, where: str) -> str:
    """The text of a content, reasoning apart; other kinds of blocks hold none, and null is "".

    Raises:
        BadSample: it has no such form.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        blocks = [_block_text(block, f"{where}[{at}]") for at, block in enumerate(content)]
        return "\n".join([each for each in blocks if each is not None])
    if isinstance(content, dict) and "text" not in content and not _is_reasoning(content):
        raise BadSample(f"{where} is an object without text")
    return _block_text(content, where) or ""


def _block_text(block: Any, where: str) -> str | None:
    """The text of one content block; None where blocks of its kind hold none."""
    if isinstance(block, str):
        return block
    if isinstance(block, dict):
        if "text" not in block or _is_reasoning(block):
            return None
        block, where = block["text"], f"{where}.text"
    if block is None or isinstance(block, str):
        return block
    raise BadSample(f"{where} is {json_kind(block)}, not a string")


def _is_reasoning(block: dict[str, Any]) -> bool:
    kind = block.get("type")
    return "reasoningContent" in block or (isinstance(kind, str) and kind in REASONING)
