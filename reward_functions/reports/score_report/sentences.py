"""What a page says in words: how the rewards are, and what to try where they are low."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.reports.score_report.excerpts import line
from reward_functions.reports.score_report.figures import mean_by_prompt
from reward_functions.reports.score_report.tables import MOST, number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reward_functions.reports.score_report.batch import Batch
    from reward_functions.reports.score_report.reasons import ReasonFigures, Remedy
    from reward_functions.reports.score_report.unscored import ErrorFigures

NAMED: Final = 3
"""Reasons that share a remedy and are named."""


def lead(batch: Batch, reasons: Sequence[ReasonFigures]) -> str:
    """The page in one sentence: rows, mean, share at the minimum and its most frequent reason.

    Args:
        batch: of rows; "" where there are none.
        reasons: of the batch, the most frequent at the minimum first.
    """
    rows, scored, low = len(batch.results), len(batch.scored), len(batch.at_minimum)
    if not rows:
        return ""
    parts = [f"{scored:,} of {rows:,} {'row' if rows == 1 else 'rows'} scored"]
    if middle := mean_by_prompt(batch):
        ends = f"{number(middle.low)} to {number(middle.high)}"
        parts.append(f"mean {number(middle.value)} (95 % interval {ends})")
        mostly = f", mostly: {line(reasons[0].reason, 120)}" if low else ""
        parts.append(f"{low / scored:.1%} at the minimum{mostly}")
    return "; ".join(parts) + "."


def remedies(reasons: Sequence[ReasonFigures]) -> Iterator[str]:
    """What to try, a sentence for each remedy; the most frequent reasons have theirs first."""
    sharing: dict[Remedy, list[ReasonFigures]] = {}
    for each in reasons[:MOST]:
        if each.remedy:
            sharing.setdefault(each.remedy, []).append(each)
    for remedy, found in sharing.items():
        rows = sum(len(each.at_minimum) for each in found)
        named = ", ".join(line(each.reason, 90) for each in found[:NAMED])
        more = f" and {len(found) - NAMED:,} more reasons" if len(found) > NAMED else ""
        yield (
            f"{_rows(rows)} at the minimum: {named}{more}. Likely, {remedy.cause}; or it is what "
            f"the policy deserves. Try: {remedy.attempt}."
        )


def mending(errors: Sequence[ErrorFigures]) -> Iterator[str]:
    """What to do about rows that could not be scored, a sentence for each way to mend them."""
    sharing: dict[str, list[ErrorFigures]] = {}
    for each in errors[:MOST]:
        sharing.setdefault(each.attribution.remedy, []).append(each)
    for remedy, found in sharing.items():
        rows = sum(len(each.rows) for each in found)
        named = ", ".join(line(each.title, 90) for each in found[:NAMED])
        yield f"{_rows(rows)}, {named}: {remedy}."


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"
