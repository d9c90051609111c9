"""Jobs of Bedrock's control plane: every option, one job however often, and hostile answers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from reward_functions.aws.failures import AwsFailed
from reward_functions.core.errors import ConfigurationError
from reward_functions.jobs.configuration import BadJob, Filter, Filters, Vpc
from reward_functions.jobs.drivers.bedrock import BedrockDriver
from reward_functions.jobs.job import JobRequest, NoSuchJob
from tests.bedrock_service import ARN, NOVA, body, refusal
from tests.job_fixtures import GRADER
from tests.loopback import BEFORE, LOST

REQUEST = JobRequest(
    name="gsm8k-1f0c9a3e-1",
    token="gsm8k-1f0c9a3e-1",
    model=NOVA,
    grader=GRADER,
    hyperparameters={},
    training="s3://bucket/rft-data/jobs/gsm8k-1f0c9a3e-1.jsonl",
    role="arn:aws:iam::000000000000:role/training",
    output="s3://bucket/rft-output/gsm8k-1f0c9a3e-1/",
)
CHOSEN = {
    "epochCount": 2,
    "batchSize": 64,
    "learningRate": 1e-4,
    "maxPromptLength": 4096,
    "trainingSamplePerPrompt": 8,
    "inferenceMaxTokens": 2048,
    "reasoningEffort": "high",
    "evalInterval": 10,
}
LOGS = replace(REQUEST, training="", logs="s3://bucket/logs/")
KEY = "arn:aws:kms:us-east-1:000000000000:key/00000000-0000-0000-0000-000000000000"
CUSTOM = f"{ARN}:custom-model/amazon.nova-2-lite-v1:0:256k/abcdefghijkl"


@pytest.fixture
def driver(bedrock):
    return BedrockDriver("us-east-1", SimpleNamespace(bucket="bucket"))


@pytest.fixture
def started(driver):
    return driver.start(REQUEST)


OPTIONS = [
    (REQUEST, {}),
    (
        replace(REQUEST, hyperparameters=CHOSEN),
        {"customizationConfig": {"rftConfig": {
            "graderConfig": {"lambdaGrader": {"lambdaArn": GRADER}}, "hyperParameters": CHOSEN}}},
    ),
    (
        replace(REQUEST, validation="s3://bucket/rft-data/jobs/x.validation.jsonl"),
        {"validationDataConfig": {"validators": [
            {"s3Uri": "s3://bucket/rft-data/jobs/x.validation.jsonl"}]}},
    ),
    (replace(REQUEST, model_key=KEY), {"customModelKmsKeyId": KEY}),
    (replace(REQUEST, model=CUSTOM), {"baseModelIdentifier": CUSTOM}),
    (
        replace(REQUEST, vpc=Vpc(subnets=("subnet-1", "subnet-2"), security_groups=("sg-1",))),
        {"vpcConfig": {"subnetIds": ["subnet-1", "subnet-2"], "securityGroupIds": ["sg-1"]}},
    ),
    (
        replace(REQUEST, tags={"reward": "gsm8k 3", "digest": "00ff"}),
        {"jobTags": (both := [{"key": "reward", "value": "gsm8k 3"},
                              {"key": "digest", "value": "00ff"}]), "customModelTags": both},
    ),
    (
        LOGS,
        {"trainingDataConfig": {"invocationLogsConfig": {
            "usePromptResponse": False, "invocationLogSource": {"s3Uri": "s3://bucket/logs/"}}}},
    ),
    *(
        (
            replace(LOGS, use_prompt_response=True, filters=filters),
            {"trainingDataConfig": {"invocationLogsConfig": {
                "usePromptResponse": True, "invocationLogSource": {"s3Uri": "s3://bucket/logs/"},
                "requestMetadataFilters": written}}},
        )
        for filters, written in [
            (Filters(conditions=(Filter(equals={"app": "tutor"}),)), {"equals": {"app": "tutor"}}),
            (Filters(conditions=(Filter(not_equals={"a": "b"}),)), {"notEquals": {"a": "b"}}),
            (
                Filters(conditions=(Filter(equals={"a": "b"}), Filter(not_equals={"c": ""}))),
                {"andAll": [{"equals": {"a": "b"}}, {"notEquals": {"c": ""}}]},
            ),
            (
                Filters(match="any", conditions=tuple([Filter(equals={"a": "b"})] * 16)),
                {"orAll": [{"equals": {"a": "b"}}] * 16},
            ),
        ]
    ),
]  # fmt: skip


@pytest.mark.parametrize(("request_", "members"), OPTIONS)
def test_every_option_is_sent_as_bedrocks_model_has_it(driver, bedrock, request_, members):
    """The double holds every request to the whole of the model, and botocore to its own part."""
    driver.start(request_)
    (sent,) = bedrock.sent
    assert sent == {
        "jobName": REQUEST.name,
        "customModelName": REQUEST.name,
        "roleArn": REQUEST.role,
        "clientRequestToken": REQUEST.token,
        "baseModelIdentifier": NOVA,
        "customizationType": "REINFORCEMENT_FINE_TUNING",
        "trainingDataConfig": {"s3Uri": REQUEST.training},
        "outputDataConfig": {"s3Uri": REQUEST.output},
        "customizationConfig": {
            "rftConfig": {"graderConfig": {"lambdaGrader": {"lambdaArn": GRADER}}}
        },
        **members,
    }


def test_a_filter_is_one_condition():
    for given in ({}, {"equals": {"a": "b"}, "not_equals": {"a": "b"}}):
        with pytest.raises(ValueError, match="one of equals and not_equals"):
            Filter(**given)


@pytest.mark.parametrize(
    ("status", "ours"),
    [
        ("InProgress", "running"),
        ("Stopping", "stopping"),
        ("Completed", "succeeded"),
        ("Failed", "failed"),
        ("Stopped", "stopped"),
    ],
)
def test_a_status_is_one_of_ours(driver, bedrock, started, status, ours):
    bedrock.jobs[REQUEST.name]["status"] = status
    assert driver.get(REQUEST.name).status == ours


def test_a_status_that_is_newer_than_the_table_is_shown_as_the_phase(driver, bedrock, started):
    bedrock.jobs[REQUEST.name]["status"] = "Paused"
    job = driver.get(REQUEST.name)
    assert (job.status, job.phase, job.over) == ("running", "Paused", False)


DETAILS = ("validationDetails", "dataProcessingDetails", "trainingDetails")


@pytest.mark.parametrize(
    ("statuses", "phase"),
    [
        ((), ""),
        (("InProgress", "NotStarted", "NotStarted"), "Validation"),
        (("Completed", "InProgress", "NotStarted"), "Data processing"),
        (("Completed", "Completed", "InProgress"), "Training"),
        (("Completed", "Completed", "Stopping"), "Training"),
        (("Failed", "NotStarted", "NotStarted"), "Validation"),
        (("Completed", "Completed", "Completed"), ""),
    ],
)
def test_a_phase_is_the_last_that_is_at_work(driver, bedrock, started, statuses, phase):
    bedrock.jobs[REQUEST.name]["statusDetails"] = {
        member: {"status": status} for member, status in zip(DETAILS, statuses, strict=False)
    }
    assert driver.get(REQUEST.name).phase == phase


def test_a_job_is_read_whole(driver, bedrock, started):
    bedrock.tags[started.id] = [{"key": "reward", "value": "gsm8k 3"}]
    bedrock.jobs[REQUEST.name] |= {
        "status": "Completed",
        "endTime": "2026-11-22T11:00:00Z",
        "outputModelArn": CUSTOM,
        "customizationConfig": {"rftConfig": {
            "graderConfig": {"lambdaGrader": {"lambdaArn": GRADER}}, "hyperParameters": CHOSEN}},
    }  # fmt: skip
    job = BedrockDriver("us-east-1", SimpleNamespace(bucket="bucket")).get(started.id)
    assert job.grader == GRADER
    assert job.hyperparameters == CHOSEN
    assert job.tuned_model == CUSTOM
    assert job.output == REQUEST.output
    assert job.tags == {"reward": "gsm8k 3"}
    assert job.created == datetime(2026, 11, 22, 9, tzinfo=UTC)
    assert job.ended == datetime(2026, 11, 22, 11, tzinfo=UTC)
    assert job.over


def test_a_caller_who_may_not_read_tags_sees_the_job(driver, bedrock):
    bedrock.fail("ListTagsForResource", refusal(403, "AccessDeniedException"))
    assert driver.start(REQUEST).tags == {}


def test_a_watch_reads_the_tags_once(driver, bedrock, started):
    for _ in range(5):
        driver.get(started.id)
    assert bedrock.asked.count("ListTagsForResource") == 1


def test_a_job_is_found_by_its_name_or_in_the_list(driver, bedrock, started):
    for name in ("gsm8k-1f0c9a3e-10", "a-gsm8k-1f0c9a3e-1", "gsm8k-1f0c9a3e-11"):
        driver.start(replace(REQUEST, name=name, token=name))
    assert driver.find(REQUEST.name).id == started.id
    bedrock.by_name = False
    assert driver.find(REQUEST.name).id == started.id
    assert driver.find("gsm8k-1f0c9a3e") is None
    with pytest.raises(NoSuchJob, match="there is no job 'gsm8k-1f0c9a3e' in us-east-1"):
        driver.get("gsm8k-1f0c9a3e")


@pytest.mark.parametrize(
    ("identifier", "message"),
    [
        ("", "there is no job"),
        ("../custom-models", "there is no job"),
        ("a b", "there is no job"),
        ("x" * 2000, "there is no job"),
        (
            "arn:aws:bedrock:eu-west-1:000000000000:model-customization-job/a.b/000000000000",
            "is a job of eu-west-1, and not of us-east-1",
        ),
    ],
)
def test_what_is_no_job_is_a_sentence(driver, identifier, message):
    with pytest.raises(NoSuchJob, match=message):
        driver.get(identifier)


def test_every_page_of_the_list_is_read_the_newest_first(driver, bedrock):
    for run in range(1, 6):
        driver.start(replace(REQUEST, name=f"job-{run}", token=f"job-{run}"))
    driver.start(replace(REQUEST, name="other", token="other"))
    bedrock.jobs["other"]["customizationType"] = "FINE_TUNING"
    assert [job.name for job in driver.jobs()] == [f"job-{run}" for run in range(5, 0, -1)]
    assert bedrock.asked.count("ListModelCustomizationJobs") == 3


def test_a_repeated_start_is_the_one_job(driver, bedrock):
    first = driver.start(REQUEST)
    assert driver.start(REQUEST) == first
    assert len(bedrock.jobs) == 1


def test_a_job_whose_answer_was_lost_is_found_at_once(driver, bedrock):
    bedrock.fail("CreateModelCustomizationJob", LOST)
    assert driver.start(REQUEST) == driver.find(REQUEST.name)
    assert len(bedrock.sent) == 1


@pytest.mark.parametrize("found", [None, refusal(429, "ThrottlingException")])
def test_a_request_that_got_lost_is_a_sentence_and_its_repeat_the_one_job(driver, bedrock, found):
    bedrock.fail("CreateModelCustomizationJob", BEFORE)
    bedrock.fail("GetModelCustomizationJob", found)
    with pytest.raises(AwsFailed, match=f"starting {REQUEST.name}: Connection was closed"):
        driver.start(REQUEST)
    assert not bedrock.jobs
    driver.start(REQUEST)
    assert len(bedrock.jobs) == 1


def test_a_start_whose_job_cannot_be_read_says_that_it_runs(driver, bedrock):
    bedrock.fail("GetModelCustomizationJob", refusal(429, "ThrottlingException"))
    with pytest.raises(AwsFailed, match=r"is started as arn:aws:bedrock.*reward job show gsm8k"):
        driver.start(REQUEST)
    assert driver.start(REQUEST).name == REQUEST.name
    assert len(bedrock.jobs) == 1


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("ConflictException", "anything"),
        ("ValidationException", "The provided job name is currently in use."),
        ("ValidationException", "A custom model with this name already exists"),
    ],
)
def test_a_name_that_is_taken_by_the_same_job_is_that_job(driver, bedrock, started, code, message):
    """The service remembers a token for some time only."""
    bedrock.jobs[REQUEST.name]["customizationConfig"]["rftConfig"]["hyperParameters"] = CHOSEN
    bedrock.fail("CreateModelCustomizationJob", refusal(400, code, message))
    asked = {"learningRate": 9.999999747378752e-05, "batchSize": 64}  # single precision
    assert driver.start(replace(REQUEST, hyperparameters=asked)).id == started.id


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"grader": GRADER.replace(":7", ":8")}, "the grader"),
        ({"training": "s3://bucket/rft-data/jobs/other.jsonl"}, "the training data"),
        ({"training": "", "logs": "s3://bucket/logs"}, "the training data, the invocation logs"),
        ({"validation": "s3://bucket/v.jsonl"}, "the validation data"),
        ({"hyperparameters": {"batchSize": 128}}, "the hyperparameters"),
        ({"hyperparameters": {"reasoningEffort": "low"}}, "the hyperparameters"),
        ({"hyperparameters": CHOSEN | {"epochCount": 3}}, "the hyperparameters"),
    ],
)
def test_a_name_that_another_job_has_is_refused(driver, bedrock, started, change, difference):
    bedrock.jobs[REQUEST.name]["customizationConfig"]["rftConfig"]["hyperParameters"] = CHOSEN
    bedrock.fail("CreateModelCustomizationJob", refusal(400, "ConflictException"))
    with pytest.raises(BadJob, match=f"differs in {difference}: .*--again"):
        driver.start(replace(REQUEST, **change))
    assert len(bedrock.jobs) == 1


def test_a_name_that_a_model_has_is_refused(driver, bedrock):
    bedrock.models[REQUEST.name] = {"modelArn": CUSTOM}
    with pytest.raises(BadJob, match=r"in use; no job has this name, so a custom model has it"):
        driver.start(REQUEST)
    assert not bedrock.jobs


@pytest.mark.parametrize(
    ("status", "code", "message"),
    [
        (429, "ThrottlingException", "throttled (because); nothing is lost: try again"),
        (400, "ServiceQuotaExceededException", "a quota of the account is used up (because)"),
        (403, "AccessDeniedException", "not allowed: because"),
        (404, "ResourceNotFoundException", "not found: because"),
        (400, "ValidationException", "refused: because"),
        (400, "TooManyTagsException", "more tags than"),
        (500, "InternalServerException", "the service failed (because)"),
        (400, "ExpiredTokenException", "the AWS credentials have expired; log in again"),
        (403, "UnrecognizedClientException", "AWS does not know these credentials"),
    ],
)
def test_a_refusal_is_one_sentence_and_starts_nothing(driver, bedrock, status, code, message):
    bedrock.fail("CreateModelCustomizationJob", refusal(status, code))
    with pytest.raises(AwsFailed) as raised:
        driver.start(REQUEST)
    assert str(raised.value).startswith(f"starting {REQUEST.name}: ")
    assert message in str(raised.value)
    assert not bedrock.jobs


@pytest.mark.parametrize("given", [{"batchSize": "32"}, {"batchSize": 8}, {"unknown": 1}])
def test_a_value_that_botocore_refuses_is_one_sentence(driver, bedrock, given):
    with pytest.raises(BadJob, match="the service would refuse CreateModelCustom") as raised:
        driver.start(replace(REQUEST, hyperparameters=given))
    assert next(iter(given)) in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not bedrock.sent


def test_a_job_stops_once(driver, bedrock, started):
    assert driver.stop(started).status == "stopping"
    assert driver.stop(started).status == "stopping"  # a conflict, to the service
    bedrock.jobs[REQUEST.name]["status"] = "Stopped"
    over = driver.get(started.id)
    assert driver.stop(over).status == "stopped"
    assert bedrock.asked.count("StopModelCustomizationJob") == 2


def test_events_are_the_times_of_the_job_and_of_its_phases(driver, bedrock, started):
    at = "2026-11-22T{}:00Z".format
    bedrock.jobs[REQUEST.name] |= {
        "status": "Failed",
        "endTime": at("09:40"),
        "failureMessage": "the grader failed",
        "statusDetails": {
            "validationDetails": {
                "status": "Completed", "creationTime": at("09:01"), "lastModifiedTime": at("09:10")
            },
            "dataProcessingDetails": {
                "status": "InProgress", "creationTime": at("09:10"), "lastModifiedTime": at("09:30")
            },
            "trainingDetails": {"status": "NotStarted"},
        },
    }  # fmt: skip
    assert [(f"{each.at:%H:%M}", each.level, each.message) for each in driver.events(started)] == [
        ("09:00", "info", "created"),
        ("09:01", "info", "Validation began"),
        ("09:10", "info", "Validation: Completed"),
        ("09:10", "info", "Data processing began"),
        ("09:40", "error", "Failed: the grader failed"),
    ]
    ids = [each.id for each in driver.events(started)]
    assert len(set(ids)) == len(ids)


HOSTILE = [
    b"<html>a proxy's page</html>",
    b"[]",
    b'"text"',
    b"[" * 100_000,
    b'{"jobArn": "a", "jobName": "b", "status": "InProgress", "creationTime": "nonsense"}',
    b'{"creationTime": 1e300}',
    b'{"customizationConfig": "text"}',
    b'{"statusDetails": []}',
    b'{"jobName": "only"}',
    b'{"creationTime": 1' + b"0" * 400 + b"}",
    b'{"modelCustomizationJobSummaries": [null], "jobArn": null}',
    b'{"modelCustomizationJobSummaries": ["text", [1]], "jobArn": null}',
    b"9" * 5000,
]


@pytest.mark.parametrize("content", HOSTILE, ids=range(len(HOSTILE)))
def test_an_answer_of_something_else_is_one_sentence(driver, bedrock, started, content):
    for call in (lambda: driver.get(started.id), lambda: list(driver.jobs())):
        bedrock.fail("GetModelCustomizationJob", body(content))
        bedrock.fail("ListModelCustomizationJobs", body(content))
        with pytest.raises(AwsFailed) as raised:
            call()
        assert "is something else at its address?" in str(raised.value)
        bedrock.faults.clear()


def test_every_error_ends_as_one_line():
    assert issubclass(AwsFailed, ConfigurationError)
    assert issubclass(BadJob, ConfigurationError)
    assert issubclass(NoSuchJob, ConfigurationError)


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("a" * 63, True),
        ("a" * 64, False),
        ("a" + "-" * 60 + "!", False),
        ("-a", False),
        ("", False),
    ],
)
def test_a_name_that_no_job_can_have_is_not_asked_for(driver, bedrock, name, asked):
    with pytest.raises(NoSuchJob):
        driver.get(name)
    assert bool(bedrock.asked) == asked
