"""The line that says what a command is doing, while a person waits for it.

rich reads the text of a spinner as markup, wherever it came from; here it is a text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.status import Status
from rich.text import Text

from reward_functions.cli._echo import harmless

if TYPE_CHECKING:
    from rich.console import Console


class PlainStatus(Status):
    """A spinner and a text beside it, which may name anything."""

    def __init__(self, status: str, console: Console, **options: Any) -> None:
        super().__init__(Text(harmless(status)), console=console, **options)

    def update(self, status: Any = None, **options: Any) -> None:
        """Say what is being done now."""
        super().update(None if status is None else Text(harmless(str(status))), **options)
