"""Short answers."""

from __future__ import annotations

from reward_functions import Example, Sample, Score, reward_function


@reward_function(
    name="acme.length",
    version=1,
    examples=[
        Example("positive", response="brief", score=1.0),
        Example("negative", response="x" * 101, score=0.0),
    ],
)
def length(sample: Sample, *, most: int = 100) -> Score:
    """The response is not too long.

    Args:
        sample: the response.
        most: characters.
    """
    return Score(1.0 if len(sample.response) <= most else 0.0)
