"""`reward local`: a local AWS emulator on this machine, to deploy to and to invoke.

eval "$(reward local up --print-env)" && …    # from here on this shell's AWS is the local one
eval "$(reward local down --print-env)"       # and now it is not

`reward local runtime`, a stand-in for the SageMaker job runtime, is in `runtime.py`.

Where `--print-env` fails, the shell evaluates `false`, and what follows `&&` does not run.
"""

from __future__ import annotations

import os
from pathlib import Path  # noqa: TC003 - typer reads annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reward_functions.aws.emulator_record import DEFAULT, pointed_at, towards_line
from reward_functions.cli import runtime
from reward_functions.cli._console import cell, errors, output, print_json, table
from reward_functions.cli._echo import say
from reward_functions.cli._errors import PRINT_ENV
from reward_functions.core.errors import ConfigurationError
from reward_functions.local import emulator
from reward_functions.local.emulator import LocalAws, LocalAwsError, TrainingOptions, known
from reward_functions.local.emulator.emulator import ended_like_interrupted, shell_lines
from reward_functions.local.emulator.installing import install as installed
from reward_functions.local.emulator.people import become

if TYPE_CHECKING:
    from rich.text import Text


app = typer.Typer(no_args_is_help=True)

Named = Annotated[
    str, typer.Option("--name", metavar="NAME", help="Which one, where several run side by side.")
]
PrintEnv = Annotated[
    bool,
    typer.Option(PRINT_ENV, help='Write shell lines: eval "$(reward local up --print-env)".'),
]
Here = Annotated[
    str | None,
    typer.Option(
        "--name",
        metavar="NAME",
        help="Which one, where several run side by side.",
        show_default="the one that this shell points at",
    ),
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
            show_default="what reward local install made",
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
    training: Annotated[
        bool,
        typer.Option(
            "--training",
            help="Start the training double beside it: jobs run as a simulation, which trains no "
            "language model.",
        ),
    ] = False,
    data: Annotated[
        list[Path] | None,
        typer.Option(
            "--data",
            metavar="FILE",
            help="Prompts that the training double answers beside those in the buckets; JSONL, one "
            "option for each file.",
        ),
    ] = None,
    step_seconds: Annotated[
        float | None,
        typer.Option(
            "--step-seconds",
            min=0.0,
            max=3600.0,
            help="How long a simulated job waits after each step, also on one that runs already.",
            show_default="no time, or as it was",
        ),
    ] = None,
    print_env: PrintEnv = False,
    as_json: Json = False,
) -> None:
    """Start one, or find the one of this name that runs; it stays until `reward local down`."""
    if print_env and as_json:
        raise ConfigurationError("--print-env and --json exclude each other")
    wanted = _training(training=training, data=data, step_seconds=step_seconds)
    with ended_like_interrupted(), errors().status("starting the local AWS") as status:
        aws = emulator.up(
            name,
            port=port,
            enforce=enforce,
            python=python,
            models=models,
            training=wanted,
            progress=status.update,
        )
    if as_json:
        print_json(_described(aws))
        return
    if print_env:
        _print_environment(aws.environment)
    say(f"local AWS {name!r} on {aws.endpoint}, process {aws.record.process.id}", err=print_env)
    if aws.record.project:
        say(f"  started in:           {aws.record.project}", err=print_env)
    if aws.training_endpoint:
        say(
            f"  training double:      {aws.training_endpoint}, a simulation: it trains no language "
            "model",
            err=print_env,
        )
        say(f"  the course of a job:  {aws.training_endpoint}/_training/jobs/JOB", err=print_env)
    named = "" if name == "default" else f" --name {name}"
    if not print_env:
        say(f"  point a shell at it:  {towards_line(aws)}")
    say(f"  end it:               reward local down{named}", err=print_env)


@app.command()
def status(*, as_json: Json = False) -> None:
    """Those that run, and those that ended by themselves and left their log."""
    found = known()
    if as_json:
        print_json([_described(aws) for aws in found])
        return
    if not found:
        say("no local AWS runs: reward local up")
        return
    columns = ("name", "state", "endpoint", "process", "permissions", "training")
    shown = table(*columns, names=("name",))
    for aws in found:
        alive = emulator.find(aws.name) is not None
        shown.add_row(
            aws.name,
            cell("runs", "green") if alive else cell(f"ended{aws.last_words()}", "yellow"),
            aws.endpoint,
            str(aws.record.process.id),
            "enforced" if aws.enforcing else "not checked",
            _training_cell(aws),
        )
    output().print(shown)


@app.command()
def throttle(
    operation: Annotated[
        str,
        typer.Argument(
            metavar="OPERATION", help="Such as GetModelCustomizationJob or CreateFineTuningJob."
        ),
    ],
    *,
    times: Annotated[int, typer.Option("--times", min=0, help="How many calls are refused.")] = 1,
    name: Here = None,
) -> None:
    """Let the training double refuse the next calls of an operation, as a busy service does."""
    _here(name).ask_training("POST", "throttle", operation=operation, times=times)
    calls = "call" if times == 1 else f"{times} calls"
    say(f"the next {calls} of {operation} will be throttled")


