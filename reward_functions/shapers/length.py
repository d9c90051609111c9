"""A length between two limits, and less for every word outside them."""

from __future__ import annotations

from typing import Literal

from reward_functions.core.errors import BadParameter
from reward_functions.core.spec import Example, reward_function
from reward_functions.core.types import Metric, Sample, Score
from reward_functions.shapers._lengths import length as length_of


def _check(*, at_least: int, at_most: int, margin: int, unit: str) -> None:  # noqa: ARG001
    if not 0 <= at_least <= at_most:
        raise BadParameter(f"no length is at least {at_least} and at most {at_most}")
    if margin < 0:
        raise BadParameter(f"parameter 'margin' is a length, not {margin}")


@reward_function(
    version=1,
    partial_credit=1.0,
    metrics=("length",),
    check=_check,
    examples=[
        Example("positive", response="6 × 7 is 42.", score=1.0),
        Example(
            "partial",
            response="one two three",
            score=0.5,
            parameters={"at_least": 0, "at_most": 2, "margin": 2},
            why="half of the margin",
        ),
        Example("negative", response="", score=0.0, why="empty"),
        Example("negative", response="42", score=0.0, parameters={"at_least": 2}),
        Example("attack", response="word " * 2000, score=0.0, why="padding"),
    ],
)
def length(
    sample: Sample,
    *,
    at_least: int = 1,
    at_most: int = 1000,
    margin: int = 0,
    unit: Literal["words", "characters", "tokens"] = "words",
) -> Score:
    """The length of the response is within limits; beyond them the reward falls to the minimum.

    Reference: none. Scale: 0.0 to 1.0: 1.0 within the limits, 0.0 from `margin` beyond them on, and
    in a straight line between. The whole response counts, reasoning included. Metric `length`.

    Args:
        sample: the response; a reference is ignored.
        at_least: the shortest length that earns everything.
        at_most: the longest.
        margin: how far outside the reward becomes 0; 0 makes the limits hard.
        unit: words (by white space), characters, or tokens, which the row must count.

    Raises:
        BadSample: `unit` is tokens, and the row has no `completion_tokens`.
    """
    found = length_of(sample, unit)
    outside = max(at_least - found, found - at_most, 0)
    value = 1.0 if not outside else max(0.0, 1.0 - outside / margin) if margin else 0.0
    limits = f"{at_least:,} to {at_most:,} {unit}"
    reason = f"within {limits}" if not outside else f"outside {limits}"
    return Score(value, (Metric("length", found),), reason=reason)
