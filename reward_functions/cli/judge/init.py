"""`reward judge init`: a file of settings to begin with."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from reward_functions.calibration.settings import settings_for
from reward_functions.cli._console import remark
from reward_functions.core.errors import ConfigurationError
from reward_functions.data.atomic import named

Kind = Literal["bedrock", "vllm", "openai", "ollama"]


def init(
    kind: Annotated[Kind, typer.Argument(help="Where the model is served.")] = "bedrock",
    *,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="A new file; without it, standard output."
        ),
    ] = None,
) -> None:
    """Write a judge's settings to begin with: a TOML file for --judge.

    Exit status: 0, or 2 where the file exists.
    """
    if out is None:
        typer.echo(settings_for(kind), nl=False)
        return
    try:
        with named(out), open(out, "x", encoding="utf-8") as stream:  # noqa: PTH123 - as typed
            stream.write(settings_for(kind))
    except FileExistsError:
        raise ConfigurationError(f"{out} exists: name another file with -o, or edit it") from None
    line = f"{out} is written; name your model in it, and try it: reward judge probe reference"
    remark(f"{line} --judge {out}")
