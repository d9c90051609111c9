"""The page of a job: the worst finding first, and what a reader asks of a job."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from reward_functions.jobs.figures import NO_COURSE, Series, overview
from reward_functions.jobs.job import JobEvent, Progress
from reward_functions.jobs.page import MAX_EVENTS, MAX_HYPERPARAMETERS, JobView, job_page
from tests.gallery.parsed import parsed
from tests.gallery.training import BEGIN, JOB
from tests.parsed_page import harmless

NOW = BEGIN + timedelta(minutes=20)
HOSTILE = "</svg><script>alert(1)</script>\x1b[31m\x00&\"'"


def course(name, values, split="training", unit="step"):
    return Series(name, split, unit, tuple(enumerate(values)))


def page(*figures, job=JOB, sheets=(), **members):
    return job_page(JobView(job, figures, NOW, **members), sheets).html()


def paragraphs(html, kind):
    return [each.words for each in parsed(html).all("p") if each.attributes.get("class") == kind]


def facts(html):
    tree = parsed(html)
    names = [each.words for each in tree.all("dt")]
    return dict(zip(names, (each.words for each in tree.all("dd")), strict=True))


RISING = course("reward_mean", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
FLAT = course("critic_rewards_mean", [0.05, 0.04] * 5)
EVERY_MINIMUM = course("frac_reward_min", [1.0] * 6, "grader", "minute")
LONGER = course("response_length_mean", [100, 110, 120, 200, 210, 220])
UNSCORED = course("unscored_share", [0.1, 0.2] * 3, "grader", "minute")

WORST = [
    # job, figures, what stands first, how many findings there are
    (JOB, [RISING], "", 0),
    (JOB, [LONGER, FLAT, UNSCORED], "Samples without a score (grader unscored_share): ", 3),
    (JOB, [LONGER, FLAT], "The reward stays low (critic_rewards_mean): below 0.15 and ", 2),
    (JOB, [UNSCORED, EVERY_MINIMUM], "Every response earned the minimum (grader frac_", 2),
    (
        replace(JOB, status="failed", failure="It broke."),
        [UNSCORED],
        "The job failed: It broke. ",
        2,
    ),
    (replace(JOB, status="failed"), [], "The job failed: the service does not say why. ", 2),
    (replace(JOB, status="stopped"), [RISING], "The job was stopped before its end.", 1),
    (JOB, [], "The job is over, and no figure of it can be read.", 1),
    (replace(JOB, status="running", ended=None), [], "", 0),
]


@pytest.mark.parametrize(("job", "figures", "first", "count"), WORST)
def test_the_worst_finding_is_first(job, figures, first, count):
    html = page(*figures, job=job)
    worst = paragraphs(html, "worst")
    assert [each.startswith(f"Worst finding. {first}") for each in worst] == [True] * bool(first)
    assert len(worst) + len(paragraphs(html, "warning")) == count
    made = job_page(JobView(job, figures, NOW), ())
    assert {each.section for each in made.concerns} <= {"", *(each.title for each in made.sections)}


def test_the_lead_says_state_reward_and_signs():
    (lead,) = paragraphs(page(RISING), "lead")
    assert lead == (
        "The job has succeeded; reward_mean went from 0.15 to 0.55 by step 5; 12 signs of trouble: "
        "0 seen, 2 not seen, 10 not measurable."
    )


def test_the_facts_are_those_that_a_reader_asks_for():
    found = facts(page(RISING))
    assert found["state"] == "succeeded"
    assert found["model"] == JOB.model
    assert found["reward"] == "finqa, version 6; version 7 of the function"
    assert found["deployment"] == "finqa of stage dev"
    assert found["data"] == "s3://reward-functions-dev/data/finqa-train.jsonl; 40 rows"
    assert (found["made"], found["ended"], found["took"]) == (
        *("2026-11-22 09:00:12 UTC", "2026-11-22 09:14:12 UTC", "14 min"),
    )
    assert found["cost"].startswith("not known here: AWS Cost Explorer can say, by the tag reward-")
    assert "evaluator" not in found


def test_a_fact_that_a_service_does_not_say_is_called_unknown():
    progress = Progress(step=3, steps=30)
    bare = replace(
        JOB, tags={}, files=(), hyperparameters={}, status="running", ended=None, phase="Training",
        progress=progress, tokens={"train": 12_000},
    )  # fmt: skip
    html = page(job=bare)
    found = facts(html)
    assert found["reward"] == found["data"] == "not known here: the service does not say"
    assert found["state"] == "running · Training · step 3 of 30"
    assert (found["runs for"], found["tokens billed"]) == ("20 min", "12,000 train")
    assert found["cost"] == "not known here: AWS Cost Explorer can say, by service and day"
    words = parsed(html).words
    assert NO_COURSE in words
    assert "do not say how many completions a step has" in words
    assert "The service reports no event." in words


def test_completions_are_counted_and_the_page_says_where_texts_are():
    words = parsed(page(course("samples", [30, 34], "grader", "minute"))).words
    assert "A step has 32 completions: 4 for each of 8 prompts." in words
    assert "The grader scored 64 completions in 2 minutes of its log." in words
    assert "reward job evaluate writes them" in words
    agent = parsed(page(job=replace(JOB, driver="agent-rft"))).words
    assert "reward rollouts report" in agent


def test_constants_are_a_line_and_events_are_bounded():
    events = [
        JobEvent(f"{at}", BEGIN + timedelta(seconds=at), "info", f"event {at}")
        for at in range(MAX_EVENTS + 5)
    ]
    html = page(course("reward_max", [1.0, 1.0]), events=events)
    assert "Constant: reward_max 1." in html
    assert NO_COURSE not in html
    assert parsed(html).all("svg") == []
    assert "event 5<" in html
    assert "event 4<" not in html
    assert "5 older events are left out." in html


def test_what_could_not_be_read_is_said():
    words = paragraphs(page(RISING, notes=["no log"], simulated=True), "warning")
    assert words == [
        "Note. This is a simulation: no language model was trained.",
        "Note. Not read: no log.",
    ]


def test_nothing_that_a_service_sends_runs():
    found = [
        course(HOSTILE, [1.0, 2.0]),
        course("flat", [2.0, 2.0]),
        course("wide", [-1e100, 1e100]),
        course("long", range(10_000), "grader", "minute"),
        course("empty", []),
    ]
    harmful = replace(
        JOB, name=HOSTILE, failure=HOSTILE, status="failed", model=HOSTILE, files=(HOSTILE,),
        hyperparameters={HOSTILE: HOSTILE}, tags=dict.fromkeys(JOB.tags, HOSTILE),
    )  # fmt: skip
    events = [JobEvent("1", BEGIN, HOSTILE, HOSTILE)]
    html = page(*found, job=harmful, events=events, sheets=[overview(found, "All")])
    assert harmless(html).text.count("<script>") > 5
    assert "▁" not in html


def test_a_job_of_any_number_of_hyperparameters_has_a_page_of_some():
    many = replace(JOB, hyperparameters={f"h{at:05}": at for at in range(3 * MAX_HYPERPARAMETERS)})
    html = page(RISING, job=many)
    assert f"h{MAX_HYPERPARAMETERS - 1:05}" in html
    assert f"h{MAX_HYPERPARAMETERS:05}" not in html
    assert f"{2 * MAX_HYPERPARAMETERS:,} more rows are not shown" in html


def test_a_row_without_a_name_has_a_dash_for_one():
    harmless(page(RISING, job=replace(JOB, hyperparameters={"": 1, " ": 2})))
