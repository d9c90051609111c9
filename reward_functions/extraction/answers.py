r"""Which part of a response is its final answer.

    the last box              \boxed{…}; a run of boxes is one list
    else the last statement   "The answer is …", "#### …", "<answer>…</answer>"
    else the last span        $…$, \(…\)
    else the whole response   when it is nothing but an answer

The last one wins, and a stronger form is never overruled by a weaker one: where the strongest form
there is turns out empty, unclosed, disqualified by the words next to it, or a part of a formula,
the response has no answer, and nothing else in it is searched. A box, a statement or a correction
behind the answer may contradict it, and is handed to the caller, who can compare values.

Reasoning, invisible and struck-out text, and a verbatim copy of the prompt are set aside first.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.extraction.candidates.boxes import COMMAND, Boxed, last_boxed
from reward_functions.extraction.candidates.math_spans import last_span, taken_back
from reward_functions.extraction.candidates.statements import is_heading, last_statement
from reward_functions.extraction.cues.lexicon import SEVERAL
from reward_functions.extraction.cues.matching import (
    REACH,
    correction,
    cue_after,
    cue_before,
    disqualifying_cue,
    ends,
    offered,
)
from reward_functions.extraction.formula_context import inside_larger_formula
from reward_functions.extraction.invisible import strip_invisible
from reward_functions.extraction.reasoning import within_turn, without_reasoning
from reward_functions.quantities.unicode_forms import folded
from reward_functions.quantities.units import canonical

if TYPE_CHECKING:
    from collections.abc import Callable

    Same = Callable[[str, str], bool]

HASH: Final = "####"

STATED: Final = "the stated answer"

MAX_BARE: Final = 200
"""Characters of a response that may be nothing but an answer."""

MAX_HEADINGS: Final = 50
"""Headings passed over in search of a marker."""

_FRAMED: Final = re.compile(
    r"\\framebox(?:\[[^\[\]]{0,20}\]){0,2}(?=\s?\{)|\\fcolorbox(?:\s?\{[^{}]{1,30}\}){2}(?=\s?\{)"
)
_FENCED: Final = re.compile(r"```\w{0,12}\n([^`\n]{1,200})\n```")
_TAIL: Final = re.compile(
    r"(?:\\[,;! ]|~|\s){0,4}(?:\\?%|\^?\{?\s?\\circ\}?|°"
    r"|\\(?:text|mathrm|mbox)\s?\{(?P<unit>[^{}]{1,30})\}(?:\^\{?[23]\}?)?"
    r"|(?:hundred|thousand|million|billion|trillion|dozen|percent|degrees)\b)"
)
MIN_ECHO: Final = 16
"""Characters from which a copy of the prompt is an echo. Shorter prompts ("2+3?") may be part of an
honest answer."""


MAX_ECHOED: Final = 20_000
"""Characters of a prompt whose sentences are compared; of longer ones only whole copies are."""

KEPT: Final = 64
"""Prompts that are kept folded: all responses of a group answer the same one."""

_STATING: Final = ("####", "\\boxed{", "nswer is", "nswer:")
_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+|\n")


class Answer(NamedTuple):
    """A final answer as it was written.

    Attributes:
        text: its source.
        where: how it was found, in a few words.
        conflicting_answer: a later answer, which may contradict it; "" where there is none.
        tail: a unit, scale word or percent sign right behind it, "" where there is none; whether
            the two read as one is the caller's to try.
    """

    text: str
    where: str
    conflicting_answer: str = ""
    tail: str = ""


class NoAnswer(NamedTuple):
    """Why a response has no final answer, as one clause."""

    reason: str


def visible_response(response: str, prompt: str = "", *, include_reasoning: bool = False) -> str:
    """The part of a response that can hold its answer.

    Args:
        response: what the policy wrote.
        prompt: what it was asked. A copy of it is no answer, and neither is a copy of one of its
            sentences that states an answer, but for case and white space.
        include_reasoning: search reasoning sections as well.
    """
    text = within_turn(response) if include_reasoning else without_reasoning(response)
    if len(prompt) >= MIN_ECHO:
        text = _unechoed(text, prompt)
    return strip_invisible(text)


def _unechoed(text: str, prompt: str) -> str:
    """The text without the prompt, and without its sentences where they state an answer."""
    if prompt in text:
        text = text.replace(prompt, "\n")
    asked = _stated(prompt) if len(prompt) <= MAX_ECHOED else ""
    if not asked:
        return text
    sentences = _SENTENCES.split(text)
    own = [each for each in sentences if len(each) < MIN_ECHO or folded(each) not in asked]
    return text if len(own) == len(sentences) else "\n".join(own)


@lru_cache(KEPT)
def _stated(prompt: str) -> str:
    """A prompt that states an answer, folded; "" where none of its sentences does."""
    return folded(prompt) if any(map(prompt.__contains__, _STATING)) else ""


def hash_answer(text: str) -> Answer | NoAnswer | None:
    """What stands behind the last `####`, up to the end of its line; None without one. Linear.

    `####` also opens a heading in Markdown ("#### Explanation"): a line that begins with a word and
    is no number is a heading, and is passed over.
    """
    start = len(text)
    for _ in range(MAX_HEADINGS):
        start = text.rfind(HASH, 0, start)
        if start < 0:
            return None
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[start + len(HASH) : end].strip("# \t\r")
        if not is_heading(line):
            return _marked(text, line, start, end)
    return None


def _marked(text: str, line: str, start: int, end: int) -> Answer | NoAnswer:
    if not line:
        return NoAnswer("nothing follows the last ####")
    cue = cue_before(text[max(0, start - REACH) : start])
    if not cue and not ends(text, end):
        cue = cue_after(text, end)
    if cue:
        return NoAnswer(f"the last #### {cue}")
    if "answer" in line.lower():
        return stated_answer(line) or Answer(line, "the last ####")
    return Answer(line.strip("*_ "), "the last ####", _conflicting_answer(text, end))


def boxed_answer(text: str, same: Same | None = None) -> Answer | NoAnswer | None:
    """The content of the last box or run of boxes; None where nothing is boxed. Linear.

    Args:
        text: the response as `visible_response` leaves it.
        same: whether two values are equal, so that "or 0.5" behind 1/2 offers no second answer.
    """
    if text.rfind("\\fbox") >= 0:  # half the price of `in` and `replace`
        text = text.replace("\\fbox", "\\boxed")
    box = last_boxed(text)
    if box is None and "\\f" in text:
        text, framed = _FRAMED.subn("\\\\boxed", text)
        box = last_boxed(text) if framed else None
    if box is None:
        return None
    contents, start, end = box
    if not contents:
        return NoAnswer("the last box is never closed")
    content = box.text
    if not content.strip(" ,"):
        return NoAnswer("the last box is empty")
    last = ends(text, end)
    cue = disqualifying_cue(text, start, end, last=last)
    if cue and not (cue == SEVERAL and same and _once_more(text, box, same)):
        return NoAnswer(f"the last box {cue}")
    if inside_larger_formula(text, start, end, last=last):
        return NoAnswer("the last box is part of a longer number or formula")
    where = "the last box" if len(contents) == 1 else f"the last {len(contents)} boxes"
    if last:
        return Answer(content, where)
    tail = _tail(text, end) if len(contents) == 1 else ""
    return Answer(content, where, _conflicting_answer(text, end), tail)


def _once_more(text: str, box: Boxed, same: Same) -> bool:
    """Whether the only alternative to a box is its own value in another form."""
    value = offered(text, box.end)
    return (
        bool(value)
        and not disqualifying_cue(text, box.start, box.end, last=True)
        and same(box.text, value)
    )


def stated_answer(text: str) -> Answer | NoAnswer | None:
    """The last statement of an answer; None where there is none. Linear."""
    statement = last_statement(text)
    if statement is None:
        return None
    if statement.mood == "negated":
        return NoAnswer("the last statement about the answer denies one")
    if statement.mood == "doubted":
        return NoAnswer("the stated answer is taken back")
    if not statement.text:
        return NoAnswer("the statement of the answer is empty")
    return Answer(statement.text, STATED, correction(text, statement.end))


def final_answer(text: str, same: Same | None = None) -> Answer | NoAnswer:
    """The final answer of a response by the order at the top of this module. Linear.

    Args:
        text: the response as `visible_response` leaves it.
        same: whether two values are equal; without it, any alternative to a box leaves no answer.
    """
    return (
        boxed_answer(text, same)
        or stated_answer(text)
        or _last_mathematics(text)
        or _nothing_but(text)
    )


def _tail(text: str, end: int) -> str:
    """The sign, scale word or known unit right behind a box; "" for anything else."""
    tail = _TAIL.match(text, end)
    if tail is None or (tail["unit"] and not canonical(tail["unit"].strip("~ "))):
        return ""
    return tail[0].rstrip()


def _conflicting_answer(text: str, after: int) -> str:
    """A later answer, which may contradict it: a correction, a box, or a statement."""
    corrected = correction(text, after)
    if corrected:
        return corrected
    if text.find(COMMAND, after) >= 0:
        box = last_boxed(text)
        return box.text if box else ""
    later = last_statement(text, after)
    return later.text if later and later.mood == "stated" and not later.rounded else ""


def _last_mathematics(text: str) -> Answer | NoAnswer | None:
    span = last_span(text)
    if span is None:
        return None
    if taken_back(text, span):
        return NoAnswer("the sentence of the last mathematical span denies it")
    return Answer(span.text, "the last mathematical span") if span.text else None


def _nothing_but(text: str) -> Answer | NoAnswer:
    bare = text.strip()
    fenced = _FENCED.fullmatch(bare)
    if fenced:
        bare = fenced[1].strip()
    if not bare:
        return NoAnswer("the response is empty")
    if len(bare) > MAX_BARE or "\n" in bare:
        return NoAnswer("there is no final answer")
    return Answer(bare.strip("*_` "), "the whole response")
