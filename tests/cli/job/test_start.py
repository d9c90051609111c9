"""`reward job start`: once, after every check, with the reason of whoever passes one over."""

from __future__ import annotations

import json

import pytest

from reward_functions.local.emulator.emulator import TRAINING
from tests.control_planes import control_planes

MODEL = "amazon.nova-2-lite-v1:0:256k"


@pytest.fixture
def start(job, rows, monkeypatch):
    with control_planes() as bedrock:
        # Any other resource than a job, such as a model of the job's name, is answered so as well.
        bedrock.refusals["GetModelCustomizationJob"] = (404, "ResourceNotFoundException")
        for service in TRAINING:
            monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", bedrock.address)
        yield starting(job, rows)


def starting(job, rows):
    def run(*options):
        return job("start", "-m", MODEL, "-d", "gsm8k", "--data", rows, *options)

    return run


def test_it_is_forced_shown_and_followed(job, start, service, rows, tmp_path):
    ran = start("--set", "batchSize=64", "--force", "a rehearsal")
    (made,) = service.jobs.values()
    name = made.request.name
    assert (ran.exit_code, ran.stdout) == (0, f"{name} started\n{made.id}\n")
    assert "passed over: data: too few rows: " in ran.stderr
    assert f"follow it with: reward job watch {name} --stage stage" in ran.stderr
    assert "simulation: the training double trains no language model\n" in ran.stderr
    assert made.request.tags["reward-functions:forced"] == "a rehearsal"

    file = tmp_path / "job.toml"
    file.write_text(
        f'model = "{MODEL}"\ndeployment = "gsm8k"\ndata = "{rows}"\n'
        "[hyperparameters]\nbatchSize = 32\n"
    )
    ran = job("start", file, "--set", "batchSize=64")
    assert ran.stdout == f"{name} was started before, and is queued\n{made.id}\n"
    assert "for another run of it: --again\n" in ran.stderr
    shown = json.loads(job("start", file, "--set", "batchSize=64", "--json").stdout)
    assert (shown["name"], shown["fresh"], shown["simulation"]) == (name, False, True)

    service.tick = 300
    ran = job("start", file, "--set", "batchSize=64", "--watch")
    assert (ran.exit_code, len(service.jobs)) == (0, 1)
    assert ran.stdout.endswith(f"{name} succeeded: tuned-model\n")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["-m", "amazon.nova-9"], "error: model: the table of"),
        (["--driver", "openai"], "leave out the driver; if AWS trains it on the other API by now"),
        (["--set", "lr=1"], "has no hyperparameter 'lr'. Did you mean 'learningRate'?"),
        (["-d", "gsm9k"], "has no deployment 'gsm9k'. Did you mean 'gsm8k'?"),
        (["--set", "batchSize=9999"], "error: batchSize is 9999: it must be a whole number from"),
        (["--data", "nowhere.jsonl"], "error: nowhere.jsonl: No such file or directory"),
        (["--name", "my_job"], "error: name is 'my_job': write letters and digits"),
    ],
)
def test_what_cannot_run_is_one_line(start, service, options, complaint):
    ran = start(*options, "--force", "x")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert complaint in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert not service.files


def test_what_the_checks_doubt_or_cannot_know_is_a_line_each(start, rows):
    """What is ok goes without saying."""
    held_out = rows.with_name("dev.jsonl")
    held_out.write_text(rows.read_text().replace("1 + 1?", "2 + 2?"))
    ran = start("--force", "x", "--validation", held_out)
    lines = ran.stderr.splitlines()
    for begins in (
        "warning: baseline: not measured",
        "warning: plan: AWS's SDK leaves out a validation file for Nova 2 Lite",
        "passed over: data: too few rows",
    ):
        assert any(line.startswith(begins) for line in lines), begins
    assert not any(line.startswith("ok") for line in lines)


def test_the_name_of_a_function_leads_to_its_deployment(standing_stage, start):
    name = f"SageMaker-reward-{standing_stage[0].stage}-gsm8k"
    for typed in (name, f"{name}:live", f"{name}--0a1b2c3d"):
        ran = start("-d", typed)
        assert "is the name of a function: its deployment is called 'gsm8k'" in ran.stderr


def test_an_interrupted_start_says_what_may_exist(start, service):
    service.losses["start"].append(KeyboardInterrupt())
    ran = start("--force", "x")
    (made,) = service.jobs.values()
    assert (ran.exit_code, ran.stdout) == (130, "")
    assert ran.stderr == (
        f"\ninterrupted while creating: {made.request.name} may have been started; the same "
        "command shows it\n"
    )


def test_a_stage_that_is_not_there_is_one_line(job):
    ran = job("start", "-m", MODEL, "-d", "gsm8k", stage="nowhere")
    assert (ran.exit_code, ran.stderr.count("\n")) == (2, 1)
    assert "error: stage 'nowhere' has no deployments in this account" in ran.stderr
