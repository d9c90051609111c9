"""A chart: what was drawn, how large it is, and what it says to a reader who does not see it.

On a page its colours come from the page's style; as a picture it carries its own, and follows the
reader's light or dark. Units are CSS pixels at the width of a chart; a page scales them.

Text has a contrast of 4.5 to 1 to its paper, marks of 3 to 1 (WCAG 2.2, 1.4.3 and 1.4.11). The four
series differ for readers who see no red or green too; no figure is shown by colour alone.

A model wrote words of charts and pages: terminal escapes, characters that reverse the line. A
character that does not print is shown by its escape, so that a reader sees it.

An axis is straight, or logarithmic where sizes of every order are to be told apart. Its ticks are
at round numbers. Values are finite. Those that differ by less than a thousand-millionth of their
size are drawn as equal: doubles have no round numbers between them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Final, NamedTuple
from unicodedata import east_asian_width

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

WIDTH: Final = 480
"""Units of a chart: a phone shows it at three quarters of its size, letters of nearly 10 pixels."""

LETTER_SIZE: Final = 13.0

WIDTHS: Final = {"ijlI.,:;'|! ": 4.4, 'frt()[]{}/-"': 6.2, "w→<>=+~": 11.0, "mMW@%…—": 13.0}
"""Units of the letters that are narrower or wider than others."""

USUAL: Final = 8.3
CAPITAL: Final = 9.9
"""Units of the others: of small letters and digits, and of any else."""

LEAST_SCALE: Final = 0.72
"""Of its own width, at which a chart's letters are still read."""

MAX_LABEL: Final = 1_000
"""Characters of a label."""

LONGEST_NAME: Final = 400.0
"""Units of a name in a legend."""

APART: Final = 12.0
"""Units between the labels of ticks."""

BELOW: Final = 46.0
"""Units of the labels and the title below a horizontal axis."""

ABOVE: Final = 22.0
"""Units from the top of a vertical axis up to its title; the highest bar's count is between."""

LEAST_GUTTER: Final = 56.0
"""Units left of a vertical axis, so that charts below one another mostly align."""

CELL: Final = 200
"""Characters of a string in a table's cell."""

WIDE_SPACE: Final = "\u3000"
"""Of Chinese and Japanese: the one space that is shown although it does not print."""


class Colour(NamedTuple):
    """One colour.

    Args:
        light: on light paper, as #rrggbb.
        dark: on dark paper.
        use: where it stands.
    """

    light: str
    dark: str
    use: str


PALETTE: Final = {
    "ink": Colour("#1c2430", "#e6eaf0", "text, axes' titles"),
    "paper": Colour("#ffffff", "#12161c", "behind everything"),
    "panel": Colour("#f4f6f9", "#1a2029", "behind quotations and table heads"),
    "faint": Colour("#566273", "#9aa6b5", "notes, tick labels"),
    "line": Colour("#d6dbe2", "#2c3542", "grid lines, borders"),
    "a": Colour("#1f5fbf", "#7fb2ff", "the first series, and what there is one of"),
    "b": Colour("#b4540a", "#ffab66", "the second series, warnings"),
    "c": Colour("#3d7a2a", "#93d67c", "the third series"),
    "d": Colour("#8a1f6a", "#f08fd0", "people, limits, references"),
}
"""By the name of its CSS variable."""

SERIES: Final = ("a", "b", "c", "d")
"""The colours of marks, in order of use."""

STYLE: Final = """
svg text { fill: var(--ink); font: 13px system-ui, sans-serif; }
svg .faint { fill: var(--faint); }
svg .grid { stroke: var(--line); fill: none; } svg .axis { stroke: var(--faint); fill: none; }
svg .limit { stroke: var(--d); stroke-width: 2; fill: none; }
svg .cell { fill: var(--a); stroke: var(--line); }
svg a text { fill: var(--a); text-decoration: underline; }
svg a:hover rect, svg a:focus-visible rect { stroke: var(--ink); stroke-width: 2; }
""" + "".join(
    f"svg .l{name} {{ stroke: var(--{name}); fill: none; stroke-width: 2; }} "
    f"svg .m{name} {{ fill: var(--{name}); stroke: var(--paper); }}\n"
    for name in SERIES
)

