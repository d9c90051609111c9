"""`--report FILE`: what a command shows, as a page too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from reward_functions.cli._console import remark
from reward_functions.core.errors import ConfigurationError
from reward_functions.data.atomic import replaced

if TYPE_CHECKING:
    from reward_functions.reports.pages.page import Page

PAGE: Final = ".html"

Report = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write a page too, one file without a network: FILE.html."),
]


def require_page(report: Path | str | None) -> None:
    """Refuse another ending, before anything is done or paid for.

    Raises:
        ConfigurationError: the name does not end in .html, in either case.
    """
    if report is not None and not str(report).lower().endswith(PAGE):
        raise ConfigurationError(f"a page is called NAME{PAGE}, not {str(report)!r}")


def write_page(page: Page, report: Path) -> None:
    """Write the page, whole or not at all, and say where it is.

    Raises:
        OSError: it cannot be written.
    """
    with replaced(report) as stream:
        stream.write(page.html())
    say_where(report)


def say_where(report: Path | str) -> None:
    """One line on the terminal says where the page is."""
    remark(f"the page is {report}")
