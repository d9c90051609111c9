"""What the commands on data print besides tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from reward_functions.cli._console import remark, table
from reward_functions.cli._echo import several
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean
from reward_functions.data.lengths import SHARES, Lengths
from reward_functions.data.rows.writing import WRITERS

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable


BAR: Final = 40
"""Columns of the longest bar of a histogram."""

DataFile = Annotated[
    str, typer.Argument(metavar="FILE", help="Training data, in any shape `score` reads.")
]
Files = Annotated[
    list[str],
    typer.Argument(metavar="FILE…", help="Training data, in any shape `score` reads."),
]
Format = Annotated[Literal["table", "json"], typer.Option("--format", help="What to print.")]


def require_shape(to: str) -> None:
    """Refuse a shape of --to that no rows are written in.

    Raises:
        ConfigurationError: the message suggests the nearest.
    """
    if to not in WRITERS:
        raise ConfigurationError(
            f"--to {to}: rows cannot be written in that shape{did_you_mean(to, WRITERS)}"
        )


def tell_lost(lost: Counter[str], to: str, style: str = "") -> None:
    """Say what the rows hold and their new shape has no place for."""
    for what, count in lost.most_common():
        remark(f"left out, {to} has no place for it: {what} ({several(count, 'row')})", style)


def lengths_table(lengths: dict[str, Lengths], title: str) -> Any:
    """Percentiles, a line for each name."""
    shown = table("of", "rows", *SHARES, names=("of",), numbers=("rows", *SHARES), title=title)
    for name, measured in lengths.items():
        figures = measured.percentiles().values()
        shown.add_row(name, f"{len(measured.values):,}", *[f"{n:,}" for n in figures])
    return shown


def lengths_json(lengths: dict[str, Lengths]) -> dict[str, Any]:
    """The percentiles of each name, for JSON."""
    return {
        name: {"rows": len(each.values), **each.percentiles()} for name, each in lengths.items()
    }


def histogram(lengths: Lengths) -> Iterable[str]:
    """Bars, a line for each step of lengths."""
    bins = lengths.histogram()
    most = max(count for *_, count in bins)
    width = len(f"{bins[-1][1]:,}")
    for low, high, count in bins:
        bar = "█" * round(BAR * count / most) or "▏" * bool(count)
        yield f"{low:>{width},} – {high:>{width},}  {bar} {count:,}"
