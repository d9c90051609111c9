"""Arguments that the commands on judges share."""

from __future__ import annotations

from typing import Annotated

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
AsJson = Annotated[bool, typer.Option("--json", help="Print data in place of tables.")]
