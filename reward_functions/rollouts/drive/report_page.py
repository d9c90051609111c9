"""The page of a file of rollouts: the worst finding first, its figures, and its weakest rows.

Rows that earn the least have their responses side by side, where the file keeps texts.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reward_functions.reports.pages.charts.plots import Bin, Course, lines
from reward_functions.reports.pages.charts.plots import histogram as bars
from reward_functions.reports.pages.charts.rows import Row, Span, spans, strips, tallies
from reward_functions.reports.pages.page import (
    Case,
    Concern,
    Page,
    Section,
    SideBySide,
    excerpt,
    one_line,
)
from reward_functions.rollouts.drive.figures import LISTED, sheets
from reward_functions.rollouts.drive.figures import histogram as binned
from reward_functions.rollouts.drive.records import pin_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from reward_functions.reports.pages.charts.drawing import Chart
    from reward_functions.reports.pages.page import Part
    from reward_functions.reports.sheets import Sheet
    from reward_functions.rollouts.drive.figures import Figures
    from reward_functions.rollouts.drive.records import RolloutRecord

BARS: Final = "share"
"""The column of tables that a chart draws better."""

HALF: Final = 0.5
"""Share of groups with zero advantage from which on it is a finding."""

SAMPLES: Final = 8
"""Responses of a row that are shown."""

ROOM: Final = 1_500
"""Bytes of a response or of a row on the page."""

WITHOUT: Final = "Without a reward"
WEAKEST: Final = "Rows that earn the least"


def report_page(
    figures: Figures,
    more: Sequence[Sheet] = (),
    concerns: Sequence[Concern] = (),
    weakest: Sequence[RolloutRecord] = (),
) -> Page:
    """The whole page.

    Args:
        figures: of the file.
        more: tables below those of the figures, such as those of trajectories.
        concerns: findings beside those of the figures, such as those of trajectories.
        weakest: the records of the rows that earn the least, with their texts.
    """
    overview, *others = sheets(figures)
    tables = {sheet.title: sheet.without(BARS) for sheet in others}
    drawn: dict[str, Chart] = {
        sheet.title: CHARTS[sheet.title](figures) for sheet in others if sheet.title in CHARTS
    }
    sections = [
        Section(
            "Overview",
            [_statuses(figures), _shares(figures), replace(overview, title="Overview")],
        )
    ]
    if WITHOUT in tables:
        sections.append(Section(WITHOUT, [tables[WITHOUT]]))
    both = [name for name in ("Rewards", "Turns") if name in tables]
    charts: list[Part] = [drawn[name] for name in both]
    charts += [_passes(figures)] if len(figures.pass_at) > 1 else []
    beside = SideBySide("The same as tables", [Case("", tables=[tables[name]]) for name in both])
    sections.append(Section(" and ".join(both).capitalize(), [*charts, beside]))
    if WEAKEST in tables:
        means = bars("Mean reward of the rows", figures.means, x="mean reward of a row", y="rows")
        parts: list[Part] = [drawn[WEAKEST], means, tables[WEAKEST], *_responses(figures, weakest)]
        sections.append(Section(WEAKEST, parts))
    sections += [Section(sheet.title, [sheet]) for sheet in more]
    return Page(
        overview.title,
        _lead(figures),
        facts=list(_facts(figures)),
        sections=sections,
        concerns=[*concerns_of_rollouts(figures), *concerns],
    )


def _lead(figures: Figures) -> str:
    rows = f"{figures.rollouts:,} rollouts of {figures.groups:,} rows, {figures.setup.n} of each"
    if figures.mean is None:
        return f"{rows}; none has a reward."
    found = figures.mean
    return (
        f"The mean reward is {found.value:.3g}, {found.low:.3g} to {found.high:.3g}, of "
        f"{figures.statuses['rewarded']:,} rewarded among {rows}."
    )


def concerns_of_rollouts(figures: Figures) -> Iterator[Concern]:
    """Findings against the rollouts of a file."""
    count = figures.rollouts
    if figures.idle:
        share = f"{figures.idle:,} of {count:,} rollouts"
        words = f"{share} never called the policy: a managed trainer ends a job over one of them."
        yield Concern("failed", words, "Overview")
    without = count - figures.statuses["rewarded"]
    if without:
        first = [
            f"{one_line(error or status, 60)} {times:,}"
            for (status, error), times in list(figures.errors.items())[:2]
        ]
        more = ", …" if len(figures.errors) > len(first) else ""
        words = f"{without:,} of {count:,} rollouts ({without / count:.1%}) have no reward: "
        yield Concern("unscored", f"{words}{', '.join(first)}{more}.", WITHOUT)
    equal = figures.zero_std
    if equal and equal.value >= HALF:
        words = f"{equal.value:.1%} of rows have equal rewards: a trainer learns nothing from them."
        yield Concern("reasons", words, "Overview")
    if figures.duplicates:
        words = f"{figures.duplicates:,} reports came again, and are counted once."
        yield Concern("other", words, "Overview")


def _facts(figures: Figures) -> Iterator[tuple[str, str]]:
    setup = figures.setup
    yield "agent", setup.agent
    yield from [("policy", setup.policy)] if setup.policy else []
    yield "rewarded by", pin_words(setup.scorer)
    sampling = ", ".join(f"{name}={value}" for name, value in setup.sampling.items())
    yield from [("sampled with", sampling)] if sampling else []
    yield "data, seed", f"{setup.data}, {setup.seed}"


def _responses(figures: Figures, records: Sequence[RolloutRecord]) -> Iterator[SideBySide]:
    """The responses of the weakest rows, side by side; none where the file keeps no texts."""
    for group in figures.worst:
        found = [each for each in records if each.row == group.row]
        found.sort(key=lambda each: each.sample)
        if not any(each.response is not None for each in found):
            continue
        content = next((each.content for each in found if each.content is not None), None)
        row = [] if content is None else [("the row", excerpt(_written(content), ROOM))]
        left = len(found) - SAMPLES
        yield SideBySide(
            f"{one_line(group.id, 100)}: mean reward {group.mean:.3g}",
            [_response(each) for each in found[:SAMPLES]],
            note=f"{left:,} more samples are not shown." if left > 0 else "",
            texts=row,
        )


def _written(content: Mapping[str, object]) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False, default=str)


def _response(record: RolloutRecord) -> Case:
    earned = record.error or record.status if record.reward is None else f"{record.reward:.4g}"
    name = "without a reward" if record.reward is None else "reward"
    text = "" if record.response is None else excerpt(record.response, ROOM)
    facts = [(name, earned), ("turns", f"{record.turns:,}"), ("seconds", f"{record.seconds:.3g}")]
    return Case(
        f"sample {record.sample}",
        facts=facts,
        quotations=[("response", text)] if text else (),
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
        Row(name, [Span(found.value, (found.low, found.high))])
        for name, found in named.items()
        if found is not None
    ]
    label = "Shares of rollouts, of rewards and of groups, with 95% intervals by row"
    return spans(label, rows, x="share, with its 95 % interval by row")


def _passes(figures: Figures) -> Chart:
    points = [(float(k), value) for k, value in figures.pass_at.items()]
    courses = [Course("pass@k", points)]
    return lines("pass@k of the rows", courses, x="k", y="pass@k", includes=(0.0, 1.0))


def _rewards_drawn(figures: Figures) -> Chart:
    return bars("Rewards of the rollouts", figures.histogram, x="reward", y="rollouts")


def _turns_drawn(figures: Figures) -> Chart:
    bins: Sequence[Bin] = [Bin(turns, turns, count) for turns, count in figures.turns.items()]
    if len(bins) > LISTED:
        bins = binned([float(each.low) for each in bins for _ in range(each.count)])
    return bars("Turns of the rollouts", bins, x="turns", y="rollouts")


def _worst_drawn(figures: Figures) -> Chart:
    groups = [(group.id, group.rewards) for group in figures.worst]
    ends = (figures.minimum or 0.0, figures.maximum or 0.0)
    return strips("Rewards of the rows that earn the least", groups, x="reward", includes=ends)


CHARTS: Final[Mapping[str, Callable[[Figures], Chart]]] = {
    "Rewards": _rewards_drawn,
    "Turns": _turns_drawn,
    "Rows that earn the least": _worst_drawn,
}
"""By the title of the table that they show."""
