r"""The last mathematical span of a response: `$…$`, `$$…$$`, `\(…\)`, `\[…\]`, or a run of them.

Spans joined by nothing but spaces, commas, "and" or "or" are one list, as boxes are. A dollar sign
is a delimiter by Pandoc's rule: an opening one touches what follows it, a closing one touches what
precedes it and no digit follows it. So "$18 and $20" holds no mathematics. `$ x = 9 $`, spaced on
both sides, does when it holds a sign of mathematics and no word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.core import patterns as re
from reward_functions.extraction.candidates.candidate import Candidate
from reward_functions.extraction.cues import endings
from reward_functions.extraction.cues import formulas as words
from reward_functions.extraction.cues.compiling import words as words_of
from reward_functions.extraction.cues.endings import SUBORDINATE
from reward_functions.extraction.cues.matching import disqualifying_cue, uncertain

if TYPE_CHECKING:
    from collections.abc import Iterator

_DELIMITER: Final = re.compile(r"\\[()\[\]\\$]|\$\$?")
_CLOSING: Final = {"\\(": "\\)", "\\[": "\\]", "$$": "$$", "$": "$"}
_SENTENCE_END: Final = re.compile(r"[.!?](?=\s|$)|\n")
_SPACED: Final = re.compile(
    r"\s\s?\\.*|(?=[^$\n]*[\\=^_<>+])(?:\\[A-Za-z]+|[^$\nA-Za-z\\]++|\\[^A-Za-z]|[A-Za-z]{1,2}(?![A-Za-z])){1,200}+"
    r"|\s\s?[-+]?\d[\d.,]{0,20}\s\s?",
    re.DOTALL,
)
_NAME: Final = re.compile(r"\\?[A-Za-z]{1,12}(?:_\{?\w{1,8}\}?)?'{0,2}(?:\([^()]{0,12}\))?")

TAIL: Final = 20_000
"""Characters at the end of a response that are searched: several pages. A response that goes on for
longer after its last formula has not ended with it."""

SENTENCE: Final = 160
"""Characters on either side of a span that may belong to its sentence."""


SUBORDINATOR: Final = 24
"""Characters before a span that may make it a reason or a condition."""


def last_span(text: str) -> Candidate | None:
    """The last run of spans in the tail of a response; a run of several keeps its delimiters.

    A mere name ($x$) only counts when there is nothing else, and stands for the value it is given:
    "$x$ is 5". Conditions in brackets, "(since $x > 0$)", do not count.
    """
    run: list[Candidate] = []
    name: Candidate | None = None
    for span in _spans(text, _tail(text)):
        if words.CONDITION.search(text, max(0, span.start - SENTENCE), span.start):
            continue
        if text[span.start - 1 : span.start].isspace() and _is_subordinate(text, span.start):
            continue
        if _NAME.fullmatch(span.text):
            name = span
            value = words.SPAN_VALUE.match(text, span.end)
            run = [Candidate("math_span", value[1], span.start, value.end(1))] if value else run
            continue
        if run and not words.SPAN_JOINT.fullmatch(text, run[-1].end, span.start):
            run = []
        run.append(span)
    return _joined(text, run) if run else name


def _joined(text: str, run: list[Candidate]) -> Candidate:
    if len(run) == 1:
        return run[0]
    start, end = run[0].start, run[-1].end
    return Candidate("math_span", text[start:end], start, end)


def _is_subordinate(text: str, start: int) -> bool:
    """Whether the word before a position, or the two, make what follows a reason or a condition."""
    found = words_of(text[max(0, start - SUBORDINATOR) : start])
    return not SUBORDINATE.isdisjoint((" ".join(found[-1:]), " ".join(found[-2:])))


def taken_back(text: str, span: Candidate) -> bool:
    """Whether its sentence denies, supposes or asks: "$5$ is wrong", "let $x=5$", "is it $5$?"."""
    before = _SENTENCE_END.split(text[max(0, span.start - SENTENCE) : span.start])[-1]
    rest = text[span.end : span.end + SENTENCE]
    stop = _SENTENCE_END.search(rest)
    after = rest[: stop.end()] if stop else rest
    if endings.CASE.search(before):
        return True
    return uncertain(before, after) or bool(disqualifying_cue(text, span.start, span.end))


def _tail(text: str) -> int:
    """Where the search begins: at a blank line, which no `$…$` spans, where there is one."""
    if len(text) <= TAIL:
        return 0
    start = len(text) - TAIL
    return max(text.find("\n\n", start), start)


def _spans(text: str, start: int) -> Iterator[Candidate]:
    opening: re.Match[str] | None = None
    for mark in _DELIMITER.finditer(text, start):
        if opening and mark[0] == _CLOSING[opening[0]] and _closes(text, opening, mark):
            yield Candidate(
                "math_span", text[opening.end() : mark.start()].strip(), opening.start(), mark.end()
            )
            opening = None
        elif mark[0] in _CLOSING and not (opening and opening[0] in ("\\[", "$$")):
            opening = mark


def _closes(text: str, opening: re.Match[str], mark: re.Match[str]) -> bool:
    if mark[0] != "$":
        return True
    spaced = text[opening.end()].isspace()
    if spaced and not _SPACED.fullmatch(text, opening.end(), mark.start()):
        return False
    return not (
        text[mark.start() - 1].isspace() != spaced
        or text[mark.end() : mark.end() + 1].isdigit()
        or text.find("\n\n", opening.end(), mark.start()) >= 0
    )
