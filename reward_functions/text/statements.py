"""The last sentence of a text that says what the answer is: "The answer is 5.", "**Answer:** 5".

A statement begins with the word *answer* and a verb or a colon, with `####` (GSM8K's own marker),
with `<answer>`, or with a heading of its own, and ends with its sentence. What takes a statement
back is part of it: a negation ("is not 5"), a condition ("if the answer is 5"), a question mark,
and a second thought right after it ("Or maybe 6.").
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_VALUE: Final = 4000
"""Characters of a stated answer. Longer ones are not one answer."""

Mood = Literal["stated", "negated", "doubted"]


@dataclass(frozen=True, slots=True)
class Statement:
    """What was said to be the answer.

    Args:
        text: the value, as written, without the sentence around it; may be empty.
        start: where the statement begins.
        end: where its value ends.
        mood: "negated" when the sentence denies it, "doubted" when what follows takes it back.
    """

    text: str
    start: int
    end: int
    mood: Mood


def last_statement(text: str, after: int = 0) -> Statement | None:
    """The last statement of an answer at or behind a position, or None. Linear."""
    found = None
    for lead in _leads(text, after):
        found = lead
    return _statement(text, found) if found else None


def _leads(text: str, after: int) -> Iterator[re.Match[str]]:
    """Every opening of a statement, except those of other people's answers and conditions."""
    for lead in _LEAD.finditer(text, after):
        before = text[max(0, lead.start() - 40) : lead.start()]
        if not (lead["word"] and _ANOTHER.search(before)):
            yield lead


def _statement(text: str, lead: re.Match[str]) -> Statement:
    start = _MARGIN.match(text, lead.end()).end()  # type: ignore[union-attr]
    end = _value_end(text, start)
    value = _PREAMBLE.sub("", text[start:end].strip().strip("*_").strip())
    return Statement(value, lead.start(), end, _mood(text, lead, end, value))


def _value_end(text: str, start: int) -> int:
    """Where the sentence ends; the newlines of a displayed formula do not end it."""
    limit = min(len(text), start + MAX_VALUE)
    formula = _DISPLAY.match(text, start)
    after = start
    if formula:
        closing = text.find(_CLOSING[formula[0]], formula.end(), limit)
        after = closing + len(formula[0]) if closing >= 0 else limit
    stop = _STOP.search(text, after, limit)
    return stop.start() if stop else limit


def _mood(text: str, lead: re.Match[str], end: int, value: str) -> Mood:
    before = text[max(0, lead.start() - 40) : lead.start()]
    denied = lead["not"] or lead["never"] or lead["cannot"]
    if denied or _NEGATION.match(value) or (lead["word"] and _DENIED.search(before)):
        return "negated"
    if _SECOND_THOUGHT.match(text, end):
        return "doubted"
    return "stated"


_LEAD: Final = re.compile(
    r"""
    (?P<mark>\#{4}(?!\#))
  | <answer>
  | (?:最终)?答案\s?(?:是|为|[:：])++
  | ^[\#*_>\ \t]{0,8}(?:final[ ])?answers?[*_:\ \t]{0,8}$                     # a heading
  | (?P<word>\banswers?\b)[*_]{0,3}\s{0,4}+
    (?: [:：=]
      | (?:(?:to|of|for|in|here)\b[^.\n:?!=$\\]{0,80}?\s)?
        (?:is|are|was|=|equals|comes\ out\ to
          |(?:should|must|would|will|can|could)(?P<never>n['’]t|not|\ not|\ never)?\ be
          |(?P<cannot>ca|wo)n['’]t\ be)
        (?P<not>n['’]t\b|\s{1,4}(?:not|never)\b)?+
        (?!\w)
    )
    """,
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_MARGIN: Final = re.compile(r"[\s*_:：>]*+")
_PREAMBLE: Final = re.compile(
    r"(?:(?:approximately|about|roughly|around|exactly|simply|just|thus|therefore|clearly|indeed|then|"
    r"that|equal to|given by|now|hence|option|choice)\b[,:\s]*)+",
    re.IGNORECASE,
)
_DISPLAY: Final = re.compile(r"\$\$|\\\[")
_CLOSING: Final = {"$$": "$$", "\\[": "\\]"}
_STOP: Final = re.compile(
    r"""
    [.;!?。](?=[\s*_<)"'”$\\]|$)          # the end of the sentence, not of a whole number
  | \n | </answer>
  | ,?\s{1,4}\(?(?:because|since|as|so|which|where|given|after|when|by|if|i\.e)\b
  | ,\s{1,4}(?:for|but|not|and\s+(?:we|the|so|thus|this|that))\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NEGATION: Final = re.compile(
    r"(?:not|never|neither|anything but|other than|different from)\b", re.IGNORECASE
)
_DENIED: Final = re.compile(
    r"(?:\b(?:not|never|doubt|deny|cannot|hardly)|n['’]t)\s+(?:\w+\s+)?(?:that\s+)?(?:the\s+)?"
    r"(?:final\s+|correct\s+)?$",
    re.IGNORECASE,
)
_ANOTHER: Final = re.compile(
    r"\b(?:if|whether|suppose|assume|assuming|unless)\s+(?:that\s+)?(?:the|my|our|this|your)?\s*"
    r"(?:final\s+|correct\s+)?$"
    r"|\b(?:wrong|incorrect|false|another|previous|earlier|initial|tempting|possible|their|his|her)"
    r"\s+$",
    re.IGNORECASE,
)
_SECOND_THOUGHT: Final = re.compile(
    r"\s?\?|[.;!,]?[*_)\"\s]{0,6}(?:or|alternatively|maybe|perhaps|possibly|wait|actually|no[,.!])\b",
    re.IGNORECASE,
)
