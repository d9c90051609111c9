"""`reward`: rewards on the command line.

    catalogue.py   list · show · check
    explaining.py  explain
    scoring.py     score
    scaffold.py    new
    invoking.py    invoke
    deployed.py    deployed list · invoke · check
    rollback.py    deployed rollback
    prune.py       deployed prune
    local.py       local up · status · reset · down
    installing.py  local install
    runtime.py     local runtime
    lock.py        lock
    stages.py      stage check · show · schema
    doctor.py      doctor
    demo.py        demo
    data/          data prepare · lint · split · stats · replay · upload
    job/           job plan · baseline · preflight · start · list · show · watch · metrics · …
    rollouts/      rollouts run · score · report · doctor · outbox
    judge/         judge probe · doctor · calibrate · estimate

Commands import what they need when they run, so that help is instant. Errors a user can act on are
one line on standard error and exit status 2, wherever they are raised; see `_errors.py`.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from reward_functions.cli import (
    catalogue,
    demo,
    deployed,
    doctor,
    explaining,
    invoking,
    local,
    lock,
    prune,
    rollback,
    scaffold,
    scoring,
    stages,
)
from reward_functions.cli._errors import OneLineErrors
from reward_functions.cli.data import data
from reward_functions.cli.job import job
from reward_functions.cli.judge import judge
from reward_functions.cli.rollouts import rollouts

__all__ = ["app", "main"]

app = typer.Typer(
    cls=OneLineErrors,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """The entry point of the `reward` script."""
    # A terminal that cannot show a character shows its escape; it never ends the command.
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    app()


def _version(wanted: bool) -> None:  # noqa: FBT001 - typer passes it by position
    if wanted:
        from importlib.metadata import version

        typer.echo(f"reward-functions {version('reward-functions')}")
        raise typer.Exit


@app.callback()
def reward(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="The version, and exit."),
    ] = False,
) -> None:
    """Score model responses with rewards that can be trusted.

    Exit status: 0 all is well; 1 something is wrong, or a part was not measured; 2 nothing was
    measured, or the input or the arguments cannot be used.
    """


app.command("demo")(demo.demo)
app.command("list")(catalogue.list_rewards)
app.command("show")(catalogue.show)
app.command("explain")(explaining.explain)
app.command("score")(scoring.score)
app.command("check")(catalogue.check)
app.command("new")(scaffold.new)
app.command("invoke")(invoking.invoke)
app.command("lock")(lock.lock)
app.command("doctor")(doctor.doctor)
app.add_typer(stages.app, name="stage")
app.add_typer(data, name="data")
app.add_typer(judge, name="judge")
app.add_typer(job, name="job")
app.add_typer(rollouts, name="rollouts")
deployed.app.command("rollback")(rollback.rollback)
deployed.app.command("prune")(prune.prune)
app.add_typer(deployed.app, name="deployed")
app.add_typer(local.app, name="local")
