r"""Whether the reward reads the form that the prompts ask for.

A reward that compares the whole response with the reference pays a bare answer. Where every prompt
demands `#### <number>`, a model that does as it is asked then earns nothing, and learns nothing or
the wrong thing. A form that all prompts name, and that the reward's own right answers lack, is
tried: the reference is put into it.

| the reference, in the form asked for, earns of the scale | finding |
| --- | --- |
| 0.02 or less, on average | failure |
| less than 0.99 | warning |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.aws.deployed.findings import SHOWN, CheckExample, CheckFinding
from reward_functions.core.batch import score_batch
from reward_functions.core.errors import DatasetError
from reward_functions.core.means import mean
from reward_functions.core.references import reference_text
from reward_functions.core.types import Score, Scored
from reward_functions.data.replaying import LEAST_RIGHT, MOST_WRONG, Earnings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reward_functions.core.spec import GoldResponse
    from reward_functions.core.types import Sample
    from reward_functions.jobs.scorer import VersionScorer

ROWS: Final = 8
"""Rows on which forms are tried."""

ASKED: Final = {
    "####": "#### {}",
    r"\boxed": r"\boxed{{{}}}",
    "<answer>": "<answer>{}</answer>",
    "ANSWER:": "ANSWER: {}",
    "JUDGMENT:": "JUDGMENT: {}",
}
"""What stands in a prompt that asks for a form, and the form: GSM8K's, MATH's and the others of the
data sets that AWS's samples train on."""

FORMS: Final = ("{}", *(form for sign, form in ASKED.items() if sign != "JUDGMENT:"))
"""How a right answer is written where a reward does not say it: bare, or in a usual form."""


class _Tried(NamedTuple):
    """A form that the prompts ask for, and what right answers in it earn of the scale."""

    sign: str
    mean: float
    example: CheckExample


def reference_of(sample: Sample) -> str | None:
    """The reference as a text; None where it is none."""
    try:
        return reference_text(sample.reference)
    except DatasetError:
        return None


def form_findings(
    scorer: VersionScorer,
    tried: Sequence[Sample],
    places: Sequence[str],
    gold_response: GoldResponse,
    earned: Earnings,
) -> Iterator[CheckFinding]:
    """What the form earns that the prompts ask for.

    Nothing is said where they ask for none, or for one that the reward's own right answers have.

    Args:
        scorer: the deployed version.
        tried: rows whose right answers earn the maximum.
        places: where each stands.
        gold_response: writes the right answers.
        earned: what nothing and all are.

    Raises:
        AwsFailed: the version cannot be invoked.
    """
    asked = [sign for sign in ASKED if all(sign in _prompt(sample) for sample in tried)]
    rows = [
        (sample, place, reference)
        for sample, place in zip(tried, places, strict=True)
        if (reference := reference_of(sample)) is not None
    ][:ROWS]
    if not asked or not rows:
        return
    rights = _rights(gold_response, [sample for sample, *_ in rows])
    if any(sign in right for sign in asked for right in rights):
        return
    forms = [_form(scorer, sign, rows, earned) for sign in asked]
    best = max(filter(None, forms), key=lambda form: form.mean, default=None)
    if best is not None and best.mean < LEAST_RIGHT:
        yield CheckFinding(
            "failure" if best.mean <= MOST_WRONG else "warning",
            "form",
            f"the prompts ask for {best.sign}, and right answers in that form earn {best.mean:.3f} "
            f"of the scale on average over {len(rows)} rows: a model that does as it is asked "
            "would not be paid; change the prompts, or take a reward that reads the form",
            best.example,
        )


def _rights(gold_response: GoldResponse, samples: Sequence[Sample]) -> list[str]:
    """The reward's own right answers, as far as it writes them."""

    def written(sample: Sample) -> Score:  # as a reward, so that what it raises is kept by the row
        return Score(0.0, answer=gold_response(sample))

    results = score_batch(written, samples)
    return [result.score.answer or "" for result in results if isinstance(result, Scored)]


def _form(
    scorer: VersionScorer,
    sign: str,
    rows: Sequence[tuple[Sample, str, str]],
    earned: Earnings,
) -> _Tried | None:
    """The reference of each row in a form; None where nothing was scored."""
    answers = [sample.answered(ASKED[sign].format(reference)) for sample, _, reference in rows]
    results = scorer.score(answers)
    values = [result.score.value for result in results if isinstance(result, Scored)]
    if not values:
        return None
    share = mean([earned.share(value) for value in values])
    (_, place, _), answer = rows[0], answers[0].response or ""
    return _Tried(sign, share, CheckExample(place, answer[:SHOWN], values[0]))


def _prompt(sample: Sample) -> str:
    """All that the model reads: instructions may stand in the system turn."""
    return "\n".join(turn.content for turn in sample.messages if turn.role != "assistant")
