"""SageMaker's operations through boto3's own client, beside an emulator that enforces rights."""

from __future__ import annotations

import json

import pytest
from botocore.exceptions import ClientError

from tests.local.training_double.conftest import allow, document, jsonl
from tests.local.training_double.sagemaker_world import (
    LLAMA,
    NOVA,
    OLD,
    QWEN,
    base_arn,
    channel,
    trust_of,
    verl_rows,
)
from tests.waiting import until


def test_a_job_of_open_weights_from_its_data_to_its_model(sm, trained):
    assert trained["SecondaryStatus"] == "Completed"
    words = [each["Status"] for each in trained["SecondaryStatusTransitions"]]
    assert words == ["Starting", "Downloading", "Training", "Completed"]
    assert trained["ProgressInfo"] == {
        "TotalStepCountPerEpoch": 1,
        "CurrentStep": 1,
        "CurrentEpoch": 2,
        "MaxEpoch": 2,
    }
    assert trained["BillableTokenCount"] > 0
    package = sm.client.describe_model_package(ModelPackageName=trained["OutputModelPackageArn"])
    (container,) = package["InferenceSpecification"]["Containers"]
    assert container["BaseModel"]["HubContentName"] == QWEN
    uri = container["ModelDataSource"]["S3DataSource"]["S3Uri"]
    key = uri.partition(f"{sm.world.bucket}/")[2]
    there = sm.world.s3.list_objects_v2(Bucket=sm.world.bucket, Prefix=key)["Contents"]
    assert {each["Key"].removeprefix(key) for each in there} == {
        "checkpoints/hf/adapter_config.json",
        "checkpoints/hf_merged/config.json",
        "checkpoints/hf_merged/simulation.json",
    }
    listed = sm.client.list_model_packages(ModelPackageGroupName="models")
    assert package["ModelPackageArn"] in {
        each["ModelPackageArn"] for each in listed["ModelPackageSummaryList"]
    }
    jobs = sm.client.list_training_jobs(StatusEquals="Completed")["TrainingJobSummaries"]
    assert trained["TrainingJobArn"] in {each["TrainingJobArn"] for each in jobs}


def test_the_log_of_a_job_says_that_it_is_a_simulation(sm, trained):
    logs = sm.world.aws.client("logs")
    group = "/aws/sagemaker/TrainingJobs"
    (stream,) = logs.describe_log_streams(
        logGroupName=group, logStreamNamePrefix=f"{trained['TrainingJobName']}/"
    )["logStreams"]
    found = logs.get_log_events(logGroupName=group, logStreamName=stream["logStreamName"])
    text = "\n".join(event["message"] for event in found["events"])
    assert "no language model is trained" in text
    assert "critic/rewards/mean:" in text
    assert "What is" not in text, "a prompt stands in the log"


def test_the_metrics_of_a_job_by_mlflow(sm, trained):
    run = trained["MlflowDetails"]["MlflowRunId"]
    status, found = sm.mlflow("runs/get", run_id=run)
    assert status == 200
    assert found["run"]["info"]["status"] == "FINISHED"
    keys = {each["key"] for each in found["run"]["data"]["metrics"]}
    assert {"critic/rewards/mean", "actor/entropy", "response_length/mean"} <= keys
    assert "val-score/rewards/mean@1" in keys
    ask = {"run_id": run, "metric_key": "critic/rewards/mean"}
    _, history = sm.mlflow("metrics/get-history", **ask)
    assert [each["step"] for each in history["metrics"]] == [1, 2]
    _, first = sm.mlflow("metrics/get-history", **ask, max_results=1)
    _, second = sm.mlflow(
        "metrics/get-history", **ask, max_results=1, page_token=first["next_page_token"]
    )
    assert first["metrics"] + second["metrics"] == history["metrics"]
    assert "next_page_token" not in second


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"run_id": "0" * 32}, 404, "RESOURCE_DOES_NOT_EXIST"),
        ({"session": "nobody"}, 403, "PERMISSION_DENIED"),
        ({"app": "arn:aws:sagemaker:us-east-1:000000000000:mlflow-app/x"}, 404, None),
    ],
)
def test_what_mlflow_refuses(sm, trained, change, status, code):
    asked = {"run_id": trained["MlflowDetails"]["MlflowRunId"]} | change
    if "session" in asked:
        asked["session"] = sm.world.user(allow("sagemaker:*", "*"))
    found, body = sm.mlflow("runs/get", **asked)
    assert found == status
    assert code in {None, body["error_code"]}


