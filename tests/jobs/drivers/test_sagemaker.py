"""SageMaker's serverless customization: the request, started once, read, stopped, refused."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs import clients
from reward_functions.jobs.configuration import BadJob, Serverless, Vpc
from reward_functions.jobs.drivers.sagemaker import SageMakerDriver
from reward_functions.jobs.job import JobRequest, MlflowRun, NoSuchJob, Progress
from reward_functions.jobs.services import service_of
from tests.jobs.hub_service import ACCOUNT, Service, error

FUNCTION = f"arn:aws:lambda:us-east-1:{ACCOUNT}:function:SageMaker-reward-dev-gsm8k--0a1b2c3d"
MODEL = "arn:aws:sagemaker:us-east-1:aws:hub-content/SageMakerPublicHub/Model/small-open-model"
APP = f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:mlflow-app/app-0A1B2C3D4E5F"
REQUEST = JobRequest(
    name="gsm8k-0a1b2c3d-1",
    token="gsm8k-0a1b2c3d-1",
    model=MODEL,
    grader=FUNCTION,
    hyperparameters={"learning_rate": "1e-05"},
    training="s3://bucket/rft-data/jobs/gsm8k-0a1b2c3d-1.jsonl",
    role=f"arn:aws:iam::{ACCOUNT}:role/service-role/SageMaker-jobs",
    output="s3://bucket/rft-output/gsm8k-0a1b2c3d-1/",
    sagemaker=Serverless(sequence_length="4K"),
    tags={
        "reward-functions:deployment": "gsm8k",
        "reward-functions:function-version": "SageMaker-reward-dev-gsm8k--0a1b2c3d",
    },
)


class Stage:
    """What the driver needs of a stage's record."""

    bucket = "bucket"
    sagemaker_role_arn = REQUEST.role
    training_role_arn = REQUEST.role


@pytest.fixture
def service(monkeypatch):
    made = Service()
    monkeypatch.setattr(clients, "control_plane", made.client)
    return made


@pytest.fixture
def driver(service):
    return SageMakerDriver("us-east-1", Stage())


def created(service):
    return next(request for name, request in service.sent if name == "CreateTrainingJob")


def test_the_reward_is_registered_the_group_made_and_the_job_started(service, driver):
    service.apps = [{"Arn": APP, "Status": "Created"}]
    job = driver.start(REQUEST)
    assert service.made == [
        *("CreateHub", "ImportHubContent", "CreateModelPackageGroup", "CreateTrainingJob")
    ]
    made = created(service)
    (evaluator,) = (each["HubContentArn"] for each in service.contents.values())
    assert made["ServerlessJobConfig"] == {
        "BaseModelArn": MODEL,
        "JobType": "FineTuning",
        "CustomizationTechnique": "RLVR",
        "AcceptEula": False,
        "Peft": "LORA",
        "SequenceLength": "4K",
        "EvaluatorArn": evaluator,
    }
    assert made["MlflowConfig"]["MlflowResourceArn"] == APP
    assert made["ModelPackageConfig"]["ModelPackageGroupArn"].endswith(REQUEST.name)
    assert made["OutputDataConfig"] == {"S3OutputPath": "s3://bucket/rft-output/gsm8k-0a1b2c3d-1"}
    assert (job.driver, job.name, job.grader, job.status) == (
        *("sagemaker", REQUEST.name, FUNCTION, "running"),
    )


def test_every_weight_is_trained_only_where_that_is_asked_for(service, driver):
    driver.start(replace(REQUEST, sagemaker=Serverless(peft="FULL")))
    assert "Peft" not in created(service)["ServerlessJobConfig"]


def test_a_reward_of_the_services_own_registers_nothing(service, driver):
    driver.start(replace(REQUEST, grader="", sagemaker=Serverless(preset_reward="gsm8k")))
    assert service.made == ["CreateModelPackageGroup", "CreateTrainingJob"]
    assert "EvaluatorArn" not in created(service)["ServerlessJobConfig"]


def test_a_judges_prompt_that_is_registered_is_the_evaluator(service, driver):
    prompt = f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:hub-content/H/JsonDoc/kind/1.0.0"
    chosen = Serverless(technique="RLAIF", judge="m", judge_prompt=prompt)
    driver.start(replace(REQUEST, grader="", sagemaker=chosen))
    assert created(service)["ServerlessJobConfig"]["EvaluatorArn"] == prompt


def test_the_calls_are_those_of_a_start_and_nothing_is_made(service, driver):
    calls = driver.calls(REQUEST)
    assert not service.made
    driver.start(REQUEST)
    wanted = [(each.operation, dict(each.request)) for each in calls]
    assert [each for each in service.sent if each[0] in service.made] == wanted


