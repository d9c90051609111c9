"""Untrusted text made inert and kept readable, before it enters a prompt.

Control tokens of chat templates lose their brackets. Characters that a reader cannot see and a
model can (zero-width, bidirectional, tag characters) are removed. Exotic line separators become
plain line breaks. A string that is too long keeps its beginning and its end.
"""

from __future__ import annotations

import json
import re
from typing import Final

from reward_functions.quantities.unicode_forms import visible

_CONTROL: Final = re.compile(
    r"<[|｜]|[|｜]>"
    r"|</?(?:s|bos|eos|pad|unk|data|system|user|assistant|human|tool|think|thinking|reasoning"
    r"|instructions?|start_of_turn|end_of_turn|im_start|im_end|end_of_text|endoftext)\b"
    r"|\[/?INST\]|\[/?(?:SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS)\]|<</?SYS>>",
    re.IGNORECASE,
)
"""Control tokens of chat templates, and the tags of the fence."""

_INERT: Final = str.maketrans({"<": "‹", ">": "›", "[": "⟦", "]": "⟧", "|": "¦", "｜": "¦"})
_ROLE: Final = re.compile(
    r"(?m)^([ \t>#*]{0,8}(?:system|human|user|assistant|developer|instruction))(?=[ \t]{0,3}:)",
    re.IGNORECASE,
)
"""A line that opens like a turn of a plain-text transcript."""

_BREAKS: Final = dict.fromkeys((0x0B, 0x0C, 0x1C, 0x1D, 0x1E, 0x85, 0x2028, 0x2029), "\n")
_UNSEEN: Final = dict.fromkeys(
    (*range(0x09), *range(0x0E, 0x1C), 0x1F, *range(0x7F, 0x85), *range(0x86, 0xA0), 0x115F,
     0x1160, 0x3164, 0xFFA0, *range(0xFFF9, 0xFFFC))
)  # fmt: skip
_SURROGATES: Final = re.compile("[\ud800-\udfff]")


def sanitize(text: str, limit: int) -> str:
    """The string without anything a model could take for structure. Linear; never raises.

    Args:
        text: any string.
        limit: characters that are kept; a longer string keeps its beginning and its end, half of
            them each, with a note between them.
    """
    text = _SURROGATES.sub("\ufffd", visible(_capped(text, limit * 2)))
    text = _capped(text.translate(_BREAKS | _UNSEEN), limit)
    text = _CONTROL.sub(lambda found: found[0].translate(_INERT), text)
    return _ROLE.sub(r"\1 (quoted)", text)


def encoded(text: str) -> str:
    """The string as one line of JSON, whose quotes and line breaks are escaped."""
    return json.dumps(text, ensure_ascii=False)


def _capped(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"
