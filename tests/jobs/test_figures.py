"""The figures of a job: series, tables, CSV, drawings, and the signs that they show."""

from __future__ import annotations

import csv
import math
from io import StringIO
from xml.etree import ElementTree as ET

import pytest

from reward_functions.core.spec import UNIT_SCALE, Scale
from reward_functions.jobs.figures import (
    COLLAPSED,
    MAX_CHARTS,
    MAX_CONSTANT,
    MEANINGS,
    NO_COURSE,
    SIGNS,
    Series,
    as_csv,
    by_position,
    charts,
    constant,
    number,
    overview,
    series,
    signs,
    sparkline,
    svg,
)
from reward_functions.jobs.job import MetricPoint
from reward_functions.reports.pages.charts.plots import MAX_POINTS


def course(name, values, split="training", unit="step"):
    return Series(name, split, unit, tuple(enumerate(values)))


POINTS = [
    MetricPoint(2, "actor_entropy", 1.5),
    MetricPoint(1, "actor_entropy", 2.0),
    MetricPoint(1, "zeta", 9.0),
    MetricPoint(1, "critic_rewards_mean", 0.25),
    MetricPoint(2, "critic_rewards_mean", 0.123456),
    MetricPoint(2, "reward", 0.4, "validation"),
    MetricPoint(2, "critic_rewards_mean", 0.5),  # written again after an interruption
]


def test_points_become_series_and_rewards_come_first():
    found = series(POINTS)
    assert [each.title for each in found] == [
        *("critic_rewards_mean", "validation reward", "actor_entropy", "zeta"),
    ]
    assert found[0].points == ((1, 0.25), (2, 0.5))
    assert found[2].values == [2.0, 1.5]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e308])
def test_what_is_no_figure_is_left_out(value):
    assert series([MetricPoint(1, "loss", value)]) == []
    assert series([*POINTS, MetricPoint(3, "reward", value)]) == series(POINTS)


def test_the_tables_say_where_it_began_and_where_it_is():
    first = overview(series(POINTS), "Figures").rows[0]
    assert first == ("critic_rewards_mean", "2", "0.25", "0.5", "0.25", "0.5", "▁█")
    sheet = by_position(series(POINTS), "By step", 1)
    assert sheet.heads == ("step", "critic_rewards_mean", "validation reward", *sheet.heads[3:])
    assert sheet.rows == [("2", "0.5", "0.4", "1.5", "-")]
    assert sheet.note == "the newest 1 of 2; --csv FILE writes all"
    assert by_position(series(POINTS), "By step").note == ""


@pytest.mark.parametrize(
    ("values", "line"),
    [([], ""), ([1], "▁"), ([2, 2, 2], "▁▁▁"), ([0, 1], "▁█"), ([-1, 0, 1], "▁▅█"), ([3, 1], "█▁")],
)
def test_a_sparkline_spans_least_and_most(values, line):
    assert sparkline(values) == line


def test_a_long_sparkline_is_of_means():
    assert sparkline(range(1_000), width=8) == "▁▂▃▄▅▆▇█"


def test_csv_has_every_point_and_no_formula():
    rows = list(csv.reader(StringIO(as_csv([*series(POINTS), course("=SUM(A1)", [1.0])]))))
    assert rows[0] == ["unit", "position", "split", "name", "value"]
    assert rows[1] == ["step", "1", "training", "critic_rewards_mean", "0.25"]
    assert len(rows) == 1 + 6 + 1
    assert rows[-1][3] == "'=SUM(A1)"


SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</svg><script>alert(1)</script>\x1b[31m\x00&\"'"


def test_a_drawing_is_xml():
    found = [
        course(HOSTILE, [1.0, 2.0]),
        course("flat", [2.0, 2.0]),
        course("wide", [-1e100, 1e100]),
        course("long", range(10_000), "grader", "minute"),
        course("empty", []),
    ]
    drawn = ET.fromstring(svg(found, HOSTILE))
    texts = [each.text for each in drawn.iter(f"{SVG}text")]
    assert texts[0].startswith("</svg><script>")
    assert {"wide", "grader long"} <= set(texts)
    lines = [each.get("d") for each in drawn.iter(f"{SVG}path")]
    assert max(line.count("L") for line in lines) == MAX_POINTS - 1
    assert not any("nan" in line or "inf" in line for line in lines)


def panels(found, scale=UNIT_SCALE):
    """The texts of each chart: its ticks, its titles, its legend."""
    root = ET.fromstring(svg(found, "x", scale))
    return [[text.text for text in group.iter(f"{SVG}text")] for group in root.findall(f"{SVG}g")]


def test_training_and_validation_of_one_figure_share_a_chart():
    found = [
        course("reward_mean", [0.1, 0.2]),
        course("validation_reward_mean", [0.3], "validation"),
        course("reward_mean", [0.2, 0.3], "grader", "minute"),
        course("loss", [4.0, 3.0]),
        course("valid_loss", [5.0, 2.5], "validation"),
    ]
    shown = panels(found)
    assert [{"training", "validation"} <= set(each) for each in shown] == [True, False, True]
    assert {"reward_mean", "step", "0", "1"} <= set(shown[0])
    assert {"grader reward_mean", "minutes since the job was made"} <= set(shown[1])
    assert {"loss", "step", "3", "5"} <= set(shown[2])
    drawn = svg(found, "x")
    assert drawn.count("<title>validation, step") == 1 + 2


def test_a_name_that_says_its_split_says_it_once():
    assert course("validation_reward_mean", [0.3], "validation").title == "validation_reward_mean"
    assert course("reward_mean", [0.3], "validation").title == "validation reward_mean"


def ends(texts):
    """The least and the most tick of the vertical axis, whose ticks come first."""
    ticks = texts[: next(at for at, text in enumerate(texts) if not is_number(text))]
    return ticks[0], ticks[-1]


def is_number(text):
    return text.replace("-", "").replace(".", "").isdigit()


@pytest.mark.parametrize(
    ("values", "scale", "of_axis"),
    [
        ([0.4, 0.5], UNIT_SCALE, ("0.00", "1.00")),
        ([0.4, 0.5], Scale(-1, 1), ("-1.0", "1.0")),
        ([-2.0, 0.5], UNIT_SCALE, ("-2", "1")),
    ],
)
def test_rewards_share_an_axis_that_holds_the_scale(values, scale, of_axis):
    found = [course("reward_std", [0.1, 0.2]), course("frac_reward_min", [0.1, 0.2])]
    found += [course("critic_rewards_mean", values), course("reward_max", [0.5, 0.6])]
    shown = [ends(each) for each in panels(found, scale)]
    assert shown == [of_axis, of_axis, ("0.100", "0.200"), ("0.100", "0.200")]


def test_a_figure_of_one_point_has_no_chart():
    found = [course("loss", [1.0]), course("reward", [0.5], "validation")]
    assert panels(found) == []
    assert NO_COURSE in svg(found, "x")


@pytest.mark.parametrize("values", [[0.0, 0.0], [0.0, 3.469e-18, -1e-18], [1e9, 1e9 + 1e-3]])
def test_what_never_changed_or_only_by_rounding_is_a_line_of_text(values):
    found = [course("reward_mean", [0.0, 0.0]), course("advantage_mean", values)]
    assert panels(found) == []
    assert constant(found) == f"Constant: reward_mean 0, advantage_mean {number(values[-1])}."
    assert constant([]) == ""


def test_a_drawing_has_a_bounded_number_of_charts():
    many = [course(f"m{at}", [1.0, 2.0]) for at in range(100)]
    assert svg(many, "many").count("<g ") == MAX_CHARTS
    flat = [course(f"m{at}", [1.0, 1.0]) for at in range(100)]
    assert constant(flat).count(",") == MAX_CONSTANT
    assert constant(flat).endswith(", ….")


MEANT = [
    # name, words of what stands below its chart
    ("critic/rewards/mean", "it should rise, then level off"),
    ("reward_std", "at 0 no answer is better than another"),
    ("frac_reward_zero_std", "Groups in which all answers earn the same"),
    ("frac_reward_min", "The share of answers at the minimum"),
    ("actor_entropy", "How undecided the policy is"),
    ("response_length/mean", "growth without more reward is padding"),
    ("response_length/clip_ratio", "cut off at the limit"),
    ("actor/grad_norm", "How large updates are"),
    ("zeta", ""),
]


@pytest.mark.parametrize(("name", "words"), MEANT)
def test_a_chart_says_from_where_to_where_and_what_it_means(name, words):
    (drawn,) = charts([course(name, [0.0, 0.2, 0.1, 0.1, 0.5, 0.7])])
    begin = "From 0.1 to 0.6."
    assert drawn.caption.startswith(begin)
    assert words in drawn.caption
    assert (drawn.caption == begin) == (not words)


def test_each_meaning_is_that_of_a_name():
    """A row that an earlier one hides says nothing."""
    for at, row in enumerate(MEANINGS):
        words = " ".join(row.words)
        earlier = [
            above.words for above in MEANINGS[:at] if all(each in words for each in above.words)
        ]
        assert earlier == [], row.words


def test_each_split_of_a_chart_says_where_it_went():
    found = [course("loss", [4.0, 3.0]), course("valid_loss", [5.0, 2.5], "validation")]
    (drawn,) = charts(found)
    assert drawn.caption.startswith("Training from 4 to 3, validation from 5 to 2.5. ")


SEEN = [
    # sign, name, split, a course that shows it, one that does not
    ("every response earned the minimum", "frac_reward_min", "grader", [1, 1, 1], [1, 0.99, 1]),
    ("every group earned the same", "frac_reward_zero_std", "training", [1, 1], [1, 0.9, 1]),
    ("the reward stays low", "critic_rewards_mean", "training", [0.05] * 9, [0.1, 0.2, 0.4] * 3),
    ("the reward falls", "reward_mean", "training", [0.6, 0.4, 0.2], [0.2, 0.4, 0.6]),
    ("groups without advantage", "frac_reward_zero_std", "training", [0.1, 0.9, 1], [0, 0.5, 0.8]),
    ("no standard deviation", "reward_std", "grader", [0.4, 0.1, 0.0], [0.4, 0.4, 0.4]),
    ("the rewards spread", "reward_std", "grader", [0.1, 0.2, 0.4], [0.4, 0.3, 0.2]),
    ("the entropy collapses", "actor_entropy", "training", [2.0, 0.5, 0.1], [2.0, 1.5, 1.2]),
    ("responses grow", "response_length_mean", "training", [100, 200, 300], [300, 250, 200]),
    ("the gradient spikes", "actor_grad_norm", "training", [1, 1, 50], [1, 2, 3]),
    ("the validation falls", "reward", "validation", [0.5, 0.6, 0.4], [0.4, 0.5, 0.49]),
    ("samples without a score", "unscored_share", "grader", [0, 0, 0.1], [0, 0, 0.001]),
]


def stretched(values):
    """Three times as many points: a third says something from six on."""
    return [value for value in values for _ in range(3)]


@pytest.mark.parametrize(("name", "figure", "split", "shows", "not_"), SEEN)
def test_each_sign_is_seen_where_it_shows_and_nowhere_else(name, figure, split, shows, not_):
    def state(values):
        found = signs([course(figure, values, split)])
        return next(each.state for each in found if each.sign.name == name)

    assert state(stretched(shows)) == "seen"
    assert state(stretched(not_)) == "not seen"
    fewest = next(sign.fewest for sign in SIGNS if sign.name == name)
    assert [state(shows[:1] * (fewest - 1)), state([])] == [
        "too few points" if fewest > 1 else "not measured",
        "not measured",
    ]


@pytest.mark.parametrize(
    ("figure", "values", "name", "state"),
    [
        (
            "frac_reward_zero_std",
            [1.0] * 6 + [0.0, 1.0, 1.0],
            "groups without advantage",
            "not seen",
        ),
        ("frac_reward_zero_std", [0.0] * 6 + [1.0] * 3, "groups without advantage", "seen"),
        ("actor_entropy", [0.0, 1.0, 1.0] + [0.6 * COLLAPSED] * 6, "the entropy collapses", "seen"),
        (
            "actor_entropy",
            [1.0, 1.0, 0.0] + [0.7 * COLLAPSED] * 6,
            "the entropy collapses",
            "not seen",
        ),
    ],
)
def test_a_course_begins_and_ends_with_a_third_of_its_points(figure, values, name, state):
    found = signs([course(figure, values, "training")])
    assert [each.state for each in found if each.sign.name == name] == [state]


def test_every_sign_has_its_case_and_what_is_seen_comes_first():
    assert [case[0] for case in SEEN] == [sign.name for sign in SIGNS]
    first, *others = signs([course("actor_entropy", stretched([2.0, 0.5, 0.1]))])
    assert (first.sign.name, first.state, first.figure) == (
        *("the entropy collapses", "seen", "actor_entropy"),
    )
    assert {each.state for each in others} == {"not measured"}


@pytest.mark.parametrize("value", [0.0, -1.0, 1e100])
def test_no_course_breaks_a_sign(value):
    found = [course(figure, [value] * 9, split) for _, figure, split, *_ in SEEN]
    assert len(signs(found)) == len(SIGNS)
    assert math.isfinite(len(svg(found, "x")))
