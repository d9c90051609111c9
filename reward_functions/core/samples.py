r"""A sample in one line: a response, and what it is measured against.

sample("6 × 7 = 42\n#### 42", "42")
sample("The answer is B.", "B", prompt="Which one is prime?", id="q7", level="easy")
"""

from __future__ import annotations

from typing import Any, Final

from reward_functions.core.types import Message, Sample

TOKENS: Final = "completion_tokens"
"""The field of a row that counts the tokens of its response; adapters fill it in where the trainer
shows the tokens."""


def sample(
    response: str = "",
    reference: Any = None,
    *,
    prompt: str = "",
    id: str = "sample",  # noqa: A002 - the wire's own word
    **metadata: Any,
) -> Sample:
    """A user turn, an assistant turn, and a reference.

    Args:
        response: what the policy wrote.
        reference: the ground truth, in any shape that the reward reads; None where it needs none.
        prompt: the user turn.
        id: the sample's name.
        metadata: further fields of the data set.

    Raises:
        TypeError: response or prompt is not a string.
    """
    for name, text in (("response", response), ("prompt", prompt)):
        if not isinstance(text, str):
            raise TypeError(f"a {name} is a string, not {type(text).__name__}")
    turns = (Message("user", prompt), Message("assistant", response))
    return Sample(id=id, messages=turns, reference=reference, metadata=metadata)
