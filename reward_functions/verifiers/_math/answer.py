"""The mathematics of a response's answer, and whether what follows contradicts it."""

from __future__ import annotations

import re
from typing import Final

from reward_functions import symbolic
from reward_functions.extraction.answer import Answer, NoAnswer
from reward_functions.extraction.candidates.math_spans import last_span
from reward_functions.extraction.cues import sentences as words
from reward_functions.extraction.cues.matching import disqualifying_cue
from reward_functions.extraction.selection import final_answer

_DIGIT: Final = re.compile(r"\d")


def mathematical_answer(text: str) -> Answer | NoAnswer:
    """The final answer of a visible response, as mathematics."""
    return _mathematical(final_answer(text, _same))


def _mathematical(found: Answer | NoAnswer) -> Answer | NoAnswer:
    """The mathematics of an answer: with the unit behind its box, without the words around it.

    A statement may be a sentence, "the volume of $ABCD$ is 12"; words that deny, doubt or compute
    ("twice $5$") leave it as it is, and it compares to nothing.
    """
    if isinstance(found, NoAnswer):
        return found
    if found.tail and symbolic.readable(found.text + found.tail):
        return found._replace(text=found.text + found.tail)
    labelled = words.LABELLED.fullmatch(found.text)
    if not labelled and found.kind != "statement":
        return found
    if (
        symbolic.readable(found.text)
        or words.DOUBT.search(found.text)
        or words.CLAUSE.search(found.text)
    ):
        return found
    if labelled and symbolic.readable(labelled["value"]):
        return found._replace(text=labelled["value"])
    sentence = words.SENTENCE.fullmatch(found.text)
    if sentence and symbolic.readable(sentence["value"]):
        return found._replace(text=sentence["value"])
    span = last_span(found.text)
    if span is None or not span.text or disqualifying_cue(found.text, span.start, span.end):
        return found
    return (
        found._replace(text=span.text)
        if words.COPULA.fullmatch(found.text[: span.start])
        else found
    )


def _same(first: str, second: str) -> bool:
    """Whether two strings have one value, as in "1/2 or 0.5"."""
    try:
        return symbolic.equal(first, second, solver=False).equal
    except symbolic.Unreadable:
        return False


def contradicts(found: Answer) -> bool:
    """Whether a later statement gives another value; a rounding of the same value does not."""
    if (
        not found.conflicting_answer
        or not _DIGIT.search(found.conflicting_answer)
        or not symbolic.readable(found.conflicting_answer)
    ):
        return False
    first, last = found.text, found.conflicting_answer
    try:
        verdicts = (
            symbolic.equal(first, last, solver=False),
            symbolic.equal(last, first, solver=False),
        )
    except symbolic.Unreadable:
        return False
    return all(verdict.decided and not verdict.equal for verdict in verdicts)
