"""Errors a user can act on: one clear line on standard error, exit status 2, never a traceback.

Anything else that escapes a command is a bug of ours and keeps its traceback. Where a shell is to
evaluate the output, it evaluates `false`, whatever went wrong: `eval ""` would succeed.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, nullcontext
from errno import ENOENT
from typing import TYPE_CHECKING, Any, Final

import typer
from typer.exceptions import TyperException

from reward_functions import RewardError
from reward_functions.cli._echo import harmless, say
from reward_functions.cli._group import Commands, LazyGroup
from reward_functions.core.extras import missing
from reward_functions.core.platforms import require_posix
from reward_functions.reports import measured

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pydantic import ValidationError


INCOMPLETE: Final = measured.INCOMPLETE
UNUSABLE: Final = measured.NOTHING
INTERRUPTED: Final = 130
"""128 + SIGINT, as shells report it."""
BROKEN_PIPE: Final = 141
"""128 + SIGPIPE: whoever read our output has read enough."""

PRINT_ENV: Final = "--print-env"
"""The option whose output a shell evaluates."""

COMPLETION: Final = ("--install-completion", "--show-completion")
"""Options of typer's own, which end the process themselves."""

_TYPED: Final = "reward_functions.typed"
"""Where a context keeps the arguments."""


class OneLineErrors(LazyGroup):
    """A command group that reports errors as this module's docstring says."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **options: Any) -> Any:
        """Run the command line, usage errors of every command included, and exit."""
        given = sys.argv[1:] if args is None else args
        with _evaluated() if PRINT_ENV in given else nullcontext():
            return super().main(args, *rest, **options)

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **extra: Any) -> Any:
        """Read the arguments; `--help` and `--version` print from here."""
        given = tuple(args)
        with _one_line_errors(self, given):
            context = super().make_context(info_name, args, *rest, **extra)
            context.meta[_TYPED] = given
            return context

    def invoke(self, ctx: Any) -> Any:
        """Run the command, on a system that has what any of them needs."""
        with _one_line_errors(self, ctx.meta[_TYPED]):
            require_posix("reward")
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result


@contextmanager
def _evaluated() -> Iterator[None]:
    """What a shell evaluates fails with the command: `eval "$(…)" && cdk deploy` stops there."""
    passed = False
    try:
        yield
        passed = True
    except SystemExit as error:
        passed = not error.code
        raise
    finally:
        if not passed:
            typer.echo("false")


@contextmanager
def _one_line_errors(  # noqa: C901, PLR0912 - one clause for each way to fail
    group: LazyGroup, typed: Sequence[str]
) -> Iterator[None]:
    try:
        yield
    except typer.Exit:
        raise  # before the last clause, which imports the library: help has no need of it
    except KeyboardInterrupt as interrupt:
        if interrupt.args:  # what exists now, of a command that was in the middle of something
            say(f"\n{interrupt}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        _abandon_standard_output()
        raise typer.Exit(BROKEN_PIPE) from None
    except TyperException as error:
        problem = None if error.__cause__ is None else _validation_error(error.__cause__)
        if problem is None or not isinstance(error, typer.BadParameter):
            raise _shown_harmlessly(error) from None
        error.message = _in_words(problem)
        _report(error.format_message())
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):
            # rich's way out while typer prints a help page.
            raise typer.Exit(BROKEN_PIPE) from None
        if typed and typed[0] in COMPLETION:
            raise
        # No other way out of typer's is a SystemExit: this one comes from the code of a reward.
        from reward_functions.scoring.results import exit_message

        _report(exit_message(error))
    except ModuleNotFoundError as error:
        needed = missing(error, _command(group, typed))
        if needed is None:
            raise
        _report(str(needed))
    except OSError as error:
        _report(_os_error(error))
    except RewardError as error:
        _report(str(error))
    else:
        return
    raise typer.Exit(UNUSABLE)


def _shown_harmlessly(error: TyperException) -> TyperException:
    """A usage error that typer prints: it names what was typed, such as files by a pattern."""
    if isinstance(message := getattr(error, "message", None), str):
        error.message = harmless(message)
    return error


def _standard_output_takes_more() -> bool:
    try:
        sys.stdout.flush()
    except OSError:
        return False
    return True


def _abandon_standard_output() -> None:
    """Python flushes it once more as it exits, and would complain and change the exit status."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _in_words(error: ValidationError) -> str:
    """What pydantic found wrong with something typed, as a person would say it."""
    (problem, *_) = error.errors(include_url=False)
    typed, limits = problem["input"], problem.get("ctx", {})
    match problem["type"]:
        case "int_parsing" | "int_type":
            return f"{typed!r} is not a whole number"
        case "greater_than_equal":
            return f"{typed} is less than {limits['ge']}"
        case "less_than_equal":
            return f"{typed} is more than {limits['le']}"
        case "value_error":  # typer's, of a choice: 'xml' is not one of 'table', 'jsonl'.
            typed_value, is_not, choices = (
                str(limits["error"]).rstrip(".").partition(" is not one of ")
            )
            unquoted = choices.replace("'", "")
            return f"{typed_value}{is_not}{unquoted}"
        case _:
            return problem["msg"]


def _validation_error(error: object) -> ValidationError | None:
    """Typer checks what was typed with pydantic; imported when something went wrong."""
    from pydantic import ValidationError

    return error if isinstance(error, ValidationError) else None


def _command(group: Any, typed: Sequence[str]) -> str:
    """The command that was typed, without its arguments: `reward data upload`."""
    words = ["reward"]
    for word in typed:
        commands = getattr(group, "commands", {})
        if word in commands:
            words.append(word)
            # What could not be imported a moment ago is not imported again.
            group = commands.data[word] if isinstance(commands, Commands) else commands[word]
    return " ".join(words)


def _os_error(error: OSError) -> str:
    if not _standard_output_takes_more():
        _abandon_standard_output()
        return f"standard output: {error.strerror}"
    if error.filename is None:
        return error.strerror or str(error)
    if error.errno == ENOENT:
        folder = os.path.dirname(str(error.filename))  # noqa: PTH120 - pathlib is not loaded for this
        if folder and not os.path.exists(folder):  # noqa: PTH110
            return f"{error.filename}: the folder {folder} does not exist"
    return f"{error.filename or repr('')}: {error.strerror}"


def _report(message: str) -> None:
    from rich.text import Text

    from reward_functions.cli._console import MESSAGE, errors, plain

    line = Text.assemble(("error: ", "bold red"), plain(message, MESSAGE))
    errors().print(line, soft_wrap=True)
