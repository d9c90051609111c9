"""How long prompts and solutions are, and the two limits of a training job that follow.

Tokens are **estimated**: the models Bedrock trains have tokenizers of their own, and none is
shipped here. The estimate is the larger of two counts. Characters over four is the usual figure for
English prose. Pieces are about what tokenizers cut other text into: words of up to eight letters,
digits by three, and every sign or letter outside ASCII by itself. Tables, formulas and other
scripts have more pieces than characters over four. Too high is the safe side: what becomes of a
prompt over `maxPromptLength` is not documented.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, Final

from reward_functions.data.records import text_of
from reward_functions.reports.statistics import quantile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CHARACTERS_PER_TOKEN: Final = 4

PER_MESSAGE: Final = 4
"""Tokens a turn takes for its role and its ends, in the chat templates that are public."""

SHARES: Final = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "max": 1.0}

PROMPT_ROOM: Final = 2
"""Times the 99th percentile: the estimate may be off by as much."""

SOLUTION_ROOM: Final = 3
"""Times the 99th percentile of worked solutions: a model that thinks writes more than people."""

MIN_INFERENCE_TOKENS: Final = 2_048
"""No suggestion is lower, however briefly people solve: the default of AWS's SDK. An answer that is
cut off earns the minimum."""

STEP: Final = 64
"""Suggestions are multiples of it, so as not to look more exact than they are."""

_PIECE: Final = re.compile(r"[A-Za-z]{1,8}|[0-9]{1,3}|[^\sA-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class Lengths:
    """The tokens of many strings, estimated.

    Args:
        values: one for each string, at least one.
    """

    values: Sequence[int]

    def percentiles(self) -> dict[str, int]:
        """By name: p50, p90, p95, p99, max."""
        return {name: quantile(self.values, share) for name, share in SHARES.items()}

    def histogram(self, bins: int = 12) -> list[tuple[int, int, int]]:
        """(from, up to and with, how many): equal steps from the shortest to the longest."""
        low, high = min(self.values), max(self.values)
        width = max(1, ceil((high - low + 1) / bins))
        edges = range(low, high + 1, width)
        counts = [0] * len(edges)
        for value in self.values:
            counts[(value - low) // width] += 1
        return [
            (edge, min(edge + width - 1, high), count)
            for edge, count in zip(edges, counts, strict=True)
        ]


def tokens(text: str) -> int:
    """The tokens of a string, estimated; see the module."""
    return max(ceil(len(text) / CHARACTERS_PER_TOKEN), len(_PIECE.findall(text)))


def prompt_tokens(messages: Sequence[Mapping[str, Any]]) -> int:
    """The tokens of a prompt, estimated: its texts, and what its turns take."""
    return sum(tokens(text_of(turn.get("content"))) + PER_MESSAGE for turn in messages)


def solution_tokens(row: Mapping[str, Any]) -> int | None:
    """The tokens of a row's worked solution, estimated; None where it has none."""
    metadata = row.get("metadata")
    solution = metadata.get("solution") if isinstance(metadata, dict) else None
    return tokens(solution) if isinstance(solution, str) else None


def suggested_prompt_length(prompts: Lengths) -> int:
    """`maxPromptLength`: twice the 99th percentile, and never less than the longest prompt."""
    most = prompts.percentiles()
    return _stepped(max(PROMPT_ROOM * most["p99"], most["max"]))


def suggested_inference_tokens(solutions: Lengths | None) -> int:
    """`inferenceMaxTokens`: three times the 99th percentile of the worked solutions, or 2,048.

    The larger of the two: people leave out what a model writes while it thinks.

    Args:
        solutions: None where the data has none; a bare reference says nothing about them.
    """
    if solutions is None:
        return MIN_INFERENCE_TOKENS
    return max(MIN_INFERENCE_TOKENS, _stepped(SOLUTION_ROOM * solutions.percentiles()["p99"]))


def _stepped(value: int) -> int:
    return ceil(value / STEP) * STEP
