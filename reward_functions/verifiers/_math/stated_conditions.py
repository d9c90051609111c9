r"""Conditions that the prompt states: x(t) = 1 - e^{-at} \text{ for } t > 0, asked for t > 0.

An answer that holds for some values only is undecided against one that holds for all. Where the
prompt asks for those values, the condition says nothing new.

Sets that are the same where the question is asked: t < 1/2 and 0 < t < 1/2 of a positive t.

So are n > 2 and n = 3, 4, 5, … of a whole number n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions import symbolic
from reward_functions.core import patterns as re
from reward_functions.extraction.cues import asking
from reward_functions.extraction.prompt_formulas import TAIL, formulas

if TYPE_CHECKING:
    from collections.abc import Iterator


CONDITION: Final = "condition-restricts"
"""The rule of verdicts on answers with a condition."""

LENGTH: Final = 300
"""Characters of an answer that is looked into."""

_CONDITIONAL: Final = re.compile(r"[<>≤≥≠∈]|\\(?:text|leq?|geq?|neq?|in|lt|gt|notin)(?![a-z])")
_LAYOUT: Final = re.compile(r"\\[,;:! ]|\\(?:left|right)(?![a-z])|[\s${}]++")
_PARTS: Final = re.compile(r"[,;]|\\text\s?\{[^{}]{0,40}\}")


def without_stated_condition(answer: str, reference: str, prompt: str) -> str | None:
    """An answer without the condition behind it, where the prompt states that; None for others.

    None as well where the reference has a condition of its own.
    """
    if not prompt or len(answer) > LENGTH or _CONDITIONAL.search(reference):
        return None
    found = asking.CONDITION.fullmatch(answer.strip())
    if found is None:
        return None
    condition = _bare(found[2])
    stated = (_bare(part) for formula in formulas(prompt) for part in _PARTS.split(formula))
    return found[1].strip(" ,;") if condition and condition in stated else None


def _bare(text: str) -> str:
    """A formula without its layout."""
    return _LAYOUT.sub("", text).strip(",;.")


SETS: Final = frozenset(("interval", "members", "shape"))
"""The rules of verdicts on sets of reals."""

WITHIN: Final = "set-within-domain"
"""The rule of sets that are equal within the domain of the prompt."""

MOST: Final = 600
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
    if max(len(answer), len(reference)) > MOST or asking.SET.search(reference + answer) is None:
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
