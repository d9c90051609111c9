"""`reward data`: from a public data set to files a trainer takes, and a reward that can judge them.

prepare.py   prepare    public files → rows, official splits kept
generate.py  generate   synthetic rows of the same shapes, to rehearse with
lint.py      lint       what a trainer would refuse
convert.py   convert    rows of one shape as rows of another
split.py     split      splits that are made, by page or prompt
stats.py     stats      lengths, and the limits they suggest
replay.py    replay     whether the reward pays the right answers and no others
upload.py    upload     to S3
"""

from __future__ import annotations

import typer

from reward_functions.cli.data import convert, generate, lint, prepare, replay, split, stats, upload

__all__ = ["data"]

data = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Prepare training data, check it, and bring it to S3.",
)
data.command("prepare")(prepare.prepare)
data.command("generate")(generate.generate)
data.command("lint")(lint.lint)
data.command("convert")(convert.convert)
data.command("split")(split.split)
data.command("stats")(stats.stats)
data.command("replay")(replay.replay)
data.command("upload")(upload.upload)