def test_merged_weights_are_imported_and_asked(sm, trained):
    package = sm.client.describe_model_package(ModelPackageName=trained["OutputModelPackageArn"])
    (container,) = package["InferenceSpecification"]["Containers"]
    uri = container["ModelDataSource"]["S3DataSource"]["S3Uri"]
    found = imported(sm, f"{uri}checkpoints/hf_merged/", "tuned")
    assert found["status"] == "Completed", found
    model = sm.bedrock.get_imported_model(modelIdentifier="tuned")
    assert model["modelArn"] == found["importedModelArn"]
    question = next(verl_rows(1))["prompt"][0]["content"]
    answer = sm.runtime.converse(
        modelId=model["modelArn"], messages=[{"role": "user", "content": [{"text": question}]}]
    )
    assert answer["output"]["message"]["role"] == "assistant"
    sm.bedrock.delete_imported_model(modelIdentifier="tuned")
    left = sm.bedrock.list_imported_models(nameContains="tuned")["modelSummaries"]
    assert "tuned" not in {each["modelName"] for each in left}
    job = sm.bedrock.get_model_import_job(jobIdentifier="import-tuned")
    assert job["status"] == "Completed", "an import job outlives its model"
    with pytest.raises(ClientError, match="job name import-tuned is already in use"):
        imported(sm, f"{uri}checkpoints/hf_merged/", "tuned")


def test_an_adapter_is_no_model_to_import(sm, trained):
    uri = trained["ModelArtifacts"]["S3ModelArtifacts"]
    found = imported(sm, f"{uri}checkpoints/hf/", "adapter")
    assert found["status"] == "Failed"
    assert "no merged weights" in found["failureMessage"]


def imported(sm, uri, name):
    """The description of an import job once it has ended."""
    job = sm.bedrock.create_model_import_job(
        jobName=f"import-{name}",
        importedModelName=name,
        roleArn=sm.role,
        modelDataSource={"s3DataSource": {"s3Uri": uri}},
    )["jobArn"]

    def described():
        return sm.bedrock.get_model_import_job(jobIdentifier=job)

    until(lambda: described()["status"] != "InProgress")
    return described()


def test_a_nova_model_reads_a_bare_list_and_keeps_its_weights(sm):
    done = sm.run(
        model=NOVA,
        serverless={"EvaluatorArn": sm.bare_evaluator},
        InputDataConfig=[channel("train", sm.nova_train)],
    )
    assert done["TrainingJobStatus"] == "Completed", done
    package = sm.client.describe_model_package(ModelPackageName=done["OutputModelPackageArn"])
    assert package["ManagedStorageType"] == "Restricted"
    assert "ModelDataSource" not in package["InferenceSpecification"]["Containers"][0]
    model = sm.bedrock.create_custom_model(
        modelName="nova-tuned",
        roleArn=sm.role,
        customModelDataSource={
            "modelPackageArnDataSource": {"modelPackageArn": done["OutputModelPackageArn"]}
        },
    )["modelArn"]
    described = sm.bedrock.get_custom_model(modelIdentifier=model)
    assert (described["modelName"], described["modelStatus"]) == ("nova-tuned", "Active")
    deployed = sm.bedrock.create_custom_model_deployment(
        modelDeploymentName="nova-tuned", modelArn=model
    )
    assert deployed["customModelDeploymentArn"]


