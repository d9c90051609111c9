"""The colours of every page and plot, by what they are for, on light paper and on dark.

Text has a contrast of 4.5 to 1 to its paper, marks of 3 to 1 (WCAG 2.2, 1.4.3 and 1.4.11). The four
series differ for readers who see no red or green too; no figure is shown by colour alone.
"""

from __future__ import annotations

from typing import Final, NamedTuple


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


KNEE: Final = 0.04045
"""Where the sRGB curve turns from a line into a power."""


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


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, from 1 to 21 (WCAG 2.2, relative luminance).

    Args:
        one: as #rrggbb.
        other: the same.
    """
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [part / 12.92 if part <= KNEE else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
