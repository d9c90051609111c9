"""`reward judge`: checks of a judge before a policy is trained on its scores.

probe.py       probe       the output modes in which its models give structured verdicts
estimate.py    estimate    the cost of judging a training run: calls, dollars, quota, time
init.py        init        settings to begin with
verdicts.py    verdicts    the verdicts that `reward score` keeps
"""

from __future__ import annotations

from typing import Final

import typer

from reward_functions.cli._group import LazyGroup

__all__ = ["judge"]

ROWS: Final = {
    "init": "Write a judge's settings to begin with: a TOML file for --judge.",
    "probe": "Ask every model of a judge one of its questions, and find an output mode that works.",
    "estimate": "Count the calls, tokens, dollars, quota and time of judging a training run.",
    "verdicts": "Show how many verdicts `reward score` keeps, and where; remove them with --clear.",
}


class JudgeCommands(LazyGroup):
    """The commands of `reward judge`."""

    package = __name__
    rows = ROWS


judge = typer.Typer(cls=JudgeCommands, no_args_is_help=True)