NOTHING: Final = "There is no value to draw."

NOTEBOOK_SCALE: Final = 1.25
"""Pixels of a unit in a notebook: letters as large as those beside them."""

NOTEBOOK_WIDTH: Final = 880
"""Pixels of a notebook's outputs in a window of ordinary width."""

DASHES: Final = {"a": "", "b": "6 3", "c": "14 3", "d": "2 3"}
"""What tells lines apart without their colour."""


def variables() -> str:
    """The style rules that define the colours, by the reader's light or dark."""
    light, dark = (
        " ".join(f"--{name}: {getattr(colour, scheme)};" for name, colour in PALETTE.items())
        for scheme in ("light", "dark")
    )
    return (
        f":root {{ color-scheme: light dark; {light} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
    )


def inline(text: str, limit: int = CELL) -> str:
    """One line of SVG or HTML of at most `limit` characters of the string, all of which print."""
    return escape(printable(text, limit))


def printable(text: str, limit: int = CELL, kept: str = "") -> str:
    """The string with every character that does not print shown by its escape; no HTML yet.

    Args:
        text: of data.
        limit: characters of it that are shown.
        kept: characters that stay although they do not print.
    """
    shown = "".join(
        char
        if char.isprintable() or char == WIDE_SPACE or char in kept
        else char.encode("unicode_escape").decode()
        for char in text[:limit]
    )
    return f"{shown}…" if len(text) > limit else shown


@dataclass(frozen=True, slots=True, repr=False)
class Chart:
    """A drawing with its words.

    Args:
        label: one sentence that says what is shown, for those who do not see it.
        width: in units.
        height: in units.
        drawn: the elements.
        caption: a sentence below it on a page: what it means; "" for none.
    """

    label: str
    width: float
    height: float
    drawn: str
    caption: str = ""

    def captioned(self, words: str) -> Chart:
        """The chart with a sentence below it that says what it means."""
        return replace(self, caption=words)

    def html(self) -> str:
        """The chart as a part of a page, which has the style; a wide one scrolls within itself."""
        if self.width <= WIDTH:
            return f"<figure>{self._svg('')}{self._caption}</figure>"
        least = (
            f'style="min-width: {self.width * LEAST_SCALE:.0f}px; max-width: {self.width:.0f}px" '
        )
        label = inline(self.label, MAX_LABEL)
        return (
            f'<figure class="wide" tabindex="0" role="group" aria-label="{label}">'
            f"{self._svg('', least)}{self._caption}</figure>"
        )

    @property
    def _caption(self) -> str:
        if not self.caption:
            return ""
        return f"<figcaption>{inline(self.caption, MAX_LABEL)}</figcaption>"

    def picture(self, attributes: str = "") -> str:
        """The chart as a picture that stands by itself.

        Args:
            attributes: further ones of the drawing, a space after each.
        """
        style = f"<style>{variables()}svg {{ background: var(--paper); }}{STYLE}</style>"
        return self._svg(style, f'xmlns="http://www.w3.org/2000/svg" {attributes}') + "\n"

    def _repr_svg_(self) -> str:
        """For a notebook, which stretches what has no width over all of its own."""
        width = min(self.width * NOTEBOOK_SCALE, NOTEBOOK_WIDTH)
        return self.picture(f'width="{width:.0f}" style="max-width: 100%; height: auto" ')

    def __repr__(self) -> str:
        """What it shows: a terminal draws nothing."""
        return f"<{printable(self.label, MAX_LABEL)}>"

    def _svg(self, before: str, attributes: str = "") -> str:
        size = f'viewBox="0 0 {self.width:g} {self.height:g}"'
        # The links of an image would not be reached: all in it is presentation.
        role = "group" if "<a " in self.drawn else "img"
        return (
            f'<svg {attributes}{size} role="{role}" aria-label="{inline(self.label, MAX_LABEL)}">'
            f"{before}{self.drawn}</svg>"
        )


def chart(label: str, height: float, drawn: Iterable[str], width: float = WIDTH) -> Chart:
    """A chart of these elements."""
    return Chart(label, width, height, "".join(drawn))


