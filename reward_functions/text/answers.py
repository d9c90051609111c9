r"""Which part of a response is its final answer.

    the last box              \boxed{…}; a run of boxes is one list
    else the last statement   "The answer is …", "#### …", "<answer>…</answer>"
    else the last span        $…$, \(…\)
    else the whole response   when it is nothing but an answer

The last one wins, and a stronger form is never overruled by a weaker one: where the strongest form
there is turns out empty, unclosed, denied or taken back, the response has no answer, and nothing
else in it is searched. A statement behind the answer that may contradict it is handed to the
caller, who can compare values.

Reasoning, invisible and struck-out text, and a verbatim copy of the prompt are set aside first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reward_functions.text.boxes import last_boxed
from reward_functions.text.hidden import said
from reward_functions.text.reasoning import without_reasoning
from reward_functions.text.spans import last_span, taken_back
from reward_functions.text.statements import last_statement

if TYPE_CHECKING:
    from reward_functions.text.boxes import Boxed

HASH: Final = "####"

STATED: Final = "the stated answer"

MAX_BARE: Final = 200
"""Characters of a response that may be nothing but an answer."""

MIN_ECHO: Final = 16
"""Characters from which a copy of the prompt is an echo. Shorter prompts ("2+3?") may be part of an
honest answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A final answer as it was written.

    Args:
        text: its source.
        where: how it was found, in a few words.
        rival: a later statement of an answer, "" where there is none.
    """

    text: str
    where: str
    rival: str = ""


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Why a response has no final answer, as one clause."""

    reason: str


def spoken(response: str, prompt: str = "", *, include_reasoning: bool = False) -> str:
    """The part of a response that can hold its answer.

    Args:
        response: what the policy wrote.
        prompt: what it was asked; a verbatim copy of it is no answer.
        include_reasoning: search reasoning sections as well.
    """
    text = response if include_reasoning else without_reasoning(response)
    if len(prompt) >= MIN_ECHO and prompt in text:
        text = text.replace(prompt, "\n")
    return said(text)


def hash_answer(text: str) -> Answer | NoAnswer | None:
    """What stands behind the last `####`, up to the end of its line; None without one. Linear."""
    start = text.rfind(HASH)
    if start < 0:
        return None
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    line = text[start + len(HASH) : end].strip("# \t\r")
    if not line:
        return NoAnswer("nothing follows the last ####")
    if "answer" in line.lower():
        return stated_answer(line) or Answer(line, "the last ####")
    return Answer(line, "the last ####", _rival(text, end))


def boxed_answer(text: str) -> Answer | NoAnswer | None:
    """The content of the last box or run of boxes; None where nothing is boxed. Linear."""
    box = last_boxed(text.replace("\\fbox", "\\boxed"))
    if box is None:
        return None
    if not box.contents:
        return NoAnswer("the last box is never closed")
    if not box.text.strip(" ,"):
        return NoAnswer("the last box is empty")
    return Answer(box.text, _where(box), _rival(text, box.end))


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
    return Answer(statement.text, STATED)


def final_answer(text: str) -> Answer | NoAnswer:
    """The final answer of a response by the order at the top of this module. Linear.

    Args:
        text: the response as `spoken` leaves it.
    """
    return (
        boxed_answer(text) or stated_answer(text) or _last_mathematics(text) or _nothing_but(text)
    )


def _where(box: Boxed) -> str:
    return "the last box" if len(box.contents) == 1 else f"the last {len(box.contents)} boxes"


def _rival(text: str, after: int) -> str:
    """A positive statement behind the answer, which may contradict it."""
    later = last_statement(text, after)
    return later.text if later and later.mood == "stated" else ""


def _last_mathematics(text: str) -> Answer | NoAnswer | None:
    span = last_span(text)
    if span is None:
        return None
    if taken_back(text, span):
        return NoAnswer("the sentence of the last mathematical span denies it")
    return Answer(span.text, "the last mathematical span") if span.text else None


def _nothing_but(text: str) -> Answer | NoAnswer:
    bare = text.strip()
    if not bare:
        return NoAnswer("the response is empty")
    if len(bare) > MAX_BARE or "\n" in bare:
        return NoAnswer("there is no final answer")
    return Answer(bare.strip("*_` "), "the whole response")
