"""The plan of a multi-turn job, in a terminal, as a page, as Markdown and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.cli._echo import say
from reward_functions.cli._pages import write_page

if TYPE_CHECKING:
    from pathlib import Path

    from boto3.session import Session

    from reward_functions.jobs.configuration import JobConfiguration
    from reward_functions.jobs.planned import Rates


def show_agent_plan(
    asked: JobConfiguration,
    session: Session | None,
    rates: Rates,
    report: Path | None,
    *,
    as_json: bool,
    as_markdown: bool,
) -> None:
    """Count, and show it.

    Args:
        asked: the configuration.
        session: that reads the stage; None where none is to be read.
        rates: what is known beyond AWS's documents.
        report: where the page goes; None for none.
        as_json: instead of tables.
        as_markdown: likewise.
    """
    from rich.text import Text

    from reward_functions.cli._console import MESSAGE, errors, output, plain
    from reward_functions.cli._fitting import print_sheet
    from reward_functions.cli.data._output import print_json
    from reward_functions.jobs.agent_plan import (
        agent_plan,
        as_data,
        assumptions,
        markdown,
        sheets,
        warnings,
    )
    from reward_functions.jobs.lookup import place
    from reward_functions.reports.pages.page import Page
    from reward_functions.reports.pages.sections import Section

    planned = agent_plan(asked, place(asked.stage, session).stage if session else None, rates)
    if as_json:
        print_json(as_data(planned))
    elif as_markdown:
        say("\n".join(markdown(planned)))
    else:
        for sheet in sheets(planned):
            print_sheet(sheet)
        for each in assumptions(planned):
            output().print(Text(f"assumed: {plain(each, MESSAGE)}", "dim"), soft_wrap=True)
    for each in warnings(planned):
        errors().print(Text(f"warning: {plain(each, MESSAGE)}", "yellow"), soft_wrap=True)
    if report is not None:
        sections = [Section(sheet.title, [sheet]) for sheet in sheets(planned)]
        sections.append(Section("Assumed", [*assumptions(planned)]))
        about = "What the job would come to. Nothing was uploaded or started."
        page = Page(f"Plan: {planned.agent.short}", about, [*warnings(planned)], sections=sections)
        write_page(page, report)
