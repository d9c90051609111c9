"""`reward invoke --local`: the real Lambda entry point, under AWS's own runtime client, timed.

What a trainer would be told is what is printed: the results have crossed the wire.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from helpers.cli._errors import INCOMPLETE
from helpers.cli._options import File, Knobs, Registered  # noqa: TC001 - typer reads annotations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helpers.local_runtime import Invocation, LocalRuntime

TIMEOUT: Final = 900.0
"""Seconds an invocation may take: the longest Lambda allows."""


def invoke(
    name: Registered,
    file: File,
    *,
    local: Annotated[
        bool, typer.Option("--local", help="Run the function on this machine.")
    ] = False,
    batch_size: Annotated[int, typer.Option(min=1, help="Samples an invocation.")] = 64,
    response_mode: Annotated[
        Literal["list", "envelope"], typer.Option(help="The shape of the function's response.")
    ] = "list",
    knob: Knobs = None,
) -> None:
    """Invoke the Lambda function of a reward, and time it.

    Results go to standard output as jsonl, cold start and warm times to standard error.

    NAME is a registered name: a reward in a file of its own is registered by its package's
    pyproject.toml, as `reward new` shows. The file is read as `reward score` reads it.

    Exit status: 0 every batch was answered, 1 some were not, 2 nothing was done.
    """
    from helpers.cli._rewards import is_path, knob_values, reward_named
    from helpers.cli._summary import no_samples
    from helpers.json_rows import read_rows
    from helpers.local_runtime import LocalRuntime
    from reward_functions.core.errors import ConfigurationError
    from reward_functions.serving.settings import LambdaSettings

    if not local:
        raise ConfigurationError("functions are not deployed yet: reward invoke --local …")
    if is_path(name):
        raise ConfigurationError(_unregistered(name))
    knobs = knob_values(reward_named(name), knob or [])
    settings = LambdaSettings(name=name, knobs=knobs, response_mode=response_mode)
    rows = [row.content for row in read_rows(file)]
    if not rows:
        no_samples(file)
    if min(batch_size, len(rows)) > settings.max_samples:
        raise ConfigurationError(
            f"--batch-size {batch_size}: the function takes {settings.max_samples} samples at most"
        )
    batches = [rows[at : at + batch_size] for at in range(0, len(rows), batch_size)]
    with LocalRuntime(settings.to_env(), timeout=TIMEOUT) as runtime:
        answered = [_answered(runtime, batch, at) for at, batch in enumerate(batches, 1)]
    _summary(answered, batch_size)
    if not all(answered):
        raise typer.Exit(INCOMPLETE)


def _unregistered(path: str) -> str:
    """How the reward in a file gets a name: one line, of what `reward new` prints in several."""
    stem = Path(path).stem
    name = f"acme.{stem}"
    return (
        f"{path}: a function finds its reward by name, not by path. Declare "
        f'@reward_function(name="{name}", …), write "{name}" = "{stem}:{stem}" under '
        '[project.entry-points."reward_functions"] in the pyproject.toml of its package, install '
        f"that, then: reward invoke --local {name} …"
    )


def _answered(runtime: LocalRuntime, batch: list[Any], at: int) -> Invocation | None:
    """Send one batch and print its results; a failed invocation is told, and is None."""
    from rich.text import Text

    from helpers.cli._console import MESSAGE, errors, plain
    from helpers.local_runtime import FunctionError, InitError
    from reward_functions.core.errors import ConfigurationError

    try:
        invocation = runtime.invoke(batch)
    except InitError as error:
        raise ConfigurationError(f"the function does not start: {error}") from None
    except FunctionError as error:
        told = Text.assemble((f"batch {at} failed: ", "yellow"), plain(str(error), MESSAGE))
        errors().print(told, soft_wrap=True)
        return None
    payload = invocation.payload
    results = payload if isinstance(payload, list) else json.loads(payload["body"])
    sys.stdout.writelines(f"{json.dumps(result)}\n" for result in results)
    return invocation


def _summary(answered: Sequence[Invocation | None], batch_size: int) -> None:
    from helpers.cli._console import errors
    from helpers.quantiles import quantile

    console = errors()
    seconds = [call.seconds for call in answered if call and not call.cold]
    for call in answered:
        if call and call.cold:
            console.print(f"cold start and first batch {_milliseconds(call.seconds)}")
    if seconds:
        figures = {"p50": quantile(seconds, 0.5), "p95": quantile(seconds, 0.95)}
        told = [f"{name} {_milliseconds(value)}" for name, value in figures.items()]
        slowest = f"max {_milliseconds(max(seconds))}"
        console.print(
            f"warm batches of {batch_size}: {len(seconds):,}, {', '.join([*told, slowest])}",
            soft_wrap=True,
        )


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:,.1f} ms"
