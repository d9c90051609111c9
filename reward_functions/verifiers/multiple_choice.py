"""One option out of several, or a set of them."""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec

from reward_functions.core.alternatives import alternatives, any_reference, of_first_reference
from reward_functions.core.errors import BadReference
from reward_functions.core.references import reference_text
from reward_functions.core.spec import Example, reward_function
from reward_functions.core.types import Evidence, Sample, Score
from reward_functions.extraction.answer import Answer, NoAnswer
from reward_functions.extraction.candidates.endings import complement
from reward_functions.extraction.choices import (
    choice,
    differs,
    is_another,
    options_in,
    options_of,
    picked,
)
from reward_functions.extraction.option_sets import (
    SEVERAL,
    asks_for_order,
    boxes_with_or,
    option_set,
    picked_set,
)
from reward_functions.extraction.scores import (
    METRICS,
    compared,
    contradicted,
    not_answered,
    with_truncation,
)
from reward_functions.extraction.selection import boxed_answer, one_stated_answer, unmarked_answer
from reward_functions.extraction.visible import visible_response

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    P = ParamSpec("P")

LETTERS: Final = dict.fromkeys("ABCDEFGHIJ", "")
"""The options of a question whose options are not known, where the reference lists letters."""

QUESTION = "What is the capital of France?\nA) Lyon\nB) Paris\nC) Nice"
PRIMES = "Which are prime?\nA) 2\nB) 4\nC) 7"


def _right(sample: Sample) -> str:
    return f"Answer: {_named(_reference(sample, _options(sample)))}"


def _right_response(sample: Sample) -> str:
    return of_first_reference(_right)(_with_set(sample))


def _set_of_letters(
    score: Callable[Concatenate[Sample, P], Score],
) -> Callable[Concatenate[Sample, P], Score]:
    """A reward for which a list of option letters as the reference is one answer, their set."""

    @wraps(score)
    def scored(sample: Sample, /, *args: P.args, **parameters: P.kwargs) -> Score:
        return score(_with_set(sample), *args, **parameters)

    return scored


def _with_set(sample: Sample) -> Sample:
    items = alternatives(sample.reference)
    letters = [str(_item(item)).strip(" ().") for item in items or ()]
    if len(set(letters)) < SEVERAL or not all(each in LETTERS for each in letters):
        return sample
    return replace(sample, reference=", ".join(letters))


def _item(item: Any) -> Any:
    """What an item of a list of references says, where the list stands in an object."""
    return reference_text(item) if isinstance(item, dict) else item


@reward_function(
    version=8,
    gold_response=_right_response,
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
        Example("positive", prompt=PRIMES, response="**C and A**", reference="AC", score=1.0),
        Example("negative", prompt=QUESTION, response="**A**", reference="B", score=0.0),
        Example("negative", prompt=PRIMES, response="**A**", reference="AC", score=0.0),
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
@_set_of_letters
@any_reference
def multiple_choice(sample: Sample, *, include_reasoning: bool = False) -> Score:
    """The option picked, by its letter or its text, is the reference's.

    Reference: a letter or the text of an option; alone or in an object under `final_answer`,
    `answer`, `ground_truth`, `value` or `text`. The options are read from the metadata (`choices`
    or `options`: a list, or an object by letter), else from the prompt ("A) …" a line each, or
    "(A) … (B) …" in a row). Scale: 1.0 or 0.0. Metric `answered`: whether one option was picked,
    or several where the reference is a set; `truncated`: whether its text shows that the response
    was cut off. A text after a letter contradicts it as another option's, or with another value.
    Several letters pick nothing where the reference is one.

    Several letters of options ("AD", "A B D", "A、C"), or a list of them, are one answer: that set,
    in any order, with nothing missing; but not where the question asks for an order. Any other list
    means any of its items.

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
        reference=" ".join(options.get(letter, "") for letter in reference),
        include_reasoning=include_reasoning,
    )
    options = options or (LETTERS if len(reference) > 1 else {})
    found = _found(text, options, several=len(reference) > 1)
    if isinstance(found, NoAnswer):
        return not_answered(found.reason, found.rule)
    letters = _letters(found.text, options)
    if not letters or (len(letters) > 1 and (len(reference) == 1 or boxes_with_or(text))):
        reason = f"{found.where} does not pick one option"
        return not_answered(reason, "one-option", found.text)
    letter = next(iter(letters)) if len(letters) == 1 else ""
    if differs(found.behind, letter, options):
        reason = "the letter and the text of the answer are two choices"
        return not_answered(reason, "letter-and-text", found.text)
    later = found.conflicting_answer
    if later and (
        _letters(later, options) not in (frozenset(), letters) or is_another(later, letter, options)
    ):
        return contradicted(found)
    rule = "same-option" if len(reference) == 1 else "option-set"
    evidence = Evidence(rule, _named(letters), _named(reference))
    return compared(found, evidence, right=letters == reference)


def _letters(answer: str, options: Mapping[str, str]) -> frozenset[str]:
    """The letters of the one option or the several that an answer picks; none for anything else."""
    letter = choice(answer, options)
    return frozenset((letter,)) if letter else option_set(answer, options)


def _named(letters: frozenset[str]) -> str:
    return ", ".join(sorted(letters))


def _reference(sample: Sample, options: Mapping[str, str]) -> frozenset[str]:
    text = reference_text(sample.reference)
    letters = _letters(text, options)
    if not letters and not options and not text.isalpha():
        letters = option_set(text, LETTERS)
    if not letters or (len(letters) > 1 and asks_for_order(sample.prompt)):
        raise BadReference("the reference is none of the options")
    return letters


def _found(text: str, options: Mapping[str, str], *, several: bool) -> Answer | NoAnswer:
    """The final answer; without an explicit one, what a sentence picks, or the first line."""
    explicit = boxed_answer(text) or one_stated_answer(text)
    if explicit:
        return explicit
    picks = picked(text) or (picked_set(text, options) if several else "")
    if picks:
        return Answer("option", picks)
    first, _, rest = text.strip().partition("\n")
    if rest.startswith("\n") and (choice(first, {}) or option_set(first, options)):
        return Answer("first_line", first)
    if options and "\n" not in text.strip() and choice(text, options):
        return Answer("whole_response", text.strip())
    closing = complement(text)
    if closing and _letters(closing.text, options):
        return Answer("last_sentence", closing.text)
    return unmarked_answer(text)


def _options(sample: Sample) -> Mapping[str, str]:
    listed = (options_of(sample.metadata.get(key)) for key in ("choices", "options"))
    return next(filter(None, listed), None) or options_in(sample.prompt)
