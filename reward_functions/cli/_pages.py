"""`--report FILE`: what a command shows, as a page too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from reward_functions.tools.pages.page import Page

Report = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write a page too, one file without a script: FILE.html."),
]


def require_page(report: Path | None) -> None:
    """Refuse another ending, before anything is done or paid for."""
    from reward_functions.core.errors import ConfigurationError

    if report is not None and report.suffix != ".html":
        raise ConfigurationError(f"--report {report}: the name ends in .html")


def write_page(page: Page, report: Path) -> None:
    """Write the page, whole or not at all, and say where it is.

    Raises:
        OSError: it cannot be written.
    """
    from reward_functions.cli._console import MESSAGE, errors, plain
    from reward_functions.tools.atomic import replaced

    with replaced(report) as stream:
        stream.write(page.html())
    errors().print(f"the page is {plain(str(report), MESSAGE)}", markup=False, soft_wrap=True)
