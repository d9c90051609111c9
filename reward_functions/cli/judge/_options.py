"""Options that the commands of `reward judge` share."""

from __future__ import annotations

from typing import Annotated

import typer

Replay = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Recorded answers in place of a model: JSONL."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print data in place of tables.")]
