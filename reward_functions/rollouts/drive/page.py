"""The figures of a file of rollouts as one page of HTML: a chart above each table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reward_functions.reports.pages.charts.bars import Bin, histogram, tallies
from reward_functions.reports.pages.charts.spans import Row, Span, spans
from reward_functions.reports.pages.charts.strips import strips
from reward_functions.reports.pages.page import Page
from reward_functions.reports.pages.sections import Section
from reward_functions.rollouts.drive.reporting import sheets

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reward_functions.reports.pages.charts.drawing import Chart
    from reward_functions.reports.sheets import Sheet
    from reward_functions.rollouts.drive.figures import Figures

BARS: Final = "share"
"""The column of tables that a chart draws better."""


def page(figures: Figures, more: Sequence[Sheet] = ()) -> Page:
    """The whole page.

    Args:
        figures: of the file.
        more: tables below those of the figures, such as those of trajectories.
    """
    setup = figures.setup
    overview, *others = sheets(figures)
    shown = replace(overview, title="Overview")
    sections = [Section("Overview", [_statuses(figures), _shares(figures), shown])]
    for sheet in others:
        drawn = [CHARTS[sheet.title](figures)] if sheet.title in CHARTS else []
        sections.append(Section(sheet.title, [*drawn, sheet.without(BARS)]))
    sections += [Section(sheet.title, [sheet]) for sheet in more]
    return Page(
        overview.title,
        f"{figures.rollouts:,} rollouts of {figures.groups:,} rows, {setup.n} of each; what failed "
        "or was lost has no reward, and is in no mean.",
        sections=sections,
    )


def _statuses(figures: Figures) -> Chart:
    return tallies("How rollouts ended", list(figures.statuses.items()), x="rollouts")


def _shares(figures: Figures) -> Chart:
    """Shares with their intervals; without a reward there is one alone."""
    named = {
        "rewarded": figures.shares["rewarded"],
        "at the least reward": figures.at_minimum,
        "at the most": figures.at_maximum,
        "zero advantage": figures.zero_std,
    }
    rows = [
        Row(name, [Span(share.value, (share.low, share.high))])
        for name, share in named.items()
        if share is not None
    ]
    label = "Shares of rollouts, of rewards and of groups, with 95% intervals by row"
    return spans(label, rows, x="share, with its 95 % interval by row", names={})


def _rewards(figures: Figures) -> Chart:
    bins = [Bin(each.low, each.high, each.rollouts) for each in figures.histogram]
    return histogram("Rewards of the rollouts", bins, x="reward", y="rollouts")


def _turns(figures: Figures) -> Chart:
    bins = [Bin(turns, turns, count) for turns, count in figures.turns.items()]
    return histogram("Turns of the rollouts", bins, x="turns", y="rollouts")


def _worst(figures: Figures) -> Chart:
    groups = [(group.id, group.rewards) for group in figures.worst]
    ends = (figures.minimum or 0.0, figures.maximum or 0.0)
    return strips("Rewards of the rows that earn the least", groups, x="reward", includes=ends)


CHARTS: Final[Mapping[str, Callable[[Figures], Chart]]] = {
    "Rewards": _rewards,
    "Turns": _turns,
    "Rows that earn the least": _worst,
}
"""By the title of the table that they show."""
