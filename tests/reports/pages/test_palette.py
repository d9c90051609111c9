"""Every colour can be seen on what it stands on, in the light and in the dark."""

import pytest

from reward_functions.reports.pages.charts.drawing import PALETTE, SERIES, variables
from reward_functions.reports.pages.charts.rows import DARKEST
from tests.contrast import contrast

TEXT, MARK = 4.5, 3.0
"""WCAG 2.2, success criteria 1.4.3 (text) and 1.4.11 (graphics)."""

USES = [
    # colour, what it stands on, the least contrast, where
    ("ink", "paper", TEXT, "text"),
    ("ink", "panel", TEXT, "quotations"),
    ("faint", "paper", TEXT, "notes, tick labels, table heads"),
    ("a", "paper", TEXT, "links and summaries"),
    *[(name, "paper", MARK, "lines and marks") for name in SERIES],
    ("faint", "paper", MARK, "axes"),
    ("b", "paper", MARK, "the stroke beside a warning"),
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("colour", "behind", "least", "where"), USES)
def test_a_colour_is_seen_where_it_stands(colour, behind, least, where, scheme):
    found = contrast(*(getattr(PALETTE[name], scheme) for name in (colour, behind)))
    assert found >= least, where


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_figure_in_the_darkest_cell_of_a_matrix_can_be_read(scheme):
    ink, paper, over = (getattr(PALETTE[name], scheme) for name in ("ink", "paper", "a"))
    parts = [
        int(over[at : at + 2], 16) * DARKEST + int(paper[at : at + 2], 16) * (1 - DARKEST)
        for at in (1, 3, 5)
    ]
    mixed = "#" + "".join(f"{round(part):02x}" for part in parts)
    assert contrast(ink, mixed) >= TEXT


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("#000000", "#ffffff", 21.0),  # the definition's own ends
        ("#123456", "#123456", 1.0),
        ("#767676", "#ffffff", 4.54),  # the lightest grey that passes on white, as WebAIM has it
        ("#777777", "#ffffff", 4.48),
    ],
)
def test_contrast_is_that_of_wcag(one, other, expected):
    assert contrast(one, other) == contrast(other, one)
    assert contrast(one, other) == pytest.approx(expected, abs=0.005)


def test_every_colour_has_a_variable_in_both_schemes_and_print_is_light():
    light, dark = variables().splitlines()
    assert dark.startswith("@media screen and (prefers-color-scheme: dark)")
    for name, colour in PALETTE.items():
        assert f"--{name}: {colour.light};" in light
        assert f"--{name}: {colour.dark};" in dark
