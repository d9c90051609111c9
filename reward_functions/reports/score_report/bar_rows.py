"""From a bar to its rows, and the responses to one prompt side by side.

A bar of rewards, a reason and a cell of labels against rewards lead to a table of their rows. A row
leads to its case, or to its group, where the page shows either. A table shows `ROWS` rows at most:
those of each reason in turn.

The groups side by side are those that teach a reader most: first those with a row whose label says
otherwise, then those whose rewards differ.
"""

from __future__ import annotations

from heapq import nsmallest
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from reward_functions.core.types import Unscored
from reward_functions.reports.pages.page import Listed, SideBySide, ending, excerpt, one_line
from reward_functions.reports.score_report import figures
from reward_functions.reports.score_report.labels import LABELLED, REWARDED
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from reward_functions.reports.score_report.cases import Cases
    from reward_functions.reports.score_report.figures import Batch, GroupFigures
    from reward_functions.reports.score_report.labels import Confusion
    from reward_functions.reports.score_report.reasons import ReasonFigures

Item = TypeVar("Item")

ROWS: Final = 10
"""Rows of a bar that its table shows."""

END: Final = 120
"""Bytes of the end of a response in such a table."""

GROUPS: Final = 8
"""Groups side by side."""

MEMBERS: Final = 8
"""Responses of one of them: of more, the highest and the lowest rewards."""


class Bar(NamedTuple):
    """A bar, or a cell, and what it stands for.

    Args:
        anchor: of its table.
        title: of its table.
        rows: that it counts.
    """

    anchor: str
    title: str
    rows: Sequence[int]


def reward_bars(batch: Batch) -> list[Bar]:
    """A bar for each reward; of many, a bar for each step of the scale, as the chart has them."""
    values = figures.counts(batch.values(batch.scored))
    found: dict[float, list[int]]
    if len(values) <= figures.FEW:
        found = {value: [] for value, _ in values}
        for at in batch.scored:
            found[batch.value(at)].append(at)
        named = [(f"reward {value:.4g}", rows) for value, rows in found.items()]
    else:
        low, high = batch.scale
        steps = figures.bins(batch.values(batch.scored), low, high)
        found = {at: [] for at in range(len(steps))}
        for at in batch.scored:
            found[figures.bin_of(batch.value(at), low, high)].append(at)
        named = [
            (f"a reward from {step.low:.4g} to {step.high:.4g}", found[at])
            for at, step in enumerate(steps)
        ]
    return [Bar(f"reward-{at}", f"Rows with {name}", rows) for at, (name, rows) in numbered(named)]


def reason_bars(reasons: Sequence[ReasonFigures], most: int) -> list[Bar]:
    """A bar for each of the most frequent reasons at the minimum."""
    low = [each for each in reasons if each.at_minimum][:most]
    return [
        Bar(f"reason-{at}", f"Rows at the minimum: {one_line(each.reason, 90)}", each.at_minimum)
        for at, each in numbered(low)
    ]


def label_bars(found: Confusion) -> list[list[Bar]]:
    """The cells of labels against rewards: a list for each label."""
    return [
        [
            Bar(
                f"labels-{down}-{across}",
                f"Rows with the label {label}, reward {reward}",
                found.cells[is_label, is_reward],
            )
            for across, (is_reward, reward) in numbered(REWARDED)
        ]
        for down, (is_label, label) in numbered(LABELLED)
    ]


def links(bars: Sequence[Bar]) -> list[str]:
    """Where each bar leads; a bar of no rows leads nowhere."""
    return [each.anchor if each.rows else "" for each in bars]


def numbered(items: Sequence[Item]) -> Iterator[tuple[int, Item]]:
    """The same, counted from 1 as anchors are."""
    return enumerate(items, 1)


def in_turn(lists: Sequence[Sequence[int]], most: int) -> list[int]:
    """The first of each list, then the second of each, and so on."""
    found: list[int] = []
    turn = 0
    while len(found) < most and (some := [rows[turn] for rows in lists if len(rows) > turn]):
        found += some[: most - len(found)]
        turn += 1
    return found


