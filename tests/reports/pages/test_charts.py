"""Every chart: whole whatever it shows, its words inside it, its axes named."""

import re
from collections import Counter
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reward_functions.reports.pages.charts.drawing import side_by_side, width_of
from reward_functions.reports.pages.charts.plots import (
    MAX_POINTS,
    Bin,
    Course,
    Point,
    histogram,
    lines,
    points,
    thinned,
)
from reward_functions.reports.pages.charts.rows import (
    Row,
    Span,
    matrix,
    spans,
    strips,
    tallies,
)

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</svg><script>alert('1')</script>\x1b[31m\u202eevil\x00&\"\ufffe\ud800"
WIDE = "模型回答了一个非常长的问题而且没有停下来的意思" * 3


def courses(name, values):
    numbered = list(enumerate(values, 1))
    return [Course(name, numbered), Course(f"{name} 2", numbered[-1:], "b")]


def charts(name, values):
    """One of each kind of these values, everything in it called by the name."""
    count = len(values)
    each = [(f"{name} {at}", value) for at, value in enumerate(values[:50])]
    return {
        "histogram": histogram(
            name, [Bin(min(values), max(values), count)], x=f"reward {name}", y=f"responses {name}"
        ),
        "histogram of values": histogram(
            name,
            [Bin(value, value, times) for value, times in sorted(Counter(values).items())],
            x=f"reward {name}",
            y=f"responses {name}",
        ),
        "tallies": tallies(name, [(one, 7) for one, _ in each], x=f"responses {name}"),
        "lines": lines(
            name, courses(name, values), x=f"step {name}", y=f"reward {name}", title=name
        ),
        "points": points(
            name,
            [Point(at, value, at + 1, name) for at, value in enumerate(values)],
            x=f"characters {name}",
            y=f"reward {name}",
            through=[(0.0, values[0]), (float(count), values[-1])],
        ),
        "spans": spans(
            name,
            [Row(one, [Span(value, (value, value), "b")], value) for one, value in each],
            x=f"share {name}",
            names={"b": name, "a": ""},
            limit=name,
        ),
        "matrix": matrix(name, [name], [name] * 4, [[0, 1, 2, count]], down=name, across=name),
        "strips": strips(name, [(name, values), ("none", [])], x=f"reward {name}"),
    }


CASES = {
    "one value": ("a", [0.5]),
    "equal values": ("a", [0.25] * 10),
    "thousands of values": ("a", [at / 7 for at in range(5_000)]),
    "huge values": ("a", [-1e300, 0.0, 1e300]),
    "tiny values": ("a", [0.0, 5e-324, 1e-300]),
    "a large offset": ("a", [1e15, 1e15 + 1]),
    "hostile names": (HOSTILE, [0.0, 0.5, 1.0]),
    "long names": ("a very long name of a reward " * 20, [0.0, 1.0]),
    "names of wide letters": (WIDE, [0.0, 1.0]),
}


def extent(text):
    """From where to where a text goes, by the kit's own table of letters."""
    x, wide = float(text.get("x")), width_of(text.text or "")
    start = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[text.get("text-anchor")] * wide
    return start, start + wide


@pytest.mark.parametrize("case", CASES)
def test_a_chart_is_whole_and_its_words_are_inside(case):
    for kind, made in charts(*CASES[case]).items():
        root = ET.fromstring(made.picture())
        texts = list(root.iter(f"{SVG}text"))
        assert root.get("aria-label"), kind
        assert not re.search(r"\b(nan|inf)\b", made.drawn), kind
        for text in texts:
            start, end = extent(text)
            assert (start >= -1, end <= made.width + 1) == (True, True), (kind, text.text)
            assert 0 < float(text.get("y")) <= made.height
            assert text.text.isprintable()
        for box in root.iter(f"{SVG}rect"):
            x, y, width, height = (float(box.get(name)) for name in ("x", "y", "width", "height"))
            assert x >= 0, kind
            assert x + width <= made.width + 1, kind
            assert 0 <= y <= y + height <= made.height, kind


@pytest.mark.parametrize(
    ("kind", "titles"),
    [
        ("histogram", {"reward a", "responses a"}),
        ("tallies", {"responses a"}),
        ("lines", {"step a", "reward a", "a"}),
        ("points", {"characters a", "reward a"}),
        ("spans", {"share a"}),
        ("matrix", {"a"}),
        ("strips", {"reward a"}),
    ],
)
def test_axes_say_what_they_are(kind, titles):
    root = ET.fromstring(charts("a", [0.0, 1.0])[kind].picture())
    assert titles <= {text.text for text in root.iter(f"{SVG}text")}


@settings(max_examples=30)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_any_finite_values_can_be_drawn(values):
    for made in charts("a", values).values():
        ET.fromstring(made.picture())
        assert not re.search(r"\b(nan|inf)\b", made.drawn)


def texts_of(made):
    return [text.text for text in ET.fromstring(made.picture()).iter(f"{SVG}text")]


def test_a_histogram_says_every_count_that_has_room():
    assert {"3", "1,200"} <= set(
        texts_of(histogram("r", [Bin(0, 0.5, 3), Bin(0.5, 1, 1200)], x="reward", y="responses"))
    )
    crowded = histogram("r", [Bin(at, at + 1, 100_000) for at in range(100)], x="x", y="n")
    assert 2 <= texts_of(crowded).count("100,000") < 20
    assert crowded.drawn.count("<rect") == 100


def test_counts_have_no_ticks_between_whole_numbers():
    assert not any("." in text for text in texts_of(tallies("t", [("a", 1), ("b", 2)], x="n")))
    steps = lines("l", [Course("r", [(1, 0.0), (2, 1.0)])], x="step", y="reward")
    assert {"1", "2"} <= set(texts_of(steps))
    assert "1.5" not in texts_of(steps)


def test_a_long_course_is_drawn_by_means_and_ends_where_it_ends():
    course = [(float(at), at % 2) for at in range(100_000)]
    some = thinned(course)
    assert len(some) == MAX_POINTS
    assert some[-1][0] == course[-1][0]
    assert sum(value for _, value in some) / len(some) == pytest.approx(0.5, abs=0.01)
    assert thinned(course[:MAX_POINTS]) == course[:MAX_POINTS]


def test_series_differ_by_more_than_colour():
    drawn = lines("l", courses("r", [0.0, 1.0]), x="step", y="reward").drawn
    assert 'class="la" d=' in drawn
    assert 'class="lb" stroke-dasharray="6 3"' in drawn


def test_a_strip_shows_equal_values_as_one_larger_mark():
    drawn = strips("s", [("g", [0.0] * 3 + [1.0])], x="reward").drawn
    assert re.findall(r"<title>(.*?)</title>", drawn) == ["g: 3 of 4 at 0", "g: 1 of 4 at 1"]


def test_a_matrix_has_a_cell_for_every_pair():
    made = matrix("m", ["a", "b"], ["a", "b"], [[3, 1], [0, 0]], down="label", across="reward")
    assert re.findall(r"<title>(.*?)</title>", made.drawn) == [
        "label a, reward a: 3 (75%)",
        "label a, reward b: 1 (25%)",
        "label b, reward a: 0 (0%)",
        "label b, reward b: 0 (0%)",
    ]
    assert re.findall(r">([\d,]+)</text>", made.drawn) == ["3", "1", "0", "0"]


def test_a_matrix_of_many_columns_is_as_wide_as_they_need():
    names = [str(at) for at in range(20)]
    wide = matrix("m", ["a"], names, [[1] * 20], down="label", across="reward")
    wider = matrix("m", ["a"], [*names, "20"], [[1] * 21], down="label", across="reward")
    assert wider.width - wide.width == 44


def test_charts_side_by_side_are_one_picture():
    one = strips("s", [("g", [0.0])], x="reward")
    made = side_by_side("all", [one] * 5, title=HOSTILE)
    root = ET.fromstring(made.picture())
    assert len(root.findall(f"{SVG}g")) == 5
    assert made.width == 2 * one.width
    assert made.height == 28 + 3 * one.height
    assert ET.fromstring(side_by_side("none", []).picture()).get("aria-label") == "none"


def test_a_picture_carries_its_colours_and_a_part_of_a_page_does_not():
    made = strips("s", [("g", [0.0])], x="reward")
    assert "prefers-color-scheme: dark" in made.picture()
    assert made._repr_svg_() == made.picture('width="600" style="max-width: 100%; height: auto" ')
    assert 'width="880"' in replace(made, width=960.0)._repr_svg_(), "wider than a notebook"
    assert "<style" not in made.html()
    ET.fromstring(made.html())


def test_a_wide_chart_scrolls_on_a_phone_and_keeps_its_letters():
    grades = [str(at) for at in range(11)]
    made = matrix("m", grades, grades, [[1] * 11] * 11, down="label", across="reward")
    assert 'tabindex="0" role="group" aria-label="m"' in made.html()
    least = int(re.search(r"min-width: (\d+)px", made.html())[1])
    assert 13 * least / made.width >= 9  # pixels: what tests of the pages call readable
    assert ET.fromstring(made.html()).find("svg") is not None
    assert "tabindex" not in strips("s", [("g", [0.0])], x="reward").html()


@pytest.mark.parametrize(
    "drawn",
    [
        histogram("Rewards", [], x="reward", y="rollouts"),
        tallies("Rewards", [], x="rollouts"),
    ],
)
def test_bars_of_nothing_are_a_sentence(drawn):
    assert "There is no value to draw." in drawn.picture()
    assert drawn.label == "Rewards"
    assert side_by_side("both", [drawn, drawn]).width >= drawn.width
