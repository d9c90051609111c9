"""Arguments that several commands share."""

from __future__ import annotations

from typing import Annotated, Final

import typer

Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="A reward of `reward list`, or the path of a .py file."),
]
Registered = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="A reward of `reward list`. No path: a function finds its reward among the installed "
        "packages.",
    ),
]
STAGE_VARIABLE: Final = "REWARD_STAGE"
"""Names the stage of commands that are given none."""

Stage = Annotated[
    str,
    typer.Option(
        "--stage",
        "-s",
        metavar="NAME",
        envvar=STAGE_VARIABLE,
        show_envvar=True,
        help="A stage of cdk.json that is deployed.",
    ),
]
File = Annotated[
    str,
    typer.Argument(metavar="FILE", help="Samples: JSONL or one JSON array; - is standard input."),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        metavar="NAME=VALUE",
        help="Set a parameter of the reward; one option for each.",
    ),
]
Models = Annotated[
    str | None,
    typer.Option(
        "--judge",
        metavar="FILE",
        envvar="REWARD_JUDGE",
        show_envvar=True,
        help="The judge's settings: a .toml or .json file, or one JSON object, as a function is "
        "deployed with. There is no default model.",
    ),
]
