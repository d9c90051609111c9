"""`reward export`: results that are written, sent to an experiment tracker."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads annotations
from typing import Annotated

import typer

from reward_functions.cli._tracking import Track, send, trackers
from reward_functions.core.errors import ConfigurationError


def export(
    file: Annotated[
        Path,
        typer.Argument(metavar="RESULTS", help="Results of `reward score -o`: .jsonl or .json."),
    ],
    *,
    track: Track = None,
    name: Annotated[
        str, typer.Option("--name", help="The run's name.", show_default="the file's")
    ] = "",
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            "-p",
            metavar="NAME=VALUE",
            help="What the tracker keeps beside the figures, such as reward=gsm8k.",
        ),
    ] = None,
) -> None:
    """Send results to an experiment tracker.

    The tracker gets the number of rows and of unscored rows, the mean reward, the mean of each
    metric, your parameters, and, where it keeps files, the file itself. Results hold no prompts;
    with --explain they hold answers. In Python, `reward_functions.export.to_frame` makes a pandas
    dataframe of them.

    Exit status: 0 every tracker took the run; 1 one did not; 2 the file or an option cannot be
    used.
    """
    asked = trackers(track)
    if not asked:
        raise ConfigurationError("name a tracker: --track mlflow, wandb, tensorboard or trackio")
    from reward_functions.export import results_run

    pairs = [text.partition("=") for text in parameter or ()]
    run = results_run(file, name=name, parameters={key: value for key, _, value in pairs})
    if not send(asked, run, "the results are as they were: the same command tries again"):
        raise typer.Exit(1)