FAILURES = {
    "a bare list where an envelope is read": (
        lambda sm: {"serverless": {"EvaluatorArn": sm.bare_evaluator}},
        "no envelope",
    ),
    "an envelope where a bare list is read": (
        lambda sm: {"model": NOVA, "InputDataConfig": [channel("train", sm.nova_train)]},
        "where a list of results is read",
    ),
    "no object below the prefix": (
        lambda sm: {"InputDataConfig": [channel("train", f"s3://{sm.world.bucket}/nothing/")]},
        "no object below this prefix",
    ),
    "a role that may not read": (
        lambda sm: {
            "RoleArn": sm.world.role(
                "blind", document(*sm.may[3:]), trust_of("sagemaker.amazonaws.com")
            )
        },
        "AccessDenied",
    ),
    "a role that may not make a model package": (
        lambda sm: {
            "RoleArn": sm.world.role(
                "packless", document(*sm.may[:3]), trust_of("sagemaker.amazonaws.com")
            )
        },
        "sagemaker:DescribeHubContent",
    ),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_job_that_fails_says_why(sm, case):
    change, reason = FAILURES[case]
    failed = sm.run(**change(sm))
    assert failed["TrainingJobStatus"] == "Failed"
    assert reason in failed["FailureReason"]
    assert "OutputModelPackageArn" not in failed


REFUSALS = {
    "a function in the place of an evaluator": (
        lambda sm: {"serverless": {"EvaluatorArn": sm.enveloped}},
        "Invalid HubContentArn format",
    ),
    "an evaluator without its version": (
        lambda sm: {"serverless": {"EvaluatorArn": sm.evaluator.rpartition("/")[0]}},
        "Invalid HubContentArn format",
    ),
    "neither an evaluator nor a preset": (
        lambda _: {"serverless": {"EvaluatorArn": None}},
        "preset_reward_function is needed",
    ),
    "an evaluator of another account": (
        lambda sm: {"serverless": {"EvaluatorArn": sm.evaluator.replace("0" * 12, "1" * 12)}},
        "not of this account",
    ),
    "an evaluator that does not exist": (
        lambda sm: {"serverless": {"EvaluatorArn": sm.evaluator.replace("sums", "sum")}},
        "does not exist",
    ),
    "an unknown base": (
        lambda _: {"serverless": {"BaseModelArn": base_arn("gpt-nothing")}},
        "does not exist",
    ),
    "a base without a recipe": (lambda _: {"model": OLD}, "No recipe found"),
    "a technique without a recipe": (
        lambda _: {"model": NOVA, "serverless": {"CustomizationTechnique": "RLAIF"}},
        "No recipe found",
    ),
    "a gated base": (lambda _: {"model": LLAMA}, "AcceptEula"),
    "a hyperparameter of nobody": (lambda _: {"parameters": {"batchSize": "1"}}, "batchSize"),
    "a hyperparameter beyond": (lambda _: {"parameters": {"rollout_n": "33"}}, "from 1 to 32"),
    "a hyperparameter of words": (lambda _: {"parameters": {"rollout_n": "two"}}, "no integer"),
    "half a rollout": (lambda _: {"parameters": {"rollout_n": "2.5"}}, "no integer"),
    "a preset of nobody": (
        lambda _: {"parameters": {"preset_reward_function": "math"}},
        "is none of",
    ),
    "no group": (lambda _: {"ModelPackageConfig": None}, "ModelPackageGroupArn is needed"),
    "a group that does not exist": (
        lambda sm: {"ModelPackageConfig": {"ModelPackageGroupArn": f"{sm.group}s"}},
        "does not exist",
    ),
    "no data": (lambda _: {"InputDataConfig": None}, "channel `train`"),
    "a length without a recipe": (lambda _: {"serverless": {"SequenceLength": "2K"}}, "No recipe"),
    "a role that Bedrock may assume": (
        lambda sm: {"RoleArn": sm.world.training_role},
        "sagemaker.amazonaws.com",
    ),
    "an app of nobody": (
        lambda sm: {"MlflowConfig": {"MlflowResourceArn": f"{sm.app}1"}},
        "does not exist",
    ),
    "a name that botocore does not check": (lambda _: {"TrainingJobName": "a_b"}, "pattern"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_what_the_service_refuses_beyond_botocores_model(sm, case):
    change, reason = REFUSALS[case]
    with pytest.raises(ClientError) as raised:
        sm.run(**change(sm))
    error = raised.value.response["Error"]
    assert reason in error["Message"]
    assert error["Code"] in {"ValidationException", "ResourceNotFound"}
    assert raised.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


def test_a_preset_and_a_judge_are_paid_by_the_simulation(sm):
    preset = sm.run(
        serverless={"EvaluatorArn": None}, parameters={"preset_reward_function": "gsm8k"}
    )
    judge = sm.run(serverless={"EvaluatorArn": None, "CustomizationTechnique": "RLAIF"})
    for done in (preset, judge):
        assert done["TrainingJobStatus"] == "Completed", done
        events = sm.world.double.service.state.made[done["TrainingJobArn"]].events
        assert any("paid by the double itself" in event.message for event in events)


def test_a_gated_base_whose_licence_is_accepted(sm):
    assert sm.run(model=LLAMA, serverless={"AcceptEula": True})["TrainingJobStatus"] == "Completed"


def test_a_name_is_used_once_and_a_job_is_stopped_once(sm):
    with sm.world.slowed(seconds_per_step=600.0):
        asked = sm.request(parameters={"max_epochs": "9"})
        arn = sm.client.create_training_job(**asked)["TrainingJobArn"]
        with pytest.raises(sm.client.exceptions.ResourceInUse):
            sm.client.create_training_job(**asked)
        name = asked["TrainingJobName"]
        sm.world.at_work(arn)
        sm.client.stop_training_job(TrainingJobName=name)
        sm.world.wait(arn)
    assert sm.client.describe_training_job(TrainingJobName=name)["TrainingJobStatus"] == "Stopped"
    with pytest.raises(ClientError, match="is Stopped"):
        sm.client.stop_training_job(TrainingJobName=name)


def test_controls_reach_these_jobs_too(sm):
    sm.world.control("throttle", operation="DescribeTrainingJob", times=1)
    sm.world.control("throttle", operation="GetRun", times=1)
    with pytest.raises(ClientError, match="ThrottlingException"):
        sm.client.describe_training_job(TrainingJobName="x")
    with pytest.raises(sm.client.exceptions.ResourceNotFound):
        sm.client.describe_training_job(TrainingJobName="x")
    status, body = sm.mlflow("runs/get", run_id="x")
    assert (status, body["error_code"]) == (429, "REQUEST_LIMIT_EXCEEDED")
    with sm.world.slowed(seconds_per_step=600.0):
        asked = sm.request(parameters={"max_epochs": "9"})
        arn = sm.client.create_training_job(**asked)["TrainingJobArn"]
        sm.world.control("fail", job=asked["TrainingJobName"], message="no capacity")
        sm.world.wait(arn)
    found = sm.client.describe_training_job(TrainingJobName=asked["TrainingJobName"])
    assert found["FailureReason"] == "simulation: no capacity"


@pytest.mark.parametrize("how", ["evaluator", "nova", "hyperparameter", "tuned", "preset"])
def test_an_evaluation_with_the_same_function(sm, trained, how):
    serverless = {
        "JobType": "Evaluation",
        "EvaluationType": "CustomScorerEvaluation",
        "CustomizationTechnique": None,
        "Peft": None,
    }
    parameters = {"rollout_n": None, "task": "gen_qa", "temperature": "1.0"}
    config, model = None, QWEN
    match how:
        case "nova":
            serverless["EvaluatorArn"] = sm.bare_evaluator
            model = NOVA
        case "hyperparameter":
            serverless["EvaluatorArn"] = None
            parameters |= {"lambda_arn": sm.enveloped, "lambda_type": "rft"}
        case "preset":
            serverless["EvaluatorArn"] = None
            parameters["preset_reward_function"] = "prime_math"
        case "tuned":
            config = {
                "ModelPackageGroupArn": sm.group,
                "SourceModelPackageArn": trained["OutputModelPackageArn"],
            }
    asked = sm.request(model, serverless=serverless, parameters=parameters)
    values = {k: v for k, v in asked["HyperParameters"].items() if v is not None}
    done = sm.run(
        model=model,
        serverless=serverless,
        InputDataConfig=[channel("train", sm.evaluated)],
        ModelPackageConfig=config,
        HyperParameters=values,
    )
    assert done["TrainingJobStatus"] == "Completed", done
    assert "OutputModelPackageArn" not in done
    prefix = f"rft-output/{done['TrainingJobName']}/output/output/"
    (found,) = sm.world.s3.list_objects_v2(Bucket=sm.world.bucket, Prefix=prefix)["Contents"]
    assert found["Key"].rpartition("/")[2].startswith("results_")
    results = json.load(sm.world.s3.get_object(Bucket=sm.world.bucket, Key=found["Key"])["Body"])
    scores = [each["aggregate_reward_score"] for each in results["samples"]]
    assert len(scores) == 40
    assert results["results"]["all"]["aggregate_reward_score"] == pytest.approx(sum(scores) / 40)


def test_json_files_and_folders_are_read(sm):
    text = json.dumps([*verl_rows(64)]).encode()
    uri = sm.world.folder({"a.json": text, "b.jsonl": jsonl(verl_rows(64, first=64))})
    done = sm.run(InputDataConfig=[channel("train", uri)])
    assert done["TrainingJobStatus"] == "Completed", done


def test_a_job_of_the_same_name_at_bedrock_is_another_one(sm):
    done = sm.run()
    bedrock = sm.world.client(sm.person)
    with pytest.raises(bedrock.exceptions.ResourceNotFoundException):
        bedrock.get_model_customization_job(jobIdentifier=done["TrainingJobName"])
