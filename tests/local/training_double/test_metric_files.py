"""The metrics of a run in the services' layouts, and its page."""

import csv
import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from reward_functions.local.training_double import page
from reward_functions.local.training_double.page import (
    checkpoint_steps,
    event_data,
    shares_sheet,
    simulation_page,
    training_csv,
    validation_csv,
)
from reward_functions.reports.pages.charts.drawing import number
from tests.parsed_page import harmless
from tests.rehearsals import generated_rows, rehearse

HOSTILE = '<script>alert("x")</script>'


@pytest.fixture(scope="module")
def steps():
    data = generated_rows("finqa", 40, 5)
    settings = {"epochCount": 1, "batchSize": 8, "evalInterval": 2}
    return rehearse("finqa", 1, data=data, hyperparameters=settings).steps


def test_the_training_file_has_a_line_of_numbers_for_each_step(steps):
    head, *lines = csv.reader(training_csv(steps).splitlines())
    assert head[:3] == ["step_number", "epoch_number", "training_loss"]  # documented for all jobs
    assert [line[0] for line in lines] == ["1", "2", "3", "4", "5"]
    column = head.index("reward_mean")
    assert [float(line[column]) for line in lines] == [s.metrics["reward_mean"] for s in steps]
    assert all(len(line) == len(head) for line in lines)


def test_the_validation_file_has_a_line_for_each_evaluation(steps):
    head, *lines = csv.reader(validation_csv(steps).splitlines())
    assert head[:3] == ["step_number", "epoch_number", "validation_reward_mean"]
    assert [line[0] for line in lines] == ["2", "4", "5"]


def test_the_files_are_where_bedrock_writes_them():
    assert page.TRAINING_FILE.format(job="abc") == (
        "model-customization-job-abc/training_artifacts/step_wise_training_metrics.csv"
    )
    assert page.VALIDATION_FILE.format(job="abc") == (
        "model-customization-job-abc/validation_artifacts/post_fine_tuning_validation/"
        "validation_metrics.csv"
    )


def test_an_event_has_the_keys_of_the_service(steps):
    assert event_data(steps[0]).keys() == {
        "step",
        "total_steps",
        "critic_rewards_mean",
        "critic_advantages_mean",
        "actor_pg_loss",
        "actor_entropy",
        "actor_grad_norm",
        "response_length_mean",
    }
    assert (event_data(steps[0])["step"], event_data(steps[0])["total_steps"]) == (1, 5)


@pytest.mark.parametrize(
    ("total", "expected"),
    [(67, [17, 34, 51, 67]), (52, [13, 26, 39, 52]), (2, [1, 2]), (1, [1])],
)
def test_a_run_has_four_checkpoints_where_it_has_four_steps(total, expected):
    assert checkpoint_steps(total) == expected


def test_the_page_says_simulation_wherever_a_person_looks(steps):
    page = simulation_page("my-job", {"reward": "finqa"}, steps)
    assert "<h1>SIMULATION: my-job</h1>" in page
    assert "<title>SIMULATION: my-job</title>" in page
    assert "no language model was trained" in page
    for heading in re.findall("<h2[^>]*>(.*?)</h2>", page):
        assert "simulation" in heading
    for label in re.findall('aria-label="(.*?)"', page):
        assert label.startswith("Simulation") or label == "Sections"
    assert shares_sheet(steps).title.startswith("Simulation")


def test_the_page_loads_nothing_and_escapes_what_a_job_is_called(steps):
    page = simulation_page(HOSTILE, {HOSTILE: HOSTILE}, steps)
    harmless(page)
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("count", [1, 5])
def test_the_plots_are_svg_that_stands_alone(steps, count):
    some = steps[:count]
    for drawn in (page.rewards(some), *(page.shares(some, kind) for kind in some[-1].shares)):
        assert ET.fromstring(drawn.picture()).tag == "{http://www.w3.org/2000/svg}svg"
        assert "nan" not in drawn.drawn


def test_every_strategy_has_a_row_on_one_axis_from_0_to_100(steps):
    drawn = page.shares(steps, "percentage").drawn
    cells = " ".join(cell for row in shares_sheet(steps).rows for cell in row)
    for name, share in steps[-1].shares["percentage"].items():
        assert f">{name}</text>" in drawn
        assert f"<title>{name}: {number(100 * share)}</title>" in drawn
        assert f"→ {share:.1%}" in cells
    assert ">0</text>" in drawn
    assert ">100</text>" in drawn


def test_the_courses_of_a_kind_come_to_the_whole(steps):
    drawn = page.courses(steps, "percentage").drawn
    last = re.findall(r"<title>[^<]*, step 5: ([\d.e-]+)</title>", drawn)
    assert sum(map(float, last)) == pytest.approx(100, abs=0.1)


def step_with(steps, at, **changed):
    """A step in which strategies have other shares, of every kind."""
    one = steps[at]
    return replace(one, shares={kind: {**each, **changed} for kind, each in one.shares.items()})


def test_a_wrong_answer_that_the_reward_teaches_is_the_worst_finding(steps):
    taught = [step_with(steps, 0, hedged=0.1), step_with(steps, -1, hedged=0.6)]
    found = list(page.concerns_of_simulation("", taught))
    words = "The reward teaches a wrong answer: hedged rose from 10.0% to 60.0% of the answers, "
    assert any(each.words.startswith(words) and each.kind == "labels" for each in found)
    html = simulation_page("my-job", {}, taught)
    worst = html.partition('<p class="worst">')[2]
    assert "The reward teaches a wrong answer" in worst.partition("</p>")[0]
    falling = [steps[-1], replace(steps[0], metrics=steps[-1].metrics)]
    kinds = [each.kind for each in page.concerns_of_simulation("an outage", falling)]
    assert (kinds[0], kinds[-1]) == ("failed", "reasons")
    assert list(page.concerns_of_simulation("", [])) == []


def test_a_run_without_steps_has_a_page_too():
    assert "No step was done." in simulation_page("my-job", {}, [])
