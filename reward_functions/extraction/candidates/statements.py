"""The last sentence of a response that states its answer: "The answer is 5.", "**Answer:** 5".

A statement begins with the word *answer* (in English, or as `cues.languages` has it) and a verb or
a colon, or with `####` (GSM8K's own marker), `<answer>`, or a heading of its own. It ends with its
sentence. Words that take a statement back are part of it: a negation ("is not 5"), a condition ("if
the answer is 5"), a question mark, and a second thought right after it ("Or maybe 6.").

The last `####` of a response, GSM8K's marker, and the line after it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from reward_functions.core import patterns as re
from reward_functions.extraction.candidates.candidate import Candidate, Mood
from reward_functions.extraction.candidates.endings import stated_value
from reward_functions.extraction.cues import statements as words
from reward_functions.extraction.cues.compiling import says
from reward_functions.extraction.cues.endings import STOP
from reward_functions.extraction.cues.matching import REACH, cue_after, cue_before
from reward_functions.extraction.cues.phrase import DENIED, EXCLUDED
from reward_functions.extraction.cues.statements import HEADING
from reward_functions.extraction.markup import plain
from reward_functions.quantities.numerals import quantity

MAX_VALUE: Final = 4000
"""Characters of a stated answer. Longer ones are not one answer."""

TAIL: Final = 100_000
"""Characters at the end of a response that are searched. What stands before dozens of further pages
is no final answer."""

MAX_SENTENCE: Final = 400
"""Characters behind a stated value that its sentence may go on for."""

MAX_LINE: Final = 200
"""Characters of a line that begins with a word and may be a number, as "USD 5" is."""

MAX_ITEMS: Final = 12
"""Items of a numbered list of answers."""

MAX_ITEM: Final = 400
"""Characters of one of them."""

SHORTEST: Final = len("选B")
"""Characters of the shortest statement."""

NEAR_END: Final = 400
"""Characters of a rest in which one pattern looks for any keyword; in a longer one, looking for
each of them costs less."""

MAX_LEADS: Final = 100
"""Keywords tried from the end backwards. A response that names its answer more often, and never
states it, states none."""


def is_heading(line: str) -> bool:
    """Whether the line after a `####` is a heading of Markdown: it begins with a word.

    "Step 2: Multiply" is one; "twelve", "USD 5", "not 5" and "Answer: 5" are about an answer.
    """
    if not words.HEADING_LINE.match(line):
        return False
    if len(line) > MAX_LINE:
        return True
    return quantity(plain(line)) is None and not stated_value(line)


def last_statement(text: str, after: int = 0) -> Candidate | None:
    """The last statement of an answer at or after a position, or None. Linear.

    Keywords are looked for from the end, so that a long response costs what its tail costs.
    """
    after = max(after, len(text) - TAIL)
    rest = len(text) - after
    keyword = words.KEYWORD_IN_ASCII if text.isascii() else words.KEYWORD
    if rest < SHORTEST or (rest <= NEAR_END and not keyword.search(text, after)):
        return None
    searched = _searched(text)
    last = {word: at for word, where in searched.items() if (at := where.rfind(word, after)) >= 0}
    for _ in range(MAX_LEADS):
        if not last:
            return None
        word = max(last, key=last.__getitem__)
        start = last[word]
        lead = _lead(text, start, word)
        if lead:
            return _statement(text, lead)
        named = _named(text, after, start)
        if named:
            return named
        last[word] = searched[word].rfind(word, after, start)
        if last[word] < 0:
            del last[word]
    return None


def _searched(text: str) -> dict[str, str]:
    """The keywords that a text may hold, and where each is looked for.

    Lower case takes a third of the words, where it leaves every letter in its place.
    """
    lowered = text.lower()
    if text.isascii():
        return dict.fromkeys(words.EXACT_IN_ASCII, text) | dict.fromkeys(
            words.WORDS_IN_ASCII, lowered
        )
    if len(lowered) == len(text):
        return dict.fromkeys(words.EXACT, text) | dict.fromkeys(words.WORDS, lowered)
    return dict.fromkeys(words.KEYWORDS, text)


class _Lead(NamedTuple):
    """The words that open a statement: where they stand, and whether they deny it already."""

    start: int
    end: int
    denied: bool


def _lead(text: str, start: int, keyword: str) -> _Lead | None:
    """The opening of a statement at a keyword; none in other people's answers and conditions."""
    before = text[max(0, start - REACH) : start]
    opening = words.FOREIGN if keyword in words.FOREIGNERS else words.OPENING
    found = opening.match(text, start) or _heading(text, start)
    if found and found[0] == "####" and is_heading(_line(text, found.end())):
        return None
    if found is None:
        return None
    named = found.groupdict()
    worded = named.get("word")
    if worded and (words.ANOTHER.search(before) or not _meant(worded, before, text, found.end())):
        return None
    if found[0] == "answer>":
        before = before[: before.rfind("<")]
    cue = cue_before(before)
    if (cue and cue not in (DENIED, EXCLUDED)) or (named.get("would") and _supposed(text, start)):
        return None
    denied = any(named.get(name) for name in ("not", "never", "cannot", "foreign"))
    return _Lead(start, found.end(), denied or bool(cue))


