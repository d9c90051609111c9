"""Errors a user can act on: one clear line on standard error, exit status 2, never a traceback.

Anything else that escapes a command is a bug of ours and keeps its traceback.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Final

import typer
from typer.core import TyperGroup

SUCCESS: Final = 0
INCOMPLETE: Final = 1
"""Something was not scored, or an example failed."""
UNUSABLE: Final = 2
"""Input or arguments that cannot be used; nothing was written."""
INTERRUPTED: Final = 130
"""128 + SIGINT, as shells report it."""
BROKEN_PIPE: Final = 141
"""128 + SIGPIPE: whoever read our output has read enough."""


class OneLineErrors(TyperGroup):
    """A command group that reports errors as this module's docstring says."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # Python flushes standard output once more as it exits, and would complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(BROKEN_PIPE) from None
        except OSError as error:
            _report(_os_error(error))
        except _reward_error() as error:
            _report(str(error))
        else:
            return result
        raise typer.Exit(UNUSABLE)


def _reward_error() -> type[Exception]:
    """Imported when something went wrong, and not for `--help`."""
    from reward_functions import RewardError

    return RewardError


def _os_error(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}" if error.filename else str(error)


def _report(message: str) -> None:
    from rich.text import Text

    from helpers.cli._console import MESSAGE, errors, plain

    line = Text.assemble(("error: ", "bold red"), plain(message, MESSAGE))
    errors().print(line, soft_wrap=True)
