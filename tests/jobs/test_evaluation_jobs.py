"""Evaluation jobs of SageMaker: what is sent, what is refused before, and what comes back."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from botocore.exceptions import ClientError

from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.drivers import base
from reward_functions.jobs.evaluation_jobs import (
    Evaluation,
    EvaluationJobs,
    aggregates_of,
    evaluation_request,
    evaluation_rows,
    results_of,
    rows_of,
    rows_within,
)
from reward_functions.jobs.job import NoSuchJob

ACCOUNT = "123456789012"
HUB = "arn:aws:sagemaker:us-east-1:aws:hub-content/SageMakerPublicHub/Model"
OPEN = f"{HUB}/huggingface-reasoning-qwen3-8b/1.2.0"
NOVA = f"{HUB}/nova-textgeneration-lite-v2/2.0.1"
EVALUATOR = f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:hub-content/HUB52/JsonDoc/rewards-gsm8k/3.0.0"
FUNCTION = f"arn:aws:lambda:us-east-1:{ACCOUNT}:function:SageMaker-reward-dev-gsm8k--0a1b2c3d"
PACKAGE = f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:model-package/math-models/7"

BASE = Evaluation(
    name="math-base-eval",
    model=OPEN,
    scorer=EVALUATOR,
    rows="s3://bucket/rft-data/jobs/math.jsonl",
    output="s3://bucket/rft-output/",
    role=f"arn:aws:iam::{ACCOUNT}:role/jobs",
    accept_eula=True,
)


def hyperparameters(**changes):
    return evaluation_request(replace(BASE, **changes))["HyperParameters"]


def test_the_base_of_open_weights_with_a_registered_evaluator():
    assert evaluation_request(BASE) == {
        # sagemaker-train 1.27.0, CUSTOM_SCORER_TEMPLATE_BASE_MODEL_ONLY
        "TrainingJobName": "math-base-eval",
        "RoleArn": BASE.role,
        "InputDataConfig": [
            {
                "ChannelName": "train",
                "DataSource": {
                    "S3DataSource": {
                        "S3DataType": "S3Prefix",
                        "S3Uri": BASE.rows,
                        "S3DataDistributionType": "FullyReplicated",
                    }
                },
            }
        ],
        "OutputDataConfig": {"S3OutputPath": "s3://bucket/rft-output", "CompressionType": "NONE"},
        "ServerlessJobConfig": {
            "BaseModelArn": OPEN,
            "AcceptEula": True,
            "JobType": "Evaluation",
            "EvaluationType": "CustomScorerEvaluation",
            "EvaluatorArn": EVALUATOR,
        },
        "StoppingCondition": {"MaxRuntimeInSeconds": 86_400},
        "HyperParameters": {
            "task": "gen_qa",
            "strategy": "gen_qa",
            "evaluation_metric": "all",
            "postprocessing": "True",
            "aggregation": "mean",
        },
    }


def test_nova_is_told_which_event_the_function_takes():
    novas = hyperparameters(model=NOVA, inference={"max_new_tokens": 2048, "temperature": 0.0})
    assert novas == {
        "task": "gen_qa",
        "strategy": "gen_qa",
        "postprocessing": "True",
        "aggregation": "mean",
        "metric": "all",
        "lambda_type": "rft",
        "max_new_tokens": "2048",
        "temperature": "0.0",
    }


def test_a_tuned_model_is_its_package_beside_the_base():
    request = evaluation_request(replace(BASE, package=PACKAGE))
    assert request["ModelPackageConfig"] == {
        "ModelPackageGroupArn": PACKAGE.replace(
            "package/math-models/7", "package-group/math-models"
        ),
        "SourceModelPackageArn": PACKAGE,
    }


def test_tags_are_sent():
    request = evaluation_request(replace(BASE, tags={"stage": "dev"}))
    assert request["Tags"] == [{"Key": "stage", "Value": "dev"}]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"inference": {"system": "x" * 5_000}}, "would refuse CreateTrainingJob"),
        ({"inference": {str(at): 1 for at in range(101)}}, "would refuse CreateTrainingJob"),
        ({"name": "bad_name"}, "would refuse CreateTrainingJob"),
        ({"name": "a" * 64}, "would refuse CreateTrainingJob"),
        ({"output": "bucket"}, "would refuse CreateTrainingJob"),
        ({"role": "jobs"}, "would refuse CreateTrainingJob"),
    ],
)
def test_what_the_service_would_refuse_or_misread_is_refused_here(changes, message):
    with pytest.raises(BadJob, match=message):
        evaluation_request(replace(BASE, **changes))


def turn(role, content):
    return {"role": role, "content": content}


def test_the_rows_of_the_data_set():
    rows = [
        {
            "id": "a",
            "messages": [
                turn("system", "Be brief."),
                turn("user", "6 × 7?"),
                turn("assistant", "4"),
            ],
            "reference_answer": "42",
        },
        {"messages": [turn("user", "?")], "reference_answer": {"x": 4}, "metadata": {"level": 3}},
        {"messages": [turn("user", "?")], "metadata": {"reference_answer": [1, 2]}},
        {"messages": [turn("user", "?")]},
    ]
    assert list(evaluation_rows(rows)) == [
        {
            "query": "6 × 7?",
            "system": "Be brief.",
            "response": "42",
            "metadata": {"id": "a"},
        },
        {
            "query": "?",
            "response": '{"x": 4}',
            "metadata": {"level": 3, "reference_answer": {"x": 4}},
        },
        {"query": "?", "response": "[1, 2]", "metadata": {"reference_answer": [1, 2]}},
        {"query": "?", "response": ""},
    ]


@pytest.mark.parametrize(
    ("messages", "lost"),
    [
        ([turn("user", "a"), turn("assistant", "b"), turn("user", "c")], "turns before the last"),
        ([turn("user", [{"image": {}}, {"text": "a"}])], "content that is not text"),
        ([turn("system", "a")], "only turn is not the user's"),
    ],
)
def test_a_question_that_the_job_cannot_ask_is_refused_with_its_row(messages, lost):
    rows = [{"messages": [turn("user", "?")]}, {"messages": messages}]
    with pytest.raises(BadJob, match=f"row 2: .*{lost}"):
        list(evaluation_rows(rows))


# The service, in memory.


class Service:
    """SageMaker's training jobs; `refuse` is raised by the next call, after it or before."""

    def __init__(self):
        self.jobs, self.calls, self.refuse, self.silently = {}, [], None, False

    def create_training_job(self, **request):
        self.calls.append("create")
        name = request["TrainingJobName"]
        if name in self.jobs:
            raise failure("ResourceInUse", "Job name must be unique")
        if self.refuse and not self.silently:
            raise self.refuse
        self.jobs[name] = request | {
            "TrainingJobArn": f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:training-job/{name}",
            "TrainingJobStatus": "InProgress",
            "SecondaryStatus": "Starting",
            "CreationTime": datetime(2026, 11, 23, tzinfo=UTC),
        }
        if self.refuse:
            raise self.refuse
        return {"TrainingJobArn": self.jobs[name]["TrainingJobArn"]}

    def describe_training_job(self, TrainingJobName):  # noqa: N803
        self.calls.append("describe")
        if TrainingJobName not in self.jobs:
            raise failure("ValidationException", "Requested resource not found.")
        return dict(self.jobs[TrainingJobName])

    def stop_training_job(self, TrainingJobName):  # noqa: N803
        job = self.jobs[TrainingJobName]
        if job["TrainingJobStatus"] != "InProgress":
            raise failure("ValidationException", "The request was rejected")
        job["TrainingJobStatus"] = "Stopped"


