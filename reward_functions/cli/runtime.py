"""`reward local runtime`: a stand-in for the SageMaker job runtime, in the foreground.

reward local runtime --wrong 0.2                      # serves until Ctrl-C; one line a rollout
eval "$(reward local runtime --print-env)" && …       # another shell: agents report there
"""

from __future__ import annotations

import os
import signal
from errno import EADDRINUSE
from pathlib import Path
from queue import SimpleQueue
from shlex import quote
from threading import Event
from typing import Annotated, Final

import typer

from reward_functions.cli._console import plain
from reward_functions.cli._echo import say, several
from reward_functions.cli._errors import PRINT_ENV
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.extras import ROLLOUTS, require
from reward_functions.local.runtime_double import (
    CalculatorPolicy,
    FaultPlan,
    Policy,
    RelayPolicy,
    RuntimeDouble,
    RuntimeSettings,
    ScriptedPolicy,
    Trajectory,
    shown_rewards,
)

CALCULATOR: Final = "calculator"

PORT: Final = 8765

LOOPBACK: Final = "127.0.0.1"

DEFAULT_REGION: Final = "us-west-2"
"""Of sagemaker.train.rft."""

CREDENTIALS: Final = {"AWS_ACCESS_KEY_ID": "RUNTIMEDOUBLE", "AWS_SECRET_ACCESS_KEY": "none"}
"""Keys that mean nothing anywhere: the double checks the form of a signature alone."""

CREDENTIAL_SOURCES: Final = (
    *("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE"),
    *("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"),
)

GLANCE: Final = 0.2
"""Seconds between two looks for Ctrl-C."""


def runtime(
    *,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where it listens; 0 for a free one.")
    ] = PORT,
    policy: Annotated[
        str,
        typer.Option(
            metavar="POLICY",
            help="calculator, a script (JSONL of prompt and turns), or the URL of a model that "
            "speaks chat completions.",
        ),
    ] = CALCULATOR,
    wrong: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="Share of rollouts that the calculator gets wrong."),
    ] = 0.0,
    model: Annotated[
        str, typer.Option(metavar="NAME", help="What the model at the URL is called there.")
    ] = "default",
    api_key_env: Annotated[
        str, typer.Option(metavar="VARIABLE", help="Where the key for the URL is.")
    ] = "",
    faults: Annotated[
        str,
        typer.Option(
            metavar="PLAN",
            help="Accidents and their shares: throttle, error, expired, slow, dropped_before, "
            "dropped_after, duplicate; as every=0.05, or throttle=0.1, or reward.error=0.2, and "
            "several with commas.",
        ),
    ] = "",
    seed: Annotated[
        int, typer.Option(help="Of the accidents, and of the wrong answers: the same again.")
    ] = 0,
    open_: Annotated[
        bool,
        typer.Option("--open", help="Make a trajectory at its first call, without a driver."),
    ] = False,
    reward_after_failed: Annotated[
        bool,
        typer.Option(
            "--reward-after-failed", help="Take the reward of a failed rollout: else 409."
        ),
    ] = False,
    reward_a_turn: Annotated[
        bool,
        typer.Option("--reward-a-turn", help="Refuse rewards that are not one for each turn."),
    ] = False,
    refuse_empty: Annotated[
        bool,
        typer.Option("--refuse-empty", help="Refuse to complete a rollout without a policy call."),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No line for each rollout that has finished.")
    ] = False,
    print_env: Annotated[
        bool,
        typer.Option(PRINT_ENV, help="Write shell lines for the agents' shell, and serve nothing."),
    ] = False,
) -> None:
    """Stand in for the SageMaker job runtime: agents sample a policy, and report their rewards.

    It serves until Ctrl-C. No trainer reads the rewards, and no model learns from them.
    """
    require("boto3", by=__name__, extra=ROLLOUTS)
    if print_env:
        _print_environment(port)
        return
    settings = RuntimeSettings(
        policy_typed(policy, wrong=wrong, seed=seed, model=model, api_key_env=api_key_env),
        FaultPlan.parse(faults, seed=seed),
        open=open_,
        reward_after_failed="accept" if reward_after_failed else "conflict",
        lengths="turns" if reward_a_turn else "any",
        empty="refuse" if refuse_empty else "accept",
    )
    finished: SimpleQueue[Trajectory] = SimpleQueue()
    double = _listening(settings, port, finished)
    with double.in_background():
        _introduce(double)
        _serve(finished, quiet=quiet)
    _write_lines(finished, quiet=quiet)
    say(_summary(double))


