"""`reward data split`: splits that are made, by group."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.tools.json_rows import Row


def split(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Training data: JSONL or one JSON array.")
    ],
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
            help="The folder to write to.",
            show_default="beside FILE",
        ),
    ] = None,
) -> None:
    """Split a file by group, so that no page and no prompt stands on two sides.

    A page is `metadata.page`; a prompt is `metadata.prompt`, or else the words of the last user
    turn. The same seed makes the same split, in whatever order the rows stand. A data set that has
    official splits needs no other.

    Exit status: 0 all is well, 2 nothing was written.
    """
    import json

    from reward_functions.cli._console import MESSAGE, cell, errors, output, plain, table
    from reward_functions.core.errors import ConfigurationError
    from reward_functions.tools.atomic import Together
    from reward_functions.tools.datasets.leakage import Overlaps
    from reward_functions.tools.datasets.splitting import assigned, parse_ratio
    from reward_functions.tools.json_rows import read_rows

    if file == "-":
        raise ConfigurationError("a split reads its file twice; standard input is read once")
    shares = parse_ratio(ratio)
    groups = list(_groups(read_rows(file), by))
    parts = assigned(groups, shares, seed)
    folder, prefix = (out, "") if out else (Path(file).parent, f"{Path(file).stem}.")
    rows, overlaps = Counter[str](), Overlaps()
    with Together(spared=[Path(file)]) as files:
        files.folder(folder)
        paths = {part: folder / f"{prefix}{part}.jsonl" for part in shares}
        streams = {part: files.opened(path) for part, path in paths.items()}
        for row, group in zip(read_rows(file), groups, strict=True):
            part = parts[group]
            streams[part].write(f"{json.dumps(row.content)}\n")
            overlaps.add(part, str(row.content.get("id", row.where)), row.content)
            rows[part] += 1
    shown = table("part", "rows", "share", f"{by}s", "file", numbers=("rows", "share", f"{by}s"))
    for part, path in paths.items():
        held = sum(where == part for where in parts.values())
        figures = (f"{rows[part]:,}", f"{rows[part] / len(groups):.1%}", f"{held:,}")
        shown.add_row(cell(part), *map(cell, figures), cell(str(path)))
    output().print(shown)
    for leak in overlaps.leaks():
        errors().print(f"leak: {plain(str(leak), MESSAGE)}", style="yellow", soft_wrap=True)
    _warn_of_official(file)


def _groups(rows: Iterator[Row], by: Literal["page", "prompt"]) -> Iterator[str]:
    """The group of every row.

    Raises:
        BadInput: a row has none.
    """
    from reward_functions.tools.datasets.leakage import group_of
    from reward_functions.tools.json_rows import BadInput

    for row in rows:
        group = group_of(row.content, by)
        if group is None:
            field = "metadata.page is missing" if by == "page" else "there is no user turn"
            raise BadInput(f"{row.where}: {field}, so it belongs to no {by}")
        yield group


def _warn_of_official(file: str) -> None:
    from reward_functions.cli._console import errors
    from reward_functions.tools.json_rows import read_rows

    contents = (row.content.get("metadata") for row in read_rows(file))
    official = {metadata.get("split") for metadata in contents if isinstance(metadata, dict)}
    held_out = sorted(str(split) for split in official - {"train", None})
    if held_out:
        errors().print(
            f"rows of the official {' and '.join(held_out)} split are among these: what trains on "
            "them cannot be compared with published results",
            style="yellow",
            soft_wrap=True,
        )
