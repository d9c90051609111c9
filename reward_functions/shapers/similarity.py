"""How like a response is to its reference: a shaper beside a reward that decides."""

from __future__ import annotations

from typing import Literal

from reward_functions.core.alternatives import any_reference, of_first_reference
from reward_functions.core.references import reference_text
from reward_functions.core.spec import Example, reward_function
from reward_functions.core.types import Metric, Sample, Score
from reward_functions.extraction.reasoning import without_reasoning
from reward_functions.extraction.text_metrics import compatible, rouge_l


def _right(sample: Sample) -> str:
    return reference_text(sample.reference)


@reward_function(
    version=1,
    gold_response=of_first_reference(_right),
    partial_credit=1.0,
    metrics=("rouge_l",),
    examples=[
        Example("positive", response="A red fox.", reference="a red fox", score=1.0),
        Example("partial", response="a red hen", reference="a red fox", score=2 / 3),
        Example("negative", response="北京", reference="a red fox", score=0.0),
        Example(
            "attack",
            response="not a red fox",
            reference="a red fox",
            score=6 / 7,
            why="a denial is like what it denies: this decides nothing",
        ),
    ],
)
@any_reference
def similarity(sample: Sample, *, metric: Literal["rouge_l", "fuzzy"] = "rouge_l") -> Score:
    """The words, or the characters, that the response shares with its reference, in order.

    Reference: a text, as `answer_text` reads it. Scale: 0.0 to 1.0. Wrong responses earn as much as
    right ones: a composite of such parts alone is refused. Reasoning sections are set aside, and
    20,000 characters of each text are compared. An empty response earns 0. Metric: `rouge_l`.

    Not handled: meaning, synonyms, stemming. Source of ROUGE-L: Lin, 2004 (`text_metrics`). The
    characters are compared by rapidfuzz's `ratio`: its `WRatio` pays 0.9 to any text that contains
    the reference.

    Args:
        sample: the response and its reference.
        metric: ROUGE-L of the words, or rapidfuzz's `ratio` of the characters (the extra `text`).

    Raises:
        BadReference: there is no reference, or it is empty.
        ModuleNotFoundError: `fuzzy` is asked for, and the extra `text` is not installed.
    """
    reference, response = reference_text(sample.reference), without_reasoning(sample.response)
    words = rouge_l(response, reference)
    value = words if metric == "rouge_l" else _fuzzy(response, reference)
    return Score(value, (Metric("rouge_l", words),), reason=f"{metric} is {value:.3f}")


def _fuzzy(text: str, other: str) -> float:
    from rapidfuzz.fuzz import ratio  # noqa: PLC0415 - an extra, and 12 MB

    first, second = compatible(text), compatible(other)
    return ratio(first, second) / 100.0 if first.strip() and second.strip() else 0.0
