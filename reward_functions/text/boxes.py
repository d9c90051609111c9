r"""The last `\boxed{…}` of a text, or the last run of them.

Boxes joined by nothing but spaces, commas, `$`, "and" or "or" state one list: `\boxed{1}` and
`\boxed{2}` is the pair, so that boxing every candidate is an answer of many values, not a choice.
Only as much of the text is read as the last run needs, from its end backwards.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from reward_functions.text.braces import group_end

COMMAND: Final = "\\boxed"
_BRACED: Final = re.compile(r"\s{0,8}\{")
_BARE: Final = re.compile(r"\s{0,8}([^\s${}\\.,;]{1,80})")
_COMMENT: Final = re.compile(r"(?<!\\)%[^\n]*\n")
_JOINT: Final = re.compile(
    r"(?:[\s,;$&~]|\\[,;:! \\()\[\]]|\\q?quad|\b(?:and|or)\b"
    r"|\\(?:text|mathrm|mbox)\s?\{[\s,]*(?:(?:and|or)\s*)?\})*",
    re.IGNORECASE,
)

MAX_JOINT: Final = 60
"""Characters between two boxes that may still be a joint: `$, \\quad \\text{ and } \\quad $`."""

MAX_BOXES: Final = 200
"""Boxes of one list. More answer nothing."""


@dataclass(frozen=True, slots=True)
class Boxed:
    """What was boxed, and where.

    Args:
        contents: of each box of the run, in order; empty when the last box is never closed.
        start: where the first of them begins.
        end: where the last of them ends.
    """

    contents: tuple[str, ...]
    start: int
    end: int

    @property
    def text(self) -> str:
        """The contents as one answer."""
        return ", ".join(self.contents)


def last_boxed(text: str) -> Boxed | None:
    r"""The last run of boxes, or None where nothing is boxed.

    A minus sign glued to the front of a box belongs to it: `-\boxed{5}` is −5. Linear.
    """
    start = text.rfind(COMMAND)
    if start < 0:
        return None
    box = _box(text, start)
    if box is None:
        return Boxed((), start, len(text))
    contents, end = [box[0]], box[1]
    while len(contents) < MAX_BOXES and (before := text.rfind(COMMAND, 0, start)) >= 0:
        earlier = _box(text, before)
        if earlier is None or not _joined(text, earlier[1], start):
            break
        contents.append(earlier[0])
        start = before
    return Boxed(tuple(reversed(contents)), start, end)


def _box(text: str, start: int) -> tuple[str, int] | None:
    """The content of the box whose command begins here, and where it ends; None when unclosed."""
    after = start + len(COMMAND)
    braced = _BRACED.match(text, after)
    if braced:
        end = group_end(text, braced.end() - 1)
        if end is None:
            return None
        content = text[braced.end() : end - 1]
    else:
        bare = _BARE.match(text, after)
        if bare is None:
            return None
        content, end = bare[1], bare.end()
    sign = "-" if _glued_minus(text, start) else ""
    return sign + _COMMENT.sub("", content).strip(), end


def _glued_minus(text: str, start: int) -> bool:
    """Whether a minus touches the box and nothing it could subtract from stands before it."""
    if text[start - 1 : start] not in ("-", "−"):
        return False
    before = text[max(0, start - 9) : start - 1].rstrip()
    return not before or not (before[-1].isalnum() or before[-1] in ")}]!'%")


def _joined(text: str, end: int, start: int) -> bool:
    """Whether nothing but a joint lies between two positions; they may not overlap."""
    return 0 <= start - end <= MAX_JOINT and _JOINT.fullmatch(text, end, start) is not None
