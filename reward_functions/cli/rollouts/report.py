"""`reward rollouts report`: what a file of rollouts comes to."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path  # noqa: TC003 - typer reads it
from typing import Annotated, Any, Literal

import typer

from reward_functions.cli._console import print_json
from reward_functions.cli._echo import say
from reward_functions.cli._fitting import print_sheet
from reward_functions.cli._pages import Report, require_page, write_page
from reward_functions.rollouts.drive.figures import as_json, figures_of, sheets
from reward_functions.rollouts.drive.records import read_records, rollouts_of_rows
from reward_functions.rollouts.drive.report_page import report_page
from reward_functions.rollouts.drive.trajectories import (
    TRAJECTORIES,
    concerns_of_many,
    group_sheet,
    statistics_as_json,
    trajectory_sheets,
    use_in,
)

Format = Literal["table", "markdown", "json"]


def report(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Records of `reward rollouts run`.")],
    *,
    format: Annotated[  # noqa: A002 - the option's name
        Format, typer.Option(help="What to write.")
    ] = "table",
    trajectories: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What the agents did, as rollouts keep it: adds tools, tokens, turns by row.",
        ),
    ] = None,
    report: Report = None,
) -> None:
    """Show what rollouts earned, how they ended, and what a trainer would learn from them.

    Intervals are of 95 %, by row: the rollouts of a row are alike. A group whose rewards are all
    equal has zero advantage. pass@k stands where every reward is 0 or 1.
    """
    require_page(report)
    records = read_records(file, texts=False)
    figures = figures_of(records)
    used = None if trajectories is None else use_in(trajectories, records)
    done = [] if used is None else [*trajectory_sheets(used.statistics), group_sheet(used.groups)]
    if report is not None:
        concerns = [] if used is None else list(concerns_of_many(used.statistics, TRAJECTORIES))
        weakest = rollouts_of_rows(file, {group.row for group in figures.worst})
        write_page(report_page(figures, done, concerns, weakest), report)
    if format == "json":
        more: dict[str, Any] = {}
        if used is not None:
            by_row = [asdict(group) for group in used.groups]
            known = statistics_as_json(used.statistics) | {"groups": by_row, "torn": used.torn}
            more = {"trajectories": known}
        print_json(as_json(figures) | more)
        return
    for sheet in (*sheets(figures), *done):
        if format == "markdown":
            say("\n".join([*sheet.markdown(), ""]))
        else:
            print_sheet(sheet)
    if used is not None and used.torn:
        say(f"{trajectories} ends in half a line of {used.torn:,} bytes, which is left out")