@app.command()
def fail(
    job: Annotated[str, typer.Argument(metavar="JOB", help="A job's name, id or ARN.")],
    message: Annotated[
        str, typer.Argument(metavar="MESSAGE", help="What the service gives as the reason.")
    ] = "Internal error",
    *,
    name: Here = None,
) -> None:
    """Let a simulated job fail after its next step: `reward job diagnose` is to be rehearsed."""
    _here(name).ask_training("POST", "fail", job=job, message=message)
    say(f"{job} will fail after its next step: {message}")


@app.command("as")
def as_(
    tasks: Annotated[
        list[str],
        typer.Argument(
            metavar="TASK…",
            help="Policies of a stage: data, jobs, evaluate, operate, sagemaker, agents, "
            "agent-runtime (an agent's own), training, hyperpod.",
        ),
    ],
    *,
    stage: Annotated[str, typer.Option("--stage", "-s", help="A stage that is deployed there.")] = (
        "local"
    ),
    name: Here = None,
    print_env: PrintEnv = False,
) -> None:
    """Become a user of the emulator who has a stage's policies, and no other right.

    eval "$(reward local as data jobs evaluate --print-env)"

    `reward local up --print-env` makes the shell the root of the emulator again.
    """
    if not print_env:
        typed = " ".join(tasks)
        raise ConfigurationError(
            f'a user is keys, for a shell to take: eval "$(reward local as {typed} {PRINT_ENV})"'
        )
    aws = _here(name)
    _print_environment(become(aws, stage, tasks))
    rights = ", ".join(tasks)
    say(f"this shell has the rights of {rights} in the stage {stage!r}", err=True)
    if not aws.enforcing:
        say("  which nobody checks there: reward local up --enforce does", err=True)


@app.command()
def reset(*, name: Named = "default") -> None:
    """Empty it of everything that was made in it."""
    _running(name).reset()
    say(f"local AWS {name!r} is empty")


@app.command()
def down(*, name: Named = "default", print_env: PrintEnv = False) -> None:
    """End it with everything it started, and forget it."""
    # Also of one that ended by itself: a shell may point at it still.
    left = [variable for aws in known() if aws.name == name for variable in aws.environment]
    ran = emulator.down(name)
    if print_env:
        for variable in left:
            typer.echo(f"unset {variable}")
    say(f"local AWS {name!r} {'has ended' if ran else 'does not run'}", err=print_env)


@app.command()
def install() -> None:
    """Install the local AWS emulator, beside this environment's packages and not among them."""
    with (
        ended_like_interrupted(),
        errors().status("looking for the local AWS emulator") as status,
    ):
        python = installed(status.update)
    say(f"the local AWS emulator is installed in {python.parents[1]}: reward local up")


app.command("runtime")(runtime.runtime)


def _training(
    *, training: bool, data: list[Path] | None, step_seconds: float | None
) -> TrainingOptions | None:
    """How the training double is started; None where it is not asked for."""
    if not training:
        if data or step_seconds is not None:
            raise ConfigurationError("--data and --step-seconds are for --training")
        return None
    for file in data or []:
        if not file.is_file():
            raise ConfigurationError(f"--data: there is no file {file}")
    return TrainingOptions(data or (), step_seconds)


def _training_cell(aws: LocalAws) -> Text:
    training = aws.record.training
    if training is None:
        return cell("none")
    return cell(aws.training_endpoint) if training.process.alive else cell("ended", "yellow")


def _running(name: str) -> LocalAws:
    """The emulator of this name.

    Raises:
        LocalAwsError: it does not run.
    """
    aws = emulator.find(name)
    if aws is None:
        raise LocalAwsError(f"no local AWS {name!r} runs: reward local up --name {name}")
    return aws


def _here(name: str | None) -> LocalAws:
    """The emulator of this name; of none, the one that the shell points at.

    Raises:
        LocalAwsError: it does not run.
    """
    if name is not None:
        return _running(name)
    address = os.environ.get("AWS_ENDPOINT_URL", "")
    aws = pointed_at([address])
    if aws is not None:
        return _running(aws.name)
    running = [aws.name for aws in known() if aws.alive]
    if address or (running and DEFAULT not in running):
        raise LocalAwsError(
            "this shell points at no local AWS that was started here; name one with --name: "
            f"{', '.join(running) or 'none runs, reward local up'}"
        )
    return _running(DEFAULT)


def _described(aws: LocalAws) -> dict[str, Any]:
    return {
        "name": aws.name,
        "running": aws.alive,
        "endpoint": aws.endpoint,
        "port": aws.record.port,
        "process": aws.record.process.id,
        "enforcing": aws.enforcing,
        "python": aws.record.python,
        "project": aws.record.project or None,
        "log": str(aws.folder.log),
        "training": aws.training_endpoint or None,
        "environment": aws.environment,
    }


def _print_environment(needed: dict[str, str]) -> None:
    for line in shell_lines(os.environ, needed):
        typer.echo(line)
