"""`reward`: rewards on the command line.

    catalogue.py   list · show
    auditing.py    audit · compare
    explaining.py  explain
    scoring.py     score
    exporting.py   export
    runs.py        runs list · show · watch · resume · cancel · fetch
    init.py        init
    view.py        view
    invoking.py    invoke
    deployed.py    deployed list · invoke · check · rollback · prune
    local.py       local up · status · reset · down · install
    runtime.py     local runtime
    lock.py        lock
    stages.py      stage check · show · schema
    doctor.py      doctor
    demo.py        demo
    data/          data prepare · lint · split · stats · upload
    job/           job plan · baseline · preflight · start · list · show · watch · metrics · …
    rollouts/      rollouts run · score · report · doctor · outbox
    judge/         judge probe · doctor · calibrate · estimate

A command is imported when it is called, so that help is instant. Errors a user can act on are
one line on standard error and exit status 2, wherever they are raised; see `_errors.py`.
"""

from __future__ import annotations

import sys
from typing import Annotated, Final

import typer

from reward_functions.cli._errors import OneLineErrors

__all__ = ["app", "main"]

ROWS: Final = {
    "demo": "Score responses that ship with the project: right, wrong, hostile, malformed.",
    "list": "Every reward there is.",
    "show": "All about one reward: documentation, parameters, examples, a request and its reply.",
    "explain": "Explain a score: the answer found, what was compared, the rule that decided.",
    "score": "Score a file of responses.",
    "audit": "Say whether a reward can be trained on.",
    "compare": "Score the same responses by two rewards, and say how they differ.",
    "export": "Send results to an experiment tracker.",
    "runs": "Runs over shards, which are folders: list, show, watch, resume, cancel, fetch.",
    "init": "Write a folder to train with from a file of your own.",
    "view": "Show the results of a folder in one list, each with its page, on this machine.",
    "invoke": "Run the Lambda function of a reward on this machine, and time it.",
    "lock": "Lock what the packages of a stage require, with hashes.",
    "doctor": "Say which AWS this shell is on, and if credentials, tools and the stage are ready.",
    "stage": "Stages of this folder's cdk.json: check, show, schema.",
    "data": "Prepare training data, check it, and bring it to S3.",
    "judge": "Set up a judge, probe its models, attack it, calibrate it, and estimate its cost.",
    "job": "Training jobs on AWS: plan, check, start once, watch, explain.",
    "rollouts": "Agents' episodes: run them as a trainer does, score them, deliver their rewards.",
    "deployed": "Functions that are deployed: the catalogue, invoke, check.",
    "local": "A local AWS emulator on this machine: no account, no Docker, no network.",
}

TARGETS: Final = {
    "list": "catalogue:list_rewards",
    "show": "catalogue:show",
    "explain": "explaining:explain",
    "score": "scoring:score",
    "audit": "auditing:audit",
    "compare": "auditing:compare",
    "export": "exporting:export",
    "runs": "runs:app",
    "invoke": "invoking:invoke",
    "stage": "stages:app",
    "deployed": "deployed:app",
    "local": "local:app",
}
"""Where a command is that its module does not name."""


class RewardCommands(OneLineErrors):
    """The commands of `reward`."""

    package = __name__
    rows = ROWS
    targets = TARGETS


app = typer.Typer(
    cls=RewardCommands,
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
