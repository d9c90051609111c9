r"""Choices of the prompt: a letter and the text of its option are one answer, in both directions.

`39` is choice C where the prompt says "(A) 50 (B) 42 (C) 39", and C is 39. Only the prompt has the
text of a choice; where it does not, the text behind a letter is believed, and a second box beside
that of the letter is a second answer. An answer that equals the texts of two options names none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reward_functions import symbolic
from reward_functions.extraction.answer import Answer, NoAnswer
from reward_functions.extraction.choices import lettered, options_in
from reward_functions.quantities.unicode_forms import folded
from reward_functions.verifiers._math.restatement import restates

if TYPE_CHECKING:
    from collections.abc import Mapping

_BEHIND: Final = re.compile(
    r"(?P<text>[^(].*),\s(?P<letter>(?:\\(?:text|textbf|mathrm|mbox)\s?\{\s?)?\([A-Z]\)\s?\}?)",
    re.DOTALL,
)
_BESIDE: Final = re.compile(
    r"(?P<letter>[A-Z])(?:\s|\\[,;:! ])?(?:\\text\s?\{)?\s?\((?P<text>[^()]+)\)\}?"
)
_MAY_LETTER: Final = re.compile(
    r"[\s$*]{0,4}(?:\\(?:text|math|mbox|bf|rm)[a-z]{0,2}\s?\{\s?)?[(\[]?[A-Za-z]"
)
"""How a choice by letter begins; numbers and most formulas do not."""

LABEL: Final = "A: "
"""The mark of a last line, which is choice A where the prompt offers one."""


def agreed(found: Answer, reference: str, prompt: str) -> Answer | NoAnswer:
    """An answer as the reference names its choice: by letter, or by the text of the option.

    Args:
        found: the answer. One that is no choice of the prompt is returned as it is.
        reference: the reference.
        prompt: the question. Where it offers no option of that letter, or one whose text is not
            decided to be the same or another, the answer is returned as it is as well.
    """
    named = _MAY_LETTER.match(reference) and lettered(reference)
    given = _given(found.text)
    options = options_in(prompt) if prompt and (named or given) else {}
    if not options:
        labelled = found.kind == "last_sentence" and found.text.startswith(LABEL)
        return found._replace(text=found.text[len(LABEL) :]) if labelled else found
    letter = ""
    if given and given[0] in options:
        letter, text = given
        alike = not text or _alike(options[letter], text)
        if alike is False:
            reason = "the letter and the text of the answer are two choices"
            return NoAnswer(reason, "letter-and-text")
        if not alike:
            return found
    if named and named[0] in options:
        by_text = "" if letter else _by_text(found.text, options)
        if by_text == _SEVERAL:
            return NoAnswer("the answer is the text of two choices", "option-two")
        if by_text and restates(found.text, options[by_text], prompt):
            return NoAnswer("the answer restates the question", "restated")
        letter = letter or by_text
        return found._replace(text=rf"\text{{({letter})}}") if letter else found
    if letter and _by_text(reference, options) == letter:
        return found._replace(text=reference)
    return found


def _given(text: str) -> tuple[str, str] | None:
    """The letter and the text that an answer gives, in either order."""
    if not _MAY_LETTER.match(text) and "(" not in text:
        return None
    given = lettered(text)
    beside = None if given else _BESIDE.fullmatch(text)
    if beside:
        return beside["letter"], beside["text"]
    behind = None if given else _BEHIND.fullmatch(text)
    if behind:
        mark = lettered(behind["letter"])
        return (mark[0], behind["text"]) if mark else None
    return given


_SEVERAL: Final = "several"


def _by_text(text: str, options: Mapping[str, str]) -> str:
    """The letter of the one option with this text; "" for none, `_SEVERAL` for more."""
    same = [letter for letter, option in options.items() if _alike(option, text)]
    return same[0] if len(same) == 1 else _SEVERAL if same else ""


def _alike(option: str, text: str) -> bool | None:
    """Whether a text is that of an option; None where nothing decides it."""
    if folded(option) == folded(text):
        return True
    try:
        verdict = symbolic.equal(option, text, solver=False)
    except symbolic.Unreadable:
        return None
    return verdict.equal if verdict.decided else None
