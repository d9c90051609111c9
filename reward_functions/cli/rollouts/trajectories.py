"""`reward rollouts trajectories`: what agents did, in figures, and one of them turn by turn."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads it
from typing import Annotated, Literal

import typer

from reward_functions.cli._console import print_json
from reward_functions.cli._echo import say
from reward_functions.cli._fitting import print_sheet
from reward_functions.cli._pages import Report, require_page, write_page
from reward_functions.rollouts.drive.trajectories import (
    found_in,
    page,
    statistics_as_json,
    trajectory_sheets,
    turn_sheet,
)
from reward_functions.rollouts.record.jsonl import TrajectoryFile, written
from reward_functions.rollouts.record.statistics import statistics_of

Format = Literal["table", "json"]


def trajectories(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="What `REWARD_ROLLOUTS_TRAJECTORIES` or a relay wrote."
        ),
    ],
    *,
    show: Annotated[
        str | None, typer.Option(metavar="ID", help="A rollout, to read turn by turn.")
    ] = None,
    format: Annotated[  # noqa: A002 - the option's name
        Format, typer.Option(help="What to write.")
    ] = "table",
    report: Report = None,
) -> None:
    """Show what agents did: turns, tool calls, tokens, failures; or one trajectory.

    A number that no engine reported stays empty. Calls of tools that were not offered have one row.
    Half a line at the end of the file, as a crash leaves it, is skipped.
    """
    require_page(report)
    lines = TrajectoryFile(file)
    if show is not None:
        one = found_in(lines, show)
        if report is not None:
            write_page(page(one), report)
        if format == "json":
            typer.echo(written(one))
        else:
            print_sheet(turn_sheet(one))
        return
    statistics = statistics_of(lines)
    if report is not None:
        write_page(page(statistics), report)
    if format == "json":
        print_json(statistics_as_json(statistics) | {"torn": lines.torn})
        return
    for sheet in trajectory_sheets(statistics):
        print_sheet(sheet)
    if lines.torn:
        say(f"the file ends in half a line of {lines.torn:,} bytes, which is skipped")
