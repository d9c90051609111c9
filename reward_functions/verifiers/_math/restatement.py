"""Restating the question: an expression of the prompt, handed back for the verifier to work out.

"Compute 17·23" is answered by 391 and by 400 - 9, but not by 17·23: nor by 23·17, 17(23), |17·23|
or 17·23 + 1 - 1. An answer must carry some of the arithmetic that the prompt asks for.
"""

from __future__ import annotations

from typing import Final

from reward_functions import symbolic
from reward_functions.core import patterns as re
from reward_functions.extraction.markup import plain
from reward_functions.extraction.prompt_formulas import TAIL, asked_formulas, formulas

_PLAIN: Final = re.compile(r"[-+]?\d{1,40}").fullmatch
_NUMBER: Final = re.compile(r"[-+]?\d{1,40}(?:\.\d{1,40})?").fullmatch
_WORD: Final = re.compile(r"\w++")

UNREAD: Final = "z_{0}"
"""Stands for a reference that is not read: what hands the question back does so for any."""

MIN_QUOTED: Final = 3
"""Words that are a quotation. Two may be an answer: "5 apples"."""

_BASED: Final = ("_", "0x", "0X", "0b", "0B", "0o", "0O", "base", "inary", "ctal", "ex")
"""What a number in a base has one of."""

_UPRIGHT: Final = re.compile(r"\\(?:text|mathrm|mbox)\s?\{([^{}]*)\}")
"""A formula that is set as words."""


def restates(answer: str, reference: str, prompt: str) -> bool:
    """Whether a right answer is an expression of the prompt that leaves the work to the verifier.

    A number as it stands is no expression, unless the prompt asks for another notation of it, or
    for its value and it has a base. A
    fraction in lowest terms is none either where the reference is one, and the reference's own form
    never is: "Which is larger, 2^{10} or 10^3?".

    Args:
        answer: the answer, known to equal the reference.
        reference: the right answer.
        prompt: the question; its last 20,000 characters count.
    """
    if not prompt or answer == reference or (_PLAIN(answer) and _PLAIN(reference)):
        return False
    if _keeps_base(answer, reference, prompt):
        return True
    upright = _UPRIGHT.fullmatch(answer)
    return symbolic.restated(
        reference, upright[1] if upright else answer, formulas(prompt), asked_formulas(prompt)
    )


def _keeps_base(answer: str, reference: str, prompt: str) -> bool:
    """Whether an answer repeats the digits that the prompt has in a base, and the value is asked.

    "Convert the hexadecimal number 2E" is not answered by 2E_{16}, nor by 0x2E.
    """
    digits = symbolic.digits_in_base(answer) if any(map(answer.__contains__, _BASED)) else ""
    if not digits or symbolic.digits_in_base(reference):
        return False
    written = {prefix + digits for prefix in ("", "0X", "0B", "0O")}
    return not written.isdisjoint(_WORD.findall(prompt[-TAIL:].upper().replace("_", " ")))


def hands_back(answer: str, reference: str, prompt: str) -> bool:
    """Whether an answer that is not known to be right is the question, in formulas or in words."""
    wanted = reference if symbolic.readable(reference) else UNREAD
    return restates(answer, wanted, prompt) or _quotes(answer, reference, prompt)


def _quotes(answer: str, reference: str, prompt: str) -> bool:
    """Whether the answer to a question for a number is words of the question: "17 times 23"."""
    if not _NUMBER(reference):
        return False
    answered = _WORD.findall(plain(answer).casefold())
    asked = _WORD.findall(prompt[-TAIL:].casefold())
    return len(answered) >= MIN_QUOTED and f" {' '.join(answered)} " in f" {' '.join(asked)} "


def unevaluated(answer: str, reference: str) -> bool:
    """Whether a right answer leaves an operation to be worked out, and the reference has none."""
    if answer == reference or _PLAIN(answer):
        return False
    return symbolic.unevaluated(reference, answer)
