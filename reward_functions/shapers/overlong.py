"""A penalty that grows before the limit of a response's length: DAPO's soft overlong punishment."""

from __future__ import annotations

from typing import Literal

from reward_functions.core.errors import BadParameter
from reward_functions.core.spec import Example, reward_function
from reward_functions.core.types import Metric, Sample, Score
from reward_functions.shapers._lengths import length


def _check(*, limit: int, buffer: int, unit: str) -> None:  # noqa: ARG001
    if not 0 < buffer <= limit:
        raise BadParameter(f"parameter 'buffer' is between 1 and the limit {limit}, not {buffer}")


_SMALL = {"limit": 4, "buffer": 2, "unit": "words"}


@reward_function(
    version=1,
    scale=(-1.0, 0.0),
    partial_credit=0.0,
    metrics=("length",),
    check=_check,
    examples=[
        Example("positive", response="42", score=0.0, metadata={"completion_tokens": 900}),
        Example(
            "partial",
            response="42",
            score=-0.5,
            metadata={"completion_tokens": 18_432},
            why="half of the buffer",
        ),
        Example("partial", response="one two three", score=-0.5, parameters=_SMALL),
        Example("negative", response="42", score=-1.0, metadata={"completion_tokens": 20_480}),
        Example("attack", response="so " * 99, score=-1.0, parameters=_SMALL, why="padding"),
    ],
)
def overlong(
    sample: Sample,
    *,
    limit: int = 20_480,
    buffer: int = 4_096,
    unit: Literal["tokens", "words", "characters"] = "tokens",
) -> Score:
    """Nothing for a response that ends in time; a penalty that grows in the buffer before a limit.

    Reference: none. Scale: -1.0 to 0.0. Up to `limit - buffer` the value is 0; in the buffer it
    falls in a straight line; from the limit on it is -1. Meant to be added to a reward for being
    correct. Metric `length`. Source: Yu et al. 2025, "DAPO" (arXiv 2503.14476), equation 13, whose
    values the defaults are: 16,384 tokens expected, 4,096 more as the buffer.

    Args:
        sample: the response; a reference is ignored.
        limit: the length that earns the whole penalty.
        buffer: the last part of it, in which the penalty grows.
        unit: tokens, which the row must count as `completion_tokens`; words, or characters.

    Raises:
        BadSample: `unit` is tokens, and the row has no `completion_tokens`.
    """
    found = length(sample, unit)
    over = min(max(found - (limit - buffer), 0), buffer)
    reason = f"{found:,} {unit}: " + ("no penalty" if not over else f"{over:,} into the buffer")
    return Score(-over / buffer if over else 0.0, (Metric("length", found),), reason=reason)
