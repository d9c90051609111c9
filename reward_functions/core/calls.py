r"""What a reward may be called with, and what its function may return.

math("\\boxed{4}", "4")          a sample is made of the two
return answer == reference       True is 1.0 and False 0.0, which the scale must hold
"""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

from reward_functions.core.errors import InvalidScore
from reward_functions.core.samples import sample
from reward_functions.core.types import Sample, Score


def sample_called_with(name: str, response: object, reference: Any, prompt: object) -> Sample:
    """The sample that a call describes.

    Args:
        name: of the reward, for messages.
        response: a string.
        reference: of any shape.
        prompt: a string.

    Raises:
        TypeError: the response or the prompt is not a string; the message says what to type.
    """
    if isinstance(response, Sample):
        raise TypeError(f"a Sample holds its own reference and prompt: call {name}(sample)")
    if not isinstance(response, str):
        given = "nothing" if response is None else type(response).__name__
        many = "; score_batch scores many" if isinstance(response, list | tuple) else ""
        raise TypeError(
            f'{name} scores one response, a string or a Sample, not {given}: call {name}("the '
            f'response", "the reference"){many}'
        )
    if not isinstance(prompt, str):
        raise TypeError(
            f"{name} takes the prompt as a string, not {type(prompt).__name__}: a conversation is "
            "a Sample, with its turns as messages"
        )
    return sample(response, reference, prompt=prompt)


def score_of(name: str, returned: object) -> Score:
    """The score that a number stands for.

    Args:
        name: of the reward, for messages.
        returned: what its function returned in place of a `Score`.

    Raises:
        InvalidScore: it is not a finite number.
    """
    if getattr(returned, "shape", None) == () and hasattr(returned, "item"):
        returned = returned.item()  # one number of numpy or torch, which have bools of their own
    if not isinstance(returned, Real | Decimal):
        raise InvalidScore(
            f"{name} returned {type(returned).__name__}, not a Score, a number or a bool"
        )
    try:
        return Score(float(returned))
    except (ValueError, OverflowError):
        raise InvalidScore(f"{name} returned a number that is not finite") from None
