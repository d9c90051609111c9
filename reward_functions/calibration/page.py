"""The card as one page of HTML: its facts, its tables, and the charts of `plots` above theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.calibration import plots
from reward_functions.reports.pages.page import Page
from reward_functions.reports.pages.sections import Section
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reward_functions.calibration.sheets import Card
    from reward_functions.reports.pages.charts.drawing import Chart

CHARTS: Final[Mapping[str, Callable[[Card], Chart | None]]] = {
    "Agreement with the label": lambda card: plots.agreement(card.figures),
    "Labels and ratings": lambda card: plots.both(card.cases, card.figures),
    "Bias": lambda card: plots.length(card.figures),
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
