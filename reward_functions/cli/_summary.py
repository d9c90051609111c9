"""What a file of scores looks like as a whole, in a few lines on standard error.

The second is for whoever trains on groups: prompts whose samples all score the same give GRPO no
advantage to learn from. `frac_reward_zero_std` is TRL's name for their share. The third says why
responses score the minimum, and what to try. Where rows are not valid samples, a line before these
shows the shape of one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reward_functions.cli._console import (
    MESSAGE,
    NOTHING,
    errors,
    plain,
    remark,
    sheet_table,
    table,
)
from reward_functions.reports.score_report.reasons import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.judge_runtime.usage import Account
    from reward_functions.reports.score_report.digest import Tallies
    from reward_functions.reports.score_report.labels import Confusion


LINES: Final = 8
"""Reasons, and errors, that a terminal shows by themselves."""

SAMPLE: Final = (
    '{"id": …, "messages": [{"role": "user", "content": …}, {"role": "assistant", "content": …}], '
    '"reference_answer": …}'
)


def written(count: int, total: int, more: str) -> None:
    """Say how many of the rows are written.

    Args:
        count: of those.
        total: of the file.
        more: what writes the others; "" where nobody wants them.
    """
    remark(f"{count:,} of {total:,} rows shown{more}")


def summary(digest: Tallies, seconds: float, rows: int) -> None:
    """Print the figures of all rows, the groups, what is odd about the rows, and the reasons.

    On a terminal the reasons and errors are tables, elsewhere a line each. The shape of a sample is
    printed once, however many rows do not have it.

    Args:
        digest: of all rows.
        seconds: spent on scoring.
        rows: scored in this time, which are fewer where a run went on.
    """
    console = errors()
    if digest.no_samples:
        console.print(f"a sample is written {SAMPLE}", soft_wrap=True)
    console.print(" · ".join(_figures(digest, seconds, rows)), soft_wrap=True)
    found = digest.groups()
    if found.prompts:
        equal = ((found.at_minimum, "all at the minimum"), (found.at_maximum, "all at the maximum"))
        kinds = "".join(f", {count:,} {where}" for count, where in equal if count)
        console.print(
            f"prompts with several samples {found.prompts:,} · frac_reward_zero_std "
            f"{found.without_advantage / found.prompts:.3f}: groups with zero advantage{kinds}",
            soft_wrap=True,
            style="dim",
        )
    if notes := " · ".join(_notes(digest)):
        console.print(notes, soft_wrap=True)
    if console.is_terminal:
        _tables(digest)
        return
    for error in digest.errors():
        line = f"unscored {error.title} ({error.rows:,}), the first: {error.first}"
        remark(line)
    if reasons := sentence(digest.reasons()):
        remark(reasons)


def _notes(digest: Tallies) -> Iterator[str]:
    """What is odd about the rows, counted."""
    counted = (
        (digest.without_response, "without response"),
        (digest.cut_off, "at the minimum and cut off"),
        (digest.repeated_ids(), "with the id of a row before"),
    )
    return (f"rows {what} {count:,}" for count, what in counted if count)


def _tables(digest: Tallies) -> None:
    """The reasons at the minimum, and the errors, each with what to try."""
    console = errors()
    low = [each for each in digest.reasons() if each.low]
    if low:
        total = sum(each.low for each in low)
        shown = table("at the minimum", "rows", "share", "try", numbers=("rows", "share"))
        for each in low[:LINES]:
            found = each.remedy
            attempt = f"{found.attempt} (perhaps {found.cause})" if found else None
            shown.add_row(each.reason, f"{each.low:,}", f"{each.low / total:.0%}", attempt)
        if rest := sum(each.low for each in low[LINES:]):
            shown.add_row("other reasons", f"{rest:,}", f"{rest / total:.0%}", NOTHING)
        console.print(shown)
    if failures := digest.errors():
        shown = table("unscored", "rows", "the first", "what to do", numbers=("rows",))
        for error in failures[:LINES]:
            shown.add_row(error.title, f"{error.rows:,}", error.first, error.remedy)
        console.print(shown)


def agreement(found: Confusion) -> None:
    """Print rewards against labels: the counts, then precision, recall and accuracy."""
    from reward_functions.reports.score_report.tables import agreement_table, confusion_table

    console = errors()
    for sheet in (confusion_table(found), agreement_table(found)):
        console.print(sheet_table(replace(sheet, title="")))
    remark(confusion_table(found).note)


def spent(account: Account | None) -> None:
    """Print what a judge's models were asked, and what that cost as far as prices are known."""
    if account is None:
        return
    counted = account.metrics()
    tokens = sum(value for name, value in counted.items() if name.endswith("_tokens"))
    kept = counted["judge_cache_hits"]
    figures = (
        f"judge calls {counted['judge_calls']:,.0f}",
        f"answers {counted['judge_answers']:,.0f}",
        *([f"verdicts kept earlier {kept:,.0f}"] if kept else []),
        f"questions without a verdict {counted['judge_failures']:,.0f}",
        f"tokens {tokens:,.0f}",
        f"dollars {account.dollars}",
    )
    remark(" · ".join(figures))
    for reason in account.stopped:
        line = plain(f"not asked any more {reason}", MESSAGE)
        remark(line)


def _figures(digest: Tallies, seconds: float, rows: int) -> Iterator[str]:
    yield f"samples {len(digest):,}"
    if figures := digest.figures():
        middle, std, low = figures
        yield f"mean {middle:.4f}"
        yield f"std {std:.4f}"
        yield f"share at the minimum {low:.1%}"
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in digest.kinds())
    yield f"unscored {digest.unscored:,}" + (f" ({kinds})" if kinds else "")
    if rows and seconds:
        yield f"{rows / seconds:,.0f} samples/s"
