"""In an account, a cell that costs money stops with the cost until it says `agree=True`."""

import json
from types import SimpleNamespace

import pytest

from helpers import job_steps, speed, training
from helpers.here import Stopped
from helpers.training import Training
from helpers.training_rows import TrainingRows
from reward_functions.jobs.services import SERVICES
from tests.training_rows import row

MODEL = "amazon.nova-2-lite-v1:0:256k"


class Spent(Exception):
    """A call that costs money was made."""


@pytest.fixture
def job(tmp_path, monkeypatch):
    """A job in an account, or on the emulator; whatever costs money raises."""

    def spends(*_, **__):
        raise Spent

    monkeypatch.setattr(training, "ask", spends)
    monkeypatch.setattr(training.starting, "start", spends)
    monkeypatch.setattr(training, "Hosting", spends)
    monkeypatch.setattr(training, "endpoint_of", lambda *_, **__: SimpleNamespace(model="base"))
    monkeypatch.setattr(job_steps, "EvaluationJobs", spends)
    monkeypatch.setattr(speed, "endpoint_of", spends)
    monkeypatch.setattr(Training, "_planned", lambda self: PLANNED)
    monkeypatch.setattr(Training, "_compared", lambda self, options: COMPARED)
    file = tmp_path / "train.jsonl"
    file.write_text("".join(f"{json.dumps(row(at))}\n" for at in range(100)))

    def made(*, local):
        stage = SimpleNamespace(stage="dev", region="us-east-1")
        driver = SimpleNamespace(region="us-east-1")
        place = SimpleNamespace(
            stage=stage, session=None, simulated=False, driver=lambda name: driver
        )
        here = SimpleNamespace(place=place, local=local, account="123456789012")
        found = Training(here, model=MODEL, deployment="gsm8k", data=TrainingRows(file))
        found.job = SimpleNamespace(
            service=SERVICES["bedrock"],
            id="job-1",
            name="job-1",
            driver="bedrock",
            tuned_model="tuned",
            tags={},
        )
        return found

    return made


RUN = SimpleNamespace(steps=12, responses=4_800)
PLANNED = SimpleNamespace(
    figures=SimpleNamespace(run=RUN, training_usd=None, judge=SimpleNamespace(usd=3.5)), judged=True
)


class Askings:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def costs(self):
        return [SimpleNamespace(calls=60, input=9_000, output=120_000, usd=0.25)]


COMPARED = SimpleNamespace(
    asked=[SimpleNamespace(side="base", mode="greedy")],
    scorer=SimpleNamespace(judges=True),
    askings=lambda _: Askings(),
)

STEPS = {
    "job.baseline": (
        lambda job, **agree: job.baseline(**agree),
        "80 calls, about 2,624 tokens read, 163,840 written at most; dollars 0.4514 at most",
    ),
    "job.start": (
        lambda job, **agree: job.start(**agree),
        (
            "training for 12 steps, 4,800 rollouts; dollars unknown · the judge's calls; "
            "dollars about 3.50"
        ),
    ),
    "job.deploy_model": (
        lambda job, **agree: job.deploy_model(**agree),
        "hosting the tuned model, billed until job.clean_up(); dollars unknown",
    ),
    "job.evaluated": (
        lambda job, **agree: job.evaluated(job.data, **agree),
        (
            "dollars unknown · base, greedy: 60 calls, about 9,000 tokens read, 120,000 written at "
            "most; dollars 0.2500 at most · the deployed judge: calls for up to 60 answers beside"
        ),
    ),
    "evaluation_jobs": (
        lambda job, **agree: job_steps.evaluation_jobs(job, job.data, **agree),
        "two evaluation jobs of SageMaker, 100 prompts each; dollars unknown",
    ),
    "answers": (
        speed.answers,
        "5 calls to each of base and tuned model; dollars unknown",
    ),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_cell_in_an_account_stops_with_its_cost(step, job):
    run, cost = STEPS[step]
    with pytest.raises(Stopped) as stopped:
        run(job(local=False))
    told = str(stopped.value)
    assert told.startswith(f"{step} costs money in the account 123456789012: ")
    assert cost in told
    assert told.endswith(f"To agree, write {step}(…, agree=True)")


@pytest.mark.parametrize("step", STEPS)
def test_who_agrees_goes_on(step, job):
    with pytest.raises(Spent):
        STEPS[step][0](job(local=False), agree=True)


@pytest.mark.parametrize("step", STEPS)
def test_the_emulator_asks_nobody(step, job):
    with pytest.raises(Spent):
        STEPS[step][0](job(local=True))