def _supposed(text: str, start: int) -> bool:
    """Whether the sentence so far supposes: "if x were 6, the answer would be 7"."""
    sentence = STOP.split(text[max(0, start - 2 * REACH) : start])[-1]
    return says(sentence, words.IF)


def _named(text: str, after: int, start: int) -> Candidate | None:
    """The statement that ends with the word "answer": "So 5 is the final answer."."""
    over = words.OVER.match(text, start)
    sentence = over and STOP.split(text[max(after, start - REACH) : start])[-1]
    named = sentence and words.NAMED.fullmatch(sentence)
    if not over or not named:
        return None
    begin = start - len(named[0]) + named.start("value")
    mood: Mood = "doubted" if cue_after(text, over.end()) else "stated"
    value = _BOLD.sub("", named["value"]).strip("*_ ")
    return Candidate("statement", value, begin, over.end(), mood=mood)


def _meant(word: str, before: str, text: str, end: int) -> bool:
    """Whether a word means the answer: an option that is right, a result that is a value."""
    if word[:6].lower() == "answer":
        return True
    if word[0] in "oOcC":
        return words.BEST.search(before) is not None
    return words.VALUE.match(text, end) is not None


def _line(text: str, start: int) -> str:
    end = text.find("\n", start, start + MAX_VALUE)
    return text[start : end if end >= 0 else start + MAX_VALUE].strip()


def _heading(text: str, start: int) -> re.Match[str] | None:
    """A line that is nothing but "Final Answer" and its markup."""
    line = text.rfind("\n", max(0, start - REACH), start) + 1
    return words.HEADING.match(text, line) if line or start < REACH else None


def _last_of_list(text: str, start: int) -> tuple[int, int]:
    """Where the last item of a numbered list begins, and its number; the start and 1 without."""
    number = 1
    while number <= MAX_ITEMS and text.startswith((f"{number}. ", f"{number}) "), start):
        start += len(str(number)) + 2
        number += 1
        following = _ITEM.search(text, start, start + MAX_ITEM)
        if following is None or following[1] != str(number):
            return start, number - 1
        start = following.start(1)
    return start, max(number - 1, 1)