class RowTables:
    """The tables of the rows of bars.

    Args:
        cases: what a row is shown with.
        reasons: of the scored rows.
        linked: rows that the page shows as a case, which their table leads to.
    """

    def __init__(
        self, cases: Cases, reasons: Sequence[ReasonFigures], linked: Collection[int]
    ) -> None:
        self._cases, self._linked = cases, linked
        self._reason = [len(reasons)] * len(cases.batch.results)
        for number, each in enumerate(reasons):
            for at in each.rows:
                self._reason[at] = number

    def of(self, bar: Bar) -> Listed:
        """Some rows of a bar, each reason in turn."""
        by_reason: dict[int, list[int]] = {}
        for at in bar.rows:
            some = by_reason.setdefault(self._reason[at], [])
            if len(some) < ROWS:
                some.append(at)
        shown = in_turn([by_reason[number] for number in sorted(by_reason)], ROWS)
        heads = ["row", "reward", "label", "reason", "end of the response"]
        if self._cases.labels is None:
            heads.remove("label")
        cells = [self._row(at) for at in shown]
        rows = [[row[head] for head in heads] for row in cells]
        title = f"{bar.title}: {len(shown):,} of {len(bar.rows):,}"
        sheet = Sheet(title, heads, rows, words=["label", "reason", "end of the response"])
        return Listed(sheet, bar.anchor, [self._link(at) for at in shown])

    def _link(self, at: int) -> str:
        """To its case, or to the responses to its prompt; "" where the page shows neither."""
        if at in self._linked:
            return f"row-{at + 1}"
        place = self._cases.batch.group_of[at]
        return f"group-{place + 1}" if place in self._cases.groups else ""

    def _row(self, at: int) -> Mapping[str, str]:
        batch, labels = self._cases.batch, self._cases.labels
        result, sample = batch.results[at], batch.samples[at]
        if isinstance(result, Unscored):
            reward, reason = "none", str(result.error)
        else:
            reward, reason = f"{result.score.value:.4g}", result.score.reason
        response = "" if isinstance(sample, Unscored) else sample.response
        return {
            "row": one_line(result.id, 60),
            "reward": reward,
            "label": _LABEL[labels[at] if labels else None],
            "reason": one_line(reason, END),
            "end of the response": one_line(ending(response, END), END),
        }


_LABEL: Final = {True: "correct", False: "incorrect", None: "none"}


def groups_shown(
    batch: Batch, groups: GroupFigures, disagreements: Collection[int] = ()
) -> list[int]:
    """The groups that teach a reader most, by their place: see the module."""
    different = frozenset(groups.by_kind["different"])
    others = frozenset(disagreements)

    def rank(place: int) -> tuple[bool, bool, int]:
        return others.isdisjoint(batch.groups[place]), place not in different, place

    return nsmallest(
        GROUPS, (place for kind in groups.by_kind.values() for place in kind), key=rank
    )


def members(batch: Batch, place: int) -> list[int]:
    """Responses of a group, the highest rewards first; of many the highest and the lowest."""
    ordered = sorted(batch.groups[place], key=lambda at: (-batch.value(at), at))
    half = MEMBERS // 2
    return ordered if len(ordered) <= MEMBERS else [*ordered[:half], *ordered[-half:]]


def side_by_side(cases: Cases, place: int) -> SideBySide:
    """The responses to one prompt, with their rewards."""
    batch, shown = cases.batch, members(cases.batch, place)
    every = batch.groups[place]
    first = batch.sample(every[0])
    prompt = first.prompt or first.context[-1].content
    right = sum(batch.value(at) == batch.scale.maximum for at in every)
    return SideBySide(
        one_line(prompt, 120),
        [cases.card(at) for at in shown],
        f"group-{place + 1}",
        f"{len(shown):,} of {len(every):,} responses, the highest reward first; {right:,} earn the "
        "maximum.",
        [(f"prompt, {len(prompt):,} characters", excerpt(prompt, cases.room))],
    )
