"""Arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reward_functions.aws.shell import STAGE_VARIABLE, default_stage

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="A reward of `reward list`, or the path of a .py file, or of a .toml or .json file "
        "that declares a composite.",
    ),
]
Registered = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="A reward of `reward list`. No path: a function finds its reward among the installed "
        "packages.",
    ),
]


Stage = Annotated[
    str,
    typer.Option(
        "--stage",
        "-s",
        metavar="NAME",
        envvar=STAGE_VARIABLE,
        show_envvar=True,
        default_factory=lambda: default_stage().name,
        show_default="that of job.toml or cdk.json, or dev",
        help="A stage of cdk.json that is deployed.",
    ),
]
File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Samples: JSONL, JSON, CSV, gzip of these, parquet, or a data set's folder; - is "
        "standard input.",
    ),
]
Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="PART=COLUMN,…",
        help="Which column holds which part of a sample: prompt, response, reference, id, system, "
        "messages. Points lead into objects: reference=reward_model.ground_truth.",
        show_default="the columns of a known shape",
    ),
]
Shape = Annotated[
    str | None,
    typer.Option(
        "--rows",
        metavar="SHAPE",
        help="The shape of the rows, such as trl, verl or qa; docs/data.md lists them.",
        show_default="recognised from the first rows",
    ),
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
AllowEmpty = Annotated[
    bool, typer.Option("--allow-empty", help="Take a FILE without rows: exit with 0.")
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output", "-o", metavar="OUT", help="Write results to a file; - is standard output."
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
Folder = Annotated[
    Path, typer.Option(metavar="DIR", help="The folder to write to; made where it is missing.")
]
RewardOption = Annotated[
    str, typer.Option(metavar="NAME", help="A reward of `reward list`, or the path of a .py file.")
]
