"""Matches the words around an answer: is it denied, a bound, a part, a guess?

One lexicon serves every form of an answer (box, statement, `####`, span); which kinds of phrases
disqualify which form is a table of its own. A phrase is matched against the few words next to the
answer and not against the sentence. So "since x cannot be negative, x is 5" denies nothing about 5.
"half of 10 is 5" halves something else.

Words that only call a value rounded ("about", "approximately") or likely ("I think", "probably")
are no cues.

Most answers have no cue beside them. So the words are first looked up as bytes: only where one
stands that a phrase cannot do without is their markup taken off, and are they matched.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.extraction.cues import lexicon
from reward_functions.extraction.cues.compiling import (
    EDGE,
    MAX_GAP,
    SHORT,
    SPELLED,
    Compiled,
    compiled,
    reached,
    says,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_CLOSING: Final = 16
"""Characters of closing marks: `$$`, `\\]`, full stops and line ends."""

REACH: Final = 80
"""Characters on either side that are looked at: the words next to the answer."""


def disqualifying_cue(
    text: str, start: int, end: int, *, last: bool = False, form: str = "math_span"
) -> str:
    """Why an answer at text[start:end] does not count, as a clause; "" where it does.

    Args:
        text: the response.
        start: where the answer begins, with its delimiters.
        end: where it ends.
        last: whether it is known that the response ends with it (`response_ends`).
        form: of the answer, which decides what disqualifies it (`lexicon.DISQUALIFIES`).
    """
    cue = cue_before(text[max(0, start - REACH) : start], form)
    if cue or last or response_ends(text, end):
        return cue
    return cue_after(text, end, form)


def response_ends(text: str, end: int) -> bool:
    """Whether a response ends with its answer, but for a few closing marks; most do."""
    return len(text) - end <= MAX_CLOSING and not text[end:].strip(" \n\r$\\)]}.*")


def cue_before(before: str, form: str = "statement") -> str:
    """Why an answer does not count after these words, as a clause; "" where it does."""
    table = _table(form).before
    if not table.may_hold(before):
        return ""
    found = [EDGE, *_nearest(words(before))]
    lines = len(found) - 1 - found[::-1].index("\n") if "\n" in found else 0
    for row in table.of(found):
        start = lines if row.phrase.reach == "line" else 0
        if _matched_before(row, [EDGE, *found[start + 1 :]]):
            return row.phrase.kind
    return ""


def cue_after(text: str, end: int, form: str = "statement") -> str:
    """Why an answer does not count before these words, as a clause; "" where it does."""
    found = _matched_after(_table(form).after, text, end)
    return found[0].phrase.kind if found else ""


def correction(text: str, end: int) -> str:
    """The value that what follows an answer puts in its place: "Wait, it is 6."; "" without one."""
    found = _matched_after(_corrections(), text, end)
    if not found:
        return ""
    _, near, place = found
    sign = "-" if near[place - 2] == "-" else ""
    return sign + near[place - 1]


def uncertain(before: str, after: str) -> bool:
    """Whether a sentence only supposes or asks: "let x = 5", "maybe 5", "is it 5?"."""
    return "?" in after or says(before, lexicon.UNCERTAIN)


def _nearest(found: list[str]) -> list[str]:
    """The words of the last sentence."""
    for place in range(len(found) - 1, -1, -1):
        if found[place] in _SENTENCE_ENDS:
            return found[place + 1 :]
    return found


def _matched_before(row: Compiled, near: Sequence[str]) -> bool:
    place = len(near) - 1
    for _ in range(MAX_GAP):
        if reached(row.places, near, place, -1):
            return True
        if place < 0 or near[place] not in row.gap:
            return False
        place -= 1
    return False


def _matched_after(table: _Side, text: str, end: int) -> tuple[Compiled, Sequence[str], int] | None:
    after = text[end : end + REACH]
    if not table.may_hold(after):
        return None
    near = words(after)
    if len(text) - end <= REACH:
        near.append(EDGE)
    starts = _starts(near)
    for row in table.of(near):
        for start in starts:
            place = start
            for _ in range(MAX_GAP):
                places = reached(row.places, near, place, 1)
                if places:
                    return row, near, max(places)
                if place >= len(near) or near[place] not in row.gap:
                    break
                place += 1
    return None


def _starts(near: Sequence[str]) -> list[int]:
    """Where the words about an answer may begin: behind it, or behind its alternative, "or 0.5"."""
    start = 0
    while start < len(near) and near[start] == ")":
        start += 1
    if len(near) > start + 1 and near[start] == "or" and near[start + 1][:1].isdigit():
        return [start, start + 2]
    return [start]


class _Side(NamedTuple):
    """The rows of one side by their keys, and how the keys may be written in a text.

    Args:
        rows: in the order in which they are matched.
        places: of the rows that have a word as their key.
        keys: the keys as words of letters, in lower case.
        unmarked: the characters of ASCII that are no key; a text without them holds the marks.
    """

    rows: tuple[Compiled, ...]
    places: dict[str, tuple[int, ...]]
    keys: frozenset[bytes]
    unmarked: bytes

    def of(self, beside: Sequence[str]) -> list[Compiled]:
        """The rows that may match these words, in their order."""
        found = {place for word in beside for place in self.places.get(word, ())}
        return [self.rows[place] for place in sorted(found)]

    def may_hold(self, beside: str) -> bool:
        """Whether any row may match beside an answer; mostly none does."""
        if not beside.isascii() or SHORT in beside:
            return True
        read = beside.encode("ascii")
        if read.translate(None, self.unmarked):
            return True
        return not self.keys.isdisjoint(read.translate(_LETTERS).split())


class _Table:
    """The rows for one form of an answer; a side is made when it is first asked for."""

    def __init__(self, kinds: frozenset[str]) -> None:
        self._kinds = kinds

    @cached_property
    def before(self) -> _Side:
        """The rows that stand before an answer."""
        return _side(lexicon.BEFORE, self._kinds)

    @cached_property
    def after(self) -> _Side:
        """The rows that stand behind one."""
        return _side(lexicon.AFTER, self._kinds)


_LETTERS: Final = "".join(
    [each.lower() if each.isalpha() else " " for each in map(chr, range(256))]
).encode("latin-1")
"""Latin letters in lower case, for `bytes.translate`; a tenth of the price of `str.translate`."""

_SENTENCE_ENDS: Final = frozenset(".!?;)>")


@cache
def _table(form: str) -> _Table:
    return _Table(lexicon.DISQUALIFIES.get(form, lexicon.STRICT))


@cache
def _corrections() -> _Side:
    return _side(lexicon.CORRECTIONS, frozenset({lexicon.CORRECTED}))


def _side(phrases: Sequence[lexicon.Phrase], kinds: frozenset[str]) -> _Side:
    rows = tuple([compiled(phrase) for phrase in phrases if phrase.kind in kinds])
    found: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        for key in row.keys:
            found.setdefault(key, []).append(place)
    spelled = {spelling for key in found for spelling in (key, *SPELLED.get(key, "").split())}
    places = {key: tuple(each) for key, each in found.items()}
    return _Side(
        rows,
        places,
        frozenset([each.encode() for each in spelled if each.isalpha()]),
        bytes([each for each in range(128) if chr(each).isalpha() or chr(each) not in spelled]),
    )
