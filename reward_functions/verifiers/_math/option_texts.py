r"""A choice by its letter and its text, which must agree: `\boxed{\text{(D)}}` and `\boxed{7}`.

Only the question has the text of a choice. Where it does not, the text behind a letter is believed,
and a second box beside that of the letter is a second answer.
"""

from __future__ import annotations

import re
from typing import Final

from reward_functions import symbolic
from reward_functions.extraction.answer import Answer, NoAnswer
from reward_functions.extraction.choices import options_in

_MARK: Final = r"(?:\\(?:text|textbf|mathrm|mbox)\s?\{\s?)?\((?P<letter>[A-J])\)\s?\}?"
_SPACE: Final = r"(?:,|~|\\[,;: ]|\s){0,8}"
_BEFORE: Final = re.compile(rf"{_MARK}{_SPACE}(?P<text>[^\s,?].*)", re.DOTALL)
_BEHIND: Final = re.compile(rf"(?P<text>[^(].*),\s{_MARK}", re.DOTALL)


def agreed(found: Answer, prompt: str) -> Answer | NoAnswer:
    """An answer whose letter and text name one option of the question, as one choice.

    Args:
        found: the answer. One that does not give both is returned as it is.
        prompt: the question. Where it offers no option of that letter, or one whose text is not
            decided to be the same or another, the answer is returned as it is as well.
    """
    if not prompt or "(" not in found.text:
        return found
    both = _BEFORE.fullmatch(found.text) or _BEHIND.fullmatch(found.text)
    option = options_in(prompt).get(both["letter"]) if both else None
    if both is None or option is None:
        return found
    try:
        verdict = symbolic.equal(option, both["text"], solver=False)
    except symbolic.Unreadable:
        return found
    if verdict.equal:
        return found._replace(text=rf"\text{{({both['letter']})}} {both['text']}")
    if verdict.decided:
        return NoAnswer("the letter and the text of the answer are two choices")
    return found
