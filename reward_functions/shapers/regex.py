"""The response matches a regular expression, in time linear in the response."""

from __future__ import annotations

from reward_functions.core.errors import BadParameter
from reward_functions.core.spec import Example, reward_function
from reward_functions.core.types import Sample, Score
from reward_functions.shapers._regex import compiled

MAX_PATTERN = 2_000
"""Characters of a pattern."""


def _check(*, pattern: str, whole: bool) -> None:  # noqa: ARG001
    if not 0 < len(pattern) <= MAX_PATTERN:
        raise BadParameter(f"parameter 'pattern' has 1 to {MAX_PATTERN:,} characters")
    compiled(pattern)


_DATE = {"pattern": r"\d{4}-\d\d-\d\d"}


@reward_function(
    version=1,
    partial_credit=1.0,
    check=_check,
    examples=[
        Example("positive", response="42", score=1.0, why="any response that is not blank"),
        Example("positive", response="It was 2026-11-23.", score=1.0, parameters=_DATE),
        Example("positive", response="2026-11-23", score=1.0, parameters=_DATE | {"whole": True}),
        Example("negative", response=" \n", score=0.0),
        Example("negative", response="last Monday", score=0.0, parameters=_DATE),
        Example(
            "attack",
            response="2026-11-23 or 2026-11-24",
            score=0.0,
            parameters=_DATE | {"whole": True},
        ),
        Example(
            "attack",
            response="a" * 60,
            score=0.0,
            parameters={"pattern": "(a|a)*b"},
            why="a pattern that takes Python's re until the end of days",
        ),
    ],
)
def regex(sample: Sample, *, pattern: str = r"\S", whole: bool = False) -> Score:
    r"""The response has what a regular expression describes.

    Reference: none. Scale: 1.0 or 0.0. The whole response is looked at, reasoning included. The
    pattern is Python's, flags at its beginning (`(?s)`) included; look arounds, references back and
    possessive repeats are refused, so that no response takes more than linear time.

    Args:
        sample: the response; a reference is ignored.
        pattern: a regular expression of up to 2,000 characters.
        whole: whether it must match the whole response, and not only a part.

    Raises:
        BadParameter: the pattern is not one, or asks for what is refused.
    """
    machine = compiled(pattern)
    found = machine.fullmatch(sample.response) if whole else machine.search(sample.response)
    reason = "the pattern matches" if found else "the pattern does not match"
    return Score(float(found), reason=reason)
