"""A page a command of `reward`, from the command line itself: usage, help, arguments, options."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from typer import Context
from typer.main import get_command

from docs.site.markdown import code, fenced, prose, table
from docs.site.navigation import COMMANDS
from reward_functions.cli import app

if TYPE_CHECKING:
    from collections.abc import Iterator

_INTRODUCTION: Final = """\
# The command `reward`

One page for each command. `reward COMMAND --help` prints the same.
"""


def pages() -> dict[str, str]:
    """The pages by name: an index, and one a command; a command's own commands are its sections."""
    command: Any = get_command(app)  # a group, which typer has no public type for
    whole = Context(command, info_name="reward", **command.context_settings)
    rows = [
        [f"[`reward {name}`](commands/{name}.md)", _summary(command)]
        for name, command in command.commands.items()
    ]
    index = (
        f"{_INTRODUCTION}\n{table(['command', 'what it does'], rows)}\n\n{_exit_status(whole)}\n"
    )
    return {COMMANDS: index} | {
        f"{COMMANDS}/{name}": "\n\n".join(_sections(_below(whole, name))) + "\n"
        for name in command.commands
    }


def _sections(context: Any, depth: int = 1) -> Iterator[str]:
    """A command, and the commands below it, by headings that deepen with them."""
    command = context.command
    yield f"{'#' * depth} `{context.command_path}`"
    yield fenced(_usage(context), "console")
    yield from _help(command)
    for title, parameters in _parameters(context):
        yield f"**{title}**"
        yield table(["name", "what it is"], parameters)
    for name in getattr(command, "commands", {}):
        yield from _sections(_below(context, name), depth + 1)


def _below(context: Any, name: str) -> Any:
    return Context(context.command.commands[name], info_name=name, parent=context)


def _usage(context: Any) -> str:
    return " ".join(context.command.get_usage(context).removeprefix("Usage:").split())


def _help(command: Any) -> Iterator[str]:
    r"""The help's paragraphs; `\b` marks one whose lines the author broke."""
    for paragraph in (command.help or "").split("\n\n"):
        if paragraph.startswith("\b"):
            yield fenced(paragraph.removeprefix("\b").strip("\n"))
        else:
            yield prose(paragraph)


def _summary(command: Any) -> str:
    return prose(re.split(r"\n\n", command.help or "")[0].replace("\n", " "))


def _exit_status(whole: Any) -> str:
    return "\n\n".join(list(_help(whole.command))[1:])


def _parameters(context: Any) -> Iterator[tuple[str, list[list[str]]]]:
    parameters = context.command.get_params(context)
    for title, kind in (("Arguments", "argument"), ("Options", "option")):
        records = [
            parameter.get_help_record(context)
            for parameter in parameters
            if parameter.param_type_name == kind and not getattr(parameter, "hidden", False)
        ]
        if records:
            yield title, [[code(name), prose(" ".join(about.split()))] for name, about in records]