def test_a_repeat_is_the_same_job_and_registers_nothing_twice(service, driver):
    first = driver.start(REQUEST)
    assert driver.start(REQUEST) == first
    assert len(service.contents) == len(service.groups) == len(service.jobs) == 1


def test_a_lost_answer_is_looked_for(service, driver):
    driver.start(REQUEST)
    service.trouble["CreateTrainingJob"] = [error("InternalFailure", "CreateTrainingJob")]
    assert driver.start(REQUEST).name == REQUEST.name


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"hyperparameters": {"learning_rate": "2e-05"}}, "the hyperparameters"),
        ({"training": "s3://bucket/other.jsonl"}, "the data"),
        ({"validation": "s3://bucket/other.jsonl"}, "the data"),
        ({"grader": FUNCTION.replace("0a1b", "ffff")}, "the evaluator"),
        ({"sagemaker": Serverless(sequence_length="4K", peft="FULL")}, "the adapters"),
        ({"sagemaker": Serverless(sequence_length="8K")}, "the sequence length"),
        ({"model": MODEL.replace("small", "large")}, "the model"),
    ],
)
def test_another_job_of_the_name_is_refused(service, driver, changed, what):
    driver.start(REQUEST)
    with pytest.raises(BadJob, match=f"differs in .*{what}"):
        driver.start(replace(REQUEST, **changed))
    assert len(service.jobs) == 1


def test_a_version_that_the_service_adds_is_no_difference(service, driver):
    driver.start(REQUEST)
    service.jobs[REQUEST.name]["ServerlessJobConfig"]["BaseModelArn"] = f"{MODEL}/2.14.0"
    assert driver.start(REQUEST).name == REQUEST.name
    assert driver.start(replace(REQUEST, model=f"{MODEL}/2.14.0")).name == REQUEST.name
    with pytest.raises(BadJob, match="differs in the model"):
        driver.start(replace(REQUEST, model=f"{MODEL}/2.13.0"))


def test_a_version_is_another_model_than_none(service, driver):
    driver.start(REQUEST)
    with pytest.raises(BadJob, match="differs in the model"):
        driver.start(replace(REQUEST, model=f"{MODEL}/2.14.0"))


BROKEN = [
    {"name": "a" * 64},
    {"name": "bad_name"},
    {"name": "-a"},
    {"hyperparameters": {"note": "x" * 5_000}},
    {"hyperparameters": {f"h{at}": "1" for at in range(101)}},
    {"hyperparameters": {"x" * 300: "1"}},
    {"sagemaker": Serverless(sequence_length="abc")},
    {"sagemaker": Serverless.model_construct(technique="MTRL", peft="LORA")},
    {"model": "small-open-model"},
    {"role": "nobody"},
    {"output": "bucket/x"},
    {"vpc": Vpc(subnets=["sub net"], security_groups=["sg-1"])},
    {"tags": {"k" * 200: "v"}},
    {"sagemaker": Serverless(mlflow="arn:aws:s3:::b")},
    {"sagemaker": Serverless(model_packages="arn:aws:s3:::b")},
    {"sagemaker": Serverless(model_packages="under_score")},
    {"training": ""},
]


@pytest.mark.parametrize("changed", BROKEN, ids=lambda each: str(each)[:40])
def test_what_botocore_lets_through_is_refused_before_anything_is_made(service, driver, changed):
    with pytest.raises((BadJob, AwsFailed)) as refused:
        driver.start(replace(REQUEST, **changed))
    assert "\n" not in str(refused.value)
    assert not service.made


def test_a_service_that_refuses_is_one_sentence(service, driver):
    service.trouble["CreateTrainingJob"] = [
        error("ResourceLimitExceeded", "CreateTrainingJob", "3 jobs run")
    ]
    with pytest.raises(AwsFailed, match=r"a limit of the account is used up \(3 jobs run\)"):
        driver.start(REQUEST)


AT = datetime(2026, 11, 23, 1, tzinfo=UTC)


def test_a_job_says_how_far_it_is_and_where_its_figures_are(service, driver):
    driver.start(REQUEST)
    service.jobs[REQUEST.name] |= {
        "ProgressInfo": {
            "CurrentEpoch": 1,
            "MaxEpoch": 2,
            "CurrentStep": 7,
            "TotalStepCountPerEpoch": 30,
        },
        "MlflowConfig": {"MlflowResourceArn": APP},
        "MlflowDetails": {"MlflowRunId": "r", "MlflowExperimentId": "e"},
        "BillableTokenCount": 1_234,
        "OutputModelPackageArn": "arn:p",
        "SecondaryStatusTransitions": [
            {"Status": "Training", "StartTime": AT, "StatusMessage": "step 7"},
            {"Status": "Starting", "StartTime": datetime(2026, 11, 23, tzinfo=UTC)},
        ],
    }
    job = driver.get(REQUEST.name)
    assert job.progress == Progress(epoch=1, epochs=2, step=7, steps=30)
    assert job.mlflow == MlflowRun(APP, "r", "e")
    assert (job.tokens, job.tuned_model, job.phase) == ({"train": 1_234}, "arn:p", "Training")
    assert [event.message for event in driver.events(job)] == [
        *("created", "Starting", "Training: step 7"),
    ]


