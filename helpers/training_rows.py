"""A file of training data, as a notebook looks at it: rows, one prompt whole, lint, gold replay."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from helpers.scripted import bound_by_script
from helpers.shown import Shown
from reward_functions import get, score_batch
from reward_functions.data import linting
from reward_functions.data.generated import writing
from reward_functions.data.json_rows import read_rows
from reward_functions.data.lengths import prompt_tokens
from reward_functions.data.replayed_answers import CONSTANT
from reward_functions.data.replaying import replay
from reward_functions.reports.sheets import Sheet
from reward_functions.serving.contract import decode_row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions import RewardSpec
    from reward_functions.data.generated.writing import Generated

SEED: Final = 14
"""Of the rows that notebooks generate: others than `reward data generate` makes without a seed."""

FIRST: Final = 3
"""Rows shown of a file."""


@dataclass(frozen=True)
class TrainingRows:
    """A file of training data.

    Args:
        path: of the file, JSONL.
    """

    path: Path

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """Every row, as a trainer sends it without a response."""
        return [row.content for row in read_rows(str(self.path))]

    @property
    def held_out(self) -> TrainingRows:
        """The rows of `test.jsonl` beside this file: no training sees them."""
        return TrainingRows(self.path.with_name("test.jsonl"))

    def first(self, count: int = FIRST) -> Shown:
        """The first rows: what is asked, and the reference that the response is compared with."""
        rows = [
            [
                str(row.get("id", "")),
                str(row["messages"][-1]["content"]),
                str(row.get("reference_answer", "")),
                str(prompt_tokens(row["messages"])),
            ]
            for row in self.rows[:count]
        ]
        heads = ("id", "the user asks", "reference_answer", "tokens, estimated")
        words = ("the user asks", "reference_answer")
        title = f"{self.path.name}: {count} of {len(self.rows):,} rows"
        return Shown([Sheet(title, heads, rows, words=words)])

    def prompt(self, at: int = 0) -> Shown:
        """One prompt whole, turn by turn."""
        row = self.rows[at]
        turns = [[str(turn["role"]), str(turn["content"])] for turn in row["messages"]]
        return Shown(
            [Sheet(f"The prompt of {row['id']}", ("role", "says"), turns, words=("says",))]
        )

    def lint(self, reward: str) -> Shown:
        """What is wrong with the file, as `reward data lint` finds it."""
        found = linting.lint([str(self.path)], reward=get(reward))
        rows = [[each.level, each.what, each.where, each.detail] for each in found.findings]
        counted = f"errors {len(found.errors)} · warnings {len(rows) - len(found.errors)}"
        heads = ("level", "what", "where", "detail")
        sheets = [Sheet("Lint", heads, rows, words=heads)] if rows else []
        return Shown(sheets, [counted])

    def replay(
        self, reward: str | RewardSpec, parameters: Mapping[str, object] | None = None
    ) -> Shown:
        """What the reward pays for right, wrong and gaming answers: `reward data replay`.

        A script answers what a judge asks.
        """
        spec = get(reward) if isinstance(reward, str) else reward
        bound = bound_by_script(spec, parameters)
        samples = [decode_row(row, at) for at, row in enumerate(self.rows)]
        places = [f"line {at}" for at in range(1, len(samples) + 1)]
        done = replay(spec, samples, places, lambda batch: score_batch(bound, batch))
        rows = [
            [
                one.kind,
                f"{one.scored + one.unscored:,}",
                "" if one.mean is None else f"{one.mean:.4f}",
                str(one.unscored or ""),
                one.failed or ("shown only" if one.kind == CONSTANT else "ok"),
            ]
            for one in done.played
        ]
        heads = ("response", "rows", "mean", "unscored", "verdict")
        verdict = [f"not fit to train on: {failure}" for failure in done.failures]
        return Shown(
            [Sheet("What the reward pays", heads, rows, words=("verdict",))],
            verdict or ["fit to train on: right answers earn the maximum, and no other does"],
        )


def generated(
    dataset: Generated,
    folder: str | Path,
    *,
    rows: int = 100,
    test_rows: int = 0,
    seed: int = SEED,
) -> TrainingRows:
    """Synthetic rows of a data set's shape, as `reward data generate` writes them.

    Args:
        dataset: "gsm8k", "math" or "finqa".
        folder: where `train.jsonl` and `report.json` are written; made where it is missing.
        rows: of the training file; no job takes fewer than 100.
        test_rows: of `test.jsonl`, which `held_out` reads; 0 for none.
        seed: of what is drawn; two notebooks with one seed ask the same prompts.

    Raises:
        ConfigurationError: the templates do not hold as many different prompts.
        OSError: a file cannot be written.
    """
    writing.generate(dataset, Path(folder), rows=rows, test_rows=test_rows, seed=seed)
    return TrainingRows(Path(folder) / "train.jsonl")
