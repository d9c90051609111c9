"""A file of training data, as a notebook looks at it: rows, one prompt whole, lint, an audit.

A split by group beside one row by row: what of the test rows is known from training.

Rows of one page share its table, and rows of one prompt all but the responses. Dealt out one by
one, most test rows have their like in the training file, and a score on them says little.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from helpers.sample_data import bound_by_script
from helpers.shown import Shown
from reward_functions import get
from reward_functions.audit.engine import AuditOptions, AuditRows, audited
from reward_functions.audit.rendering import audit_sheets
from reward_functions.audit.targets import audit_target
from reward_functions.data import linting
from reward_functions.data.generated import writing
from reward_functions.data.json_rows import read_rows
from reward_functions.data.lengths import prompt_tokens
from reward_functions.data.splitting import Overlaps, assigned, group_of, parse_ratio
from reward_functions.reports.sheets import Sheet
from reward_functions.serving.contract import decode_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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

    def audit(
        self, reward: str | RewardSpec, parameters: Mapping[str, object] | None = None
    ) -> Shown:
        """What the reward pays and refuses on these rows, class by class: `reward audit`.

        A script answers what a judge asks.
        """
        spec = get(reward) if isinstance(reward, str) else reward
        bound = bound_by_script(spec, parameters)
        samples = [decode_row(row, at) for at, row in enumerate(self.rows)]
        places = [f"line {at}" for at in range(1, len(samples) + 1)]
        rows = AuditRows(self.path.name, samples, places)
        asked = AuditOptions(rows=len(samples), allow_undecided=True)
        done = audited(audit_target(bound), rows, asked, confirm=lambda _: True)
        found = audit_sheets(done)[-2]
        tried = [
            row
            for row, each in zip(found.rows, done.findings, strict=True)
            if each.verdict != "untested"
        ]
        verdict = [f"not fit to train on: {failure}" for failure in done.failures]
        return Shown(
            [replace(found, title="What the reward pays, and what it refuses", rows=tried)],
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


By = Literal["page", "prompt"]

SHARES: Final = parse_ratio("80/20")

HEADS: Final = ("dealt out", "train", "test", "test rows known from training")


@dataclass(frozen=True, repr=False)
class Split:
    """Two files that share no group.

    Args:
        train: the training file.
        test: what is held out.
        compared: with a split row by row.
    """

    train: TrainingRows
    test: TrainingRows
    compared: Shown

    def _repr_html_(self) -> str:
        return self.compared._repr_html_()

    def __repr__(self) -> str:
        """The same as text."""
        return repr(self.compared)


def split_by(by: By, rows: TrainingRows, folder: str | Path) -> Split:
    """Split a file 80/20 by group, and count what the same split row by row would leak.

    Args:
        by: what the two files may not share: `metadata.page`, or the prompt.
        rows: the whole file.
        folder: where `train.jsonl` and `test.jsonl` are written; made where it is missing.

    Raises:
        ValueError: a row has no page.
        BadRatio: there are too few groups.
        OSError: a file cannot be written.
    """
    groups = [group_of(row, by) for row in rows.rows]
    if None in groups:
        raise ValueError(f"row {groups.index(None) + 1} belongs to no {by}")
    named = [str(group) for group in groups]
    singly = _dealt([str(at) for at in range(len(named))])
    together = _dealt(named)
    train, test = (_written(rows, together, part, Path(folder)) for part in SHARES)
    lines = [
        _line("row by row", named, singly),
        _line(f"whole {by}s", named, together),
    ]
    title = f"{len(named):,} rows of {len(set(named)):,} {by}s"
    return Split(train, test, Shown([Sheet(title, HEADS, lines)], shared_by(train, test).notes))


def shared_by(train: TrainingRows, test: TrainingRows) -> Shown:
    """What two files share, as `reward data lint` looks for it: pages, prompts, near-duplicates."""
    found = Overlaps()
    for part, file in zip(SHARES, (train, test), strict=True):
        for at, row in enumerate(file.rows):
            found.add(part, str(row.get("id", at)), row)
    leaks = [str(leak) for leak in found.leaks()]
    names = f"{train.path} and {test.path}"
    return Shown(notes=leaks or [f"{names} share no page and no prompt"])


def _dealt(groups: Sequence[str]) -> list[str]:
    """The part of every row."""
    parts = assigned(groups, SHARES, SEED)
    return [parts[group] for group in groups]


def _line(how: str, groups: Sequence[str], parts: Sequence[str]) -> list[str]:
    train, test = (
        [group for group, where in zip(groups, parts, strict=True) if where == part]
        for part in SHARES
    )
    known = sum(group in set(train) for group in test)
    return [how, f"{len(train):,}", f"{len(test):,}", f"{known:,} ({known / len(test):.0%})"]


def _written(rows: TrainingRows, parts: Sequence[str], part: str, folder: Path) -> TrainingRows:
    folder.mkdir(parents=True, exist_ok=True)
    held = [row for row, where in zip(rows.rows, parts, strict=True) if where == part]
    path = folder / f"{part}.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in held), encoding="utf-8")
    return TrainingRows(path)
