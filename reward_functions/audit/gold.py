"""Write right answers: by the reward itself, or in the usual form that pays the reference most.

A function of somebody else has nothing that writes one. Its reference is put into each form of
`FORMS` on a few rows. The form in which it earns most beyond what it earns at another row is taken.
Else the form in which it earns most beyond an empty answer is taken: that function pays a form
alone. Where no form does, nobody knows what the function pays for, and an audit has measured
nothing.
"""

from __future__ import annotations

import json
from math import fsum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.alternatives import right_writer
from reward_functions.core.errors import ConfigurationError, DatasetError
from reward_functions.core.references import first_key, reference_fields, reference_text
from reward_functions.core.types import Sample, Scored

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reward_functions.audit.target import AuditTarget
    from reward_functions.core.spec import GoldResponse
    from reward_functions.core.types import RewardResult

TRIED: Final = 5
"""Rows on which forms are tried."""

SLIGHT: Final = 0.02
"""The smallest margin that counts, as a share of the most that was earned."""

FORMS: Final[Mapping[str, str]] = {
    "bare": "{}",
    "####": "#### {}",
    "a box": r"\boxed{{{}}}",
    "an answer tag": "<answer>{}</answer>",
    "ANSWER:": "ANSWER: {}",
    "a think section and an answer tag": "<think>\nI work it out.\n</think>\n<answer>{}</answer>",
    "JSON": '{{"answer": "{}"}}',
    "a sentence": "The answer is {}.",
}
"""How a right answer is written where nobody says it: the forms of GSM8K, MATH, R1 and others."""


class Gold(NamedTuple):
    """What writes right answers.

    Attributes:
        write: the right response to a sample.
        described: "the reward's own gold_response", "the reference in a box".
    """

    write: GoldResponse
    described: str


def reference_words(sample: Sample) -> str | None:
    """The reference as a text, an object as its JSON; None for any other value."""
    try:
        return _written(sample.reference)
    except DatasetError:
        return None


REFERENCE: Final = 200
"""Characters of a reference beside an answer."""


def short_reference(sample: object) -> str:
    """The reference of a row, to be shown beside an answer; "" where it has none."""
    return (reference_words(sample) or "")[:REFERENCE] if isinstance(sample, Sample) else ""


def _written(reference: Any) -> str:
    found = reference_fields(reference)
    if found and first_key(found) is None:
        return json.dumps(found, ensure_ascii=False)
    return reference_text(reference)


class Unpaid(NamedTuple):
    """No form of the reference is paid.

    Attributes:
        empty: what an empty answer earns on average.
        forms: those that were tried.
    """

    empty: float
    forms: str


def gold_of(
    target: AuditTarget, samples: Sequence[Sample], form: str = ""
) -> Gold | Unpaid | Exception | None:
    """The writer of right answers to samples; None without one, an error where no sample is scored.

    Args:
        target: the reward. A judge is not asked: nobody has agreed to what that costs.
        samples: rows; the first `TRIED` with a reference are answered in every form, where the
            target says nothing itself. Where a batch of these shows no form, each is asked alone,
            and each form on rows of its own. A function that mixes its rows up, or that remembers a
            prompt, must be known before that can be seen.
        form: of right answers, with {} for the reference; tried before all others.

    Raises:
        ConfigurationError: the form has no place for the reference.
    """
    if form and "{}" not in form:
        raise ConfigurationError(f"the form {form!r} has no {{}} for the reference")
    escaped = form.replace("{", "{{").replace("}", "}}").replace("{{}}", "{}")
    given = {form: escaped} if form else {}
    if target.judges and form:
        return _gold(form, escaped)
    if target.spec is not None and target.spec.gold_response is not None and not form:
        write = right_writer(target.spec.gold_response, target.parameters)
        return Gold(write, "the reward's own gold_response")
    if target.judges:
        return None

    def alone(batch: Sequence[Sample]) -> list[RewardResult]:
        return [each for one in batch for each in target.score([one])]

    found: Gold | Unpaid | Exception | None = None
    for forms in filter(None, (given, FORMS)):
        for score, step in ((target.score, 0), (alone, TRIED + 1)):
            found = _by_form(score, samples, forms, step)
            if not isinstance(found, Unpaid):
                return found
    return Unpaid(found.empty, ", ".join((*given, *FORMS))) if isinstance(found, Unpaid) else None


def _gold(name: str, form: str) -> Gold:
    return Gold(lambda one: form.format(_written(one.reference)), f"the reference, {name}")


def _by_form(
    score: Callable[[Sequence[Sample]], Sequence[RewardResult]],
    samples: Sequence[Sample],
    forms: Mapping[str, str],
    step: int = 0,
) -> Gold | Unpaid | Exception | None:
    """The form that pays a reference at its own row most beyond another row, else beyond nothing.

    The first error, where no answer in any form has a score.

    Args:
        score: the reward over a batch.
        samples: rows.
        forms: by their name.
        step: how many rows further the next form is tried; 0 for the same rows.
    """
    read = [(each, text) for each in samples if (text := reference_words(each)) is not None]
    if not read:
        return None
    some = [each for each, _ in read[:TRIED]]
    asked: list[Sample] = []
    for at, form in enumerate(forms.values(), 1):
        start = at * step % len(read)
        turned = [*read[start:], *read[:start]]
        for each, text in turned[:TRIED]:
            other = next((row for row, own in reversed(turned) if own != text), None)
            answer = form.format(text)
            asked += [each.answered(answer), other.answered(answer) if other else each.answered("")]
    results = score([*asked, *(each.answered("") for each in some)])
    errors = [each.error for each in results if not isinstance(each, Scored)]
    if len(errors) == len(results):
        return errors[0]
    values = [each.score.value if isinstance(each, Scored) else 0.0 for each in results]
    size = 2 * len(some)
    nothing = fsum(values[len(asked) :])
    pieces = [values[start : start + size] for start in range(0, len(asked), size)]
    beyond_another = [fsum(piece[0::2]) - fsum(piece[1::2]) for piece in pieces]
    beyond_nothing = [fsum(piece[0::2]) - nothing for piece in pieces]
    for margins in (beyond_another, beyond_nothing):
        best = max(range(len(margins)), key=margins.__getitem__)
        if margins[best] > SLIGHT * max(map(abs, values)):
            return _gold(*[*forms.items()][best])
    return Unpaid(nothing / len(some), "")
