"""A job from its start to its end, whichever API it is of: one state, in each service's words."""

from types import SimpleNamespace

import pytest

from reward_functions.cdk.policies.iam import Place
from reward_functions.local.training_double.jobs import WORDS, Job, Model, Runs, State
from reward_functions.local.training_double.policy import Policy
from reward_functions.local.training_double.prompts import Prompts
from reward_functions.local.training_double.training import JobFailed, Stopped
from tests.local.training_double.conftest import rows

PATHS = ("bedrock", "openai", "sagemaker", "agent-rft")
PLACE = Place("aws", "us-east-1", "000000000000")


def paid(sent):
    return [{"id": row["id"], "aggregate_reward_score": 1.0} for row in sent]


@pytest.fixture
def runs():
    aws = SimpleNamespace(enforcing=False)
    clients = SimpleNamespace(aws=aws, session=lambda **_: None)
    return Runs(State(), clients, Prompts(clients))


def job_of(path, runs):
    job = Job(
        id="arn:job/1", path=path, name="a", place=PLACE, base="", grader="", hyperparameters={},
        seed=1, policy=Policy.base(), model="arn:model/1",
    )  # fmt: skip
    runs.state.made[job.id] = job
    return job


def ended(runs, job, work):
    runs.start(job, None, work)
    for thread in runs._threads:
        thread.join()
    return job


@pytest.mark.parametrize("path", PATHS[:3])
def test_a_job_runs_through_its_phases_to_a_model(runs, path):
    job = job_of(path, runs)
    words = [job.word]

    def answer(sent):
        words.append(job.word)
        return paid(sent)

    ended(runs, job, lambda _: runs.train(job, [*rows(3)], [], answer))
    assert (job.status, job.failure, len(job.steps)) == ("succeeded", "", 1)
    assert [phase.status for phase in job.phases.values()] == ["succeeded"] * 3
    assert words == [WORDS[path]["queued"], WORDS[path]["running"]]
    assert job.model in runs.state.made


ENDS = [
    # what the work raises, the state, the reason
    (JobFailed("no data"), "failed", "no data"),
    (Stopped(), "stopped", ""),
]


@pytest.mark.parametrize(("raised", "status", "failure"), ENDS)
@pytest.mark.parametrize("path", PATHS)
def test_a_job_that_does_not_succeed_makes_no_model(runs, path, raised, status, failure):
    def work(_):
        raise raised

    job = ended(runs, job_of(path, runs), work)
    assert (job.status, job.failure, job.word) == (status, failure, WORDS[path][status])
    assert not runs.state.of(Model)


def test_a_job_that_is_stopped_in_its_last_step_has_stopped(runs):
    job = job_of("bedrock", runs)

    def answer(sent):
        runs.stop(job)
        return paid(sent)

    ended(runs, job, lambda _: runs.train(job, [*rows(3)], [], answer))
    assert (job.status, len(job.steps)) == ("stopped", 1)


def test_the_words_of_a_state_are_a_row_for_each_service():
    states = {*WORDS["bedrock"]}
    assert {*WORDS} == {*PATHS, "mlflow"}
    assert all({*words} == states for words in WORDS.values())
