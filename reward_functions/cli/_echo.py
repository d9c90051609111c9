"""Lines for a person, written as they are at whatever width, and harmless to the terminal.

What a program reads, JSON or lines for a shell, goes to `typer.echo` itself.

Asking before something is moved or removed: a person at a terminal, or `--yes` elsewhere.

The line that says what a command is doing, while a person waits for it.

rich reads the text of a spinner as markup, wherever it came from; here it is a text.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.status import Status
from rich.text import Text

from reward_functions.core.errors import ConfigurationError
from reward_functions.reports.measured import NOTHING

if TYPE_CHECKING:
    from rich.console import Console


def say(text: str, *, err: bool = False) -> None:
    """Write lines: nothing is broken, wrapped or interpreted."""
    typer.echo(harmless(text), err=err)


def harmless(text: str) -> str:
    """Lines without anything a terminal acts on: what does not print is shown by its escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode()
        for char in text
    )


Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]


def require_somebody_to_ask(verb: str, *, yes: bool) -> None:
    """Refuse, before any work, what nobody could agree to.

    Raises:
        ConfigurationError: `--yes` is not given, and standard input is no terminal.
    """
    if not yes and not sys.stdin.isatty():
        raise ConfigurationError(
            f"{verb} asks first, and there is no terminal to ask on: add --yes"
        )


def agreed(question: str, *, yes: bool) -> bool:
    """Whether to go on; whoever ends the input says no. Standard output holds results alone."""
    if yes:
        return True
    typer.echo(f"{harmless(question)} [y/N]: ", nl=False, err=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def require_agreement(question: str, otherwise: str, *, yes: bool) -> None:
    """Ask whether to go on.

    Args:
        question: without a mark of what to type.
        otherwise: what is so where nobody agrees.
        yes: whether it was agreed to already.

    Raises:
        typer.Exit: nobody agrees.
    """
    if not agreed(question, yes=yes):
        say(otherwise, err=True)
        raise typer.Exit(NOTHING)


def several(count: int, what: str) -> str:
    """Such as `1 letter` and `2,000 letters`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


class PlainStatus(Status):
    """A spinner and a text beside it, which may name anything."""

    def __init__(self, status: str, console: Console, **options: Any) -> None:
        super().__init__(Text(harmless(status)), console=console, **options)

    def update(self, status: Any = None, **options: Any) -> None:
        """Say what is being done now."""
        super().update(None if status is None else Text(harmless(str(status))), **options)
