"""Where the prompts and references of a file stand: its columns, and a guess that you confirm."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean
from reward_functions.data.json_rows import BadInput, Row, shown
from reward_functions.data.rows.formats import scan_file, splits_of
from reward_functions.data.rows.reading import first_rows, recognised
from reward_functions.data.rows.shapes import (
    USUAL,
    UnknownShape,
    at,
    columns_of,
    first,
    guessed_columns,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PARTS: Final = ("prompt", "reference")

LOOKED_AT: Final = 500
"""Rows that the offers of rewards rest on."""

_OPTION: Final = re.compile(r"(?:(?:option|opt|choice|answer)_?)?([A-Ja-j])")

ASKING: Final = ("prompt", "question", "problem", "query", "instruction")
"""Names of columns that are nothing but prompts: an `input` may go with one."""

WORKED: Final = ("solution", "a")
"""Names of right answers that mean something else beside another: worked out, or an option."""

LISTED: Final = 20
"""Columns that a message names."""


class Source(NamedTuple):
    """A file of your own rows, looked at.

    Args:
        file: as it was typed.
        columns: in their order.
        guess: the columns of prompt and reference, where they can be guessed.
        rows: the first `LOOKED_AT`.
        doubts: by part, why its guess needs somebody who confirms it, and what they type.
    """

    file: str
    columns: list[str]
    guess: dict[str, str]
    rows: list[dict[str, Any]]
    doubts: dict[str, str]

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
    guess, doubts = _guess(file, ahead or objects[:1], names)
    filled = [name for name in names if any(row.get(name) not in (None, "") for row in objects)]
    doubts = {part: _further(part, guess, filled) for part in PARTS} | doubts
    open_ = {part: f"{shown(file)}: {doubt}" for part, doubt in doubts.items() if doubt}
    return Source(file, names, guess, objects, open_)


def _one_split(file: str) -> str:
    """A file to look at of a folder with several splits: of the one that is trained on."""
    splits = splits_of(Path(file)) if Path(file).is_dir() else {}
    if len(splits) <= 1:
        return file
    return str(splits.get("train", splits[min(splits)])[0])


def _guess(
    file: str, rows: list[dict[str, Any]], names: list[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """The columns, and doubts: by the shape of the rows, else by names, else of two the other."""
    try:
        columns = recognised(file, rows).columns
    except UnknownShape:
        if len(rows) == 1 and any(isinstance(value, list | dict) for value in rows[0].values()):
            raise  # the rows are inside of one object: the message says how to get them out
        named = guessed_columns(columns_of(rows))
        guess = _parts(named)
        return _completed(guess, names, named) if len(names) == len(PARTS) else (guess, {})
    parts = {"prompt": columns.prompt, "reference": columns.reference}
    return _parts({part: first(rows[0], paths) for part, paths in parts.items()}), {}


def _completed(
    guess: dict[str, str], names: list[str], named: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """The guess of a file of two columns, and doubts, where names tell one part or none."""
    left = [name for name in names if name not in guess.values()]
    missing = [part for part in PARTS if part not in guess]
    if len(left) != len(missing):  # the name is a path into a column
        return guess, {}
    whole = guess | dict(zip(missing, left, strict=True))
    if len(missing) == len(PARTS):
        one, other = map(quote, names)
        doubt = (
            f"no name tells the columns {one} and {other} apart: add --prompt {one} --reference "
            f"{other}, or --prompt {other} --reference {one}"
        )
        return whole, dict.fromkeys(PARTS, doubt)
    if missing == ["reference"] and left[0] != named.get("response"):
        typed = quote(left[0])
        doubt = f"no name says that {typed} has the right answers: add --reference {typed}"
        return whole, {"reference": f"{doubt}, or --no-reference"}
    return whole, {}


def _further(part: str, guess: Mapping[str, str], names: Sequence[str]) -> str:
    """Why a guess by name is in doubt: further columns have such a name; "" where none has."""
    taken = set(guess.values())
    found = [name for name in names if name not in taken and _means(part, name)]
    if part not in guess or guess[part] not in names or not found:
        return ""
    typed = [f"--{part} {quote(name)}" for name in (guess[part], *found)]
    return f"{len(typed)} columns can be the {part}: add {' or '.join(typed)}"


def _means(part: str, name: str) -> bool:
    """Whether a name is a usual one of a part, or ends in one: `correct_answer`."""
    *_, last = words = re.split(r"[ _.-]", name.lower())
    if part == "prompt" or "_".join(words) in USUAL["response"]:
        return part == "prompt" and "_".join(words) in ASKING
    return last in USUAL["reference"] and last not in WORKED


def _parts(guess: Mapping[str, str | None]) -> dict[str, str]:
    return {part: found for part in PARTS if (found := guess.get(part)) is not None}
