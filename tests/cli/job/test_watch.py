"""`reward job watch`: what a person and a program see, and the exit status of every ending."""

from __future__ import annotations

import json

import pytest

from reward_functions.jobs.watching import GraderWatch
from tests.jobs.memory import Driver, lost, refused

QUICK = ("--interval", "0.05")
HOSTILE = "fails \x1b[2J [red]in\r colour\u202e"


@pytest.fixture
def begun(service):
    service.tick = 60
    return service.begun(name="gsm8k-0a1b2c3d-1")


def test_progress_is_lines_and_the_end_says_what_was_made(job, begun):
    ran = job("watch", begun.name, *QUICK)
    assert ran.exit_code == 0
    stamped = [line.partition("  ") for line in ran.stdout.splitlines()[:-1]]
    # Events have the service's time, and the day where it is another than the watch's.
    assert [(time[-8:], line) for time, _, line in stamped[:2]] == [
        ("09:00:00", "info: created"),
        ("09:00:10", "info: running"),
    ]
    lines = [line for _, _, line in stamped]
    assert lines[2].startswith("running · Training · ")
    assert [line for line in lines if line.startswith("step")] == [
        f"step {step} · reward_mean 0.{step}" for step in (1, 2, 3, 4)
    ]
    assert ran.stdout.splitlines()[-1] == "gsm8k-0a1b2c3d-1 succeeded: tuned-model"


def test_the_graders_own_figures_come_as_lines(job, begun, monkeypatch):
    figures = {"reward_mean": 0.40625, "samples": 64.0, "unscored_share": 0.0, "batches": 2.0}
    looks = iter([((3, figures), (4, figures | {"unscored_share": 0.5}))])
    monkeypatch.setattr(GraderWatch, "look", lambda *_: (next(looks, ()), ""))
    ran = job("watch", begun.name, *QUICK)
    assert "  minute 3 · grader reward_mean 0.4062 · samples 64\n" in ran.stdout
    assert "  minute 4 · grader reward_mean 0.4062 · unscored_share 0.5 · samples" in ran.stdout
    looks = iter([((3, figures),)])
    assert "grader" not in job("watch", begun.name, *QUICK, "--no-grader").stdout
    written = job("watch", begun.name, *QUICK, "--json").stdout.splitlines()
    (line,) = [each for each in map(json.loads, written) if each["kind"] == "grader"]
    assert (line["minute"], line["figures"]) == (3, figures)


def test_a_watch_that_begins_late_leaves_out_the_steps_before(job, service, begun):
    service.jobs[begun.id].steps = 40
    service.tick = 10_000
    ran = job("watch", begun.id, *QUICK)
    assert "35 steps before these: `reward job metrics`" in ran.stdout
    assert [f"step {step} · " in ran.stdout for step in (35, 36, 40)] == [False, True, True]


@pytest.mark.parametrize(
    ("outcome", "status", "ending"),
    [
        ("succeeded", 0, "gsm8k-0a1b2c3d-1 succeeded: tuned-model"),
        ("failed", 1, "see why: reward job diagnose gsm8k-0a1b2c3d-1 --stage STAGE"),
        ("stopped", 1, "gsm8k-0a1b2c3d-1 was stopped"),
    ],
)
def test_the_exit_status_is_the_jobs_outcome(
    job, service, begun, standing_stage, outcome, status, ending
):
    stage, _ = standing_stage
    service.jobs[begun.id].outcome = outcome
    service.tick = 10_000
    ran = job("watch", begun.name, *QUICK)
    last = ran.stdout.splitlines()[-1].replace(stage.stage, "STAGE")
    assert (ran.exit_code, last) == (status, ending)


def test_a_lost_connection_is_said_each_time_and_survived(job, service, begun):
    service.refusals["get"] += [None, None, lost(), refused("ThrottlingException", "throttled")]
    ran = job("watch", begun.name, *QUICK)
    assert ran.exit_code == 0
    simulated, *troubles = ran.stderr.splitlines()
    assert simulated == "simulation: the training double trains no language model"
    assert [line[10:] for line in troubles] == [
        "asking the service: nobody answers",
        "asking the service: throttled",
    ]


def test_a_service_that_is_gone_for_too_long_ends_in_2(job, service, begun):
    service.refusals["get"] += [None, None, *[lost()] * 3]
    ran = job("watch", begun.name, *QUICK, "--patience", "0")
    assert ran.exit_code == 2
    assert ran.stdout.splitlines()[-1].startswith(
        "gsm8k-0a1b2c3d-1 cannot be asked any more; it may go on: "
        "reward job watch gsm8k-0a1b2c3d-1 --stage stage"
    )


def test_a_job_that_is_deleted_while_it_is_watched_ends_in_2(job, service, begun, monkeypatch):
    asked = Driver.events

    def then_gone(self, found):
        events = list(asked(self, found))
        service.jobs.clear()
        return iter(events)

    monkeypatch.setattr(Driver, "events", then_gone)
    ran = job("watch", begun.name, *QUICK)
    assert ran.exit_code == 2
    assert ran.stdout.splitlines()[-1] == (
        "gsm8k-0a1b2c3d-1 was deleted: nothing more can be known of it"
    )


def test_ctrl_c_says_that_the_job_goes_on_and_how_to_come_back(job, service, begun):
    service.refusals["get"] += [None, None, KeyboardInterrupt()]
    ran = job("watch", begun.name, *QUICK)
    assert ran.exit_code == 130
    resumed = "\nthe job goes on; come back with: reward job watch gsm8k-0a1b2c3d-1 --stage stage"
    assert resumed in ran.stderr

    assert job("watch", begun.name, *QUICK).exit_code == 0


def test_a_program_reads_a_line_for_each_new_thing(job, service, begun):
    service.refusals["get"] += [None, None, lost()]
    ran = job("watch", begun.name, *QUICK, "--json")
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [line["step"] for line in lines if line["kind"] == "metric"] == [1, 2, 3, 4]
    assert [line["message"] for line in lines if line["kind"] == "event"] == ["created", "running"]
    states = [line for line in lines if line["kind"] == "state"]
    assert (states[-1]["status"], states[-1]["ending"]) == ("succeeded", "over")
    assert [line["message"] for line in lines if line["kind"] == "trouble"]


def test_what_a_service_sends_cannot_act_on_the_terminal(job, service):
    service.tick = 10_000
    made = service.begun(name=HOSTILE, model=HOSTILE, tags={"t": HOSTILE})
    service.jobs[made.id].outcome, service.jobs[made.id].failure = "failed", HOSTILE
    for command in (
        ("watch", made.id, *QUICK),
        ("show", made.id),
        ("list",),
        ("metrics", made.id, "--no-grader"),
        ("stop", made.id),
    ):
        shown = job(*command)
        assert "\\x1b[2J [red]in\\r" in shown.output or command[0] in ("list", "metrics")
        assert not set("\x1b\r\u202e") & set(shown.output)


def test_a_job_that_is_not_there_is_one_line(job):
    for command in (("watch", "x"), ("show", "x"), ("metrics", "x"), ("stop", "x", "--yes")):
        ran = job(*command)
        assert (ran.exit_code, ran.stdout) == (2, "")
        assert ran.stderr == (
            "error: there is no job 'x' in us-east-1 of this account: `reward job list` shows "
            "those there are\n"
        )
