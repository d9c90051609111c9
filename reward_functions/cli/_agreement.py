"""Asking before something is moved or removed: a person at a terminal, or `--yes` elsewhere."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from reward_functions.cli._echo import harmless
from reward_functions.core.errors import ConfigurationError

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