def test_a_job_shows_what_its_service_says_of_the_rest(service, driver):
    driver.start(REQUEST)
    service.jobs[REQUEST.name] |= {
        "ProgressInfo": {"CurrentEpoch": 1},
        "MlflowDetails": {"MlflowExperimentId": "e", "MlflowRunId": "r"},
    }
    service.jobs[REQUEST.name].pop("MlflowConfig", None)
    job = driver.get(REQUEST.name)
    assert job.progress == Progress(epoch=1)
    assert job.mlflow == MlflowRun("", "r", "e")
    assert list(driver.metrics(job)) == []


@pytest.mark.parametrize(
    ("status", "secondary", "ours"),
    [
        ("InProgress", "Starting", "queued"),
        ("InProgress", "Pending", "queued"),
        ("InProgress", "Uploading", "running"),
        ("Stopping", "Stopping", "stopping"),
        ("Stopped", "MaxRuntimeExceeded", "stopped"),
        ("Completed", "Completed", "succeeded"),
        ("Failed", "Failed", "failed"),
        ("SomethingNew", "", "running"),
    ],
)
def test_the_services_words_are_ours(service, driver, status, secondary, ours):
    driver.start(REQUEST)
    service.jobs[REQUEST.name] |= {"TrainingJobStatus": status, "SecondaryStatus": secondary}
    assert driver.get(REQUEST.name).status == ours


def test_a_job_stops_and_one_that_is_over_stays(service, driver):
    job = driver.start(REQUEST)
    assert driver.stop(job).status == "stopping"
    service.jobs[REQUEST.name]["TrainingJobStatus"] = "Completed"
    assert driver.stop(job).status == "succeeded"


def test_only_serverless_jobs_are_listed_and_found(service, driver):
    driver.start(REQUEST)
    service.jobs["container"] = service.jobs[REQUEST.name] | {
        "TrainingJobName": "container",
        "ServerlessJobConfig": None,
    }
    evaluation = {"BaseModelArn": MODEL, "JobType": "Evaluation"}
    service.jobs["judged"] = service.jobs[REQUEST.name] | {
        "TrainingJobName": "judged",
        "ServerlessJobConfig": evaluation,
    }
    assert [job.name for job in driver.jobs()] == [REQUEST.name]
    for name in ("container", "judged", "nobody", "no_name", "x" * 100):
        with pytest.raises(NoSuchJob):
            driver.get(name)


def test_an_arn_finds_its_service_and_its_job(service, driver):
    job = driver.start(REQUEST)
    assert service_of(job.id) == "sagemaker"
    assert driver.get(job.id) == job
    with pytest.raises(NoSuchJob, match="is a job of eu-west-1"):
        driver.get(job.id.replace("us-east-1", "eu-west-1"))


@pytest.mark.parametrize(
    ("identifier", "service_name"),
    [
        ("arn:aws:sagemaker:us-east-1:123456789012:job/AgentRFT/x", "agent-rft"),
        ("arn:aws:bedrock:us-east-1:123456789012:model-customization-job/x/1", "bedrock"),
        ("ftjob-1", "openai"),
        ("training-job", None),
        ("arn-of-mine", None),
    ],
)
def test_an_id_belongs_to_one_service(identifier, service_name):
    assert service_of(identifier) == service_name


@pytest.mark.parametrize(
    ("ours", "theirs"), [(ACCOUNT, "999999999999"), ("arn:aws:", "arn:aws-cn:")]
)
def test_a_job_of_another_place_is_none_of_ours(service, driver, ours, theirs):
    job = driver.start(REQUEST)
    assert driver.get(job.id).name == REQUEST.name
    with pytest.raises(NoSuchJob, match="there is no job"):
        driver.get(job.id.replace(ours, theirs))


def test_tags_are_read_once_however_often_a_job_is(service, driver):
    job = driver.start(REQUEST)
    assert driver.get(job.id).tags == driver.get(job.id).tags == dict(REQUEST.tags)
    assert [name for name, _ in service.sent].count("ListTags") == 1


def test_an_app_that_takes_no_figures_is_passed_over(service, driver):
    service.apps = [
        *({"Arn": APP, "Status": each} for each in ("Creating", "DeleteFailed", "Stopped")),
        {"Arn": f"{APP}2", "Status": "Updated"},
    ]
    driver.start(REQUEST)
    assert created(service)["MlflowConfig"]["MlflowResourceArn"] == f"{APP}2"
