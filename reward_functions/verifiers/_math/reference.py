"""The answer that a reference gives, in whatever shape; read once for a group of responses."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from reward_functions import symbolic
from reward_functions.core.errors import BadReference
from reward_functions.core.references import reference_text
from reward_functions.extraction.answer import Answer
from reward_functions.extraction.candidates.boxes import COMMAND
from reward_functions.extraction.invisible import strip_invisible
from reward_functions.verifiers._math.answer import mathematical_answer

KEPT: Final = 1024
"""References that are kept as they were read: all responses of a group meet the same one."""

KEPT_LENGTH: Final = 1000
"""Characters of a reference that is kept."""

_MARKUP: Final = (
    "#",
    "$",
    "<",
    "~",
    "\n",
    "\\box",
    "\\fbox",
    "\\(",
    "\\[",
    "nswer",
    "NSWER",
    "答案",
)
"""What a reference has that may be more than an answer: delimiters, markers, lines."""

_ESCAPED_BRACE: Final = re.compile(r"\\[\\{}]")


def reference_answer(reference: Any) -> str:
    """The answer a reference gives, in whatever shape."""
    if isinstance(reference, str) and len(reference) <= KEPT_LENGTH:
        return _kept(reference)
    return _read(reference)


def _read(reference: Any) -> str:
    return _whole(_stated(reference_text(reference)))


_kept = lru_cache(KEPT)(_read)


def _stated(text: str) -> str:
    """The answer a reference states, when it is more than an answer."""
    if not any(map(text.__contains__, _MARKUP)):
        return text
    text = strip_invisible(text)
    if symbolic.readable(text):
        return text
    found = mathematical_answer(text)
    if isinstance(found, Answer):
        return found.text
    if not text.strip() or "\n" in text.strip() or COMMAND in text:
        raise BadReference(f"the reference holds no answer: {found.reason}")
    return text


def _whole(reference: str) -> str:
    """The reference, unless it was cut off or garbled and no answer can be judged by it."""
    bare = _ESCAPED_BRACE.sub("", reference) if "\\" in reference else reference
    if bare.count("{") != bare.count("}"):
        raise BadReference("the reference cannot be read: its braces are not balanced")
    if "\0" in reference:
        raise BadReference("the reference cannot be read: it has a NUL character")
    return reference
