"""Groups whose commands are imported when they are called, and not for the list that names them."""

from __future__ import annotations

from collections import UserDict
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

if TYPE_CHECKING:
    from collections.abc import Mapping


class LazyGroup(TyperGroup):
    """A group whose help needs no command of it."""

    package: ClassVar[str]
    """Where the modules of its commands are."""
    rows: ClassVar[Mapping[str, str]]
    """The first sentence of each command's help; all the help of a group."""
    targets: ClassVar[Mapping[str, str]] = {}
    """MODULE:NAME of a function, or of a group's `Typer`; else both are called as the command."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = Commands(self)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - typer's
        """Their names, in order."""
        return list(self.rows)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - typer's
        """The command as a list shows it."""
        listed = self.rows.get(cmd_name)
        return None if listed is None else TyperCommand(cmd_name, help=listed)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that was typed."""
        name, listed, rest = super().resolve_command(ctx, args)
        return name, listed if name is None else self.commands[name], rest

    def load(self, name: str) -> Any:
        """Import a command."""
        plain = name.replace("-", "_")
        module, _, attribute = self.targets.get(name, f"{plain}:{plain}").partition(":")
        found = getattr(import_module(f"{self.package}.{module}"), attribute)
        holder = typer.Typer(rich_markup_mode="markdown")
        if isinstance(found, typer.Typer):
            holder.add_typer(found, name=name, help=self.rows[name])
        else:
            holder.command(name)(found)
        return get_group(holder).commands[name]


class Commands(UserDict[str, Any]):
    """The commands of a group; one is imported where it is asked for."""

    def __init__(self, group: LazyGroup) -> None:
        super().__init__(dict.fromkeys(group.rows))
        self.group = group

    def __getitem__(self, name: str) -> Any:
        """The command itself."""
        if self.data[name] is None:
            self.data[name] = self.group.load(name)
        return self.data[name]
