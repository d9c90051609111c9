"""`reward data`: from a public data set to files a trainer takes, and a reward that can judge them.

prepare.py   prepare    public files → rows, official splits kept
generate.py  generate   synthetic rows of the same shapes, to rehearse with
lint.py      lint       what a trainer would refuse
convert.py   convert    rows of one shape as rows of another
split.py     split      splits that are made, by page or prompt
stats.py     stats      lengths, and the limits they suggest
upload.py    upload     to S3
"""

from __future__ import annotations

from typing import Final

import typer

from reward_functions.cli._group import LazyGroup

__all__ = ["data"]

ROWS: Final = {
    "prepare": "Write a public data set, or your own questions, as Bedrock reads it, and a report.",
    "generate": "Write synthetic rows in the shape of a data set: to rehearse with, not to train "
    "on.",
    "lint": "Find what a trainer would refuse, and what would spoil a comparison.",
    "convert": "Write rows in the shape that a trainer reads.",
    "split": "Split a file by group, so that no page and no prompt stands on two sides.",
    "stats": "Show how long prompts and worked solutions are, and what limits they suggest.",
    "upload": "Upload training data to S3, each file whole or not at all, held to a checksum.",
}


class DataCommands(LazyGroup):
    """The commands of `reward data`."""

    package = __name__
    rows = ROWS


data = typer.Typer(cls=DataCommands, no_args_is_help=True)
