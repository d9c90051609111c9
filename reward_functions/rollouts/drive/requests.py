"""What a rollout request of the driver holds, in the words of its options."""

from __future__ import annotations

from typing import Final, Literal

FIELD: Final = "prompt"
"""Of a row: the column that the managed trainer reads."""

Sent = Literal["both", "prompt", "instance"]
"""The prompt as the managed trainer sends it, the row as sagemaker.train.rft's models have it."""
