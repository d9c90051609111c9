"""`reward rollouts report`: what a file of rollouts comes to."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer

from reward_functions.cli._echo import say
from reward_functions.cli._pages import Report, require_page, write_page

Format = Literal["table", "markdown", "json"]


def report(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Records of `reward rollouts run`.")],
    *,
    format: Annotated[  # noqa: A002 - the option's name
        Format, typer.Option(help="What to write.")
    ] = "table",
    report: Report = None,
) -> None:
    """Show what rollouts earned, how they ended, and what a trainer would learn from them.

    Intervals are of 95 %, by row: the rollouts of a row are alike. A group whose rewards are all
    equal has zero advantage. pass@k stands where every reward is 0 or 1.
    """
    from reward_functions.cli._fitting import print_sheet
    from reward_functions.tools.rollouts.figures import figures_of
    from reward_functions.tools.rollouts.page import page
    from reward_functions.tools.rollouts.records import read_records
    from reward_functions.tools.rollouts.reporting import as_json, sheets

    require_page(report)
    figures = figures_of(read_records(file))
    if report is not None:
        write_page(page(figures), report)
    if format == "json":
        typer.echo(json.dumps(as_json(figures), indent=2))
        return
    for sheet in sheets(figures):
        if format == "markdown":
            say("\n".join([*sheet.markdown(), ""]))
        else:
            print_sheet(sheet)
