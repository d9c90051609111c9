"""A list as a reference: several answers, each of them right, or one answer with these members.

The list stands alone or in an object under one of the keys of an answer. A response must equal any
of its items. An item may be anything that a reference may be, but no list. A set that is one answer
is one string: `"{1, 2}"`.

To a reward that has a parameter `reference_list`, a list of numbers or booleans is one answer,
unless that says otherwise.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, Concatenate, Final, Literal, ParamSpec

from reward_functions.core import patterns as re
from reward_functions.core.deadlines import ALGEBRA, Allowance
from reward_functions.core.errors import BadReference, RewardError
from reward_functions.core.references import MAX_WRAPPINGS, first_key, reference_value
from reward_functions.core.types import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reward_functions.core.types import Sample, Score

    P = ParamSpec("P")

MAX_ALTERNATIVES: Final = 256
"""Answers of one reference; each may cost a whole comparison, or a call of a judge."""

ALWAYS: Final = 8
"""Answers that are tried however long the response is, and that may ask for hard algebra."""

CHARACTERS: Final = 50_000_000
"""Characters that are read for the answers after these: 256 times 195,000. Where each is a digit of
one number, that takes two seconds; an ordinary response needs 0.1 s for 256 answers."""

CORRECT: Final = 1.0
"""The score at which no further alternative is tried."""


def alternatives(reference: Any) -> list[Any] | None:
    """The references that a list reference stands for; None where it is not a list.

    Of an object under whose answer key a list stands, each is that object with one item there.

    Raises:
        BadReference: the list is empty, holds a list, or more than 256 items.
    """
    if isinstance(reference, list):
        return _checked(reference)
    if isinstance(reference, dict) or (isinstance(reference, str) and _may_hold_list(reference)):
        return _inside(reference, MAX_WRAPPINGS)
    return None


PARAMETER: Final = "reference_list"
"""Of a reward to which a list of numbers or booleans may be one answer."""

ReferenceList = Literal["members", "alternatives"]
"""What a list of numbers or booleans is: one answer, or several that are each right."""

_TEXT_OF_LIST: Final = re.compile(r"\s*\[[-+.0-9a-zA-Z,\s]+\]\s*")


def members(reference: Any) -> list[Any] | None:
    """The numbers or booleans of a list, or of the text of one; None for any other reference.

    Raises:
        BadReference: there are more than 256.
    """
    try:
        value = reference_value(reference)
    except BadReference:
        return None
    if isinstance(value, str) and _TEXT_OF_LIST.fullmatch(value):
        try:
            value = json.loads(value.lower())
        except (ValueError, RecursionError):
            return None
    if not isinstance(value, list) or not value:
        return None
    return _checked(value) if all(isinstance(item, int | float) for item in value) else None


def any_reference(
    score: Callable[Concatenate[Sample, P], Score],
) -> Callable[Concatenate[Sample, P], Score]:
    """A reward function of one reference, made one of any of several.

    The score is that of the alternative that the response equals. Where it equals none, the first
    one's, unless another is undecided, which is not a proof. An alternative that cannot be scored
    counts for nothing beside one that the response equals, and otherwise for the whole: the
    response might have equalled it. A list that is one answer is one reference.

    How many are tried is counted, in characters and in requests for hard algebra, so that it is the
    same on every machine. A response of over 195,000 characters is compared with fewer than 256. It
    then earns the minimum where it equals none of those, and the reason says so.

    Raises:
        BadReference: of the list, or of an alternative.
    """
    asked = signature(score).parameters.get(PARAMETER)

    @wraps(score)
    def scored(sample: Sample, /, *args: P.args, **parameters: P.kwargs) -> Score:
        references = alternatives(sample.reference)
        listed = parameters.get(PARAMETER, asked.default) if asked else "alternatives"
        if references and listed == "members" and members(sample.reference):
            references = None
        if references is None:
            return score(sample, *args, **parameters)
        before = ALGEBRA.set(Allowance(ALWAYS))
        try:
            return _best(
                lambda each: score(replace(sample, reference=each), *args, **parameters),
                references,
                max(ALWAYS, CHARACTERS // max(1, len(sample.response))),
            )
        finally:
            ALGEBRA.reset(before)

    return scored


def _best(score: Callable[[Any], Score], references: list[Any], most: int) -> Score:
    """The score of the reference that the response equals, among the first so many."""
    best: Score | None = None
    failure: RewardError | None = None
    for reference in references[:most]:
        try:
            found = score(reference)
        except RewardError as error:
            failure = failure or error
            continue
        if found.value >= CORRECT:
            return found
        best = found if best is None or _beats(found, best) else best
    if failure or best is None:
        raise failure or BadReference("the reference is an empty list")
    return best if most >= len(references) else _cut_short(best, most, len(references))


def _cut_short(best: Score, tried: int, count: int) -> Score:
    return replace(
        best,
        reason=f"{best.reason}; so long a response is compared with {tried} of {count} references",
    )


def of_first_reference(write: Callable[[Sample], str]) -> Callable[[Sample], str]:
    """A writer of right responses that takes the first of several references."""

    @wraps(write)
    def written(sample: Sample, /) -> str:
        return write(with_first_reference(sample))

    return written


def right_writer(
    write: Callable[[Sample], str], parameters: Mapping[str, Any]
) -> Callable[[Sample], str]:
    """A writer of right responses for a reward with these parameters, which say what a list is."""
    several = parameters.get(PARAMETER) == "alternatives"
    return of_first_reference(write) if several else write


def with_first_reference(sample: Sample) -> Sample:
    """A sample with the first of its alternatives as its reference."""
    references = alternatives(sample.reference)
    return sample if references is None else replace(sample, reference=references[0])


def _beats(found: Score, best: Score) -> bool:
    if found.value != best.value:
        return found.value > best.value
    return _undecided(found) and not _undecided(best)


def _undecided(score: Score) -> bool:
    return score.evidence is not None and score.evidence.outcome is Outcome.UNDECIDED


def _may_hold_list(text: str) -> bool:
    return "[" in text and text.lstrip().startswith("{")


def _inside(reference: Any, wrappings: int) -> list[Any] | None:
    """The alternatives inside an object, or inside its JSON text; None where it holds no list."""
    if isinstance(reference, str) and _may_hold_list(reference):
        try:
            reference = json.loads(reference)
        except (ValueError, RecursionError):
            return None
    if not isinstance(reference, dict) or not wrappings:
        return None
    key = first_key(reference)
    if key is None:
        return None
    value = reference[key]
    inner = _checked(value) if isinstance(value, list) else _inside(value, wrappings - 1)
    return None if inner is None else [{**reference, key: item} for item in inner]


def _checked(references: list[Any]) -> list[Any]:
    if not references:
        raise BadReference("the reference is an empty list")
    if any(isinstance(each, list) for each in references):
        raise BadReference("the reference is a list that holds a list")
    if len(references) > MAX_ALTERNATIVES:
        raise BadReference(f"the reference is a list of more than {MAX_ALTERNATIVES} answers")
    return references