def policy_typed(policy: str, *, wrong: float, seed: int, model: str, api_key_env: str) -> Policy:
    """The policy that was typed.

    Raises:
        ConfigurationError: options that are another policy's, or a policy that cannot be had.
        OSError: the script cannot be read.
    """
    relayed = policy.startswith(("http://", "https://"))
    if wrong and policy != CALCULATOR:
        raise ConfigurationError("--wrong is for --policy calculator")
    if (api_key_env or model != "default") and not relayed:
        raise ConfigurationError("--model and --api-key-env are for the URL of a model")
    if relayed:
        return RelayPolicy(policy, api_key_env, model=model)
    if policy == CALCULATOR:
        return CalculatorPolicy(wrong, seed)
    return ScriptedPolicy(Path(policy))


def _listening(
    settings: RuntimeSettings, port: int, finished: SimpleQueue[Trajectory]
) -> RuntimeDouble:
    """A double on a port.

    Raises:
        ConfigurationError: something else listens there.
    """
    try:
        return RuntimeDouble(settings, port=port, finished=finished.put)
    except OSError as error:
        if error.errno != EADDRINUSE:
            raise
        raise ConfigurationError(
            f"port {port} is in use: choose another with --port, or a free one with --port 0"
        ) from None


def _serve(finished: SimpleQueue[Trajectory], *, quiet: bool) -> None:
    """Write what has finished, until Ctrl-C or SIGTERM."""
    ended = Event()
    before = {
        number: signal.signal(number, lambda *_: ended.set())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        while not ended.wait(GLANCE):
            _write_lines(finished, quiet=quiet)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _write_lines(finished: SimpleQueue[Trajectory], *, quiet: bool) -> None:
    """Write a line for each rollout that has finished since."""
    while not finished.empty():
        line = _line(finished.get())
        if not quiet:
            say(line)


def _introduce(double: RuntimeDouble) -> None:
    say(f"runtime double on {double.endpoint}: no trainer reads these rewards")
    say(f"  what it was sent:     {double.endpoint}/_runtime/")
    if str(double.faults):
        say(f"  accidents:            {double.faults}")
    for name, value in _environment(double.endpoint).items():
        say(f"  for the agents:       export {name}={value}")
    typer.echo("  end it:               Ctrl-C")


def _line(trajectory: Trajectory) -> str:
    """A rollout that has finished."""
    return (
        f"{plain(trajectory.trajectory_id, 64)}  {trajectory.state}  "
        f"{several(len(trajectory.turns), 'turn')}  rewards {shown_rewards(trajectory)}  "
        f"{several(len(trajectory.deliveries), 'report')}"
    )


def _summary(double: RuntimeDouble) -> str:
    counts = double.trajectories.counts()
    states = ", ".join(f"{n} {state}" for state, n in counts["states"].items() if n)
    return (
        f"runtime double ended: {several(sum(counts['states'].values()), 'rollout')}"
        f"{f' ({states})' if states else ''}, "
        f"{several(counts['turns']['recorded'], 'turn')}, "
        f"{several(sum(counts['reports'].values()), 'report')}, "
        f"{several(sum(counts['faults'].values()), 'accident')}"
    )


def _environment(endpoint: str) -> dict[str, str]:
    """What an agent's shell needs, beside what it has.

    The second name is boto3's. A shell without credentials gets some that mean nothing.
    """
    needed = {"RFT_RUNTIME_ENDPOINT": endpoint, "AWS_ENDPOINT_URL_SAGEMAKERJOBRUNTIME": endpoint}
    home = Path(os.environ.get("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials")).expanduser()
    if not home.is_file() and not any(os.environ.get(name) for name in CREDENTIAL_SOURCES):
        needed |= CREDENTIALS
    if not os.environ.get("AWS_REGION"):
        needed["AWS_REGION"] = DEFAULT_REGION
    return needed


def _print_environment(port: int) -> None:
    """Shell lines to evaluate.

    Raises:
        ConfigurationError: nobody knows the port.
    """
    if not port:
        raise ConfigurationError(f"{PRINT_ENV} needs the --port of the double")
    for name, value in _environment(f"http://{LOOPBACK}:{port}").items():
        typer.echo(f"export {name}={quote(value)}")
