"""A sample in one line, and the same sample as a trainer sends it."""

from __future__ import annotations

from typing import Any

from reward_functions.core.types import Message, Sample


def sample(
    response: str = "",
    reference: Any = None,
    *,
    prompt: str = "",
    id: str = "sample",  # noqa: A002 - the wire's own word
    **metadata: Any,
) -> Sample:
    """A sample in one line: a user turn, an assistant turn, a reference.

    Args:
        response: what the policy wrote.
        reference: the ground truth.
        prompt: the user turn.
        id: the sample's name.
        metadata: further fields of the data set.
    """
    turns = (Message(role="user", content=prompt), Message(role="assistant", content=response))
    return Sample(id=id, messages=turns, reference=reference, metadata=metadata)


def wire_row(sample: Sample) -> dict[str, Any]:
    """The sample as a trainer sends it: a row of a Lambda event, a line of a file of samples."""
    return {
        "id": sample.id,
        "messages": [{"role": turn.role, "content": turn.content} for turn in sample.messages],
        "reference_answer": sample.reference,
        "metadata": dict(sample.metadata),
    }
