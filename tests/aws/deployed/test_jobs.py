"""The jobs in progress of Bedrock and SageMaker, and the functions that they name."""

from __future__ import annotations

import pytest

from reward_functions.aws import calls
from reward_functions.aws.deployed.pruning import JobsUnknown, jobs_in_progress
from tests.control_planes import HUB, control_planes, evaluator

GRADER = "arn:aws:lambda:us-east-1:000000000000:function:SageMaker-reward-dev-gsm8k:7"


@pytest.fixture
def planes(monkeypatch):
    with control_planes() as served:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK", served.address)
        monkeypatch.setenv("AWS_ENDPOINT_URL_SAGEMAKER", served.address)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        monkeypatch.setattr(calls, "ATTEMPTS", 1)
        monkeypatch.delenv("AWS_PROFILE", raising=False)
        yield served


def texts(*without):
    return {job.name: job.texts for job in jobs_in_progress("us-east-1", without)}


def test_where_no_job_runs_there_is_none(planes):
    planes.graded("done", GRADER, status="Completed")
    planes.evaluated("failed", GRADER, status="Failed")
    assert texts() == {}


def test_every_way_to_name_a_function_is_read(planes):
    planes.graded("bedrock-job", GRADER)
    planes.graded("ends", GRADER, status="Stopping")
    planes.bedrock["plain"] = {"status": "InProgress", "customizationType": "FINE_TUNING"}
    planes.evaluated("rlvr", GRADER)
    planes.evaluated("prompt", "s3://bucket/prompt.jinja")
    planes.evaluated("nova", "x", HyperParameters={"lambda_arn": GRADER})
    planes.sagemaker["own"] = {"TrainingJobStatus": "Stopping", "Environment": {"REWARD": GRADER}}
    planes.sagemaker["raw"] = {
        "TrainingJobStatus": "InProgress",
        "ServerlessJobConfig": {"EvaluatorArn": GRADER},
    }
    planes.sagemaker["other"] = {"TrainingJobStatus": "InProgress", "ServerlessJobConfig": {}}
    assert texts() == {
        "bedrock-job": (GRADER,),
        "ends": (GRADER,),
        "plain": (),
        "rlvr": (GRADER,),
        "prompt": ("s3://bucket/prompt.jinja",),
        "nova": (GRADER, "x"),
        "own": (GRADER,),
        "raw": (GRADER,),
        "other": (),
    }


def test_a_multi_turn_job_keeps_whatever_its_document_names(planes):
    agent = {"AgentConfig": {"CustomAgentLambdaConfig": {"LambdaArn": GRADER}}}
    runtime = "arn:aws:bedrock-agentcore:us-east-1:000000000000:runtime/agent-0123456789"
    planes.rolled_out("lambda", agent)
    planes.rolled_out("stops", agent, status="Stopping")
    planes.rolled_out("core", {"AgentConfig": {"BedrockAgentCoreConfig": {"x": runtime}}})
    planes.rolled_out("evaluates", agent, category="AgentRFTEvaluation")
    planes.rolled_out("over", agent, status="Completed")
    planes.rolled_out("odd", "{ no JSON at all")
    found = texts()
    assert set(found) == {"lambda", "stops", "core", "evaluates", "odd"}
    assert GRADER in found["lambda"][0]
    assert texts("sagemaker") == {}


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (("refusals", "ListJobs", (403, "AccessDeniedException")), "not allowed"),
        (("refusals", "DescribeJob", (403, "AccessDeniedException")), "not allowed"),
        (("refusals", "ListJobs", (400, "UnknownOperationException")), "Unknown"),
        (("bodies", "ListJobs", b"{}"), "holds no JobSummaries"),
        (("bodies", "DescribeJob", b'{"JobName": "x"}'), "the answer holds no JobConfigDocument"),
    ],
)
def test_multi_turn_jobs_that_are_not_known_remove_nothing(planes, broken, message):
    planes.rolled_out("x", {})
    attribute, operation, value = broken
    getattr(planes, attribute)[operation] = value
    with pytest.raises(JobsUnknown, match=message) as raised:
        texts()
    assert str(raised.value).endswith("--without-jobs sagemaker")