def _statement(text: str, lead: _Lead) -> Candidate:
    start = words.MARGIN.match(text, lead.end).end()  # type: ignore[union-attr]
    items = 1
    if text.find("\n", lead.end, start) >= 0:
        start, items = _last_of_list(text, start)
    end = _value_end(text, start, words.TAG_STOP if text[lead.end - 1] == ">" else words.STOP)
    value = _BOLD.sub("", text[start:end]).strip(" \t\n*_\"'`")
    closing = words.TAG_END.match(text, end)
    if closing:
        end = closing.end()
    if value.count("}") > value.count("{"):
        value = value.rstrip("} \"'")  # {"answer": "5"}
    sentence = _BOLD.sub("", text[start : _sentence_end(text, end)]).strip(" \t\n*_")
    mood: Mood = "stated"
    condition = ""
    if lead.denied or (words.NEGATION.match(value) and not words.NONE.fullmatch(value)):
        mood = "negated"
    elif cue_after(text, end):
        mood = "doubted"
    elif doubt := words.DOUBT.match(text, end):
        mood = "doubted"
        condition = text[doubt.end() : _sentence_end(text, end)] if doubt["if"] else ""
    rounded = says(text[lead.start : start], words.ROUNDED)
    return Candidate(
        "statement",
        value,
        lead.start,
        end,
        items,
        mood,
        rounded,
        behind=_behind_letter(text, end) if _LETTER.fullmatch(value) else "",
        sentence=sentence,
        condition=condition.strip(),
    )


def _behind_letter(text: str, end: int) -> str:
    """What the line says behind a letter and its full stop, up to the next one: "B. Paris"."""
    if not text.startswith(".", end):
        return ""
    return STOP.split(text[end + 1 : end + MAX_LINE].strip(" *_"), maxsplit=1)[0].rstrip("*_")


def _sentence_end(text: str, start: int) -> int:
    """Where the sentence ends that goes on at a position."""
    limit = min(len(text), start + MAX_SENTENCE)
    stop = words.SENTENCE_END.search(text, start, limit)
    return stop.start() if stop else limit


def _value_end(text: str, start: int, ends: re.Pattern[str]) -> int:
    """Where the sentence ends; the newlines of a displayed formula do not end it."""
    limit = min(len(text), start + MAX_VALUE)
    formula = _DISPLAY.match(text, start)
    after = start
    inline = None if formula else _INLINE.match(text, start, limit)
    if inline:
        after = inline.end()
    elif formula:
        closing = text.find(_CLOSING[formula[0]], formula.end(), limit)
        after = closing + len(formula[0]) if closing >= 0 else limit
    stop = ends.search(text, after, limit)
    return stop.start() if stop else limit


_LETTER: Final = re.compile(r"[$(\[]{0,2}[A-Z][)\]$]{0,2}")
_ITEM: Final = re.compile(r"\n[ \t]{0,3}(\d{1,2})[.)]\s")
_BOLD: Final = re.compile(r"\*\*(?!\w)|(?<!\w)\*\*")
_INLINE: Final = re.compile(r"\$[^$\n]{1,400}(?<!\\)\$(?!\d)|\\\([^\n$]{1,400}?\\\)")
_DISPLAY: Final = re.compile(r"\$\$|\\\[")
_CLOSING: Final = {"$$": "$$", "\\[": "\\]"}


LOOK: Final = 200
"""Characters behind a marker that stands alone in which the next line must begin and end."""

MARKER: Final = "####"

MAX_HEADINGS: Final = 50
"""Headings passed over in search of a marker."""


def last_hash_marker(text: str) -> Candidate | None:
    """The text after the last marker, up to the end of its line; None without one. Linear.

    `####` also opens a heading in Markdown ("#### Explanation"): a line that begins with a word and
    is no number is a heading, and is passed over.
    """
    start = len(text)
    for _ in range(MAX_HEADINGS):
        start = text.rfind(MARKER, 0, start)
        if start < 0:
            return None
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[start + len(MARKER) : end].strip("# \t\r")
        if not line or HEADING.fullmatch(line):
            line, end = _next_line(text, end) or (line, end)
        if not is_heading(line):
            return Candidate("hash_marker", line, start, end)
    return None


def _next_line(text: str, end: int) -> tuple[str, int] | None:
    """The line below a marker that stands alone, and its end, where it is one number alone."""
    below = text[end : end + LOOK]
    line, newline, behind = below.lstrip().partition("\n")
    cut = not newline and end + LOOK < len(text)
    if cut or behind.partition("\n")[0].strip() or quantity(plain(line)) is None:
        return None
    return line.strip(), end + len(below) - len(below.lstrip()) + len(line)
