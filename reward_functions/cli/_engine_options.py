"""The options of a run over shards: `reward score … --on ENGINE`, and `reward runs resume`.

A run without `--on` is one of this process, and takes none of them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_option = partial(typer.Option, rich_help_panel="On an engine")

_ON: Final = (
    "Score in shards on aws, ray, dask, processes or direct (calls from here): FILE and the run's "
    "folder, -o, may be s3://BUCKET/PREFIX; `ray://ADDRESS` and `dask=ADDRESS` are clusters."
)
_STAGE: Final = "Of aws and direct: whose deployment NAME scores, by its pinned version."
_UNSCORED: Final = "End where a larger share of rows is without a score."
_MAX_USD: Final = "Begin nothing where the rows that are left would take more, by list prices."
_GROUPS: Final = "A reward compares responses to a prompt, which stand side by side in one object."

On = Annotated[str | None, _option(metavar="ENGINE", help=_ON)]
Stage = Annotated[str | None, _option(metavar="NAME", help=_STAGE)]
ShardMb = Annotated[
    float | None, _option(metavar="MB", help="Of a shard: 64 at most, and 4 of a judge.")
]
Concurrency = Annotated[int | None, _option(min=1, metavar="N", help="Shards at once.")]
MaxUnscored = Annotated[float | None, _option(min=0, max=1, metavar="SHARE", help=_UNSCORED)]
MaxUsd = Annotated[float | None, _option(min=0, metavar="DOLLARS", help=_MAX_USD)]
Detach = Annotated[bool, _option("--detach", help="Of aws: wait for nothing; `runs watch` does.")]
PlanOnly = Annotated[bool, _option("--plan", help="Print what it takes, and begin nothing.")]
AdjacentGroups = Annotated[bool, _option("--adjacent-groups", help=_GROUPS)]

_COUNTS: Final = ("shard_mb", "concurrency", "max_unscored", "max_usd")
OF_ENGINES: Final = ("stage", *_COUNTS, "detach", "plan", "adjacent_groups")
HERE: Final = ("workers", "report", "label", "explain", "only", "sort", "limit", "track")
"""Options of `reward score` without an engine."""


def refuse(typed: Mapping[str, Any], names: Iterable[str], why: str) -> None:
    """Refuse options that were typed.

    Args:
        typed: by the names of parameters; those that were not are None or False.
        names: of these.
        why: what a message says of the first.

    Raises:
        ConfigurationError: one was.
    """
    for name in names:
        if typed[name] is not None and typed[name] is not False:
            raise ConfigurationError(f"--{name.replace('_', '-')} {why}")


def require_here(typed: Mapping[str, Any]) -> None:
    """Refuse what a run without `--on` cannot do.

    Raises:
        ConfigurationError: what has to be added.
    """
    refuse(typed, OF_ENGINES, "is of a run on an engine: add --on, such as --on processes")
    for place in (typed["file"], typed["output"] or ""):
        if place.startswith("s3://"):
            raise ConfigurationError(
                f"{place} is in S3: add --on direct or aws, where a deployed version scores, or "
                "--on processes, ray or dask; and -o with a folder, or s3://…, for the run"
            )
