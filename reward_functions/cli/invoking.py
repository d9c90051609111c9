"""`reward invoke`: the real Lambda entry point, under AWS's own runtime client, timed.

The printed results are those a trainer would receive: they have crossed the wire.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from reward_functions.calibration.settings import load_judge_config
from reward_functions.cli._invocations import invoked, results_to, rows_of
from reward_functions.cli._options import (  # noqa: TC001 - typer reads annotations
    AllowEmpty,
    File,
    Map,
    Models,
    Output,
    Parameters,
    Registered,
    Shape,
)
from reward_functions.core.errors import ConfigurationError
from reward_functions.local.function_runtime import LocalRuntime
from reward_functions.scoring.rewards import is_path, parameter_values, reward_named
from reward_functions.scoring.rows import row_options
from reward_functions.serving.settings import LambdaSettings

TIMEOUT: Final = 900.0
"""Seconds an invocation may take: the longest Lambda allows."""


def invoke(
    name: Registered,
    file: File,
    *,
    output: Output = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Samples an invocation.")] = 64,
    response_mode: Annotated[
        Literal["list", "envelope"], typer.Option(help="The shape of the function's response.")
    ] = "list",
    parameter: Parameters = None,
    judge: Models = None,
    mapped: Map = None,
    shape: Shape = None,
    allow_empty: AllowEmpty = False,
) -> None:
    """Run the Lambda function of a reward on this machine, and time it.

    Results are jsonl, cold start and warm times go to standard error. One that is deployed is
    invoked by `reward deployed invoke`.

    NAME is a registered name: a reward in a file of its own is registered by its package's
    pyproject.toml, as `reward init --reward-only` shows. The file is read as `reward score`
    reads it.

    Exit status: 0 every batch was answered, 1 some were not, 2 none was, or nothing was done.
    """
    if is_path(name):
        raise ConfigurationError(_unregistered(name))
    spec = reward_named(name)
    parameters = parameter_values(spec, parameter or [])
    config = load_judge_config(judge) if spec.needs.judge and judge is not None else None
    settings = LambdaSettings(
        name=name, parameters=parameters, response_mode=response_mode, judge=config
    )
    rows = rows_of(file, row_options(mapped, shape), allow_empty=allow_empty)
    if min(batch_size, len(rows)) > settings.max_samples:
        raise ConfigurationError(
            f"--batch-size {batch_size}: the function takes {settings.max_samples} samples at most"
        )
    with (
        results_to(output, file) as destination,
        LocalRuntime(settings.to_env(), timeout=TIMEOUT) as runtime,
    ):
        invoked(runtime, rows, batch_size, destination)


def _unregistered(path: str) -> str:
    """How the reward in a file gets a name: one line of what `reward init --reward-only` prints."""
    stem = Path(path).stem
    name = f"acme.{stem}"
    return (
        f"{path}: a function finds its reward by name, not by path. Declare "
        f'@reward_function(name="{name}", …), write "{name}" = "{stem}:{stem}" under '
        '[project.entry-points."reward_functions"] in the pyproject.toml of its package, install '
        f"that, then: reward invoke {name} …"
    )
