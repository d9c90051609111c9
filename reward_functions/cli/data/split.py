"""`reward data split`: splits that are made, by group."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from reward_functions.cli._console import cell, output, remark, table
from reward_functions.cli._options import Map, Shape  # noqa: TC001 - typer reads annotations
from reward_functions.cli.data._output import DataFile  # noqa: TC001 - typer reads annotations
from reward_functions.core.errors import ConfigurationError
from reward_functions.data.json_rows import BadInput, Row
from reward_functions.data.parting import parted
from reward_functions.data.rows.reading import prompts_of
from reward_functions.data.splitting import group_of, parse_ratio
from reward_functions.scoring.rows import row_options

if TYPE_CHECKING:
    from collections.abc import Iterator


def split(
    file: DataFile,
    *,
    by: Annotated[Literal["page", "prompt"], typer.Option(help="What no two parts may share.")],
    ratio: Annotated[
        str, typer.Option(metavar="A/B/C", help="Shares of train, val and test, or train and test.")
    ] = "80/10/10",
    seed: Annotated[int, typer.Option(help="Of the shuffle.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The folder to write to; made where it is missing.",
            show_default="FILE-split, beside FILE",
        ),
    ] = None,
    names: Annotated[
        str | None,
        typer.Option(
            metavar="A/B/C",
            help="What the parts are called.",
            show_default="train/val/test, or train/test",
        ),
    ] = None,
    mapped: Map = None,
    shape: Shape = None,
) -> None:
    """Split a file by group, so that no page and no prompt stands on two sides.

    A page is `metadata.page`; a prompt is `metadata.prompt`, or else the words of the last user
    turn. The same seed makes the same split, in any order of the rows. A data set that has official
    splits needs no other. Rows are written as JSON, in the shape that they have.

    Exit status: 0 all is well, 2 nothing was written.
    """
    if file == "-":
        raise ConfigurationError("a split reads its file twice; standard input is read once")
    shares = parse_ratio(ratio, names)
    out = out or Path(file).with_name(f"{Path(file).name.split('.', 1)[0]}-split")
    options = row_options(mapped, shape)
    done = parted(
        file, out, shares=shares, seed=seed, group=partial(_group, by=by), options=options
    )
    total = done.rows.total()
    shown = table("part", "rows", "share", f"{by}s", "file", numbers=("rows", "share", f"{by}s"))
    for part, path in done.paths.items():
        held = sum(where == part for where in done.parts.values())
        rows = done.rows[part]
        figures = (f"{rows:,}", f"{rows / total:.1%}", f"{held:,}")
        shown.add_row(part, *map(cell, figures), str(path))
    output().print(shown)
    for leak in done.leaks:
        remark(f"leak: {leak}", "yellow")
    _warn_of_official(prompts_of(file, options))


def _group(row: Row, by: Literal["page", "prompt"]) -> str:
    """The group of a row.

    Raises:
        BadInput: it has none.
    """
    group = group_of(row.content, by)
    if group is None:
        field = "metadata.page is missing" if by == "page" else "there is no user turn"
        raise BadInput(f"{row.where}: {field}, so it belongs to no {by}")
    return group


def _warn_of_official(rows: Iterator[Row]) -> None:
    contents = (row.content.get("metadata") for row in rows)
    official = {metadata.get("split") for metadata in contents if isinstance(metadata, dict)}
    held_out = sorted(str(split) for split in official - {"train", None})
    if held_out:
        remark(
            f"rows of the official {' and '.join(held_out)} split are among these: what trains on "
            "them cannot be compared with published results",
            "yellow",
        )
