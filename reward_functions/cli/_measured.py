"""How a gate says how much was measured, before anything else that it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from reward_functions.cli._console import MESSAGE, errors, plain

if TYPE_CHECKING:
    from reward_functions.reports.measured import Measured


def say_measured(measured: Measured) -> None:
    """Print how much was measured on standard error; call it before the results."""
    style = "" if measured.measured else "bold red"
    errors().print(plain(measured.sentence, MESSAGE), style=style, soft_wrap=True, markup=False)


def leave(measured: Measured, *, failed: bool = False) -> None:
    """End the command with the status of a check; where all is well it goes on.

    Args:
        measured: of the check.
        failed: whether something that was measured is wrong.

    Raises:
        typer.Exit: something is wrong, or a part, or nothing, was measured.
    """
    if status := measured.status(failed=failed):
        raise typer.Exit(status)
