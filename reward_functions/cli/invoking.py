"""`reward invoke --local`: the real Lambda entry point, under AWS's own runtime client, timed.

The printed results are those a trainer would receive: they have crossed the wire.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from reward_functions.cli._options import File, Models, Parameters, Registered  # noqa: TC001 - typer reads annotations

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
    parameter: Parameters = None,
    judge: Models = None,
) -> None:
    """Invoke the Lambda function of a reward, and time it.

    Results go to standard output as jsonl, cold start and warm times to standard error.

    NAME is a registered name: a reward in a file of its own is registered by its package's
    pyproject.toml, as `reward new` shows. The file is read as `reward score` reads it.

    Exit status: 0 every batch was answered, 1 some were not, 2 nothing was done.
    """
    from reward_functions.cli._invocations import invoked
    from reward_functions.cli._rewards import is_path, parameter_values, reward_named
    from reward_functions.cli._summary import no_samples
    from reward_functions.core.errors import ConfigurationError
    from reward_functions.serving.settings import LambdaSettings
    from reward_functions.tools.json_rows import read_rows
    from reward_functions.tools.judging.settings import load_judge_config
    from reward_functions.tools.local_runtime import LocalRuntime

    if not local:
        raise ConfigurationError(
            f"here: reward invoke --local {name} …; where it is deployed: reward deployed invoke …"
        )
    if is_path(name):
        raise ConfigurationError(_unregistered(name))
    spec = reward_named(name)
    parameters = parameter_values(spec, parameter or [])
    config = load_judge_config(judge) if spec.needs.judge and judge is not None else None
    settings = LambdaSettings(
        name=name, parameters=parameters, response_mode=response_mode, judge=config
    )
    rows = [row.content for row in read_rows(file)]
    if not rows:
        no_samples(file)
    if min(batch_size, len(rows)) > settings.max_samples:
        raise ConfigurationError(
            f"--batch-size {batch_size}: the function takes {settings.max_samples} samples at most"
        )
    with LocalRuntime(settings.to_env(), timeout=TIMEOUT) as runtime:
        invoked(runtime, rows, batch_size)


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
