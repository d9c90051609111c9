"""The demo's responses, as the rows a trainer sends and as samples; each row says what it earns."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

from reward_functions.data.json_rows import read_rows
from reward_functions.serving.contract import decode_row

if TYPE_CHECKING:
    from reward_functions import Sample, Unscored


def demo_rewards() -> list[str]:
    """The rewards that have demo rows."""
    return sorted(
        file.name.removesuffix(".jsonl")
        for file in (files("reward_functions.data") / "demo").iterdir()
        if file.name.endswith(".jsonl")
    )


def demo_rows(reward: str) -> list[dict[str, Any]]:
    """The rows for a reward; `metadata.shows` describes each, `metadata.expected` is its score.

    Raises:
        ValueError: the reward has no demo rows.
    """
    if reward not in demo_rewards():
        raise ValueError(f"no demo rows for {reward!r}; there are {', '.join(demo_rewards())}")
    with as_file(files("reward_functions.data") / "demo" / f"{reward}.jsonl") as file:
        return [row.content for row in read_rows(str(file))]


def demo_samples(reward: str) -> list[Sample | Unscored]:
    """The same rows decoded as the Lambda decodes them; a malformed one is `Unscored`.

    Raises:
        ValueError: the reward has no demo rows.
    """
    return [decode_row(row, at) for at, row in enumerate(demo_rows(reward))]
