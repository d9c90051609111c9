"""The last sentence of a response that states its answer: "The answer is 5.", "**Answer:** 5".

A statement begins with the word *answer* (in one of eight languages) and a verb or a colon, with
`####` (GSM8K's own marker), with `<answer>`, or with a heading of its own, and ends with its
sentence. What takes a statement back is part of it: a negation ("is not 5"), a condition ("if the
answer is 5"), a question mark, and a second thought right after it ("Or maybe 6.").
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from reward_functions.extraction.cues.lexicon import DENIED
from reward_functions.extraction.cues.matching import REACH, cue_after, cue_before
from reward_functions.extraction.markup import plain
from reward_functions.quantities.numerals import quantity

MAX_VALUE: Final = 4000
"""Characters of a stated answer. Longer ones are not one answer."""

TAIL: Final = 100_000
"""Characters at the end of a response that are searched. What stands before dozens of further pages
is no final answer."""

SHORTEST: Final = len("答案:5")
"""Characters of the shortest statement."""

MAX_LEADS: Final = 1000
"""Keywords tried from the end backwards. A response that names its answer more often, and never
states it, states none."""

Mood = Literal["stated", "negated", "doubted"]


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence that states the answer.

    Args:
        text: the value, as written, without the sentence around it; may be empty.
        start: where the statement begins.
        end: where its value ends.
        mood: "negated" when the sentence denies it, "doubted" when what follows takes it back.
        rounded: whether it is stated as approximate.
    """

    text: str
    start: int
    end: int
    mood: Mood
    rounded: bool = False


def is_heading(line: str) -> bool:
    """Whether the line behind a `####` is a heading of Markdown: it begins with a word.

    "Step 2: Multiply" is one; "twelve", "USD 5", "not 5" and "Answer: 5" are about an answer.
    """
    return bool(_HEADING_LINE.match(line)) and quantity(plain(line)) is None


def last_statement(text: str, after: int = 0) -> Statement | None:
    """The last statement of an answer at or behind a position, or None. Linear.

    Keywords are looked for from the end, so that a long response costs what its tail costs.
    """
    after = max(after, len(text) - TAIL)
    if len(text) - after < SHORTEST:
        return None
    last = {word: at for word in _KEYWORDS if (at := text.rfind(word, after)) >= 0}
    for _ in range(MAX_LEADS):
        if not last:
            return None
        word = max(last, key=last.__getitem__)
        start = last[word]
        lead = _lead(text, start)
        if lead:
            return _statement(text, lead)
        named = _named(text, after, start)
        if named:
            return named
        last[word] = text.rfind(word, after, start)
        if last[word] < 0:
            del last[word]
    return None


class _Lead(NamedTuple):
    """The words that open a statement: where they stand, and whether they deny it already."""

    start: int
    end: int
    denied: bool


def _lead(text: str, start: int) -> _Lead | None:
    """The opening of a statement at a keyword; none in other people's answers and conditions."""
    before = text[max(0, start - REACH) : start]
    found = _OPENING.match(text, start) or _heading(text, start)
    if found and found[0] == "####" and is_heading(_line(text, found.end())):
        return None
    if found is None:
        return None
    named = found.groupdict()
    worded = named.get("word")
    if worded and (_ANOTHER.search(before) or not _meant(worded, before, text, found.end())):
        return None
    cue = cue_before(before)
    if (cue and cue != DENIED) or (named.get("would") and _supposed(text, start)):
        return None
    denied = any(named.get(name) for name in ("not", "never", "cannot", "foreign"))
    return _Lead(start, found.end(), denied or cue == DENIED)


def _supposed(text: str, start: int) -> bool:
    """Whether the sentence so far supposes: "if x were 6, the answer would be 7"."""
    sentence = _SENTENCE_END.split(text[max(0, start - 2 * REACH) : start])[-1]
    return _IF.search(sentence) is not None


def _named(text: str, after: int, start: int) -> Statement | None:
    """The statement that ends with the word "answer": "So 5 is the final answer."."""
    over = _OVER.match(text, start)
    sentence = over and _SENTENCE_END.split(text[max(after, start - REACH) : start])[-1]
    named = sentence and _NAMED.fullmatch(sentence)
    if not over or not named:
        return None
    begin = start - len(named[0]) + named.start("value")
    mood: Mood = "doubted" if cue_after(text, over.end()) else "stated"
    value = _BOLD.sub("", named["value"]).strip("*_ ")
    return Statement(value, begin, over.end(), mood)


