"""Matches the words around an answer: is it called wrong, a bound, a part, a guess?

One set of cues serves every form of an answer (box, statement, `####`, span). A cue is matched
against the few words next to the answer and not against the sentence: "since x cannot be negative,
x is 5" denies nothing about 5, and "half of 10 is 5" halves something else.

Words that only call a value rounded ("about", "approximately") or likely ("I think", "probably")
are no cues.

Most answers have no cue beside them. So the words before an answer are looked up first, as bytes,
which costs a tenth of the patterns; and a pattern is compiled when it is first matched, since all
of them together take a tenth of a cold start.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from reward_functions.extraction.cues import lexicon

MAX_CLOSING: Final = 16
"""Characters of closing marks: `$$`, `\\]`, full stops and line ends."""

NEAREST: Final = 32
"""Characters before an answer that can offer it as an alternative: "or possibly $\\(["."""

REACH: Final = 80
"""Characters on either side that are looked at: the words next to the answer."""


def disqualifying_cue(text: str, start: int, end: int, *, last: bool = False) -> str:
    """Why an answer at text[start:end] does not count, as a clause; "" where it does.

    Args:
        text: the response.
        start: where the answer begins, with its delimiters.
        end: where it ends.
        last: whether it is known that the response ends with it (`response_ends`).
    """
    before = text[max(0, start - REACH) : start]
    words = _words(before)
    if _may_hold_cue(words):
        cue = _first_cue_before(before, words) or _alternative(before, words)
        if cue and not (cue == lexicon.PART and _counted(before, text[start:end])):
            return cue
    return "" if last or response_ends(text, end) else cue_after(text, end)


def _counted(before: str, answer: str) -> bool:
    r"""Whether an answer repeats the number before it: "it rings 84 times \boxed{84}"."""
    times = _TIMES.search(before)
    return times is not None and f"{{{times[1]}}}" in answer


def response_ends(text: str, end: int) -> bool:
    """Whether a response ends with its answer, but for a few closing marks; most do."""
    return len(text) - end <= MAX_CLOSING and not text[end:].strip(" \n\r$\\)]}.*")


def cue_before(before: str) -> str:
    """Why an answer does not count after these words, as a clause; "" where it does."""
    words = _words(before)
    return _first_cue_before(before, words) if _may_hold_cue(words) else ""


def _may_hold_cue(words: list[bytes]) -> bool:
    """Whether any cue may be among these words; mostly none is."""
    return not _PREFILTER.isdisjoint(words) or not _LAST.isdisjoint(words[-lexicon.LAST :])


def _words(before: str) -> list[bytes]:
    """The words that may belong to a cue, in lower case; none where a mark parts them from it."""
    words = before.rstrip(_GLUE)
    if words[-1:] in _APART and words[-4:].lower() != "e.g.":
        return []
    if not before.isascii():
        before = before.replace("≠", " ¬ ").replace("或", " or ")
    return before.encode("latin-1", "replace").translate(_LETTERS).split()


def _first_cue_before(before: str, words: list[bytes]) -> str:
    if (
        _ANYWHERE.isdisjoint(words)
        and _NEAR.isdisjoint(words[-lexicon.NEAR :])
        and _LAST.isdisjoint(words[-lexicon.LAST :])
    ):
        return ""
    before = before.lower().replace("e.g. ", "e.g., ")
    sentence = _SENTENCE_END.split(before)[-1]
    line = _LINE_END.split(sentence)[-1] if "\n" in sentence else sentence
    for cue, cue_words, pattern in _BEFORE:
        # A denial reaches over the end of a line; of lines without a full stop, a number does not.
        nearest = sentence if cue.kind == lexicon.DENIED else line
        if not cue_words.isdisjoint(words[-cue.reach :]) and _before(pattern).search(nearest):
            return cue.kind
    return ""


def cue_after(text: str, end: int) -> str:
    """Why an answer does not count before these words, as a clause; "" where it does."""
    for kind, pattern in _AFTER:
        if _any_case(pattern).match(text, end):
            return kind
    return "is taken back" if retracted(text, end) else ""


def offered(text: str, end: int) -> str:
    """The value that is named beside an answer, "or 0.5", and nothing after it; "" without one."""
    value = _any_case(lexicon.OFFERED).match(text, end)
    return value["value"] if value else ""


def retracted(text: str, end: int) -> bool:
    """Whether what follows an answer takes it back: "Or maybe 6.", "That is wrong.", "No, 6."."""
    return _any_case(lexicon.RETRACTED).match(text, end) is not None


def correction(text: str, end: int) -> str:
    """The value that what follows an answer puts in its place: "Wait, it is 6."; "" without one."""
    corrected = _any_case(lexicon.CORRECTED).match(text, end)
    return corrected["value"].rstrip(".,") if corrected else ""


def uncertain(before: str, after: str) -> bool:
    """Whether a sentence only supposes or asks: "let x = 5", "maybe 5", "is it 5?"."""
    return _any_case(lexicon.UNCERTAIN).search(before) is not None or "?" in after


def _alternative(before: str, words: list[bytes]) -> str:
    if _OR.isdisjoint(words) or not _any_case(lexicon.ALTERNATIVE_BEFORE).search(before[-NEAREST:]):
        return ""
    return lexicon.SEVERAL


_SENTENCE_END: Final = re.compile(r"[.!?;]\s")
# The opening of a displayed formula belongs to the line it continues.
_LINE_END: Final = re.compile(r"(?<!\\\[)(?<!\$\$)\n(?!\s*(?:\\\[|\$\$))")
_TIMES: Final = re.compile(r"(\d+)[$\\)]{0,3}\s+times[\s,:$\\(\[]*$")
_APART: Final = ".!?;>)%0123456789"
"""No cue reaches over them."""

_GLUE: Final = " \t\r\n$([{*_~`\"'"
"""What may stand between a cue and its answer."""

_LETTERS: Final = "".join(
    each.lower() if each.isalpha() or each == "¬" else " " for each in map(chr, range(256))
).encode("latin-1")
"""Latin letters in lower case, for `bytes.translate`; a tenth of the price of `str.translate`."""


@cache
def _any_case(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE | re.IGNORECASE)


@cache
def _before(pattern: str) -> re.Pattern[str]:
    """For the words before an answer, which are in lower case already."""
    return re.compile(pattern, re.VERBOSE)


def _words_of(cue: lexicon.Cue) -> frozenset[bytes]:
    return frozenset(cue.words.encode("latin-1").split())


def _words_within(reach: int) -> frozenset[bytes]:
    """The words of all cues of a reach."""
    return frozenset[bytes]().union(*(words for cue, words, _ in _BEFORE if cue.reach == reach))


_BEFORE: Final = tuple((cue, _words_of(cue), cue.pattern) for cue in lexicon.BEFORE)
_AFTER: Final = tuple((cue.kind, cue.pattern) for cue in lexicon.AFTER)

_ANYWHERE: Final = _words_within(lexicon.ANYWHERE)
_NEAR: Final = _words_within(lexicon.NEAR)
_LAST: Final = _words_within(lexicon.LAST)
_OR: Final = frozenset({b"or", b"oder", b"ou"})
_PREFILTER: Final = _ANYWHERE | _NEAR | _OR
