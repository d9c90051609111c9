"""`reward job list`, `show`, `metrics` and `stop`."""

from __future__ import annotations

import csv
import json
from datetime import timedelta
from xml.etree import ElementTree as ET

import pytest

from reward_functions.cli.job.show import _mlflow
from reward_functions.jobs.job import MlflowRun, Progress
from reward_functions.jobs.wording import progress_words
from tests.jobs.memory import Driver, lost, refused
from tests.parsed_page import harmless


def test_jobs_of_both_services_are_listed_newest_first(job, service, begun):
    Driver(service, "openai").start(
        service.jobs[begun.id].request.__class__(
            name="open", token="o", model="openai.gpt-oss-20b", grader="", hyperparameters={}
        )
    )
    shown = job("list")
    assert shown.exit_code == 0
    assert shown.stdout.startswith("simulation: the training double trains no language model")
    rows = [line.split() for line in shown.stdout.splitlines()[4:] if line.strip()]
    assert [(row[0], row[1], row[-1]) for row in rows] == [
        ("open", "queued", "OpenAI-compatible"),
        ("gsm8k-0a1b2c3d-1", "running", "Bedrock"),
    ]
    listed = json.loads(job("list", "--json", "-n", "1").stdout)
    assert [(each["name"], each["created"]) for each in listed] == [
        ("open", "2026-11-22T09:03:20+00:00")
    ]
    assert json.loads(job("list", "--json", "--driver", "bedrock").stdout)[0]["id"] == begun.id


@pytest.mark.parametrize("width", ["80", "100", "160"])
def test_no_terminal_cuts_a_name_a_status_or_an_address(job, service, grader, monkeypatch, width):
    output = "s3://reward-functions-dev-000000000000-us-east-1/rft-output/" + "x" * 80 + "/"
    name = "an-example-of-a-rather-long-name-0a1b2c3d-1"
    service.begun(
        name=name, grader=grader, output=output, hyperparameters={"maxPromptLength": 4096}
    )
    service.clock.sleep(200)
    monkeypatch.setenv("COLUMNS", width)
    listed = job("list").stdout
    assert f"{name}   running · Training " in listed
    assert ("no room for service" in listed) == (width != "160")
    shown = job("show", name).stdout.splitlines()
    assert f"output    {output}" in shown
    assert f"grader    {grader}" in shown
    assert any(line.split() == ["maxPromptLength", "4096"] for line in shown)


def test_an_account_without_jobs_is_a_line(job):
    assert job("list").stdout == "no training jobs in us-east-1\n"


def test_a_service_that_cannot_be_asked_hides_no_jobs(job, service, begun):
    service.refusals["jobs"] += [None, lost()]
    ran = job("list")
    assert (ran.exit_code, "gsm8k-0a1b2c3d-1" in ran.stdout) == (2, True)
    assert ran.stderr == "asking the service: nobody answers\n"


def test_a_service_that_one_may_not_list_is_a_quiet_line(job, service, begun):
    service.refusals["jobs"] += [None, refused("AccessDeniedException")]
    ran = job("list", "--json")
    assert (ran.exit_code, len(json.loads(ran.stdout))) == (0, 1)
    assert ran.stderr == (
        "OpenAI-compatible: its jobs are not shown, for you may not list them (policy `jobs` of "
        "the stage)\n"
    )
    service.refusals["jobs"].append(refused("AccessDeniedException"))
    ran = job("list", "--driver", "sagemaker")
    assert (ran.exit_code, ran.stderr) == (2, "asking the service: no\n")


def test_a_job_is_shown_beside_what_is_deployed(job, begun, grader):
    ran = job("show", begun.name)
    assert ran.exit_code == 0
    for words in (
        "status   running · Training",
        f"job       {begun.id}\n",
        f"grader    {grader}\n",
        "batchSize   64",
        "team   maths",
        "gsm8k gives this version to jobs",
    ):
        assert words in ran.stdout
    shown = json.loads(job("show", begun.id, "--json").stdout)
    assert shown["deployed"][1] == {
        "verdict": "ok",
        "question": "deployment",
        "message": "gsm8k gives this version to jobs",
        "example": None,
    }
    assert shown["tags"] == {"team": "maths"}