def nothing(label: str) -> Chart:
    """A chart of no value: a sentence."""
    return chart(label, BELOW, [text(4, BELOW / 2, NOTHING, kind="faint")])


def side_by_side(
    label: str, charts: Sequence[Chart], columns: int = 2, *, title: str = ""
) -> Chart:
    """Several charts as one, in rows of so many; all as wide as the widest.

    Args:
        label: one sentence that says what is shown.
        charts: in their order; may be empty.
        columns: charts of a row.
        title: above all of them; "" for nothing.
    """
    wide = max((each.width for each in charts), default=WIDTH)
    width = wide * min(columns, max(1, len(charts)))
    drawn, down = [], 0.0
    if title:
        drawn.append(text(4, 18, shortened(title, width - 8)))
        down = 28.0
    for first in range(0, len(charts), columns):
        row = charts[first : first + columns]
        drawn += [
            f'<g transform="translate({at * wide:g} {down:g})">{each.drawn}</g>'
            for at, each in enumerate(row)
        ]
        down += max(each.height for each in row)
    return Chart(label, width, down, "".join(drawn))


def text(x: float, y: float, words: str, anchor: str = "start", kind: str = "") -> str:
    """Words of at most a line; data is escaped."""
    of = f' class="{kind}"' if kind else ""
    return f'<text{of} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{inline(words)}</text>'


def shortened(words: str, units: float) -> str:
    """Words cut to what has room in so many units, but for a letter; all of them print."""
    shown = printable(words)
    if width_of(shown) <= units:
        return shown
    room, at = units - width_of("…"), 0
    while at < len(shown) and (room := room - width_of(shown[at])) >= 0:
        at += 1
    return f"{shown[: max(1, at)]}…"


def width_of(words: str) -> float:
    """Units of words in the widest of the usual fonts, DejaVu Sans, rounded up by letter."""
    return sum(map(_width, words))


def _width(char: str) -> float:
    if east_asian_width(char) in "WF":
        return LETTER_SIZE
    found = next((units for letters, units in WIDTHS.items() if char in letters), None)
    return found or (USUAL if char.islower() or char.isdigit() else CAPITAL)


def path(kind: str, line: str, title: str = "") -> str:
    """A path of a kind of the style, with what is shown where a pointer rests on it."""
    return f'<path class="{kind}" d="{line}">{titled(title)}</path>'


def line(series: str, points: Iterable[tuple[float, float]]) -> str:
    """A line through points, in units, dashed as its series is."""
    drawn = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    dashes = f' stroke-dasharray="{DASHES[series]}"' if DASHES[series] else ""
    return f'<path class="l{series}"{dashes} d="M{drawn}"/>'


def mark(series: str, x: float, y: float, title: str = "", size: float = 4.0) -> str:
    """A dot, a square, a diamond or a triangle, by its series."""
    s = size
    shapes = {
        "a": f"M{x - s:.1f} {y:.1f}a{s:g} {s:g} 0 1 0 {2 * s:g} 0a{s:g} {s:g} 0 1 0 {-2 * s:g} 0",
        "b": f"M{x - s:.1f} {y - s:.1f}h{2 * s:g}v{2 * s:g}h{-2 * s:g}z",
        "c": f"M{x:.1f} {y - 1.3 * s:.1f}l{1.3 * s:g} {1.3 * s:g}l{-1.3 * s:g} {1.3 * s:g}"
        f"l{-1.3 * s:g} {-1.3 * s:g}z",
        "d": f"M{x:.1f} {y - 1.2 * s:.1f}l{1.2 * s:g} {2.2 * s:g}h{-2.4 * s:g}z",
    }
    return path(f"m{series}", shapes[series], title)


def box(x: float, y: float, width: float, height: float, title: str) -> str:
    """A bar of the first series, with what is shown where a pointer rests on it."""
    size = f'x="{x:.1f}" y="{y:.1f}" width="{max(0.5, width):.1f}" height="{max(0.5, height):.1f}"'
    return f'<rect class="ma" {size}>{titled(title)}</rect>'


