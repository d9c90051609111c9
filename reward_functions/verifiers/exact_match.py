"""The response, all of it, is the reference."""

from __future__ import annotations

from reward_functions.core.alternatives import any_reference, of_first_reference
from reward_functions.core.errors import BadReference
from reward_functions.core.references import reference_text
from reward_functions.core.spec import Example, reward_function
from reward_functions.core.types import Evidence, Sample, Score
from reward_functions.extraction.reasoning import without_reasoning
from reward_functions.extraction.truncation import cut_off
from reward_functions.quantities.unicode_forms import folded


def _right(sample: Sample) -> str:
    return reference_text(sample.reference)


@reward_function(
    version=3,
    gold_response=of_first_reference(_right),
    examples=[
        Example("positive", response="Paris", reference="Paris", score=1.0),
        Example(
            "positive", response=" paris\n", reference="Paris", score=1.0, why="case and space"
        ),
        Example("positive", response="<think>Lyon?</think>Paris", reference="Paris", score=1.0),
        Example("negative", response="Lyon", reference="Paris", score=0.0),
        Example(
            "negative",
            response="paris",
            reference="Paris",
            score=0.0,
            parameters={"ignore_case": False},
        ),
        Example("attack", response="Paris or Lyon", reference="Paris", score=0.0),
        Example("attack", response="", reference="Paris", score=0.0),
    ],
)
@any_reference
def exact_match(sample: Sample, *, ignore_case: bool = True) -> Score:
    """The whole response equals the reference, but for white space around and between words.

    Reference: a string or a number; alone or in an object under `final_answer`, `answer`,
    `ground_truth`, `value` or `text`. Scale: 1.0 or 0.0. Reasoning sections and the markers of a
    turn that the reference does not contain are set aside, and Unicode is put in its canonical form
    (NFC), before the comparison; punctuation and wording count.
    To find an answer inside a longer response use `math` or `multiple_choice`.

    A list as the reference means any of these; a set that is one answer is one string.

    Args:
        sample: the response and its reference.
        ignore_case: whether "paris" is "Paris".

    Raises:
        BadReference: there is no reference, or it is empty.
    """
    right = reference_text(sample.reference)
    reference = folded(right, ignore_case=ignore_case)
    if not reference:
        raise BadReference("the reference has no visible character")
    found = without_reasoning(sample.response, right).strip()
    answer = folded(found, ignore_case=ignore_case)
    if not answer:
        cut = cut_off(sample.response, answered=False)
        why = f"; {cut}: the response is cut off" if cut else ""
        what = "has no text" if sample.tool_calls else "is empty"
        return Score(0.0, reason=f"the response {what}{why}")
    same = answer == reference
    return Score(
        float(same),
        answer=found,
        reason="the response is the reference" if same else "the response is another text",
        evidence=Evidence("normalised-text", answer, reference),
    )
