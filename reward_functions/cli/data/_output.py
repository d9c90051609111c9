"""What the commands on data print besides tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from reward_functions.cli._console import table
from reward_functions.data.lengths import SHARES, Lengths

if TYPE_CHECKING:
    from collections.abc import Iterable


BAR: Final = 40
"""Columns of the longest bar of a histogram."""

Files = Annotated[
    list[str],
    typer.Argument(metavar="FILE…", help="Training data, in any shape `score` reads."),
]
Format = Annotated[Literal["table", "json"], typer.Option("--format", help="What to print.")]


def lengths_table(lengths: dict[str, Lengths], title: str) -> Any:
    """Percentiles, a line for each name."""
    shown = table("of", "rows", *SHARES, names=("of",), numbers=("rows", *SHARES), title=title)
    for name, measured in lengths.items():
        figures = measured.percentiles().values()
        shown.add_row(name, f"{len(measured.values):,}", *[f"{n:,}" for n in figures])
    return shown


def histogram(lengths: Lengths) -> Iterable[str]:
    """Bars, a line for each step of lengths."""
    bins = lengths.histogram()
    most = max(count for *_, count in bins)
    width = len(f"{bins[-1][1]:,}")
    for low, high, count in bins:
        bar = "█" * round(BAR * count / most) or "▏" * bool(count)
        yield f"{low:>{width},} – {high:>{width},}  {bar} {count:,}"
