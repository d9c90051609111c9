"""The driver of multi-turn jobs against the double: what `reward job` does with one."""

import json
from dataclasses import replace

import pytest

from reward_functions.aws.catalogue import DeployedStage, JobRights
from reward_functions.jobs.configuration import BadJob, Serverless
from reward_functions.jobs.drivers.agent_rft import AgentDriver
from reward_functions.jobs.job import JobRequest, NoSuchJob
from reward_functions.jobs.models import find
from reward_functions.jobs.options import granted
from reward_functions.jobs.preflight import agent_findings
from tests.local.training_double.conftest import REGION
from tests.waiting import until

MODEL = "openai-reasoning-gpt-oss-20b"
# The fewest prompts of a step that the service takes: the double's own tests make smaller ones.
SMALL = {"global_batch_size": 32, "group_size": 2, "max_steps": 1}


@pytest.fixture(scope="module")
def stage(jobs):
    policies = ("data", "jobs", "evaluate", "operate")
    return DeployedStage(
        stage="dev",
        region=REGION,
        keep_versions=1,
        bucket=jobs.world.bucket,
        training_role_arn=jobs.role,
        **{f"{each}_policy_arn": "arn" for each in policies},
        agent_role_arn=jobs.role,
        job_events_topic_arn="arn",
        dashboard="",
        job_rights=JobRights(agents=(jobs.agent,)),
    )


@pytest.fixture(scope="module")
def driver(jobs, stage):
    with pytest.MonkeyPatch.context() as patch:
        for name in ("BEDROCK", "BEDROCK_RUNTIME", "BEDROCK_MANTLE", "SAGEMAKER"):
            patch.setenv(f"AWS_ENDPOINT_URL_{name}", jobs.world.double.endpoint)
        patch.setenv("AWS_ENDPOINT_URL_SAGEMAKER_MLFLOW", jobs.world.double.endpoint)
        yield AgentDriver(REGION, stage)


@pytest.fixture(scope="module")
def request_(jobs, driver, tmp_path_factory):
    file = tmp_path_factory.mktemp("data") / "train.jsonl"
    rows = ({"prompt": f"What is {n} + 1? #### <number>", "answer": str(n + 1)} for n in range(12))
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return JobRequest(
        name="sums-0123abcd-1",
        token="sums-0123abcd-1",
        model=find(MODEL, REGION, "agent-rft").identifier,
        grader="",
        agent=jobs.agent,
        hyperparameters=SMALL,
        training=driver.upload(file, "sums-0123abcd-1"),
        role=jobs.role,
        output=f"s3://{jobs.world.bucket}/rft-output/sums-0123abcd-1/",
        sagemaker=Serverless(accept_eula=True, model_packages="sums"),
        tags={"team": "maths"},
    )


@pytest.fixture(scope="module")
def ended(jobs, driver, request_):
    job = driver.start(request_)
    until(lambda: jobs.held[job.id].ended is not None)
    return driver.get(job.id)


def test_a_dry_run_says_what_would_be_sent_and_makes_nothing(jobs, driver, request_):
    asked = replace(
        request_, name="dry", sagemaker=Serverless(accept_eula=True, model_packages="dry")
    )
    *groups, last = driver.calls(asked)
    assert [each.request["ModelPackageGroupName"] for each in groups] == ["dry", "dry-checkpoints"]
    assert last.operation == "CreateJob"
    assert last.request["JobConfigSchemaVersion"] == "1.1.0", "the newest that it fits"
    written = json.loads(last.request["JobConfigDocument"])
    parameters = written["TrainingConfig"]["HyperParameters"]
    assert parameters == {"global_batch_size": "32", "group_size": "2", "max_steps": "1"}
    made = {
        each.name for arn, each in jobs.world.double.service.state.made.items() if "-group/" in arn
    }
    assert not made & {"dry", "dry-checkpoints"}
    assert driver.find("dry") is None


def test_a_job_is_read_whole(ended, jobs, request_):
    assert (ended.status, ended.failure) == ("succeeded", "")
    assert ended.model.endswith(f"Model/{MODEL}")
    assert (ended.grader, ended.tags, ended.files) == (
        jobs.agent,
        {"team": "maths"},
        (request_.training,),
    )
    assert (ended.progress.step, ended.progress.steps) == (1, 1)
    assert ended.progress.rollouts == ended.progress.of_rollouts == 24
    assert set(ended.tokens) == {"train", "prefill", "sample"}
    assert ended.tuned_model.endswith(":model-package/sums/1")


def test_its_figures_come_from_mlflow(driver, ended):
    names = {point.name for point in driver.metrics(ended)}
    assert names >= {"rollout/reward/mean", "rollout/turns/mean", "training/num_trajectories"}


def test_its_events_are_its_phases_and_its_log(driver, ended):
    said = [each.message for each in driver.events(ended)]
    assert said[0] == "created"
    assert {"Training", "Uploading", "Completed"} <= {*said}
    assert any(each.startswith("simulation: step 1") for each in said)


def test_the_same_start_is_the_same_job_and_another_is_refused(driver, ended, request_):
    assert driver.start(request_).id == ended.id
    with pytest.raises(BadJob, match="differs in the hyperparameters"):
        driver.start(replace(request_, hyperparameters=SMALL | {"group_size": 3}))


def test_it_is_listed_and_deleted(driver, ended):
    assert ended.id in {job.id for job in driver.jobs()}
    driver.delete(ended)
    assert driver.find(ended.name) is None
    with pytest.raises(NoSuchJob):
        driver.get(ended.id)
    driver.delete(ended)


def test_the_agent_is_checked_before_anything_is_started(jobs, stage, tmp_path):
    file = tmp_path / "train.jsonl"
    file.write_text('{"prompt": "What is 1 + 1?", "answer": "2"}\n{"answer": "2"}\n')
    found = [*agent_findings(granted(jobs.agent, stage), {"data": file}, SMALL)]
    said = {(each.question, each.verdict): each.message for each in found}
    assert said["agent", "ok"].endswith("is there")
    assert "moves" in said["version", "warning"]
    assert "refuses a request without a rollout's ids" in said["answer", "ok"]
    assert "line 2" in said["data", "failure"]
    assert "up to 64 rollouts" in said["rollouts", "ok"]


def test_an_agent_that_fails_is_found_before_the_job(jobs, stage):
    broken = jobs.function(
        "broken", "def handler(event, context):\n    raise LookupError('gone')\n"
    )
    rights = JobRights(agents=(broken,))
    agent = granted(broken, stage.model_copy(update={"job_rights": rights}))
    [answer] = [each for each in agent_findings(agent, {}, SMALL) if each.question == "answer"]
    assert answer.verdict == "failure"
    assert "the agent's function failed" in answer.message
