"""A sample as a trainer sends it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reward_functions.core.types import Sample


def wire_row(sample: Sample) -> dict[str, Any]:
    """The sample as a trainer sends it: a row of a Lambda event, a line of a file of samples."""
    return {
        "id": sample.id,
        "messages": [{"role": turn.role, "content": turn.content} for turn in sample.messages],
        "reference_answer": sample.reference,
        "metadata": dict(sample.metadata),
    }
