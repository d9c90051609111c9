r"""Commands that lost the space before their letter: \lek, as some tools store \le k.

Only relations, operators and signs of sets are taken apart, before one or two letters that are
names elsewhere: a unit or a function, \inch or \sinc, is none of them.
"""

from __future__ import annotations

from typing import Final

from reward_functions import symbolic
from reward_functions.core import patterns as re
from reward_functions.extraction.cues import references as words
from reward_functions.extraction.prompt_formulas import TAIL
from reward_functions.quantities.units import canonical
from reward_functions.verifiers._math.given_letters import letters_of

LONGEST: Final = 300
"""Characters of a reference that is looked into."""

MAX_SPLIT: Final = 10
"""Commands of one reference that are taken apart."""

_TWO: Final = "two numbers side by side"


def may_be_glued(reference: str) -> bool:
    """Whether a reference has a command that is not read, and may be one with a letter behind."""
    if len(reference) > LONGEST or not words.GLUED.search(reference):
        return False
    return _glued(symbolic.unread_command(reference)) is not None


def unglued(reference: str, prompt: str) -> str:
    """A reference whose commands stand apart from the letters they were glued to.

    The letters are names that the prompt or the reference has elsewhere.
    """
    if not may_be_glued(reference):
        return reference
    text = reference
    for _ in range(MAX_SPLIT):
        unread = symbolic.unread_command(text)
        if not unread:
            return text
        glued = _glued(unread)
        if glued is None:
            return reference
        command = re.compile(re.escape(glued[0]) + r"(?![A-Za-z])")
        if not set(glued["letters"]) <= _names(prompt) | _names(command.sub(" ", text)):
            return reference
        text = command.sub(rf"\\{glued['command']} {glued['letters']}", text)
    return reference


def _names(text: str) -> set[str]:
    """The lone letters of a text that are names."""
    return set(words.LETTER.findall(text[-TAIL:])) | letters_of(text[-TAIL:])


def suggestion(reference: str, trouble: str) -> str:
    """What to write instead, behind the reason why a reference cannot be read; "" where unknown."""
    unread = symbolic.unread_command(reference)
    glued = _glued(unread)
    if glued:
        return rf": write \{glued['command']} {glued['letters']} if that is meant"
    if canonical(unread):
        return rf": write \text{{{unread}}}"
    if unread.endswith("dots"):
        return ": write the value, or a \\sum"
    return ": write one number, or a comma between two" if trouble.startswith(_TWO) else ""


def _glued(name: str) -> re.Match[str] | None:
    """The name of a command in its two parts; None where it is a name of its own."""
    return None if name in words.COMMANDS or canonical(name) else words.GLUED.fullmatch("\\" + name)