def _meant(word: str, before: str, text: str, end: int) -> bool:
    """Whether a word means the answer: an option that is right, a result that is a value."""
    if word[:6].lower() == "answer":
        return True
    if word[0] in "oOcC":
        return _BEST.search(before) is not None
    return _VALUE.match(text, end) is not None


def _line(text: str, start: int) -> str:
    end = text.find("\n", start, start + MAX_VALUE)
    return text[start : end if end >= 0 else start + MAX_VALUE].strip()


def _heading(text: str, start: int) -> re.Match[str] | None:
    """A line that is nothing but "Final Answer" and its markup."""
    line = text.rfind("\n", max(0, start - REACH), start) + 1
    return _HEADING.match(text, line) if line or start < REACH else None


def _statement(text: str, lead: _Lead) -> Statement:
    start = _MARGIN.match(text, lead.end).end()  # type: ignore[union-attr]
    end = _value_end(text, start, _TAG_STOP if text[lead.end - 1] == ">" else _STOP)
    value = _BOLD.sub("", text[start:end]).strip(" \t\n*_\"'`")
    closing = _TAG_END.match(text, end)
    if closing:
        end = closing.end()
    if value.count("}") > value.count("{"):
        value = value.rstrip("} \"'")  # {"answer": "5"}
    mood: Mood = "stated"
    if lead.denied or (_NEGATION.match(value) and not _NONE.fullmatch(value)):
        mood = "negated"
    elif _DOUBT.match(text, end) or cue_after(text, end):
        mood = "doubted"
    rounded = _ROUNDED.search(text, lead.start, start) is not None
    return Statement(value, lead.start, end, mood, rounded)


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


