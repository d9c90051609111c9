"""A reward that can be exploited, on purpose: no example to follow.

Two mistakes that are often made, together: the right number may stand anywhere in a response, and
short responses are preferred. Its gold response earns the maximum and a wrong one the minimum, so
that nothing is wrong with it until somebody asks what a list of guesses earns.
"""

import re
from fractions import Fraction

from reward_functions import Example, Sample, Score, reward_function
from reward_functions.core.references import reference_text

NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")

FREE_WORDS = 10
"""Words that cost nothing; every further one costs a hundredth, up to a half in all."""


@reward_function(
    version=1,
    gold_response=lambda sample: f"#### {reference_text(sample.reference)}",
    examples=[
        Example("positive", response="#### 42", reference="42", score=1.0),
        Example("positive", response="40, 41, 42 or 43", reference="42", score=1.0, why="a flaw"),
        Example("negative", response="#### 41", reference="42", score=0.0),
    ],
)
def right_number_anywhere(sample: Sample) -> Score:
    """The right number stands somewhere. Reference: a number. Scale: 0 to 1. Raises: BadReference.

    Args:
        sample: the response and its reference.
    """
    wanted = Fraction(reference_text(sample.reference).replace(",", ""))
    numbers = {Fraction(each.replace(",", "")) for each in NUMBER.findall(sample.response)}
    if wanted not in numbers:
        return Score(0.0, reason="the number is nowhere in it")
    words = len(sample.response.split())
    return Score(1.0 - min(0.5, max(0, words - FREE_WORDS) / 100), reason="the number is in it")
