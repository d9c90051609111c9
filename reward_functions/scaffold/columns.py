"""Where the prompts and references of a file stand: its columns, and a guess that you confirm."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean
from reward_functions.data.json_rows import BadInput, Row, shown
from reward_functions.data.rows.formats import scan_file, splits_of
from reward_functions.data.rows.reading import first_rows, recognised
from reward_functions.data.rows.shapes import UnknownShape, at, columns_of, first, guessed_columns

if TYPE_CHECKING:
    from collections.abc import Mapping

PARTS: Final = ("prompt", "reference")

LOOKED_AT: Final = 500
"""Rows that the offers of rewards rest on."""

_OPTION: Final = re.compile(r"(?:(?:option|opt|choice|answer)_?)?([A-Ja-j])")

LISTED: Final = 20
"""Columns that a message names."""


class Source(NamedTuple):
    """A file of your own rows, looked at.

    Args:
        file: as it was typed.
        columns: in their order.
        guess: the columns of prompt and reference, where they can be guessed.
        rows: the first `LOOKED_AT`.
    """

    file: str
    columns: list[str]
    guess: dict[str, str]
    rows: list[dict[str, Any]]

    @property
    def options(self) -> list[str]:
        """The columns that hold options, from A on: `A`, `B`, … or `option_a`, `option_b`, …."""
        named = {
            found[1].upper(): name for name in self.columns if (found := _OPTION.fullmatch(name))
        }
        listed = []
        for letter in "ABCDEFGHIJ":
            if letter not in named:
                break
            listed.append(named[letter])
        return listed if len(listed) > 1 else []

    def column(self, part: str, typed: str) -> str:
        """The column that was typed for a part.

        Raises:
            ConfigurationError: no row has it.
        """
        if all(at(row, typed) is None for row in self.rows):
            raise ConfigurationError(
                f"{shown(self.file)}: --{part} {typed}: no row has a value in such a column"
                f"{did_you_mean(typed, self.columns[:LISTED])}"
            )
        return typed


def looked_at(file: str) -> Source:
    """A file, looked at.

    Args:
        file: of any format that `reward data prepare` reads, or a data set's folder.

    Raises:
        ConfigurationError: it is standard input, or holds no rows.
        BadInput: its format is not read, or none of the first rows is an object.
        OSError: it cannot be read.
    """
    if file == "-":
        raise ConfigurationError("--data: the file is read several times; give its path")
    found = list(islice(scan_file(_one_split(file)), LOOKED_AT))
    objects = [dict(row.content) for row in found if isinstance(row, Row)]
    if not objects:
        raise next(
            (row for row in found if isinstance(row, BadInput)),
            ConfigurationError(f"{shown(file)} holds no rows: name a file of prompts with --data"),
        )
    ahead = [dict(row.content) for row in first_rows(iter(found)) if isinstance(row, Row)]
    names = list(dict.fromkeys(name for row in objects for name in row))
    return Source(file, names, _guess(file, ahead or objects[:1], names), objects)


def _one_split(file: str) -> str:
    """A file to look at of a folder with several splits: of the one that is trained on."""
    splits = splits_of(Path(file)) if Path(file).is_dir() else {}
    if len(splits) <= 1:
        return file
    return str(splits.get("train", splits[min(splits)])[0])


def _guess(file: str, rows: list[dict[str, Any]], names: list[str]) -> dict[str, str]:
    """By the shape of the rows; without one by the names of the columns, or by their order."""
    try:
        columns = recognised(file, rows).columns
    except UnknownShape:
        if len(rows) == 1 and any(isinstance(value, list | dict) for value in rows[0].values()):
            raise  # the rows are inside of one object: the message says how to get them out
        guess = _parts(guessed_columns(columns_of(rows)))
        in_order = len(names) == len(PARTS) > len(guess)
        return dict(zip(PARTS, names, strict=True)) if in_order else guess
    parts = {"prompt": columns.prompt, "reference": columns.reference}
    return _parts({part: first(rows[0], paths) for part, paths in parts.items()})


def _parts(guess: Mapping[str, str | None]) -> dict[str, str]:
    return {part: found for part in PARTS if (found := guess.get(part)) is not None}
