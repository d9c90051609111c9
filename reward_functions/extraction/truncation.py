"""Whether a response was cut off: its reasoning, its last box or a code fence is never closed.

Only the text itself is read here; a response that stops between two words is not found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.core import patterns as re
from reward_functions.extraction.reasoning import may_hold_reasoning, without_reasoning

if TYPE_CHECKING:
    from collections.abc import Iterator

_PROBE: Final = "\nprobe"
_CHANNEL: Final = "<|channel|>"
_FENCE: Final = re.compile(r"(?m)^ {0,3}(`{3,}|~{3,})([^\n]*)$")
_FENCES: Final = (("`", "```"), ("~", "~~~"))
"""A character is looked for at a tenth of a string's price, and most responses have neither."""

_THOUGHT: Final = ("<think", "</think")


def cut_off(response: str, *, answered: bool) -> str:
    """The part that is never closed, as a clause; "" for a response that is whole.

    Args:
        response: what the policy wrote.
        answered: whether it has an answer. Such a response is only looked at for the usual signs.
    """
    opening, closing = _THOUGHT
    if answered:
        tagged = "<" in response and opening in response
        open_thought = tagged and response.rfind(opening) > response.rfind(closing)
    elif _CHANNEL in response:
        return "" if without_reasoning(response) else "the final message is never reached"
    else:
        open_thought = True
    if open_thought and in_reasoning(response):
        return "the reasoning is never closed"
    if not holds_fence(response):
        return ""
    return "a code fence is never closed" if in_fence(without_reasoning(response)) else ""


def holds_fence(text: str) -> bool:
    """Whether a text may hold a code block."""
    for character, fence in _FENCES:  # noqa: SIM110 - half the price of `any`
        if character in text and fence in text:
            return True
    return False


def in_reasoning(response: str) -> bool:
    """Whether appended text would still be reasoning. Harmony's channels end by themselves."""
    if not may_hold_reasoning(response) or _CHANNEL in response:
        return False
    return not without_reasoning(response + _PROBE).endswith(_PROBE)


def in_fence(text: str) -> bool:
    """Whether the string ends inside a code block."""
    return any(content is None for _, content in code_blocks(text))


def code_blocks(text: str) -> Iterator[tuple[str, str | None]]:
    """The code blocks of a text, by CommonMark's rule.

    Yields:
        The first word after the fence, in small letters; and what stands inside, None where the
        block is never closed.
    """
    opened, language, start = "", "", 0
    for line in _FENCE.finditer(text):
        fence, rest = line[1], line[2].strip()
        if not opened:
            if not (fence[0] == "`" and "`" in rest):
                opened, language, start = fence, rest.partition(" ")[0].lower(), line.end()
        elif fence[0] == opened[0] and len(fence) >= len(opened) and not rest:
            yield language, text[start : line.start()]
            opened = ""
    if opened:
        yield language, None
