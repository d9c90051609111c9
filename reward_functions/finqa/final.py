"""Find the words of a response to a FinQA question that are its final answer.

The last explicit marker counts, an ANSWER line or a box, whichever comes later; without one, the
last sentence. Text after a marked answer may contradict it. An alternative ("12%; or 13%") makes it
no answer; a later statement of a result is handed on.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reward_functions.extraction.answer import Answer, NoAnswer
from reward_functions.extraction.candidates.boxes import COMMAND, last_boxed
from reward_functions.extraction.candidates.math_spans import last_span
from reward_functions.extraction.candidates.statements import last_statement
from reward_functions.extraction.cues.compiling import says
from reward_functions.extraction.selection import boxed_answer
from reward_functions.finqa import cues
from reward_functions.finqa.yesno import begins_with_word, only_word, takes_back

if TYPE_CHECKING:
    from reward_functions.extraction.candidates.candidate import Candidate

MAX_SENTENCE: Final = 400
"""Characters of a last sentence that are read."""

MAX_RESULTS: Final = 8
"""Candidates of a result that are passed over in search of an ANSWER line."""

REACH: Final = 40
"""Characters before a marker in which it may be denied."""

AHEAD: Final = 120
"""Characters behind an answer in which an alternative to it may begin."""

_FIGURES: Final = re.compile(r";\s?[-−(]?[$€£]?\d")
_BOUND: Final = re.compile(r"(?<=[:=\s])[<>≤≥]=?\s?[-+$]?[0-9.]")
_ALONE: Final = re.compile(r"[.;!\n][^\w]*[0-9][0-9.,]*+\s?%?\W*")
_STOP: Final = re.compile(r"(?<=[.!?])[*_)]{0,4}\s+(?=\S)")
_DISPLAYED: Final = ("\\]", "$$", "\\)")


def final(text: str) -> Answer | NoAnswer:
    """The final answer of a response, as it was written.

    Args:
        text: the response as `reward_functions.extraction.visible_response` leaves it.
    """
    line = cues.ANSWER_LINE.fullmatch(text, text.rfind("\n") + 1)
    if line:
        return Answer("statement", line[1])
    if "__" in text:  # bold as well, but a part of words to a pattern
        text = text.replace("__", "**")
    statement, later = _last_answer(text)
    box = last_boxed(text) if COMMAND in text else None
    if box and (statement is None or box.start >= statement.end):
        boxed = boxed_answer(text) or NoAnswer("nothing is boxed", "finqa-empty-marker")
        return boxed if isinstance(boxed, NoAnswer) else _with_tail(boxed)
    if statement:
        return _marked(text, statement, later)
    return _last_sentence(text)


def _last_answer(text: str) -> tuple[Candidate | None, str]:
    """The last statement of an *answer*, and the value of a later one about the *result*."""
    result = ""
    statement = last_statement(text)
    for _ in range(MAX_RESULTS):
        if statement is None:
            return None, result
        if cues.RESULT.match(text, statement.start):
            result = result or (statement.text if statement.mood == "stated" else "")
        elif not _is_remark(text, statement):
            return statement, result
        text = text[: statement.start]
        statement = last_statement(text)
    return None, result


def _says_no(text: str, statement: Candidate) -> bool:
    """Whether a statement is taken for a denial for nothing but the answer "no"."""
    lead = text[max(0, statement.start - REACH) : statement.end - len(statement.text)]
    return cues.BARE_NO.match(statement.text) is not None and not says(lead, cues.DENIAL)


def _is_remark(text: str, statement: Candidate) -> bool:
    """Whether a sentence remarks on an answer and states none: "the answer is rounded"."""
    return (
        statement.mood == "stated"
        and not cues.VALUE.search(statement.text)
        and cues.REMARK.fullmatch(statement.text) is not None
        and text[: statement.start].rpartition("\n")[2].strip("*_#> ") != ""
    )


def _with_tail(boxed: Answer) -> Answer:
    return boxed._replace(text=boxed.text + boxed.tail, tail="")


def _marked(text: str, statement: Candidate, later: str) -> Answer | NoAnswer:
    behind = text[statement.end : statement.end + AHEAD]
    line = behind.partition("\n")[0]
    word = only_word(statement.text)
    if statement.mood == "negated" and not _says_no(text, statement):
        reason = "the last statement about the answer denies one"
        return NoAnswer(reason, "denied-statement")
    if _is_doubted(statement, behind, word) or cues.WITHDRAWN.match(behind):
        return NoAnswer("the stated answer is taken back", "taken-back")
    if not statement.text:
        reason = "nothing follows the last marker of an answer"
        return NoAnswer(reason, "finqa-empty-marker")
    if not begins_with_word(statement.text) and _BOUND.search(text, statement.start, statement.end):
        return NoAnswer("the answer is a bound", "finqa-bound")
    either = cues.OR_BEFORE.search(text, max(0, statement.start - REACH), statement.start)
    if (either and begins_with_word(statement.text)) or _is_offered(behind):
        return NoAnswer("an alternative follows the answer", "finqa-two-values")
    if either:
        later = _STOP.split(text[max(0, either.start() - AHEAD) : either.start()])[-1]
    else:
        later = _beside(behind) or later
    text = statement.text
    if not cues.VALUE.search(cues.DATED.sub("", text)) or line[:1] == ";":
        text += line  # "It declined by 5%": the statement ends before its value
    elif cues.HANGING.search(text):
        text += f" {line}"
    return Answer("statement", text, later)


def _is_offered(behind: str) -> bool:
    """Whether what follows an answer offers another one."""
    return bool(cues.ALTERNATIVE.match(behind) or cues.OFFERED.search(behind))


def _beside(behind: str) -> str:
    """The value that follows an answer: in contrast to it, or alone; "" where none does."""
    line = behind.partition("\n")[0]
    contrast = cues.CONTRAST.match(line)
    if contrast:
        return line[contrast.end() :].strip(" .;!")
    alone = _ALONE.fullmatch(line) or _ALONE.fullmatch(behind)
    return behind.strip(" .;!\n") if alone else ""


def _is_doubted(statement: Candidate, behind: str, word: str | None) -> bool:
    """Whether what follows an answer takes it back; figures behind a yes or no explain it."""
    if word is None:
        return statement.mood == "doubted"
    if takes_back(behind, word) or cues.ASKED.match(behind):
        return True
    return statement.mood == "doubted" and not _FIGURES.match(behind)


def _last_sentence(text: str) -> Answer | NoAnswer:
    text = text.strip()
    if not text:
        return NoAnswer("the response is empty", "empty-response")
    if text.endswith(_DISPLAYED):
        span = last_span(text)
        return Answer("last_sentence", span.text) if span else NoAnswer("there is no final answer")
    line = text[max(text.rfind("\n"), len(text) - MAX_SENTENCE - 1) + 1 :]
    if cues.BROKEN_OFF.search(line):
        return NoAnswer("the response breaks off", "finqa-broken-off")
    sentence = _STOP.split(line)[-1]
    if cues.CONTRACT.search(sentence):
        return NoAnswer("the last sentence speaks of a score", "finqa-score-is-no-answer")
    return Answer("last_sentence", sentence)
