"""The mathematics of a response's answer, and whether what follows contradicts it."""

from __future__ import annotations

from typing import Final

from reward_functions import symbolic
from reward_functions.core import patterns as re
from reward_functions.extraction.answer import Answer, NoAnswer
from reward_functions.extraction.candidates.math_spans import last_span
from reward_functions.extraction.candidates.predicates import amount, sentence_value
from reward_functions.extraction.choices import lettered
from reward_functions.extraction.cues import clauses, endings
from reward_functions.extraction.cues import sentences as words
from reward_functions.extraction.cues.compiling import says
from reward_functions.extraction.cues.matching import disqualifying_cue
from reward_functions.extraction.selection import final_answer
from reward_functions.quantities.numerals import as_printed
from reward_functions.verifiers._math.verdict import same_value

_PLAIN: Final = ("statement", "hash_marker", "whole_response")
_MATHEMATICAL: Final = frozenset("\\$^")


def mathematical_answer(text: str, prompt: str = "") -> Answer | NoAnswer:
    """The final answer of a visible response to a prompt, as mathematics."""
    return _mathematical(final_answer(text, prompt), prompt)


def _mathematical(found: Answer | NoAnswer, prompt: str) -> Answer | NoAnswer:
    """The mathematics of an answer: with the unit behind its box, without the words around it.

    A statement may be a sentence, "the volume of $ABCD$ is 12"; words that deny, doubt or compute
    ("twice $5$") leave it as it is, and it compares to nothing.
    """
    if isinstance(found, NoAnswer):
        return found
    if found.kind in _PLAIN and "e" in found.text and _MATHEMATICAL.isdisjoint(found.text):
        found = found._replace(text=as_printed(found.text))
    if found.tail and symbolic.readable(found.text + found.tail):
        return found._replace(text=found.text + found.tail)
    if _is_missing(found.text):
        return found._replace(text=r"\text{does not exist}")
    if found.kind != "statement":
        return found
    value = _object(found.text, found.sentence, prompt)
    return found._replace(text=value) if value else found


def _object(text: str, sentence: str, prompt: str) -> str:
    """The value that the object of a statement names, which may be a clause; "" for none."""
    value = sentence_value(sentence, prompt, anything=True) if clauses.WORD.search(text) else ""
    if value or symbolic.readable(text) or says(text, words.DOUBT) or words.CLAUSE.search(text):
        return value
    span = last_span(text)
    if span and span.text and not disqualifying_cue(text, span.start, span.end):
        return span.text if words.COPULA.fullmatch(text[: span.start]) else ""
    return amount(text)


def _is_missing(text: str) -> bool:
    """Whether a sentence says that the asked quantity does not exist."""
    missing = words.NOT_THERE.fullmatch(text) if "exist" in text else None
    return missing is not None and not says(missing["subject"], endings.OPEN)


def contradicts(found: Answer) -> bool:
    """Whether a later statement gives another value; a rounding of the same value does not."""
    first, last = found.text, found.conflicting_answer
    if not last or not symbolic.readable(last):
        return False
    if not any(map(str.isdecimal, last)) and not (lettered(first) and lettered(last)):
        return False
    try:
        verdicts = (
            symbolic.equal(first, last, solver=False),
            symbolic.equal(last, first, solver=False),
        )
    except symbolic.Unreadable:
        return False
    return all(verdict.decided and not verdict.equal for verdict in verdicts)


MAX_PARTS: Final = 6
"""Values of an answer with "or" that are compared one by one."""


def hedged(answer: str, reference: str) -> bool:
    """Whether one of the values of a right answer is the reference by itself, and another is not.

    "x < 1 or x > 2" is one set; "x > 3 or x > 5" are two answers, though their union is the first.
    """
    if "or" not in answer and "\\vee" not in answer:
        return False
    parts = [_undressed(part) for part in words.OR.split(answer)]
    if not 1 < len(parts) <= MAX_PARTS:
        return False
    right = [same_value(reference, part) for part in parts]
    return any(right) and not all(right)


_STYLE: Final = re.compile(r"\\text\s?\{")


def _undressed(part: str) -> str:
    r"""A part of an answer without the half of a `\text{…}` that was around all of it."""
    excess = part.count("{") - part.count("}")
    part = part.strip(" ,$")
    if excess > 0:
        return _STYLE.sub("", part, count=1)
    return part.removesuffix("}") if excess < 0 else part
