"""The course of a job as charts: one for each figure, as a picture or on a page.

Training and validation of one figure are in one chart. Charts of rewards share an axis, which holds
both ends of the scale: a course from 0.02 to 0.03 looks as flat as it is. A figure of one point has
no course; one that never changed is a line of text, unless it is a reward.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reward_functions.core.spec import UNIT_SCALE
from reward_functions.jobs.figures import SPLITS, number, read_as, signs
from reward_functions.reports.pages.charts.drawing import side_by_side
from reward_functions.reports.pages.charts.plots import Course, lines
from reward_functions.reports.pages.page import Page, Section, Warned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reward_functions.core.spec import Scale
    from reward_functions.jobs.figures import Series
    from reward_functions.reports.pages.charts.drawing import Chart
    from reward_functions.reports.pages.page import Part
    from reward_functions.reports.sheets import Sheet

MAX_CHARTS: Final = 24

MAX_CONSTANT: Final = 40
"""Figures that never changed, by name."""

UNSCALED: Final = ("std", "frac")
"""Words in names of figures of rewards that are on no reward scale."""

NOISE: Final = 1e-9
"""Changes below it, of the value or of 1, are rounding: an advantage's mean of 3e-18 is 0."""

SERIES: Final = {"training": "a", "validation": "b", "grader": "c"}
"""The kit's series by split."""

UNITS: Final = {"step": "step", "minute": "minutes since the job was made"}

BARS: Final = "course"
"""The column of tables that a chart draws better."""

NO_COURSE: Final = "No figure has two points yet: there is no course to draw."


def svg(found: Sequence[Series], title: str, scale: Scale = UNIT_SCALE) -> str:
    """A picture that stands by itself; of more than `MAX_CHARTS` figures the first.

    Args:
        found: the figures; those of one point are left out.
        title: above it.
        scale: of the rewards.
    """
    shown = charts(found, scale)
    return side_by_side(title, shown, title=title if shown else f"{title}: {NO_COURSE}").picture()


def page(
    found: Sequence[Series], title: str, sheets: Sequence[Sheet], scale: Scale = UNIT_SCALE
) -> Page:
    """What the figures show, their courses, and tables of them.

    Args:
        found: the figures.
        title: of the page.
        sheets: the tables; the column of small bars is left out, as the courses are drawn.
        scale: of the rewards.
    """
    unchanged = constant(found)
    courses: list[Part] = [*charts(found, scale)] or [NO_COURSE]
    return Page(
        title,
        sections=[
            Section("How to read them", list(_signs(found))),
            Section("Courses", [*courses, unchanged] if unchanged else courses),
            *[Section(sheet.title, [sheet.without(BARS)]) for sheet in sheets],
        ],
    )


def charts(found: Sequence[Series], scale: Scale = UNIT_SCALE) -> list[Chart]:
    """A chart of each figure that has a course, rewards first; `MAX_CHARTS` at most."""
    shown = sorted(
        (each for each in _panels(found) if each.reward or not each.constant),
        key=lambda each: not each.reward,
    )
    rewards = [value for each in shown if each.reward for value in each.values]
    ends = min(rewards, default=0.0), max(rewards, default=0.0)
    shared = min(scale.minimum, ends[0]), max(scale.maximum, ends[1])
    return [_drawn(each, shared if each.reward else ()) for each in shown[:MAX_CHARTS]]


def constant(found: Sequence[Series]) -> str:
    """The figures that never changed, in one sentence; "" for none."""
    names = [
        f"{each.title} {number(each.values[-1])}"
        for each in _panels(found)
        if each.constant and not each.reward
    ]
    more = ", …" if len(names) > MAX_CONSTANT else ""
    return f"Constant: {', '.join(names[:MAX_CONSTANT])}{more}." if names else ""


@dataclass(frozen=True, slots=True)
class _Panel:
    """Courses over one pair of axes."""

    courses: tuple[Series, ...]

    @property
    def title(self) -> str:
        """The first one's name; the legend has the splits of several."""
        first = self.courses[0]
        return first.title if len(self.courses) == 1 else _figure(first)

    @property
    def values(self) -> list[float]:
        return [value for each in self.courses for value in each.values]

    @property
    def constant(self) -> bool:
        low, high = min(self.values), max(self.values)
        return high - low <= NOISE * max(1.0, abs(low), abs(high))

    @property
    def reward(self) -> bool:
        """Whether its values are on the scale of the rewards."""
        name = read_as(self.courses[0].name)
        return "reward" in name and not any(word in name for word in UNSCALED)


def _panels(found: Sequence[Series]) -> list[_Panel]:
    """The figures that have a course, in their order."""
    grouped: dict[tuple[str, str], list[Series]] = {}
    for each in found:
        if each.points:
            grouped.setdefault((each.unit, _figure(each)), []).append(each)
    return [
        _Panel(tuple(some))
        for some in grouped.values()
        if any(len(each.points) > 1 for each in some)
    ]


def _figure(each: Series) -> str:
    """The name without its split."""
    name = each.name.lower()
    begun = next((split for split in SPLITS if name.startswith(split)), "")
    return name.removeprefix(begun)


def _drawn(panel: _Panel, includes: Sequence[float]) -> Chart:
    unit = panel.courses[0].unit
    return lines(
        f"{panel.title} by {unit}",
        [Course(each.split, each.points, SERIES[each.split]) for each in panel.courses],
        x=UNITS[unit],
        y=panel.title,
        includes=includes,
    )


def _signs(found: Sequence[Series]) -> Iterator[Part]:
    """What is seen with what to do about it, then the names of the rest."""
    read = signs(found)
    for each in read:
        if each.state == "seen":
            sign = each.sign
            yield Warned(f"{sign.name} ({each.figure}): {sign.meaning}. What to do: {sign.remedy}.")
    for state in ("not seen", "too few points", "not measured"):
        names = ", ".join(each.sign.name for each in read if each.state == state)
        if names:
            yield f"{state.capitalize()}: {names}."
