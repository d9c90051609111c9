"""Which words of a response to a FinQA question are its final answer.

The last explicit marker counts, an ANSWER line or a box, whichever comes later; where there is
none, the last sentence. What stands behind a marked answer may contradict it: an alternative
("12%; or 13%") makes it no answer, and a later statement of a result is handed on.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reward_functions.extraction.answers import STATED, Answer, NoAnswer, boxed_answer
from reward_functions.extraction.candidates.boxes import COMMAND, last_boxed
from reward_functions.extraction.candidates.math_spans import last_span
from reward_functions.extraction.candidates.statements import last_statement
from reward_functions.finqa.yesno import begins_with_word, only_word, takes_back

if TYPE_CHECKING:
    from reward_functions.extraction.candidates.statements import Statement

SENTENCE: Final = "the last sentence"

MAX_SENTENCE: Final = 400
"""Characters of a last sentence that are read."""

MAX_RESULTS: Final = 8
"""Statements of a result that are passed over in search of an ANSWER line."""

REACH: Final = 40
"""Characters before a marker in which it may be denied."""

AHEAD: Final = 120
"""Characters behind an answer in which an alternative to it may begin."""

# Most responses end so. Nothing else can follow without a letter, and there is no need to look.
# A set that shares a character with the next one keeps what it took: a flood is read once.
_ANSWER_LINE: Final = re.compile(
    r"[*_#> ]*(?:final )?answer[*_ ]*:[*_ ]*+([-+$(~=\[ ]*[0-9][-+$0-9.,%()~\] ]*+|yes|no)[*_. ]*",
    re.IGNORECASE,
)
_RESULT: Final = re.compile(r"(?:result|option|choice|solution)", re.IGNORECASE)
_ALTERNATIVE: Final = re.compile(
    r"\W*(?:or|alternatively|otherwise|else|maybe|perhaps|possibly|but (?:it )?(?:may|might|could))"
    r"\b[^.\n]{0,60}\d",
    re.IGNORECASE,
)
_VALUE: Final = re.compile(r"\d|\b(?:yes|no)\b", re.IGNORECASE)
_CONTRAST: Final = re.compile(
    r"\W{0,4}(?:but|while|whereas|however|although|though)\b,?(?: (?:it|that|this)(?:['’]s| is| was"
    r"| would be| becomes))?"
    r"(?= (?:about |approximately |around |roughly |only )?[-−–+(]?[$€£]?\.?\d"
    r"(?!\d{3}\b(?![.,%]\d|%)))",
    re.IGNORECASE,
)
_WITHDRAWN: Final = re.compile(
    r"\W{0,4}(?:but|although|though|however|yet)\b[^.\n]{0,60}"
    r"\b(?:cannot|can['’]?t|can not|could not) be"
    r" (?:found|determined|computed|calculated|known|given)\b",
    re.IGNORECASE,
)
_ASKED: Final = re.compile(
    r"\s?\?|,?\s{1,4}(?:if|unless|assuming|provided|depending)\b", re.IGNORECASE
)
_FIGURES: Final = re.compile(r";\s?[-−(]?[$€£]?\d")
_YEAR: Final = re.compile(
    r"\b(?:from|in|between|to|and|fiscal|year) (?:19|20)[0-9]{2}\b", re.IGNORECASE
)
_OFFERED: Final = re.compile(
    r"\b(?:could|might|may) (?:also |well )?be\b[^.\n]{0,40}\d"
    r"|\b(?:another|other|alternative|second|possible)\b[^.\n]{0,40}\b(?:answer|value|result)\b[^.\n]{0,30}\d"
    r"|\bif (?:you|we|one|it|the)\b[^.\n]{0,60}[,:] [^.\n]{0,30}\d",
    re.IGNORECASE,
)
_NO: Final = re.compile(r"no\b(?! answer)", re.IGNORECASE)
_DENIAL: Final = re.compile(r"\b(?:not|never|cannot|neither|hardly)\b|n['’]t\b", re.IGNORECASE)
_BOUND: Final = re.compile(r"(?<=[:=\s])[<>≤≥]=?\s?[-+$]?[0-9.]")
_ALONE: Final = re.compile(r"[.;!\n][^\w]*[0-9][0-9.,]*\s?%?\W*")
_NOTHING: Final = re.compile(
    r"(?!.*\b(?:un(?:known|clear|certain|determined)|not|cannot|impossible|insufficient|none)\b)\D+",
    re.IGNORECASE,
)
_STOP: Final = re.compile(r"(?<=[.!?])[*_)]{0,4}\s+(?=\S)")
_BROKEN_OFF: Final = re.compile(
    r"(?:[,:;(=+×/]|\b(?:and|or|but|the|an?|of|to|by|with|from|for|in|on|is|are|was|we|I|now|then|next"
    r"|gives|which|that|so|because|since|if|plus|minus|times)|, which I (?:\w+ ){0,3}\w+)$"
)
_DISPLAYED: Final = ("\\]", "$$", "\\)")


def final(text: str) -> Answer | NoAnswer:
    """The final answer of a response, as it was written.

    Args:
        text: the response as `reward_functions.extraction.answers.visible_response` leaves it.
    """
    line = _ANSWER_LINE.fullmatch(text, text.rfind("\n") + 1)
    if line:
        return Answer(line[1], STATED)
    if "__" in text:  # bold as well, but a part of words to a pattern
        text = text.replace("__", "**")
    statement, later = _last_answer(text)
    box = last_boxed(text) if COMMAND in text else None
    if box and (statement is None or box.start >= statement.end):
        boxed = boxed_answer(text) or NoAnswer("nothing is boxed")
        return boxed if isinstance(boxed, NoAnswer) else _with_tail(boxed)
    if statement:
        return _marked(text, statement, later)
    return _last_sentence(text)


def _last_answer(text: str) -> tuple[Statement | None, str]:
    """The last statement of an *answer*, and the value of a later one about the *result*."""
    result = ""
    statement = last_statement(text)
    for _ in range(MAX_RESULTS):
        if statement is None:
            return None, result
        if _RESULT.match(text, statement.start):
            result = result or (statement.text if statement.mood == "stated" else "")
        elif not _is_remark(text, statement):
            return statement, result
        text = text[: statement.start]
        statement = last_statement(text)
    return None, result


def _says_no(text: str, statement: Statement) -> bool:
    """Whether a statement is taken for a denial for nothing but the answer "no"."""
    lead = text[max(0, statement.start - REACH) : statement.end - len(statement.text)]
    return _NO.match(statement.text) is not None and not _DENIAL.search(lead)


def _is_remark(text: str, statement: Statement) -> bool:
    """Whether a sentence remarks on an answer and states none: "the answer is rounded"."""
    return (
        statement.mood == "stated"
        and not _VALUE.search(statement.text)
        and _NOTHING.fullmatch(statement.text) is not None
        and text[: statement.start].rpartition("\n")[2].strip("*_#> ") != ""
    )


def _with_tail(boxed: Answer) -> Answer:
    return Answer(boxed.text + boxed.tail, boxed.where, boxed.conflicting_answer)


def _marked(text: str, statement: Statement, later: str) -> Answer | NoAnswer:
    behind = text[statement.end : statement.end + AHEAD]
    line = behind.partition("\n")[0]
    word = only_word(statement.text)
    if statement.mood == "negated" and not _says_no(text, statement):
        return NoAnswer("the last statement about the answer denies one")
    if _is_doubted(statement, behind, word) or _WITHDRAWN.match(behind):
        return NoAnswer("the stated answer is taken back")
    if not statement.text:
        return NoAnswer("nothing follows the last marker of an answer")
    if not begins_with_word(statement.text) and _BOUND.search(text, statement.start, statement.end):
        return NoAnswer("the answer is a bound")
    if _ALTERNATIVE.match(behind) or _OFFERED.search(behind):
        return NoAnswer("an alternative follows the answer")
    contrast = _CONTRAST.match(line)
    if contrast:
        later = line[contrast.end() :].strip(" .;!")
    elif _ALONE.fullmatch(line) or _ALONE.fullmatch(behind):
        later = behind.strip(" .;!\n")
    text = statement.text
    if not _VALUE.search(_YEAR.sub("", text)) or line[:1] == ";":
        text += line  # "It declined by 5%": the statement ends before its value
    return Answer(text, STATED, later)


def _is_doubted(statement: Statement, behind: str, word: str | None) -> bool:
    """Whether what follows an answer takes it back; figures behind a yes or no explain it."""
    if word is None:
        return statement.mood == "doubted"
    if takes_back(behind, word) or _ASKED.match(behind):
        return True
    return statement.mood == "doubted" and not _FIGURES.match(behind)


def _last_sentence(text: str) -> Answer | NoAnswer:
    text = text.strip()
    if not text:
        return NoAnswer("the response is empty")
    if text.endswith(_DISPLAYED):
        span = last_span(text)
        return Answer(span.text, SENTENCE) if span else NoAnswer("there is no final answer")
    line = text[max(text.rfind("\n"), len(text) - MAX_SENTENCE - 1) + 1 :]
    if _BROKEN_OFF.search(line):
        return NoAnswer("the response breaks off")
    return Answer(_STOP.split(line)[-1], SENTENCE)
