"""Tables and plots of a batch: complete, and harmless whatever a model wrote."""

from xml.etree import ElementTree as ET

import pytest

from helpers.sample_data import demo_rewards, demo_rows, demo_samples
from helpers.shown import (
    Shown,
    catalogue_table,
    groups,
    metrics_table,
    results_table,
    rewards_by_prompt,
)
from reward_functions import Metric, Score, Scored, Unscored, get, sample, score_batch
from reward_functions.aws.catalogue import DeployedReward
from reward_functions.cli.demo import REWARDS
from reward_functions.reports.pages.charts.drawing import CELL
from reward_functions.reports.sheets import Sheet

HOSTILE = '<script>alert("1")</script>\x1b[31m&'

RESULTS = [
    Scored("a", Score(1.0, (Metric("m", 1.0),), answer=HOSTILE, reason="equal")),
    Scored("b", Score(0.0, (Metric("m", 0.5),))),
    Unscored("c", ValueError("broken")),
]


def cells(shown):
    (sheet,) = shown.sheets
    return sheet.rows


def test_every_result_is_a_row():
    assert cells(results_table(RESULTS)) == [
        ("a", "1", HOSTILE, "equal"),
        ("b", "0", "", ""),
        ("c", "unscored", "", "ValueError: broken"),
    ]


def test_metrics_are_means_of_what_was_scored():
    assert cells(metrics_table(RESULTS)) == [("score", "0.5", "2"), ("m", "0.75", "2")]
    assert cells(metrics_table(RESULTS[2:])) == []


def test_what_a_model_wrote_is_escaped():
    table = results_table(RESULTS)
    html = table._repr_html_()
    assert "<script" not in html
    assert "\x1b" not in html + str(table)
    assert "&lt;script&gt;" in html
    ET.fromstring(html)


def test_text_is_aligned_and_long_cells_are_cut():
    rows = [("a", "x" * 1_000), ("long id", "y")]
    lines = str(Shown([Sheet("", ("id", "text"), rows, words=("text",))])).splitlines()
    assert lines[0] == "id       text"
    assert lines[1] == f"a        {'x' * CELL}…"
    assert lines[2] == "long id  y"


def test_the_catalogue():
    reward = DeployedReward(
        name="n",
        reward="gsm8k",
        version=3,
        digest="0" * 16,
        parameters={},
        response_mode="list",
        version_arn="arn:7",
        alias_arn="arn:live",
        function_arn="arn",
        timeout_seconds=900,
        memory_mb=1769,
        architecture="arm64",
        python="3.13",
    )
    assert cells(catalogue_table([reward])) == [("n", "gsm8k", "3", "list", "arn:live")]


SVG = "{http://www.w3.org/2000/svg}"


def titles(chart):
    """What is shown where a pointer rests on a bar or a mark."""
    root = ET.fromstring(chart._repr_svg_())
    return [each.text for each in root.iter(f"{SVG}title")]


def test_the_rewards_of_a_group_stand_on_one_line():
    samples = [sample("x", prompt=HOSTILE, id="a"), sample("y", prompt=HOSTILE, id="b"), RESULTS[2]]
    by_prompt = rewards_by_prompt(samples, RESULTS)
    assert by_prompt == {HOSTILE: [1.0, 0.0]}
    assert len(titles(groups(by_prompt))) == 2
    assert "<script" not in groups(by_prompt)._repr_svg_()


def test_nothing_to_plot_is_an_error():
    with pytest.raises(ValueError, match="at least one reward"):
        groups({})


def test_the_demo_rows_are_those_of_the_command():
    assert demo_rewards() == sorted(REWARDS)
    with pytest.raises(ValueError, match="no demo rows for 'nothing'"):
        demo_rows("nothing")


def test_the_demo_samples_earn_what_their_rows_expect():
    results = score_batch(get("gsm8k"), demo_samples("gsm8k"))
    earned = [each.score.value if isinstance(each, Scored) else "unscored" for each in results]
    assert earned == [row["metadata"]["expected"] for row in demo_rows("gsm8k")]
