"""Arguments that the commands on judges share."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

Models = Annotated[
    str | None,
    typer.Option(
        "--judge",
        metavar="FILE",
        envvar="REWARD_JUDGE",
        show_envvar=True,
        help="Who judges: a .toml or .json file, or one JSON object, as a function is deployed "
        "with. There is no default model.",
    ),
]
Replay = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Recorded answers in place of a model: JSONL."),
]
Format = Annotated[Literal["table", "json"], typer.Option("--format", help="What to print.")]
AsJson = Annotated[bool, typer.Option("--json", help="The same as --format json.")]
