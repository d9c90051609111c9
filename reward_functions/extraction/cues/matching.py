"""What the words around an answer say about it: that it is wrong, a bound, a part, a guess.

One set of words for every form an answer is found in (box, statement, `####`, span). Each question
is asked of the few words next to the answer and not of the sentence: "since x cannot be negative, x
is 5" denies nothing about 5, and "half of 10 is 5" halves something else.

Words that only say that a value is rounded ("about", "approximately") or how sure its writer is
("I think", "probably") speak against nothing.
"""

from __future__ import annotations

import re
from typing import Final

from reward_functions.extraction.cues import lexicon

MAX_CLOSING: Final = 16
"""Characters of closing marks: `$$`, `\\]`, full stops and line ends."""

NEAREST: Final = 32
"""Characters before an answer that can offer it as an alternative: "or possibly $\\(["."""

REACH: Final = 80
"""Characters on either side that are looked at: the words next to the answer."""


def disqualifying_cue(text: str, start: int, end: int, *, last: bool = False) -> str:
    """Why an answer at text[start:end] does not count, as a clause; "" where nothing says so.

    Args:
        text: the response.
        start: where the answer begins, with its delimiters.
        end: where it ends.
        last: whether it is known that the text `ends` with it.
    """
    before = text[max(0, start - REACH) : start]
    words = _words(before)
    if _may_hold_cue(words):
        doubt = _first_cue_before(before, words) or _alternative(before, words)
        if doubt and not (doubt == lexicon.PART and _counted(before, text[start:end])):
            return doubt
    return "" if last or response_ends(text, end) else cue_after(text, end)


def _counted(before: str, answer: str) -> bool:
    r"""Whether an answer repeats the number before it: "it rings 84 times \boxed{84}"."""
    times = _TIMES.search(before)
    return times is not None and f"{{{times[1]}}}" in answer


def response_ends(text: str, end: int) -> bool:
    """Whether a text ends with its answer, but for a few closing marks; most do."""
    return len(text) - end <= MAX_CLOSING and not text[end:].strip(" \n\r$\\)]}.*")


def cue_before(before: str) -> str:
    """Why an answer does not count after these words, as a clause; "" where nothing says so."""
    words = _words(before)
    return _first_cue_before(before, words) if _may_hold_cue(words) else ""


def _may_hold_cue(words: list[bytes]) -> bool:
    """Whether any phrase may be among these words; mostly none is."""
    return not _PREFILTER.isdisjoint(words) or not _LAST.isdisjoint(words[-lexicon.LAST :])


def _words(before: str) -> list[bytes]:
    """The words that may tell against what follows, in lower case; none where a mark parts them.

    Most words say nothing of the kind, and looking each up costs a tenth of the patterns.
    """
    said = before.rstrip(_GLUE)
    if said[-1:] in _APART and said[-4:].lower() != "e.g.":
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
    for each in lexicon.BEFORE:
        # A denial reaches over the end of a line; of lines without a full stop, a number does not.
        said = sentence if each.clause == lexicon.DENIED else line
        if not each.words.isdisjoint(words[-each.within :]) and each.pattern.search(said):
            return each.clause
    return ""


def cue_after(text: str, end: int) -> str:
    """Why an answer does not count before these words, as a clause; "" where nothing says so."""
    for clause, pattern in lexicon.AFTER.items():
        if pattern.match(text, end):
            return clause
    return "is taken back" if retracted(text, end) else ""


def offered(text: str, end: int) -> str:
    """The value that is named beside an answer, "or 0.5", and nothing after it; "" without one."""
    value = lexicon.OFFERED.match(text, end)
    return value["value"] if value else ""


def retracted(text: str, end: int) -> bool:
    """Whether what follows an answer takes it back: "Or maybe 6.", "That is wrong.", "No, 6."."""
    return lexicon.RETRACTED.match(text, end) is not None


def correction(text: str, end: int) -> str:
    """The value that what follows an answer puts in its place: "Wait, it is 6."; "" without one."""
    corrected = lexicon.CORRECTED.match(text, end)
    return corrected["value"].rstrip(".,") if corrected else ""


def uncertain(before: str, after: str) -> bool:
    """Whether a sentence only supposes or asks: "let x = 5", "maybe 5", "is it 5?"."""
    return lexicon.UNCERTAIN.search(before) is not None or "?" in after


def _alternative(before: str, words: list[bytes]) -> str:
    if _OR.isdisjoint(words) or not lexicon.ALTERNATIVE_BEFORE.search(before[-NEAREST:]):
        return ""
    return lexicon.SEVERAL


_SENTENCE_END: Final = re.compile(r"[.!?;]\s")
# The opening of a displayed formula belongs to the line it continues.
_LINE_END: Final = re.compile(r"(?<!\\\[)(?<!\$\$)\n(?!\s*(?:\\\[|\$\$))")
_TIMES: Final = re.compile(r"(\d+)[$\\)]{0,3}\s+times[\s,:$\\(\[]*$")
_APART: Final = ".!?;>)%0123456789"
"""No phrase reaches over them."""

_GLUE: Final = " \t\r\n$([{*_~`\"'"
"""What may stand between a phrase and its answer."""

_LETTERS: Final = "".join(
    each.lower() if each.isalpha() or each == "¬" else " " for each in map(chr, range(256))
).encode("latin-1")
"""Latin letters in lower case, for `bytes.translate`; a tenth of the price of `str.translate`."""


def _words_within(within: int) -> frozenset[bytes]:
    return frozenset[bytes]().union(*(e.words for e in lexicon.BEFORE if e.within == within))


_ANYWHERE: Final = _words_within(lexicon.ANYWHERE)
_NEAR: Final = _words_within(lexicon.NEAR)
_LAST: Final = _words_within(lexicon.LAST)
_OR: Final = frozenset({b"or", b"oder", b"ou"})
_PREFILTER: Final = _ANYWHERE | _NEAR | _OR
