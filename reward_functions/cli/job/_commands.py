"""The group of `reward job`: a command of another tool's name leads to ours."""

from __future__ import annotations

from typing import Any, Final

from typer.core import TyperGroup

OURS: Final = {
    "abort": "stop",
    "cancel": "stop",
    "check": "preflight",
    "compare": "evaluate",
    "create": "start",
    "delete": "cleanup",
    "describe": "show",
    "estimate": "plan",
    "eval": "evaluate",
    "events": "watch",
    "follow": "watch",
    "get": "show",
    "host": "deploy-model",
    "launch": "start",
    "logs": "diagnose",
    "ls": "list",
    "resume": "watch",
    "rm": "cleanup",
    "run": "start",
    "status": "show",
    "submit": "start",
    "tail": "watch",
    "why": "diagnose",
}
"""What AWS's, OpenAI's and others' commands call a thing, and its command here."""


class JobCommands(TyperGroup):
    """Commands, and what to type for those there are not."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command.

        Raises:
            UsageError: there is none of that name; the message names the right one.
        """
        if args and args[0] in OURS:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {OURS[args[0]]!r}?")
        return super().resolve_command(ctx, args)
