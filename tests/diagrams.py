"""Boxes and arrows as an SVG that reads well in GitHub's light and dark themes, and without either.

A `Diagram` is a list of shapes, drawn in their order. A box knows the middle of each side, so that
an arrow names what it joins; corners are rounded here. Nothing is measured: `width_of` estimates a
line of text in a wide sans-serif font, and a test asks whether it fits its box.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Final, NamedTuple

from reward_functions.reports.pages.charts.drawing import PALETTE, Colour

RADIUS: Final = 8
"""Of corners, of boxes and of arrows."""

LINE: Final = 20
"""Between the baselines of two lines of text."""

GAP: Final = 8
"""Between two styles on a line."""

BASELINE: Final = 5
"""From the middle of a line of text down to its baseline."""

NARROW: Final = frozenset("fijlrt.,:;'!|()I /-")
"""Letters about half as wide as others."""


class Look(NamedTuple):
    """How a box is drawn, by the palette's colours.

    Args:
        surface: its own, or the colour that tints the paper.
        tint: the share of that colour in the surface, 1.0 for all of it.
        edge: around it.
        words: of its heading.
    """

    surface: str
    tint: float
    edge: str
    words: str


LOOKS: Final = {
    "card": Look("paper", 1.0, "line", "ink"),
    "plain": Look("panel", 1.0, "faint", "ink"),
    "rule": Look("a", 0.06, "a", "a"),
    "judge": Look("d", 0.06, "d", "d"),
    "none": Look("b", 0.06, "b", "b"),
    "gain": Look("c", 0.06, "c", "c"),
}

FONT: Final = '-apple-system, "Segoe UI", "Helvetica Neue", Helvetica, Arial, sans-serif'

SIZES: Final = {"big": 16, "strong": 15, "words": 15, "soft": 14}
"""Pixels of a letter's height, by the style of a line."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Words:
    """A line of text.

    Args:
        text: one line.
        style: a key of `SIZES`.
        look: whose colour it has; "" for the style's own.
    """

    text: str
    style: str = "words"
    look: str = ""

    @property
    def classes(self) -> str:
        """By which the style rules know it."""
        return f"{self.style} {self.look}-words" if self.look else self.style


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle with lines of text in its middle.

    Args:
        x, y, width, height: in pixels, from the left upper corner.
        lines: of text, from the top; a string is a plain line.
        look: a key of `LOOKS`.
        on_card: with the card's surface, and the look's edge.
        dashed: whether its edge is.
    """

    x: float
    y: float
    width: float
    height: float
    lines: tuple[Words | str, ...] = ()
    look: str = "plain"
    on_card: bool = False
    dashed: bool = False

    @property
    def left(self) -> Point:
        """The middle of the left side."""
        return self.x, self.y + self.height / 2

    @property
    def right(self) -> Point:
        """The middle of the right side."""
        return self.x + self.width, self.y + self.height / 2

    @property
    def top(self) -> Point:
        """The middle of the upper side."""
        return self.x + self.width / 2, self.y

    @property
    def bottom(self) -> Point:
        """The middle of the lower side."""
        return self.x + self.width / 2, self.y + self.height

    @property
    def words(self) -> list[Words]:
        """The lines of text, each with its style."""
        return [Words(line) if isinstance(line, str) else line for line in self.lines]

    def drawn(self) -> str:
        """As SVG."""
        middle, above = self.left[1] + BASELINE, LINE * (len(self.lines) - 1) / 2
        name = f"{self.look} edge" if self.on_card else self.look
        dashes = ' stroke-dasharray="5 4"' if self.dashed else ""
        shape = (
            f'<rect class="{name}" x="{self.x:g}" y="{self.y:g}" width="{self.width:g}" '
            f'height="{self.height:g}" rx="{RADIUS}"{dashes}/>'
        )
        texts = [
            Text(self.top[0], middle - above + LINE * at, (words,)).drawn()
            for at, words in enumerate(self.words)
        ]
        return "\n  ".join([shape, *texts])


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text by itself.

    Args:
        x, y: of its anchor, on the baseline.
        words: what it says, in one style after the other.
        anchor: "start", "middle" or "end".
    """

    x: float
    y: float
    words: tuple[Words, ...]
    anchor: str = "middle"

    def drawn(self) -> str:
        """As SVG."""
        spans = f'</tspan><tspan dx="{GAP}" '.join(
            f'class="{words.classes}">{escape(words.text)}' for words in self.words
        )
        place = f'text-anchor="{self.anchor}" x="{self.x:g}" y="{self.y:g}"'
        return f"<text {place}><tspan {spans}</tspan></text>"


@dataclass(frozen=True, slots=True)
class Arrow:
    """A line through points, with rounded corners, and a tip at its end.

    Args:
        points: two or more, each above, below or beside the one before.
        look: whose edge it is drawn as; "" for the usual one.
        tip: whether it has one.
        dashed: whether the line is.
    """

    points: tuple[Point, ...]
    look: str = ""
    tip: bool = True
    dashed: bool = False

    def drawn(self) -> str:
        """As SVG."""
        name = f"{self.look} line" if self.look else "line"
        end = f' marker-end="url(#{self.look or "tip"})"' if self.tip else ""
        dashes = ' stroke-dasharray="5 4"' if self.dashed else ""
        return f'<path class="{name}"{end}{dashes} d="{_rounded(self.points)}"/>'


