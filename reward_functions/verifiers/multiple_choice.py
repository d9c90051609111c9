"""One letter out of several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.core.alternatives import any_reference, of_first_reference
from reward_functions.core.errors import BadReference
from reward_functions.core.references import reference_text
from reward_functions.core.spec import Example, reward_function
from reward_functions.core.types import Evidence, Sample, Score
from reward_functions.extraction.answer import Answer, NoAnswer
from reward_functions.extraction.candidates.endings import complement
from reward_functions.extraction.choices import choice, options_in, options_of, picked
from reward_functions.extraction.scores import (
    METRICS,
    compared,
    contradicted,
    not_answered,
    with_truncation,
)
from reward_functions.extraction.selection import boxed_answer, stated_answer, unmarked_answer
from reward_functions.extraction.visible import visible_response

if TYPE_CHECKING:
    from collections.abc import Mapping

QUESTION = "What is the capital of France?\nA) Lyon\nB) Paris\nC) Nice"


def _right(sample: Sample) -> str:
    return f"Answer: {_reference(sample, _options(sample))}"


@reward_function(
    version=4,
    gold_response=of_first_reference(_right),
    metrics=METRICS,
    examples=[
        Example(
            "positive", prompt=QUESTION, response="The answer is (B).", reference="B", score=1.0
        ),
        Example(
            "positive", prompt=QUESTION, response="\\boxed{\\text{Paris}}", reference="B", score=1.0
        ),
        Example(
            "positive", prompt=QUESTION, response="Answer: B) Paris", reference="Paris", score=1.0
        ),
        Example("negative", prompt=QUESTION, response="**A**", reference="B", score=0.0),
        Example(
            "attack",
            prompt=QUESTION,
            response="The answer is B) Lyon.",
            reference="B",
            score=0.0,
            why="letter and text must agree",
        ),
        Example("attack", prompt=QUESTION, response="A, B or C", reference="B", score=0.0),
        Example("attack", prompt=QUESTION, response=QUESTION, reference="B", score=0.0),
    ],
)
@any_reference
def multiple_choice(sample: Sample, *, include_reasoning: bool = False) -> Score:
    """The option picked, by its letter or its text, is the reference's.

    Reference: a letter or the text of an option; alone or in an object under `final_answer`,
    `answer`, `ground_truth`, `value` or `text`. The options are read from the metadata (`choices`
    or `options`: a list, or an object by letter), else from the prompt ("A) …" a line each, or
    "(A) … (B) …" in a row). Scale: 1.0 or 0.0. Metric `answered`: whether one option was picked;
    `truncated`: whether the response was cut off.
    Where a response gives letter and text, both must name one option. Several letters pick none.

    A list as the reference means any of these; a set that is one answer is one string.

    Args:
        sample: the response and its reference.
        include_reasoning: search reasoning sections as well.

    Raises:
        BadReference: there is no reference, or it is none of the options.
    """
    return with_truncation(_scored(sample, include_reasoning=include_reasoning), sample.response)


def _scored(sample: Sample, *, include_reasoning: bool) -> Score:
    options = _options(sample)
    reference = _reference(sample, options)
    text = visible_response(
        sample.response,
        sample.prompt,
        reference=options.get(reference, ""),
        include_reasoning=include_reasoning,
    )
    found = _found(text, options)
    if isinstance(found, NoAnswer):
        return not_answered(found.reason, found.rule)
    letter = choice(found.text, options)
    if letter is None:
        reason = f"{found.where} does not pick one option"
        return not_answered(reason, "one-option", found.text)
    if found.conflicting_answer and choice(found.conflicting_answer, options) not in (None, letter):
        return contradicted(found)
    return compared(found, Evidence("same-option", letter, reference), right=letter == reference)


def _reference(sample: Sample, options: Mapping[str, str]) -> str:
    letter = choice(reference_text(sample.reference), options)
    if letter is None:
        raise BadReference("the reference is none of the options")
    return letter


def _found(text: str, options: Mapping[str, str]) -> Answer | NoAnswer:
    """The final answer; without an explicit one, what a sentence picks, or the first line."""
    explicit = boxed_answer(text) or stated_answer(text)
    if explicit:
        return explicit
    letter = picked(text)
    if letter:
        return Answer("option", letter)
    first, _, rest = text.strip().partition("\n")
    if rest.startswith("\n") and choice(first, {}):
        return Answer("first_line", first)
    closing = complement(text)
    if closing and choice(closing.text, options):
        return Answer("last_sentence", closing.text)
    return unmarked_answer(text)


def _options(sample: Sample) -> Mapping[str, str]:
    listed = (options_of(sample.metadata.get(key)) for key in ("choices", "options"))
    return next(filter(None, listed), None) or options_in(sample.prompt)
