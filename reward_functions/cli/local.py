"""`reward local`: a local AWS emulator on this machine, to deploy to and to invoke.

eval "$(reward local up --print-env)" && …    # from here on this shell's AWS is the local one
eval "$(reward local down --print-env)"       # and now it is not

Where `--print-env` fails, the shell evaluates `false`, and what follows `&&` does not run.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reward_functions.cli._errors import PRINT_ENV

if TYPE_CHECKING:
    from reward_functions.tools.local_aws import LocalAws

app = typer.Typer(
    no_args_is_help=True,
    help="A local AWS emulator on this machine: no account, no Docker, no network.",
)

Named = Annotated[
    str, typer.Option("--name", metavar="NAME", help="Which one, where several run side by side.")
]
PrintEnv = Annotated[
    bool,
    typer.Option(PRINT_ENV, help='Write shell lines: eval "$(reward local up --print-env)".'),
]
Json = Annotated[bool, typer.Option("--json", help="Write JSON.")]


@app.command()
def up(
    *,
    name: Named = "default",
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Where it listens.", show_default="a free port"),
    ] = None,
    enforce: Annotated[
        bool,
        typer.Option("--enforce", help="Check signatures and permissions as AWS does; over TLS."),
    ] = False,
    python: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="The interpreter that has ministack; functions run on it.",
            show_default="what make setup installed",
        ),
    ] = None,
    models: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="A server that speaks chat completions at URL/v1, to answer for Bedrock's models.",
            show_default="no model answers",
        ),
    ] = None,
    print_env: PrintEnv = False,
    as_json: Json = False,
) -> None:
    """Start one, or find the one of this name that runs; it stays until `reward local down`."""
    from reward_functions.cli._console import errors
    from reward_functions.core.errors import ConfigurationError
    from reward_functions.tools import local_aws
    from reward_functions.tools.local_aws.processes import ended_like_interrupted

    if print_env and as_json:
        raise ConfigurationError("--print-env and --json exclude each other")
    with ended_like_interrupted(), errors().status("starting the local AWS") as status:
        aws = local_aws.up(
            name, port=port, enforce=enforce, python=python, models=models, progress=status.update
        )
    if as_json:
        typer.echo(json.dumps(_described(aws), indent=2))
        return
    if print_env:
        _print_environment(aws.environment)
    _say(f"local AWS {name!r} on {aws.endpoint}, process {aws.record.process.id}", err=print_env)
    named = "" if name == "default" else f" --name {name}"
    again = f"{named} --enforce" if aws.enforcing else named
    if not print_env:
        _say(f'  point a shell at it:  eval "$(reward local up{again} {PRINT_ENV})"')
    _say(f"  end it:               reward local down{named}", err=print_env)


@app.command()
def status(*, as_json: Json = False) -> None:
    """Those that run, and those that ended by themselves and left their log."""
    from reward_functions.cli._console import cell, output, table
    from reward_functions.tools import local_aws
    from reward_functions.tools.local_aws.emulator import known

    found = known()
    if as_json:
        typer.echo(json.dumps([_described(aws) for aws in found], indent=2))
        return
    if not found:
        _say("no local AWS runs: reward local up")
        return
    shown = table("name", "state", "endpoint", "process", "permissions", names=("name",))
    for aws in found:
        alive = local_aws.find(aws.name) is not None
        shown.add_row(
            cell(aws.name),
            cell("runs", "green") if alive else cell(f"ended{aws.last_words()}", "yellow"),
            cell(aws.endpoint),
            cell(str(aws.record.process.id)),
            cell("enforced" if aws.enforcing else "not checked"),
        )
    output().print(shown)


@app.command()
def reset(*, name: Named = "default") -> None:
    """Empty it of everything that was made in it."""
    from reward_functions.tools import local_aws
    from reward_functions.tools.local_aws import LocalAwsError

    aws = local_aws.find(name)
    if aws is None:
        raise LocalAwsError(f"no local AWS {name!r} runs: reward local up --name {name}")
    aws.reset()
    _say(f"local AWS {name!r} is empty")


@app.command()
def down(*, name: Named = "default", print_env: PrintEnv = False) -> None:
    """End it with everything it started, and forget it."""
    from reward_functions.tools import local_aws
    from reward_functions.tools.local_aws.emulator import known

    # Also of one that ended by itself: a shell may point at it still.
    left = [variable for aws in known() if aws.name == name for variable in aws.environment]
    ran = local_aws.down(name)
    if print_env:
        for variable in left:
            typer.echo(f"unset {variable}")
    _say(f"local AWS {name!r} {'has ended' if ran else 'does not run'}", err=print_env)


def _described(aws: LocalAws) -> dict[str, Any]:
    return {
        "name": aws.name,
        "running": aws.alive,
        "endpoint": aws.endpoint,
        "port": aws.record.port,
        "process": aws.record.process.id,
        "enforcing": aws.enforcing,
        "python": aws.record.python,
        "log": str(aws.folder.log),
        "environment": aws.environment,
    }


def _print_environment(needed: dict[str, str]) -> None:
    from reward_functions.tools.local_aws.environment import shell_lines

    for line in shell_lines(os.environ, needed):
        typer.echo(line)


def _say(text: str, *, err: bool = False) -> None:
    typer.echo(text, err=err)
