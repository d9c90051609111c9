"""A split by group beside one row by row: what of the test rows is known from training.

Rows of one page share its table, and rows of one prompt all but the responses. Dealt out one by
one, most test rows have their like in the training file, and a score on them says little.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from helpers.shown import Shown
from helpers.training_rows import SEED, TrainingRows
from reward_functions.data.leakage import Overlaps, group_of
from reward_functions.data.splitting import assigned, parse_ratio
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

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
