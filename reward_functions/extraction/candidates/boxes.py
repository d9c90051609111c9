r"""The last `\boxed{…}` of a response, or the last run of them.

Boxes joined by nothing but white space, punctuation, "and", "or" or the part of a question they
answer ("for part (a)") state one list: `\boxed{1}` and
`\boxed{2}` is the pair, so that boxing every candidate is an answer of many values, not a choice.
Only as much of the response is read as the last run needs, from its end backwards.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from reward_functions.extraction.latex_groups import group_end

COMMAND: Final = "\\boxed"
_BRACED: Final = re.compile(r"\s{0,8}\{")
_BARE: Final = re.compile(r"\s{0,8}([^\s${}\\.,;]{1,80})")
_COMMENT: Final = re.compile(r"(?<!\\)%[^\n]*\n")
_MENTION: Final = re.compile(r"[\s.…]*(?:(?:your |the |final )*answer)?[\s.…]*", re.IGNORECASE)
_LABEL: Final = r"\bfor\s+part\s+(?:\([a-z\d]\)|[a-z\d]\b)"
_CASE: Final = r"(?:option|case|answer|possibility)\s[\dA-J]\s?"
_JOINT: Final = re.compile(
    r"(?:[\s,;$&~/|*•-]|\d{1,2}[.)]\s|\\[,;:! \\()\[\]]|\\q?quad|\\l?or\b|\\vee\b|或"
    r"|\b(?:and|or|maybe|perhaps|possibly|alternatively|else|either|also|vs|oder|und|ou|et|o|y)\b"
    rf"|\b[A-Za-z](?:_\d)?\s?=|\b{_CASE}:|\.\s(?={_CASE}:)"
    rf"|{_LABEL}|\\(?:text|mathrm|mbox)\s?\{{[\s,]*(?:{_LABEL}[\s,]*)?(?:(?:and|or)\s*)?\}})*",
    re.IGNORECASE,
)
_OPENER: Final = (
    r"(?:~|\\[,;:! (\[]|[$(\[{]|\\q?quad\b\s?|\\left\b|\\[bB]igg?l?\b|\\displaystyle\s?"
    r"|\\math[a-z]{2}\b|\\(?:text)?color\s?\{[a-z]{1,8}\})"
)
_SIGN: Final = re.compile(
    r"(?:[=(:$\[>]|\\[(\[]|\b(?:is|are))"
    rf"[ \t]{{0,4}}(?:[-−]|\\pm\b)[ \t]{{0,4}}(?:{_OPENER}\s?){{0,6}}\s{{0,2}}$"
    rf"|(?<![\w)}}\]!'%])\s{{0,4}}[-−]{_OPENER}{{0,6}}$"
)

SIGN_REACH: Final = 40
"""Characters before a box that its sign may be spread over: `= -\\left( \\color{red} \\,$`."""

MAX_NESTED: Final = 4
"""Boxes around a box that are looked for."""

MAX_BOXES: Final = 200
"""Boxes of one list; of a longer one the last that many are read, and it equals nothing shorter."""


class Boxed(NamedTuple):
    """What was boxed, and where.

    Attributes:
        contents: of each box of the run, in order; empty when the last box is never closed.
        start: where the first of them begins.
        end: where the last of them ends.
    """  # a tuple, since making one costs a third of what a frozen dataclass does

    contents: tuple[str, ...]
    start: int
    end: int

    @property
    def text(self) -> str:
        """The contents as one answer."""
        return ", ".join(self.contents)


def last_boxed(text: str) -> Boxed | None:
    r"""The last run of boxes, or None where nothing is boxed.

    A sign glued to the front of a box belongs to it: `-\boxed{5}` is −5, `\pm\boxed{5}` is ±5. A
    box inside another is part of it. An empty box, or `\boxed{...}`, behind a filled one mentions
    the format. Linear.
    """
    start = text.rfind(COMMAND)
    if start < 0:
        return None
    box, before = _outermost(text, start)
    while box and before >= 0 and _MENTION.fullmatch(box.text):
        earlier, further = _outermost(text, before)
        if earlier is None or _joined(text, earlier.end, box.start):
            break
        box, before = earlier, further
    if box is None:
        return Boxed((), start, len(text))
    if before < 0:
        return box
    run = [box]
    while len(run) < MAX_BOXES and before >= 0:
        earlier = _box(text, before)
        if earlier is None or not _joined(text, earlier.end, run[-1].start):
            break
        run.append(earlier)
        before = text.rfind(COMMAND, 0, before)
    contents = tuple(each.text for each in reversed(run))
    return Boxed(contents, run[-1].start, box.end)


def _outermost(text: str, start: int) -> tuple[Boxed | None, int]:
    """The box whose command begins here, or the one around it, and the command before; -1 for none.

    The box is None when it is unclosed.
    """
    box = _box(text, start)
    before = text.rfind(COMMAND, 0, start)
    if box is None or before < 0:
        return box, before
    for _ in range(MAX_NESTED):
        around = _box(text, before) if before >= 0 else None
        if around is None or around.end < box.end:
            break
        box, before = around, text.rfind(COMMAND, 0, before)
    return box, before


def _box(text: str, start: int) -> Boxed | None:
    """The box whose command begins here; None when it is unclosed."""
    after = start + len(COMMAND)
    opening = _brace(text, after)
    if opening is not None:
        end = group_end(text, opening)
        if end is None:
            return None
        content = text[opening + 1 : end - 1]
    else:
        bare = _BARE.match(text, after)
        if bare is None:
            return None
        content, end = bare[1], bare.end()
    before = text[max(0, start - SIGN_REACH) : start]
    if "%" in content:
        content = _COMMENT.sub("", content)
    content = content.strip()
    if "-" in before or "−" in before or "\\pm" in before:
        sign = _SIGN.search(before)
        if sign:
            content = ("\\pm " if "pm" in sign[0] else "-") + content
    return Boxed((content,), start, end)


def _brace(text: str, after: int) -> int | None:
    """Where the brace of a command that ends here opens; None where it has none."""
    if text.startswith("{", after):
        return after
    braced = _BRACED.match(text, after)
    return braced.end() - 1 if braced else None


def _joined(text: str, end: int, start: int) -> bool:
    """Whether nothing but a joint lies between two positions; they may not overlap."""
    return end <= start and _JOINT.fullmatch(text, end, start) is not None