def failure(code, message="said"):
    return ClientError({"Error": {"Code": code, "Message": message}}, "CreateTrainingJob")


class Bucket:
    def __init__(self, files):
        self.files = files

    def list_objects_v2(self, Bucket, Prefix, **_):  # noqa: N803
        at = datetime(2026, 11, 23, tzinfo=UTC)
        found = [key for key in self.files if key.startswith(Prefix)]
        return {"Contents": [{"Key": key, "LastModified": at} for key in found]}

    def get_object(self, Bucket, Key):  # noqa: N803
        return {"Body": io.BytesIO(self.files[Key])}


@pytest.fixture
def service(monkeypatch):
    made = Service()
    bucket = Bucket({})
    clients = {"sagemaker": made, "s3": bucket}
    monkeypatch.setattr(base, "client", lambda name, *_: clients[name])
    made.bucket = bucket
    return made


JOBS = EvaluationJobs


def test_a_job_is_started_once_whatever_is_repeated(service):
    jobs = JOBS("us-east-1")
    first = jobs.start(BASE)
    assert (first.status, first.name, first.grader) == ("queued", BASE.name, EVALUATOR)
    assert jobs.start(BASE) == first
    assert len(service.jobs) == 1


@pytest.mark.parametrize(
    ("changes", "differs"),
    [
        ({"package": PACKAGE}, "the tuned model"),
        ({"scorer": EVALUATOR.replace("3.0.0", "4.0.0")}, "the evaluator"),
        ({"rows": "s3://bucket/other.jsonl"}, "the rows"),
        ({"inference": {"temperature": 1}}, "the hyperparameters"),
        ({"model": OPEN.replace("1.2.0", "1.3.0")}, "the model"),
        ({"output": "s3://bucket/elsewhere"}, "the output"),
    ],
)
def test_another_job_of_the_name_is_named_with_what_differs(service, changes, differs):
    jobs = JOBS("us-east-1")
    jobs.start(BASE)
    with pytest.raises(BadJob, match=f"differs in {differs}"):
        jobs.start(replace(BASE, **changes))


