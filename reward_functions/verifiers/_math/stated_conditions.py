r"""Conditions that the prompt states: x(t) = 1 - e^{-at} \text{ for } t > 0, asked for t > 0.

An answer that holds for some values only is undecided against one that holds for all. Where the
prompt asks for those values, the condition says nothing new.
"""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re
from reward_functions.extraction.cues import asking
from reward_functions.extraction.prompt_formulas import formulas

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
