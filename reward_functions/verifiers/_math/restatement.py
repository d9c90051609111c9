"""Restating the question: an expression of the prompt, handed back for the verifier to work out.

"Compute 17·23" is answered by 391 and by 400 - 9, but not by 17·23: nor by 23·17, 17(23), |17·23|
or 17·23 + 1 - 1. An answer must carry some of the arithmetic that the prompt asks for.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from reward_functions import symbolic
from reward_functions.extraction.prompt_formulas import TAIL, formulas

_OPERATION: Final = re.compile(
    r"[-+*/^!_=<>×·÷−√∗|%⌊⌈]|\\(?:cdot|times|div|ast|bullet|[dtc]?frac|sqrt|d?binom|choose|pm|log|ln|lg|sin"
    r"|cos|tan|cot|sec|csc|arc[a-z]+|lfloor|lceil|gcd|sum|prod|int|lim|max|min|le|ge|exp)(?![A-Za-z])"
    r"|[\d)]\s*\(|[a-z]\(|\d\s*[A-Za-z]"
)

KEPT: Final = 64
"""Prompts whose formulas are kept: all responses of a group answer the same one."""


def restates(answer: str, reference: str, prompt: str) -> bool:
    """Whether a right answer is an expression of the prompt that leaves the work to the verifier.

    A number as it stands is no expression. A fraction in lowest terms is none either where the
    reference is one, and the reference's own form never is: "Which is larger, 2^{10} or 10^3?".

    Args:
        answer: the answer, known to equal the reference.
        reference: the right answer.
        prompt: the question; its last 20,000 characters count.
    """
    if not prompt or answer == reference or not _OPERATION.search(answer):
        return False
    expressions = _formulas(prompt[-TAIL:])
    return bool(expressions) and symbolic.restated(reference, answer, expressions)


_formulas = lru_cache(KEPT)(formulas)
