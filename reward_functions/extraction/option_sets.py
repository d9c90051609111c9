"""Answers of several options: `ACD`, "A、C、D", "options A and C", "A. 5 m; C. 7 m".

Order, separators and brackets say nothing. "Or" chooses nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.extraction.choices import MAX_CHOICE, is_option
from reward_functions.extraction.cues import choices as words
from reward_functions.extraction.cues.endings import STOP
from reward_functions.extraction.markup import plain
from reward_functions.quantities.unicode_forms import typeset

if TYPE_CHECKING:
    from collections.abc import Mapping

SEVERAL: Final = 2
"""Letters from which on they are a set."""


def option_set(answer: str, options: Mapping[str, str]) -> frozenset[str]:
    """The letters of the options that an answer names; none where it says anything else.

    Args:
        answer: what may name several options by their letters, with or without their texts.
        options: what the question offers. No other letter is one of a set.
    """
    answer = typeset(answer[: MAX_CHOICE + 1])
    if len(answer) > MAX_CHOICE or words.RANGE.search(answer):
        return frozenset()
    bare = words.FONT.sub("", plain(answer))
    named = words.SET.fullmatch(words.SET_RIGHT.sub("", bare))
    if named:
        letters = words.SET_LETTER.findall(words.AND.sub(" ", named["letters"]).upper())
    else:
        letters = _with_texts(bare, options) or _texts(answer, options)
    found = frozenset(letters)
    whole = len(letters) == len(found) >= SEVERAL and found <= options.keys()
    return found if whole else frozenset()


def _with_texts(answer: str, options: Mapping[str, str]) -> list[str]:
    """The letters of an answer that writes out each option behind its letter; none otherwise."""
    marks = list(words.MARKED.finditer(answer))
    if not marks or answer[: marks[0].start()].strip():
        return []
    ends = [mark.start() for mark in marks[1:]] + [len(answer)]
    texts = [_unjoined(answer[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)]
    letters = [mark["letter"] for mark in marks]
    named = zip(letters, texts, strict=True)
    return letters if all(is_option(text, letter, options) for letter, text in named) else []


def _unjoined(text: str) -> str:
    """A text without what joins the next one to it."""
    text = text.rstrip(" ,;\n")
    for joint in words.JOINTS:
        text = text.removesuffix(joint)
    return text.rstrip(" ,;\n")


def _texts(answer: str, options: Mapping[str, str]) -> list[str]:
    """The letters of an answer that lists the texts of options; none otherwise."""
    letters = [_letter_of(text, options) for text in words.BETWEEN_TEXTS.split(plain(answer))]
    return letters if all(letters) else []


def _letter_of(text: str, options: Mapping[str, str]) -> str:
    """The one option with a text; "" for none or several."""
    found = [letter for letter in options if text.strip() and is_option(text, letter, options)]
    return found[0] if len(found) == 1 else ""


def picked_set(text: str, options: Mapping[str, str]) -> str:
    """The letters that the last sentence of a response picks: "So A and C are correct."."""
    *_, last = STOP.split(text[-MAX_CHOICE:].rstrip(" .!。*_\n"))
    picks = words.PICKED_SET.search(last)
    if picks is None or words.REPORTED.search(last) or words.OR.search(last):
        return ""
    letters = picks["right"] or picks["picked"]
    return letters if option_set(letters, options) else ""


def boxes_with_or(text: str) -> bool:
    """Whether a response offers its boxes as alternatives."""
    return words.BOXES_WITH_OR.search(text) is not None


def asks_for_order(prompt: str) -> bool:
    """Whether a question wants its options in an order, so that their letters are no set."""
    return words.ORDER.search(prompt) is not None