def linked(drawn: str, to: str, words: str) -> str:
    """Elements of a chart that lead to a place of their page.

    Args:
        drawn: elements.
        to: an anchor of the page; "" for no link.
        words: what the link is called, for those who do not see it.
    """
    return f'<a href="#{escape(to)}" aria-label="{inline(words)}">{drawn}</a>' if to else drawn


def titled(words: str) -> str:
    """The text that a reader sees where a pointer rests."""
    return f"<title>{inline(words)}</title>" if words else ""


STEPS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
"""What a step between ticks may be, times a power of ten."""

THOUSAND: Final = 1e3
MILLION: Final = 1e6
"""Whole numbers between them have their thousands apart."""

SMALL: Final = 1e-4
"""Ticks below it, and from a million on, are written with a power of ten."""

LARGEST: Final = 1e100
"""Values beyond it lie at the end of the axis."""

SMALLEST: Final = 1e-100
"""A range below it is none."""

CLOSEST: Final = 1e-9
"""The same, as a share of the values."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale from the values to the units of a drawing, straight or logarithmic.

    Args:
        title: what the values are, with their unit.
        low: the value at `start`.
        high: the value at `end`; above `low`.
        start: units of the drawing.
        end: the same; below `start` on an axis that rises.
        whole: whether there is nothing between whole numbers: counts, steps.
        logarithmic: whether equal distances are equal ratios; `low` is then above zero.
    """

    title: str
    low: float
    high: float
    start: float
    end: float
    whole: bool = False
    logarithmic: bool = False

    def place(self, value: float) -> float:
        """Where a value lies; one beyond an end lies at the end."""
        if self.logarithmic:
            share = log10(max(value, self.low) / self.low) / log10(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + (self.end - self.start) * min(1.0, max(0.0, share))

    def ticks(self, count: int = 5) -> list[tuple[float, str]]:
        """About so many round values between the ends, each with its label; powers of ten."""
        if self.logarithmic:
            return [(value, power_label(value)) for value in powers(self.low, self.high, count)]
        step = round_step((self.high - self.low) / count, whole=self.whole)
        values = multiples(step, self.low, self.high)
        return list(zip(values, tick_labels(values, step), strict=True))


def axis(
    title: str,
    values: Sequence[float],
    start: float,
    end: float,
    *,
    includes: Sequence[float] = (),
    whole: bool = False,
) -> Axis:
    """An axis that holds all values, and those that a reader expects on it.

    Args:
        title: what they are.
        values: at least one, here or in `includes`.
        start: units of the drawing.
        end: the same.
        includes: values that the axis reaches in any case, such as the ends of a reward's scale.
        whole: whether there is nothing between whole numbers.
    """
    bounded = [min(LARGEST, max(-LARGEST, value)) for value in (*values, *includes)]
    low, high = min(bounded), max(bounded)
    size = max(abs(low), abs(high))
    if high - low <= max(SMALLEST, CLOSEST * size):
        aside = size / 10 if size > SMALLEST else 0.5
        low, high = low - aside, high + aside
    return Axis(title, low, high, start, end, whole)


def logarithmic_axis(title: str, values: Sequence[float], start: float, end: float) -> Axis:
    """An axis from one power of ten to another that holds all values; those below 1 lie at 1.

    Args:
        title: what they are.
        values: at least one.
        start: units of the drawing.
        end: the same.
    """
    bounded = [min(LARGEST, max(1.0, value)) for value in values]
    low = 10.0 ** floor(log10(min(bounded)))
    high = max(10.0 ** ceil(log10(max(bounded))), 10 * low)
    return Axis(title, low, high, start, end, logarithmic=True)


def powers(low: float, high: float, count: int) -> list[float]:
    """Powers of ten from one to another, at most `count` and one more."""
    first, last = round(log10(low)), round(log10(high))
    return [10.0**at for at in range(first, last + 1, ceil((last - first) / count))]


def power_label(value: float) -> str:
    """A power of ten with its thousands apart, from ten million on as a power."""
    return f"{value:,.0f}" if value <= MILLION else f"1e{log10(value):.0f}"


def round_step(least: float, *, whole: bool = False) -> float:
    """The least of `STEPS` times a power of ten that is no smaller."""
    power = 10.0 ** floor(log10(least))
    step = next(each * power for each in STEPS if each * power >= least * (1 - CLOSEST))
    return float(ceil(step)) if whole else step


def multiples(step: float, low: float, high: float) -> list[float]:
    """Those of a step from one value to another."""
    first, last = ceil(low / step - CLOSEST), floor(high / step + CLOSEST)
    return [min(high, max(low, at * step)) for at in range(first, last + 1)]


def tick_labels(values: Sequence[float], step: float) -> list[str]:
    """The values with as many digits as tell them apart, all written alike."""
    size = max(map(abs, values), default=0.0)
    if size >= MILLION or 0 < size < SMALL:
        digits = max(1, ceil(log10(size / step)) + 2)
        return [f"{value:.{digits}g}" for value in values]
    decimals = next(at for at in range(20) if abs(step - round(step, at)) <= step * 1e-6)
    return [f"{value + 0.0:,.{decimals}f}" for value in values]


def number(value: float) -> str:
    """A number as a mark has it: short, thousands apart."""
    if value == round(value) and THOUSAND <= abs(value) < MILLION:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def across(axis: Axis, top: float, bottom: float, *, grid: bool = True) -> Iterator[str]:
    """A horizontal axis below a drawing: its grid, its title, as many ticks as have room."""
    shown = next(
        (ticks for count in (5, 4, 3) if _have_room(ticks := axis.ticks(count), axis)),
        axis.ticks(2),
    )
    for value, label in shown:
        x = axis.place(value)
        if grid:
            yield path("grid", f"M{x:.1f} {top:g}V{bottom:g}")
        half = width_of(label) / 2
        yield text(max(half, min(WIDTH - half, x)), bottom + 19, label, "middle", "faint")
    yield path("axis", f"M{axis.start:g} {bottom:g}H{axis.end:g}")
    title = shortened(axis.title, WIDTH - 8)
    half = width_of(title) / 2 + 4
    middle = max(half, min(WIDTH - half, (axis.start + axis.end) / 2))
    yield text(middle, bottom + 38, title, "middle")


def _have_room(ticks: Sequence[tuple[float, str]], axis: Axis) -> bool:
    return sum(width_of(label) + APART for _, label in ticks) <= abs(axis.end - axis.start)


def upward(axis: Axis, left: float, right: float) -> Iterator[str]:
    """A vertical axis left of a drawing: its grid and ticks, its title above it."""
    for value, label in axis.ticks(4):
        y = axis.place(value)
        yield path("grid", f"M{left:g} {y:.1f}H{right:g}")
        yield text(left - 6, y + 4, label, "end", "faint")
    yield text(4, axis.end - ABOVE, shortened(axis.title, WIDTH - 8))


def gutter(axis: Axis) -> float:
    """Units that the labels of a vertical axis need on its left."""
    return max(LEAST_GUTTER, 12 + max(width_of(label) for _, label in axis.ticks(4)))


def margin(names: Iterable[str], most: float) -> float:
    """Units that the names left of a drawing need, up to so many."""
    widest = max((width_of(printable(name)) for name in names), default=0.0)
    return min(most, max(LEAST_GUTTER, 14 + widest))


def legend(
    names: Mapping[str, str], x: float, y: float, *, lines: bool = False
) -> tuple[list[str], float]:
    """The series by name, in as many rows as they need, and where the last row stands.

    Args:
        names: by the series; long ones are cut.
        x: where the rows begin.
        y: of the first row's letters.
        lines: whether the series are lines; else they are marks.
    """
    drawn, at = [], x
    for series, name in names.items():
        shown = shortened(name, LONGEST_NAME)
        width = 40 + width_of(shown)
        if at > x and at + width > WIDTH:
            at, y = x, y + 20
        drawn.append(line(series, [(at, y - 4), (at + 22, y - 4)]) if lines else "")
        drawn.append(mark(series, at + (11 if lines else 8), y - 4, size=3.5))
        drawn.append(text(at + 28, y, shown))
        at += width
    return drawn, y