def test_a_call_that_failed_and_started_it_all_the_same_is_a_start(service):
    service.refuse, service.silently = failure("InternalFailure"), True
    assert JOBS("us-east-1").start(BASE).name == BASE.name


@pytest.mark.parametrize(
    "code", ["InternalFailure", "AccessDeniedException", "ResourceLimitExceeded"]
)
def test_a_refusal_is_one(service, code):
    service.refuse = failure(code)
    with pytest.raises(AwsFailed):
        JOBS("us-east-1").start(BASE)
    assert service.jobs == {}


def test_nothing_is_sent_that_is_refused_here(service):
    with pytest.raises(BadJob):
        JOBS("us-east-1").start(replace(BASE, name="bad_name"))
    assert service.calls == []


def test_a_job_is_followed_to_its_end_and_stopped(service):
    jobs = JOBS("us-east-1")
    job = jobs.start(BASE)
    steps = iter([{"SecondaryStatus": "Training"}, {}, {"TrainingJobStatus": "Completed"}])
    seen = list(jobs.follow(job, sleep=lambda _: service.jobs[BASE.name].update(next(steps))))
    assert [each.status for each in seen] == ["queued", "running", "succeeded"]
    assert jobs.stop(job).status == "succeeded"
    other = jobs.start(replace(BASE, name="other"))
    assert jobs.stop(other).status == "stopped"
    with pytest.raises(BadJob, match="was stopped"):
        jobs.results(jobs.get("other"))


def test_a_job_that_is_no_evaluation_is_none_here(service):
    jobs = JOBS("us-east-1")
    jobs.start(BASE)
    service.jobs[BASE.name]["ServerlessJobConfig"] = {"JobType": "FineTuning"}
    for name in (BASE.name, "absent"):
        with pytest.raises(NoSuchJob):
            jobs.get(name)


FOLDER = f"rft-output/{BASE.name}/output/output"
REPLY = {
    "id": "7f",
    "aggregate_reward_score": 1,
    "metrics_list": [{"name": "answered", "value": 1.0, "type": "Metric"}, {"name": "x"}, 3],
}


def files(results, rows=None):
    made = {f"{FOLDER}/None/eval_results/results_2026.json": results}
    return made | ({} if rows is None else {f"{FOLDER}/None/eval_results/rows.jsonl": rows})


def found(made):
    return results_of(BASE.name, BASE.output, Bucket(made))


def test_the_results_of_a_job(service):
    jobs = JOBS("us-east-1")
    job = jobs.start(BASE)
    service.jobs[BASE.name]["TrainingJobStatus"] = "Completed"
    aggregates = {"results": {"custom|gen_qa_gen_qa|0": {"rft": 0.5, "samples": 2, "name": "x"}}}
    lines = "\n".join(
        [json.dumps(REPLY), "broken{", "[]", '"\u2028"', json.dumps(REPLY | {"id": 8})]
    )
    service.bucket.files = files(json.dumps(aggregates).encode(), lines.encode())
    results = jobs.results(jobs.get(job.name))
    assert results.aggregates == {"rft": 0.5, "samples": 2.0}
    assert [(row.id, row.score, row.metrics) for row in results.rows] == [
        ("7f", 1.0, {"answered": 1.0}),
        ("8", 1.0, {"answered": 1.0}),
    ]
    assert len(results.files) == 2


@pytest.mark.parametrize(
    ("document", "aggregates"),
    [
        ({"results": {"all": {"em": 0.25}, "task": {"em": 1}}}, {"em": 0.25}),
        ({"results": {"all": {}, "task": {"em": 1}}}, {"em": 1.0}),
        ({"results": {"a": "text", "b": [], "c": {"em": True, "f1": 1}}}, {"f1": 1.0}),
        ({"results": {"all": {"em": float("nan"), "f1": float("inf"), "n": True}}}, {}),
        ({"results": {}}, {}),
    ],
)
def test_aggregates_are_the_finite_numbers_of_the_first_task(document, aggregates):
    assert aggregates_of(document) == aggregates


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ({}, "there is no results_"),
        ({f"{FOLDER}/results.json": b"{}"}, "there is no results_"),
        ({"rft-output/another/output/output/results_1.json": b"{}"}, "there is no results_"),
        (files(b"{"), "is not JSON"),
        (files(b"[" * 100_000), "is not JSON"),
        (files(b"9" * 5_000), "is not JSON"),
    ],
)
def test_results_that_are_missing_or_unreadable_are_one_sentence(made, message):
    with pytest.raises(AwsFailed, match=message):
        found(made)


def test_rows_are_those_of_the_first_list_that_has_any():
    (read,) = rows_of(json.dumps(REPLY))
    assert rows_within({"config": {}, "none": [1, {}], "samples": [REPLY]}) == [read]
    assert rows_within({"results": {"all": [REPLY]}}) == []
