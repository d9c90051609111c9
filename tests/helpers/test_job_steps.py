"""What the OpenAI-compatible API says of a job, as tables: complete, bounded, in order."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from helpers.job_steps import FIGURES, REPORTED, checkpoints, events, how_to_read
from reward_functions.jobs.drivers.openai import Checkpoint, OpenAIDriver
from reward_functions.jobs.job import Job, JobEvent, MetricPoint
from reward_functions.local.training_double.page import EVENT_KEYS

NOW = datetime(2026, 1, 1, tzinfo=UTC)

JOB = Job("openai", "ftjob-1", "a-job", "succeeded", "m", NOW, files=("file-1",))


def training(**answers):
    """A job whose driver gives these answers."""
    driver = SimpleNamespace(
        **{name: lambda _, found=found: found for name, found in answers.items()}
    )
    return SimpleNamespace(started=JOB, driver=driver)


def points(name, *values):
    return [MetricPoint(at, name, value) for at, value in enumerate(values, 1)]


def test_the_table_has_the_figures_that_the_double_sends():
    assert set(FIGURES) == set(EVENT_KEYS)


def test_each_figure_has_its_row_and_what_is_seen_its_remedy():
    falls = points("actor_entropy", 2.0, 2.0, 1.0, 0.5, 0.1, 0.1)
    still = points("critic_advantages_mean", 3e-18, -4e-19)
    shown = how_to_read(training(metrics=falls + still))
    (sheet,) = shown.sheets
    rows = {row[0]: row[3:] for row in sheet.rows}
    assert list(rows) == list(FIGURES)
    assert rows["actor_entropy"] == ["2", "0.1", "██▄▂▁▁"]
    assert rows["critic_advantages_mean"] == ["0", "0", "constant"]
    assert rows["actor_grad_norm"] == ["-", "-", "not measured"]
    (seen,) = shown.notes
    assert seen.startswith("the entropy collapses (actor_entropy): ")
    assert "What to do: stop here if the reward is good" in seen


def test_the_newest_events_are_shown():
    reported = [JobEvent(str(at), NOW, "info", f"<b>{at}") for at in range(REPORTED + 1)]
    shown = events(training(events=reported))
    facts, listed = shown.sheets
    assert ["files", "file-1"] in facts.rows
    assert ["tuned model", "none"] in facts.rows
    assert [row[1] for row in listed.rows] == [f"<b>{at}" for at in range(1, REPORTED + 1)]
    assert "<b>" not in shown._repr_html_()


def test_checkpoints_are_in_the_order_of_their_steps():
    job = training()
    job.driver = OpenAIDriver("us-east-1", None)
    found = [
        Checkpoint(
            id=str(at), created_at=NOW, step_number=at, fine_tuned_model_checkpoint=f"m:{at}",
            metrics={"critic_rewards_mean": 0.5},
        )
        for at in (8, 4)
    ]  # fmt: skip
    object.__setattr__(job.driver, "checkpoints", lambda _: iter(found))
    (sheet,) = checkpoints(job).sheets
    assert sheet.rows == [["4", "0.5", "m:4"], ["8", "0.5", "m:8"]]
    found.clear()
    assert checkpoints(job).notes == ["no checkpoints: the job has not trained so far"]


def test_a_job_of_the_other_api_has_no_checkpoints():
    with pytest.raises(TypeError, match="only jobs of the OpenAI-compatible API"):
        checkpoints(training())
