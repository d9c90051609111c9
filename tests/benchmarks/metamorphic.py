"""Rewrites of our own right answers: how many are not paid as their meaning says, by rewrite."""

from collections import Counter

from rich.table import Table

from reward_functions import symbolic
from tests.oracle import metamorphic


def report(console):
    """Print both tables; a row that has none is left out."""
    symbolic.warm()
    chosen = metamorphic.bases()
    kinds = (
        ("meaning the same, not paid", metamorphic.PRESERVING, True),
        ("meaning another thing, paid", metamorphic.CHANGING, False),
    )
    for title, rewrites, right in kinds:
        tried, flipped = metamorphic.flips(rewrites, chosen, right=right)
        share = len(flipped) / tried
        table = Table(title=f"{title}: {len(flipped):,} of {tried:,} ({share:.2%})")
        table.add_column("rewrite")
        table.add_column("answers", justify="right")
        for name, count in Counter(name for name, _, _ in flipped).most_common():
            table.add_row(name, str(count))
        console.print(
            f"metamorphic: {len(rewrites)} rewrites of {len(chosen)} answers from our own tables"
        )
        console.print(table)