_WORDS: Final = (
    *("answer", "option", "choice", "result", "solution"),
    *("réponse", "respuesta", "resposta", "risposta", "antwort", "odpowiedź", "ответ"),
)
_KEYWORDS: Final = (
    "####",
    *("答案", "答え", "정답", "답은", "उत्तर", "الجواب", "Đáp án"),
    "Ans",
    "ANS",
    "ans:",
    "ans.",
    "Final:",
    *(form for word in _WORDS for form in (word, word.capitalize(), word.upper())),
)
_OPENING: Final = re.compile(
    r"""
    \#{4}(?!\#)
  | (?:(?<=<)|(?<=<final_))answer>
  | (?:答案|答え|정답|답은|उत्तर|الجواب|Đáp\ án)\s?(?:(?:是|为|は|은|là|[:：])+|(?<=답은))
  | \b(?:réponse|respuesta|resposta|risposta|antwort|odpowiedź|ответ)\b
    (?:\s(?:(?P<foreign>no|non|nicht|não)|\w{1,12})\b)?
    (?:\s?[:：]|\s(?:est|es|é|è|ist|lautet|to|—|–)(?!\w))
  | (?P<word>\b(?:answers?|option|choice|result|solution|ans|final)\b)["*_]{0,3}\s{0,4}+
    (?: [:：=] | (?<=ans)\.(?=[\s:：*])[:：]?
      | (?:(?:to|of|for|in|here)\b[^.\n:?!=$\\]{0,80}?\s)?
        (?:is|are|was|=|equals|(?:comes|turns)\ (?:out\ )?to(?:\ be)?
          |(?:should|must|(?P<would>would)|will)(?P<never>n['’]t|not|\ not|\ never)?(?:\ then)?\ be
          |(?P<cannot>ca|wo)n['’]t\ be|['’]s)
        (?P<not>n['’]t\b|\s{1,4}(?:not|never)\b)?
        (?!\w)
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_HEADING: Final = re.compile(
    r"[#*_> \t]{0,8}(?:final )?answers?[*_: \t]{0,8}$", re.IGNORECASE | re.MULTILINE
)
_VALUE: Final = re.compile(
    r"[\s*]*[-+−$\\(\[{]{0,4}\s?(?:\d|\\[a-z]|[A-Za-z]\s?="
    r"|(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)[.!*]*\s*(?:\n|$))"
)
_BEST: Final = re.compile(r"\b(?:correct|right|best)\s$", re.IGNORECASE)
_ROUNDED: Final = re.compile(r"\b(?:approximately|about|roughly|around)\b|≈", re.IGNORECASE)
_HEADING_LINE: Final = re.compile(r"[*_ ]*(?!(?:not|no|never|answer)\b)[A-Za-z]{2}", re.IGNORECASE)
_BOLD: Final = re.compile(r"\*\*(?!\w)|(?<!\w)\*\*")
_MARGIN: Final = re.compile(
    r"""
    (?: [\s*_:：>"]+
      | (?:approximately|about|roughly|around|exactly|simply|just|thus|therefore|clearly|indeed|then
          |that|equal\ to|given\ by|now|hence|option|choice|letter)\b[,:]?
    )*
    """,
    re.VERBOSE | re.IGNORECASE,
)
_INLINE: Final = re.compile(r"\$[^$\n]{1,400}(?<!\\)\$(?!\d)|\\\([^\n$]{1,400}?\\\)")
_DISPLAY: Final = re.compile(r"\$\$|\\\[")
_CLOSING: Final = {"$$": "$$", "\\[": "\\]"}
_STOP: Final = re.compile(
    r"""
    (?<!\\)[.;?。](?=[\s*_<)"'”$\\]|$)           # the end of the sentence, not of a whole number
  | !(?=[\s*_<)"'”]|$)                    # nor the factorial of a formula
  | \n | </(?:final_)?answer> | です | 입니다
  | ,?\s{1,4}\(?(?:because|since|as|so|which|where|given|after|when|by|if|i\.e)\b
  | \s{1,4}\(not\b
  | ,\s{1,4}(?:for|but|not|and\s+(?:we|the|so|thus|this|that))\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TAG_END: Final = re.compile(r"</(?:final_)?answer>")
_TAG_STOP: Final = re.compile(_STOP.pattern.replace("[.;?。]", "[.?。]"), _STOP.flags)
"""Between tags a semicolon separates members: the answer ends with its tag."""
_NEGATION: Final = re.compile(
    r"(?:not|never|neither|anything but|other than|different from|nicht|pas|no|non|não)\b",
    re.IGNORECASE,
)
_NONE: Final = re.compile(
    r"(?:\\text\{|\$)?(?:no|never|neither)(?:\s+[a-z]{4,}){0,4}\}?\$?", re.IGNORECASE
)
"""An answer in words, which denies none: no, no real solution."""
_ANOTHER: Final = re.compile(
    r"\b(?:if|whether|suppose|assume|assuming|unless|some say|out|opposite of)"
    r"\s+(?:that\s+)?(?:the|my|our|this|your)?[:\s]*(?:final\s+|correct\s+)?$"
    r"|\b(?:wrong|incorrect|false|another|previous|earlier|initial|tempting|possible|likely|second|next"
    r"|second best|their|his|her)\s+(?:best\s+)?$",
    re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(r"[.!?;:]\s|\n")
_IF: Final = re.compile(r"\b(?:if|had|were|suppose|supposing)\b", re.IGNORECASE)
_NAMED: Final = re.compile(
    r"[\s*_>]*(?:(?:so|thus|hence|therefore|then|and)\b,?\s+)*(?:option\s+|the\s+(?:number|value)\s+)?"
    r"(?P<value>[*_]{0,2}(?:[-+−$\\(\d].{0,60}?|[A-J]))\s+(?:is|are)\s+"
    r"(?:indeed\s+|therefore\s+|thus\s+)?(?:the|our|my)\s+[*_]{0,2}(?:final\s+|correct\s+|right\s+)*",
    re.IGNORECASE,
)
_OVER: Final = re.compile(
    r"(?:answer|option|choice)[*_]{0,2}(?:\s+to\s+(?:the|this|your)\s+(?:question|problem))?\s*(?=[.!,;\n]|$)",
    re.IGNORECASE,
)
_DOUBT: Final = re.compile(r"\s?\?|,?\s{1,4}(?:if|unless|assuming|provided)\b", re.IGNORECASE)
