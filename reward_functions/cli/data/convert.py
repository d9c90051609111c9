"""`reward data convert`: rows of one shape and format as rows of another shape, in JSONL."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from reward_functions.cli._console import plain, remark
from reward_functions.cli._echo import several
from reward_functions.cli._errors import INCOMPLETE
from reward_functions.cli._options import AllowEmpty, Map, Shape  # noqa: TC001 - typer reads annotations
from reward_functions.cli._progress import watched
from reward_functions.cli.data._output import require_shape, tell_lost
from reward_functions.data.atomic import Together
from reward_functions.data.rows.reading import read_rows
from reward_functions.data.rows.writing import write
from reward_functions.scoring.rows import require_rows, row_options


def convert(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="Rows in any shape `score` reads; - is standard input."
        ),
    ],
    *,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="SHAPE",
            help="bedrock, openai, qrr, sagemaker, trl, trl-chat, verifiers or verl.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="OUT", help="The JSONL file to write.")
    ],
    mapped: Map = None,
    shape: Shape = None,
    allow_empty: AllowEmpty = False,
) -> None:
    """Write rows in the shape that a trainer reads.

    The file appears complete or not at all. Fields without a place in the shape, such as the system
    prompt of a prompt that is one string, are left out and reported once, with a count.

    Exit status: 0 everything was written, 1 something has no place in the shape, 2 nothing was
    written.
    """
    require_shape(to)
    options = row_options(mapped, shape)
    lost, rows = Counter[str](), 0
    spared = [] if file == "-" else [Path(file)]
    with Together(spared=spared) as files:
        stream = files.opened(output)
        for row in watched(read_rows(file, options), "converting"):
            written = write(row.content, to)
            lost.update(set(written.lost))
            stream.write(f"{json.dumps(written.content)}\n")
            rows += 1
        require_rows(rows, file, allow_empty=allow_empty)
    remark(f"{several(rows, 'row')} as {to} in {plain(str(output))}")
    tell_lost(lost, to)
    if lost:
        raise typer.Exit(INCOMPLETE)
