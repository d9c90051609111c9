"""Grade-school arithmetic: the number after the last `####`."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from reward_functions.core.alternatives import any_reference, of_first_reference
from reward_functions.core.errors import BadReference
from reward_functions.core.references import reference_text
from reward_functions.core.spec import Example, reward_function
from reward_functions.core.types import Evidence, Sample, Score
from reward_functions.extraction.answer import Answer, NoAnswer
from reward_functions.extraction.candidates.endings import stated_value
from reward_functions.extraction.markup import plain
from reward_functions.extraction.scores import (
    METRICS,
    compared,
    contradicted,
    not_answered,
    with_truncation,
)
from reward_functions.extraction.selection import boxed_answer, hash_answer, stated_answer
from reward_functions.extraction.visible import visible_response
from reward_functions.quantities.numerals import Quantity, quantity, same

KEPT: Final = 64
"""References that are kept as numbers: all responses of a group are compared with one."""


def _right(sample: Sample) -> str:
    return f"#### {_marked(reference_text(sample.reference))}"


@reward_function(
    version=8,
    gold_response=of_first_reference(_right),
    metrics=METRICS,
    examples=[
        Example("positive", response="6 × 7 = 42\n#### 42", reference="42", score=1.0),
        Example("positive", response="#### $1,200.00", reference={"answer": "1200"}, score=1.0),
        Example(
            "positive",
            response="#### 18 eggs",
            reference="She has 20 - 2 = <<20-2=18>>18.\n#### 18",
            score=1.0,
            why="a whole solution is a reference too",
        ),
        Example(
            "positive",
            response="So the answer is \\boxed{42}.",
            reference="42",
            score=1.0,
            parameters={"flexible": True},
        ),
        Example("negative", response="So the answer is \\boxed{42}.", reference="42", score=0.0),
        Example("negative", response="#### 41", reference="42", score=0.0),
        Example("attack", response="#### 42\n#### 41", reference="42", score=0.0, why="last wins"),
        Example("attack", response="#### 41 or 42", reference="42", score=0.0),
        Example("attack", response="#### 42\nThe answer is 41.", reference="42", score=0.0),
        Example("attack", response="#### 42\nWait, it is 41.", reference="42", score=0.0),
        Example("attack", response="<think>#### 42</think>", reference="42", score=0.0),
    ],
)
@any_reference
def gsm8k(sample: Sample, *, flexible: bool = False, include_reasoning: bool = False) -> Score:
    """The number after the last `####` equals the reference, exactly.

    Reference: a number, a string that is one, or a solution that ends in `#### n`; alone or in an
    object under `final_answer`, `answer`, `ground_truth`, `value` or `text`. Scale: 1.0 or 0.0.
    Metric `answered`: whether there was one number to compare; `truncated`: whether its text shows
    that the response was cut off. Numbers are exact, in every rendering `quantities.numerals`
    reads. Units are compared when both sides name one; a
    percent sign may be missing on either side. A later box or statement of another number is a
    contradiction and earns nothing, and so does a number that the words next to it deny or take
    back. Hedges and bounds around `####` or a box count for nothing. Expressions ("6 × 7") are not
    evaluated: use `math`.

    A list as the reference means any of these; a set that is one answer is one string.

    Source: Cobbe et al., Training Verifiers to Solve Math Word Problems, 2021 (arXiv 2110.14168).

    Args:
        sample: the response and its reference.
        flexible: without any `####`, take the last box, else the last stated answer.
        include_reasoning: search reasoning sections as well.

    Raises:
        BadReference: there is no reference, or it is not one number.
    """
    score = _scored(sample, flexible=flexible, include_reasoning=include_reasoning)
    return with_truncation(score, sample.response)


def _scored(sample: Sample, *, flexible: bool, include_reasoning: bool) -> Score:
    reference = _reference(reference_text(sample.reference))
    text = visible_response(sample.response, sample.prompt, include_reasoning=include_reasoning)
    found = _found(text, flexible=flexible)
    if isinstance(found, NoAnswer):
        return not_answered(found.reason, found.rule)
    stated = _number(found)
    if stated is None:
        reason = f"{found.where} does not show one number"
        return not_answered(reason, "one-number", found.text)
    later = quantity(plain(found.conflicting_answer)) if found.conflicting_answer else None
    if later and not same(stated, later):
        return contradicted(found)
    evidence = Evidence("exact-number", stated, reference)
    return compared(found, evidence, right=same(reference, stated))


def _found(text: str, *, flexible: bool) -> Answer | NoAnswer:
    marked = hash_answer(text)
    if marked is None and flexible:
        marked = boxed_answer(text) or stated_answer(text)
    if flexible:
        return marked or NoAnswer("there is no final answer")
    return marked or NoAnswer("there is no ####", "no-marker")


def _number(found: Answer) -> Quantity | None:
    """The number of an answer, which may be a short sentence that states one."""
    return (
        quantity(plain(found.text + found.tail))
        or quantity(plain(found.text))
        or quantity(plain(stated_value(found.text)))
    )


def _marked(text: str) -> str:
    """The answer of a reference that is a whole solution; any other as it is."""
    marked = hash_answer(text)
    return marked.text if isinstance(marked, Answer) else text


@lru_cache(KEPT)
def _reference(text: str) -> Quantity:
    read = quantity(plain(_marked(text)))
    if read is None:
        raise BadReference("the reference is not one number")
    return read
