"""How an unmarked sentence claims its number, and what makes it a part, a step or an open matter.

Deny lists are never complete: a sentence that is not known to claim its number states nothing.
"""

from __future__ import annotations

import re
from typing import Final

from reward_functions.finqa import cues

# An unmarked sentence claims its number by one of these before it, or by the question's own verb.
_PAST: Final = r"(?:[a-z]{2,30}ed|sold|bought|paid|spent|lost|held|built|left|cost)"
CLAIM: Final = re.compile(
    r"\b(?:gets?|got|obtain(?:s|ed)?|arrived? at|finds?|found|represent(?:s|ed)?|makes?|made|comes?"
    r"|came|results?|resulted|works? out|worked out|sums?|adds? up|stood|stands|equates?"
    r"|corresponds?|means|there (?:is|are|was|were))\b(?!.*[,;])"
    rf"|\b(?:has|have|had){cues.ABOUT}"
    r"|\b(?:company|firm|corporation|chain|group|management|it|they|we)"
    rf" {_PAST}(?: back| up| out)?{cues.ABOUT}"
    rf"|\b(?:that|this|which) leaves{cues.ABOUT}"
    r"|^(?:so|thus|hence|therefore|in total|in all|altogether|overall)\b"
    r"(?!.*\b(?:the|these|those|this|that|its|an?)\s*+(?:\$\s*+)?$)",
    re.IGNORECASE,
)
CHANGED: Final = re.compile(rf"\b(?:{cues.DOWN}|{cues.UP})\b", re.IGNORECASE)
PAST: Final = re.compile(rf"\b{_PAST}\b")
LETTERS: Final = re.compile(r"[a-z]{1,40}")
# Its number is a part, a step or left open, unless the question has the word as well.
QUALIFIED: Final = re.compile(
    r"\b(?:intermediate|interim|partial|preliminary|provisional|so far|half|first|without|excluding"
    r"|excluded|before|previously|still|open|undetermined|determined|depend(?:s|ing)?|hinges?|stuck"
    r"|lack|ignor(?:e|es|ing)|remain(?:s|ing)?|missing|ambiguous|misleading|seems?|analysts?"
    r"|promised|expected|we now|to which|to be|required?|requires|to reconcile"
    r"|questioned?|unaccounted|unexplained)\b"
)


def claims(lead: str, tail: str, question: str) -> bool:
    """Whether a sentence claims its only number: by its verb, or in the question's own words.

    Args:
        lead: what stands before the number.
        tail: what stands behind it.
        question: what was asked.
    """
    if CLAIM.search(lead) or CHANGED.search(lead) or CHANGED.search(tail):
        return True
    asked = question.lower()
    if any(_stem(verb) in asked for verb in PAST.findall(f"{lead} {tail}".lower())):
        return True
    return not lead.strip() and all(word in asked for word in LETTERS.findall(tail.lower()))


def qualified(text: str, question: str) -> bool:
    """Whether a sentence calls its value a part or a step, or leaves it open, unasked."""
    asked = question.lower()
    return any(word not in asked for word in QUALIFIED.findall(text.lower()))


def _stem(verb: str) -> str:
    return verb.removesuffix("d").removesuffix("e") if verb.endswith("ed") else verb