def test_hundreds_of_pages_are_read_to_the_end(planes):
    planes.page = 1
    for at in range(60):
        planes.graded(f"job-{at}", f"{GRADER}{at}")
    planes.evaluated("last", GRADER)
    found = texts()
    assert len(found) == 61
    assert found["job-59"] == (f"{GRADER}59",)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (("refusals", "ListModelCustomizationJobs", (403, "AccessDeniedException")), "not allowed"),
        (("refusals", "GetModelCustomizationJob", (403, "AccessDeniedException")), "not allowed"),
        (("refusals", "ListModelCustomizationJobs", (404, "UnknownOperationException")), "Unknown"),
        (("bodies", "ListModelCustomizationJobs", b"<html>"), "holds no modelCust"),
        (("bodies", "ListModelCustomizationJobs", b"{}"), "no modelCustomizationJobSummaries"),
        (
            ("bodies", "GetModelCustomizationJob", b'{"jobName": "a"}'),
            "Bedrock's job a names no grader",
        ),
        # A type that this project does not know may have a grader somewhere else.
        (
            ("bodies", "GetModelCustomizationJob", b'{"jobName": "a", "customizationType": "NEW"}'),
            "Bedrock's job a names no grader",
        ),
        (("bodies", "GetModelCustomizationJob", b"{}"), "the answer holds no jobName"),
    ],
)  # fmt: skip
def test_bedrocks_jobs_are_known_or_the_prune_refuses(planes, broken, message):
    table, operation, answer = broken
    planes.graded("job", GRADER)
    getattr(planes, table)[operation] = answer
    with pytest.raises(JobsUnknown) as raised:
        texts()
    assert str(raised.value).startswith("nothing was removed, for the jobs in progress are not")
    assert message in str(raised.value)
    assert str(raised.value).endswith("say so with --without-jobs bedrock")
    assert "\n" not in str(raised.value)
    assert texts("bedrock") == {}


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (("refusals", "ListTrainingJobs", (400, "AccessDeniedException")), "not allowed"),
        (("refusals", "DescribeTrainingJob", (400, "ValidationException")), "Validation"),
        (("refusals", "DescribeHubContent", (400, "ResourceNotFound")), "evaluator of SageMaker's"),
        (("bodies", "ListTrainingJobs", b"<html>"), "no TrainingJobSummaries"),
        (("bodies", "ListTrainingJobs", b"{}"), "no TrainingJobSummaries"),
        (("contents", "job", "{}"), "the evaluator of SageMaker's job job names no function"),
        (("contents", "job", '{"JsonContent": "[]"}'), "names no function"),
        (("contents", "job", "no JSON"), "names no function"),
    ],
)
def test_sagemakers_jobs_are_known_or_the_prune_refuses(planes, broken, message):
    table, name, answer = broken
    planes.evaluated("job", GRADER)
    getattr(planes, table)[name] = answer
    with pytest.raises(JobsUnknown) as raised:
        texts()
    assert message in str(raised.value)
    assert str(raised.value).endswith("say so with --without-jobs sagemaker")
    assert texts("sagemaker") == {}


def test_an_evaluator_without_a_version_is_the_newest(planes):
    planes.contents["mine"] = evaluator(GRADER)
    config = {"EvaluatorArn": f"{HUB}/mine"}
    planes.sagemaker["job"] = {"TrainingJobStatus": "InProgress", "ServerlessJobConfig": config}
    assert texts() == {"job": (GRADER,)}


def test_an_evaluator_of_another_kind_is_not_passed_over(planes):
    config = {"EvaluatorArn": "arn:aws:sagemaker:us-east-1:000000000000:model/x"}
    planes.sagemaker["job"] = {"TrainingJobStatus": "InProgress", "ServerlessJobConfig": config}
    with pytest.raises(JobsUnknown, match="an evaluator that is no content of a hub"):
        texts()


def test_a_service_that_no_region_has_is_not_a_service_without_jobs(planes, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL_SAGEMAKER", "http://127.0.0.1:1")
    with pytest.raises(JobsUnknown, match=r"nobody answers: .*--without-jobs sagemaker"):
        texts()
