r"""Commands that lost the space before their letter: \lek, as some tools store \le k.

Only relations, operators and signs of sets are taken apart, before one or two letters that are
names elsewhere: a unit or a function, \inch or \sinc, is none of them.

Letters that the prompt gives a meaning: the A of "amplitude $A$" is no arbitrary constant.

`A\cos\omega t` and `B\cos\omega t` are one general solution, and two answers where the prompt
speaks of A. A prompt that asks for constants names them as a proposal, but for their numbers.
"""

from __future__ import annotations

from typing import Final

from reward_functions import symbolic
from reward_functions.core import patterns as re
from reward_functions.extraction.cues import asking
from reward_functions.extraction.cues import references as words
from reward_functions.extraction.prompt_formulas import TAIL
from reward_functions.quantities.units import canonical

CONSTANTS: Final = "arbitrary-constants"
"""The rule of verdicts that take other letters for the same constants."""

_MARK: Final = re.compile(r"\\[()\[\]]")
_FORMULA: Final = re.compile(r"\$([^$]{1,300})\$")
_LETTER: Final = re.compile(r"(?<![A-Za-z\\])[A-Za-z](?:_\{?\d{1,3}\}?)?(?![A-Za-z])")
_NUMBERED: Final = re.compile(r"(?<![A-Za-z\\])[A-Za-z]_(?:\{\d{1,3}\}|\d)")


def meant_by_prompt(answer: str, reference: str, prompt: str) -> bool:
    """Whether the prompt gives a letter a meaning that makes two answers differ.

    A letter that only one of them has stands in a formula of the prompt, or the two exchange
    constants that the prompt numbers: its $C_1$ is that of its first function.

    Args:
        answer: the answer, equal to the reference but for letters.
        reference: the right answer.
        prompt: the question; its last 20,000 characters count.
    """
    if not prompt:
        return False
    mine, theirs = symbolic.names_in(answer), symbolic.names_in(reference)
    numbered = {_plain(name) for name in _NUMBERED.findall(prompt[-TAIL:])}
    if numbered & mine and numbered & mine == numbered & theirs:
        return True
    if asking.CONSTANTS.search(prompt[-TAIL:]):
        return False
    return not (mine ^ theirs).isdisjoint(letters_of(prompt))


def letters_of(prompt: str) -> set[str]:
    """The lone letters of the formulas of a prompt, with the numbers below them."""
    formulas = _FORMULA.findall(_MARK.sub("$", prompt[-TAIL:]))
    return {_plain(letter) for formula in formulas for letter in _LETTER.findall(formula)}


def _plain(letter: str) -> str:
    return letter.replace("{", "").replace("}", "")


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