Shape = Box | Text | Arrow


@dataclass(frozen=True, slots=True)
class Diagram:
    """A picture: what it is called, what it says to whoever does not see it, and its shapes.

    Args:
        title: a few words.
        description: all that the picture says, in sentences.
        width, height: in pixels.
        shapes: from the back to the front.
    """

    title: str
    description: str
    width: int
    height: int
    shapes: tuple[Shape, ...]

    def svg(self) -> str:
        """The picture, which fetches nothing and runs nothing."""
        card = Box(0.5, 0.5, self.width - 1, self.height - 1, look="card")
        looks = sorted({shape.look for shape in self.shapes if isinstance(shape, Arrow)})
        size = (
            f'viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}"'
        )
        named = 'role="img" aria-labelledby="title description"'
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" {size} {named}>',
                f'  <title id="title">{escape(self.title)}</title>',
                f'  <desc id="description">{escape(self.description)}</desc>',
                "  <!-- by `make docs`, from tests/pictures.py -->",
                f"  <style>{_style()}</style>",
                f"  <defs>{''.join(map(_marker, looks))}</defs>",
                *(f"  {shape.drawn()}" for shape in (card, *self.shapes)),
                "</svg>\n",
            ]
        )


def width_of(words: Words) -> float:
    """About the width of a line of text, in pixels."""
    ems = sum(0.3 if char in NARROW else 0.56 for char in words.text)
    bold = 1.06 if words.style in ("big", "strong") else 1.0
    return SIZES[words.style] * ems * bold


def surface_of(look: str, scheme: str) -> str:
    """The colour of a look's surface, as #rrggbb.

    Args:
        look: a key of `LOOKS`.
        scheme: "light" or "dark".
    """
    surface, tint, *_ = LOOKS[look]
    paper, colour = _parts(PALETTE["paper"], scheme), _parts(PALETTE[surface], scheme)
    mixed = [
        round(tint * one + (1 - tint) * other) for one, other in zip(colour, paper, strict=True)
    ]
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _parts(colour: Colour, scheme: str) -> list[int]:
    """Red, green and blue, 0 to 255."""
    written: str = getattr(colour, scheme)
    return [int(written[at : at + 2], 16) for at in (1, 3, 5)]


def _style() -> str:
    sizes = " ".join(f".{name} {{ font-size: {size}px; }}" for name, size in SIZES.items())
    return "\n    ".join(
        [
            f"\n    text {{ font-family: {FONT}; }}",
            sizes,
            ".big, .strong { font-weight: 600; }",
            ".line { stroke-width: 1.6; }",
            ".line.line { fill: none; }",
            *_rules("light"),
            "@media (prefers-color-scheme: dark) {",
            *(f"  {rule}" for rule in _rules("dark")),
            "}\n  ",
        ]
    )


def _rules(scheme: str) -> list[str]:
    """The colours of a scheme, "light" or "dark"."""
    ink, faint, paper = (getattr(PALETTE[name], scheme) for name in ("ink", "faint", "paper"))
    rules = [f"text {{ fill: {ink}; }} .soft {{ fill: {faint}; }} .line {{ stroke: {faint}; }}"]
    for name, look in LOOKS.items():
        edge, words = (getattr(PALETTE[each], scheme) for each in (look.edge, look.words))
        rules.append(f".{name} {{ fill: {surface_of(name, scheme)}; stroke: {edge}; }}")
        rules.append(f".{name}-words, .{name}-tip {{ fill: {words}; }}")
    return [*rules, f".edge {{ fill: {paper}; }} .tip {{ fill: {faint}; }}"]


def _marker(look: str) -> str:
    name = look or "tip"
    shape = f'<path class="{f"{look}-tip" if look else "tip"}" d="M0 0.8 L10 5 L0 9.2 z"/>'
    return (
        f'<marker id="{name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
        f'markerHeight="7" orient="auto-start-reverse">{shape}</marker>'
    )


def _rounded(points: tuple[Point, ...]) -> str:
    """A path through points that turns its corners in a small curve."""
    (x, y), *_ = points
    path = [f"M{x:g} {y:g}"]
    for (before, corner), (_, after) in pairwise(pairwise(points)):
        enter, leave = _towards(corner, before), _towards(corner, after)
        path.append(
            f"L{enter[0]:g} {enter[1]:g} Q{corner[0]:g} {corner[1]:g} {leave[0]:g} {leave[1]:g}"
        )
    x, y = points[-1]
    return " ".join([*path, f"L{x:g} {y:g}"])


def _towards(corner: Point, other: Point) -> Point:
    """The point where the curve of a corner ends, on the way to another point."""
    dx, dy = other[0] - corner[0], other[1] - corner[1]
    length = abs(dx) + abs(dy)
    step = min(RADIUS, length / 2)
    return corner[0] + dx / length * step, corner[1] + dy / length * step
