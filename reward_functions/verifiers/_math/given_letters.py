r"""Letters that the prompt gives a meaning: the A of "amplitude $A$" is no arbitrary constant.

`A\cos\omega t` and `B\cos\omega t` are one general solution, and two answers where the prompt
speaks of A. A prompt that asks for constants names them as a proposal, but for their numbers.
"""

from __future__ import annotations

from typing import Final

from reward_functions import symbolic
from reward_functions.core import patterns as re
from reward_functions.extraction.cues import asking
from reward_functions.extraction.prompt_formulas import TAIL

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