def test_the_figures_are_tables_a_drawing_and_a_file(job, service, begun, tmp_path):
    drawing, table = tmp_path / "run.svg", tmp_path / "run.csv"
    ran = job("metrics", begun.name, "--plot", drawing, "--csv", table)
    assert ran.exit_code == 0
    assert "reward_mean        3     0.1    0.3     0.1    0.3   ▁▅█" in ran.stdout
    assert "too few points: the reward stays low, the reward falls\n" in ran.stdout
    assert "not measured: every response earned the minimum, " in ran.stdout
    assert "the grader's own figures: reading the log of" in ran.stderr
    assert "The service's figures (simulation)" in ran.stdout
    assert ET.parse(drawing).getroot().get("aria-label").endswith("(simulation)")
    assert list(csv.reader(table.read_text().splitlines()))[1:] == [
        ["step", str(step), "training", "reward_mean", str(step / 10)] for step in (1, 2, 3)
    ]
    service.refusals["events"] += [None, lost()]
    shown = []
    for _ in range(2):
        job("metrics", begun.name, "--plot", tmp_path / "run.html", "--no-grader")
        shown.append(harmless((tmp_path / "run.html").read_text()).text)
    assert "reward_mean went from 0.1 to 0.3 by step 3" in shown[0]
    assert "inforunning" in shown[0]  # an event's level and its message
    assert "Not read: the service's events: asking the service: nobody answers." in shown[1]
    shown = json.loads(job("metrics", begun.name, "--json", "--no-grader").stdout)
    assert shown["series"] == [
        {
            "name": "reward_mean",
            "split": "training",
            "unit": "step",
            "points": [[1, 0.1], [2, 0.2], [3, 0.3]],
        }
    ]


def test_the_graders_own_figures_stand_beside_the_services(job, begun, root_session, grader):
    function = grader.split(":")[-2]
    logs = root_session.client("logs")
    logs.create_log_group(logGroupName=f"/aws/lambda/{function}")
    stream = "2026/11/22/[2]0a1b"
    logs.create_log_stream(logGroupName=f"/aws/lambda/{function}", logStreamName=stream)
    line = {"_aws": {}, "samples": [4.0], "reward_mean": [0.25], "reward_std": [0.5]}
    at = int((begun.created + timedelta(seconds=70)).timestamp() * 1000)
    logs.put_log_events(
        logGroupName=f"/aws/lambda/{function}",
        logStreamName=stream,
        logEvents=[{"timestamp": at, "message": json.dumps(line)}],
    )
    shown = json.loads(job("metrics", begun.name, "--json").stdout)
    points = {each["name"]: each["points"] for each in shown["series"] if each["split"] == "grader"}
    assert (points["reward_mean"], points["samples"]) == ([[1, 0.25]], [[1, 4.0]])


WITHOUT_FIGURES = {
    "a job that goes on": (5, 20, "note: the service has no figures yet"),
    "a job that is over": (0, 600, "note: no figures are kept any more, or none were written"),
}


@pytest.mark.parametrize(
    ("steps", "seconds", "note"), WITHOUT_FIGURES.values(), ids=WITHOUT_FIGURES
)
def test_without_figures_it_says_whether_any_will_come(job, service, steps, seconds, note):
    made = service.begun(name="gsm8k-0a1b2c3d-2", model="m")
    service.jobs[made.id].steps = steps
    service.clock.sleep(seconds)
    shown = json.loads(job("metrics", made.name, "--json", "--no-grader").stdout)
    assert shown["notes"] == [note.removeprefix("note: ")]


def test_a_plot_of_another_kind_is_refused_before_anything_is_read(job, begun):
    ran = job("metrics", begun.name, "--plot", "run.png")
    assert (ran.exit_code, ran.stderr) == (
        2,
        "error: --plot run.png: the name ends in .svg or .html\n",
    )


def test_a_job_is_stopped_when_somebody_agrees(job, service, begun):
    ran = job("stop", begun.name)
    assert ran.stderr == (
        "error: a stop asks first, and there is no terminal to ask on: add --yes\n"
    )
    ran = job("stop", begun.name, "--yes")
    assert (ran.exit_code, ran.stdout) == (0, "gsm8k-0a1b2c3d-1 was stopped\n")
    assert job("stop", begun.name).stdout == "gsm8k-0a1b2c3d-1 is over already: it was stopped\n"


SO_FAR = {
    # what the service says: what is shown
    Progress(): "",
    Progress(epoch=1): "epoch 1",
    Progress(epoch=1, epochs=0): "epoch 1",
    Progress(epochs=2): "2 epochs",
    Progress(steps=1): "1 step",
    Progress(step=0): "",
    Progress(step=0, steps=30): "step 0 of 30",
    Progress(epoch=1, epochs=2, step=7, steps=30): "epoch 1 of 2 · step 7 of 30",
    Progress(rollouts=3): "rollout 3",
    Progress(of_rollouts=8): "8 rollouts",
}


@pytest.mark.parametrize("progress", SO_FAR, ids=str)
def test_what_a_service_does_not_count_is_absent(progress):
    assert progress_words(progress) == SO_FAR[progress]


RUNS = {
    MlflowRun("", "r", "e"): "run r, experiment e",
    MlflowRun("", "", "e"): "experiment e",
    MlflowRun("arn:a", "r"): "run r, app arn:a",
}


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_the_parts_of_an_mlflow_run_that_are_known_are_shown(run):
    assert _mlflow(run).plain == RUNS[run]
