"""Three charts of a card: agreement with its intervals, the confusion matrix, and length bias.

The card as one page of HTML: its facts, its tables, and the charts of `plots` above theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.calibration.figures import AGREEMENT
from reward_functions.calibration.sheets import counted_as
from reward_functions.core.means import mean
from reward_functions.reports.pages.charts.drawing import SERIES
from reward_functions.reports.pages.charts.plots import Point, points
from reward_functions.reports.pages.charts.rows import Row, Span, matrix, spans
from reward_functions.reports.pages.page import Page, Section
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from reward_functions.calibration.cases import LabelledCases
    from reward_functions.calibration.confusion import Way
    from reward_functions.calibration.figures import Figure, Figures
    from reward_functions.calibration.sheets import Card
    from reward_functions.reports.pages.charts.drawing import Chart


BINS: Final = 8
"""Marks of the chart of length: each is the mean of as many cases as the others."""

LEAST_REACH: Final = 0.1
"""Of the difference between judge and people: a smaller one looks as small as it is."""


def agreement(figures: Figures) -> Chart:
    """A row for every figure; ways of counting invalid verdicts that agree are one series."""
    series = _series(figures)
    rows = [
        Row(
            name,
            [
                Span(figure.value, figure.interval, key)
                for key, (values, _) in series.items()
                if (figure := values[name]).value is not None
            ],
            dict(zip(("accuracy", "macro F1", "kappa"), figures.ceiling or (), strict=False)).get(
                name
            ),
        )
        for name in AGREEMENT
        if name in figures.agreement["wrong"]
    ]
    return spans(
        "Agreement of the judge with the label, with 95% intervals",
        rows,
        x="agreement with the label: 1 is perfect; kappa 0 is chance",
        names={key: name for key, (_, name) in series.items()},
        limit="a person, their own vote included" if figures.ceiling else "",
    )


def _series(figures: Figures) -> dict[str, tuple[Mapping[str, Figure], str]]:
    """The figures and the name of each series, by its key."""
    kinds: list[tuple[Mapping[str, Figure], list[Way]]] = []
    for way, values in figures.agreement.items():
        same = next((ways for known, ways in kinds if known == values), None)
        if same is None:
            kinds.append((values, [way]))
        else:
            same.append(way)
    if len(kinds) == 1:
        return {SERIES[0]: (kinds[0][0], "the judge")}
    return {
        key: (values, f"invalid {', '.join(map(counted_as, ways))}")
        for key, (values, ways) in zip(SERIES, kinds, strict=False)
    }


def both(cases: LabelledCases, figures: Figures) -> Chart:
    """Labels down, ratings across; a cell is darker the larger its share of the row."""
    names = [cases.labels.name(label) for label in cases.classes]
    return matrix(
        "Cases by the label of people and the verdict of the judge",
        names,
        [*names, "invalid"],
        figures.table.rows,
        down="people",
        across="judge",
    )


def length(figures: Figures) -> Chart | None:
    """Judge minus people against length: means of equally many cases, and the line of all.

    None where every case has one length, or none has a valid verdict.
    """
    slope = figures.length_bias.value
    if slope is None:
        return None
    listed = sorted(figures.points)
    bins = list(_bins(listed))
    reach = max(LEAST_REACH, *(abs(each.y) for each in bins))
    mean_x, mean_y = (mean(column) for column in zip(*listed, strict=True))
    ends = (bins[0].x, bins[-1].x)
    return points(
        "Judge minus people, by length: means of equally many cases, and the line of all cases",
        bins,
        x="length in doublings: +1 is twice as many characters",
        y="judge minus people; 0 is no bias",
        through=[(x, max(-reach, min(reach, mean_y + slope * (x - mean_x)))) for x in ends],
        includes=(-reach, reach),
    )


def _bins(listed: Sequence[tuple[float, float]]) -> Iterator[Point]:
    """The mean points of equally many neighbours."""
    count = min(BINS, len(listed))
    for at in range(count):
        some = listed[at * len(listed) // count : (at + 1) * len(listed) // count]
        x, y = (mean(column) for column in zip(*some, strict=True))
        yield Point(x, y, words=f"length {x:+.1f} doublings, {len(some)} cases: {y:+.3f}")


CHARTS: Final[Mapping[str, Callable[[Card], Chart | None]]] = {
    "Agreement with the label": lambda card: agreement(card.figures),
    "Labels and ratings": lambda card: both(card.cases, card.figures),
    "Bias": lambda card: length(card.figures),
}
"""By the title of the table that they show."""

SETTINGS: Final = ("setting", "is")


def page(card: Card) -> Page:
    """The whole page."""
    sections = []
    for sheet in card.sheets:
        drawn = CHARTS[sheet.title](card) if sheet.title in CHARTS else None
        sections.append(Section(sheet.title, [drawn, sheet] if drawn else [sheet]))
    sections.append(Section("Settings", [Sheet("Settings", SETTINGS, card.facts, words=SETTINGS)]))
    return Page(card.title, card.outcome, card.warnings, sections=sections)
