"""How an unmarked sentence claims its number, and what makes it a part, a step or an open matter.

Deny lists are never complete: a sentence that is not known to claim its number states nothing.
"""

from __future__ import annotations

from reward_functions.finqa import cues


def claims(lead: str, tail: str, question: str) -> bool:
    """Whether a sentence claims its only number: by its verb, or in the question's own words.

    Args:
        lead: what stands before the number.
        tail: what stands after it.
        question: what was asked.
    """
    if cues.CLAIM.search(lead) or cues.CHANGED.search(lead) or cues.CHANGED.search(tail):
        return True
    asked = question.lower()
    if any(_stem(verb) in asked for verb in cues.PAST.findall(f"{lead} {tail}".lower())):
        return True
    return not lead.strip() and all(word in asked for word in cues.LETTERS.findall(tail.lower()))


def qualified(text: str, question: str) -> bool:
    """Whether a sentence calls its value a part or a step, or leaves it open, unasked."""
    asked = question.lower()
    return any(word not in asked for word in cues.QUALIFIED.findall(text.lower()))


def _stem(verb: str) -> str:
    return verb.removesuffix("d").removesuffix("e") if verb.endswith("ed") else verb
