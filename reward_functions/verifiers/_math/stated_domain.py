r"""Sets that are the same where the question is asked: t < 1/2 and 0 < t < 1/2 of a positive t.

So are n > 2 and n = 3, 4, 5, … of a whole number n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions import symbolic
from reward_functions.extraction.cues import asking
from reward_functions.extraction.prompt_formulas import TAIL

if TYPE_CHECKING:
    from collections.abc import Iterator

SETS: Final = frozenset(("interval", "members", "shape"))
"""The rules of verdicts on sets of reals."""

WITHIN: Final = "set-within-domain"
"""The rule of sets that are equal within the domain of the prompt."""

LENGTH: Final = 600
"""Characters of two sets that are looked into."""

DOMAINS: Final = 8
"""Statements about letters that are tried."""


def equal_in_prompt(answer: str, reference: str, prompt: str) -> bool:
    """Whether two sets are the same within the domain that a prompt states for their letter.

    Args:
        answer: a set that differs from the reference.
        reference: the right set.
        prompt: the question; its last 20,000 characters count.
    """
    if max(len(answer), len(reference)) > LENGTH or asking.SET.search(reference + answer) is None:
        return False
    stated = [domain for domain, _ in zip(_domains(prompt[-TAIL:]), range(DOMAINS), strict=False)]
    return any(symbolic.equal_within(reference, answer, domain) for domain in dict.fromkeys(stated))


def _domains(prompt: str) -> Iterator[str]:
    """The statements of a prompt about the values of a letter, as inequalities."""
    for pattern, kind in ((asking.SIGNED, ""), (asking.WHOLE, r"\in\mathbb{Z}")):
        for stated in pattern.finditer(prompt):
            letter = stated["letter"] or stated["of"]
            sign = (stated["sign"] or stated["chinese"] or "").lower().replace("-", "")
            bounds = [letter + bound for bound in (asking.BOUNDS.get(sign, ""), kind) if bound]
            yield ", ".join(bounds)
    for stated in asking.BOUNDED.finditer(prompt):
        yield stated["bound"]
    for asked in asking.ON.finditer(prompt):
        yield asked["bounds"]
