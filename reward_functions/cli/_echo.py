"""Lines for a person, written as they are at whatever width, and harmless to the terminal.

What a program reads, JSON or lines for a shell, goes to `typer.echo` itself.
"""

from __future__ import annotations

import typer


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
