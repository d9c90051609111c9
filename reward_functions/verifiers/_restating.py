"""Restating the question: an expression of the prompt, handed back for the verifier to work out.

"Compute 17·23" is not answered by 17·23, nor by 23·17 or 17(23).
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from reward_functions.text.latex import plain
from reward_functions.text.numerals import quantity

PROMPT: Final = 20_000
"""Characters of a prompt, from its end, in which a restated expression is looked for."""

_OPERATION: Final = re.compile(
    r"[-+*/^!_=<>×·÷−√∗]|\\(?:cdot|times|div|ast|bullet|[dtc]?frac|sqrt|d?binom|choose|pm|log|ln|lg|sin"
    r"|cos|tan|cot|sec|csc|arc[a-z]+|lfloor|lceil|gcd|sum|prod|int|lim)(?![A-Za-z])|[\d)]\s*\("
)
_SPACE: Final = re.compile(r"[\s{}()$]+|\\[,;:! ]|\\(?:left|right|displaystyle)(?![A-Za-z])")
_TIMES: Final = re.compile(
    r"\*\*|(?P<times>[×·∗*]|\\(?:cdot|times|ast|bullet)(?![A-Za-z])|(?<=[\d)])(?=\()|(?<=\))(?=\d))"
)
_RUN: Final = re.compile(r"\d{1,30}(?:\.\d{1,30})?(?:[*+]\d{1,30}(?:\.\d{1,30})?){1,20}")
_ARITHMETIC: Final = re.compile(rf"(?:[A-Za-z]=)?\+?(?P<run>{_RUN.pattern})")
_ROOT: Final = re.compile(r"\\sqrt(?![A-Za-z])|√")


def restates(answer: str, reference: str, prompt: str) -> bool:
    """Whether an answer is an expression of the prompt that leaves the work to the verifier.

    A number as it stands is no expression. A fraction in lowest terms is none either where the
    reference is one, and the reference's own text never is: "Which is larger, 2^{10} or 10^3?".
    """
    if not prompt or answer == reference or not _OPERATION.search(answer):
        return False
    squeezed = _squeezed(answer)
    if squeezed == _squeezed(reference) or not _stands_in(squeezed, _squeezed(prompt[-PROMPT:])):
        return False
    stated, wanted = quantity(plain(answer)), quantity(plain(reference))
    if stated is None or wanted is None:
        return True
    lowest = stated.decimals is None and wanted.decimals is None and squeezed == str(stated.value)
    return stated.decimals is None and not lowest


def _stands_in(answer: str, prompt: str) -> bool:
    """Whether an expression stands in a prompt; a sum or product of numbers, in any order."""
    if answer in prompt:
        return True
    arithmetic = _ARITHMETIC.fullmatch(answer)
    return arithmetic is not None and any(
        _parts(run[0]) == _parts(arithmetic["run"]) for run in _RUN.finditer(prompt)
    )


def _parts(run: str) -> list[list[Fraction]]:
    """The terms of a sum, each the factors of a product, sorted; no zeros and no ones."""
    terms = [sorted(Fraction(factor) for factor in term.split("*")) for term in run.split("+")]
    return sorted([factor for factor in term if factor != 1] for term in terms if all(term))


def _squeezed(text: str) -> str:
    """A text without white space, delimiters, braces and brackets, one sign for each operation."""
    spelled = _TIMES.sub(lambda sign: "*" if sign["times"] is not None else "^", plain(text))
    return _SPACE.sub("", _ROOT.sub("√", spelled)).removeprefix("+")
