"""Bedrock's jobs, models and deployments as boto3 sees them, with rights of people and roles."""

from __future__ import annotations

import csv
import io

import pytest
from botocore.exceptions import ClientError

from tests.local.training_double.conftest import (
    ACCOUNT,
    BASE,
    BROKEN,
    GRADER,
    REGION,
    WRAPPED,
    allow,
    customization,
    document,
    jsonl,
    rows,
    trust,
)


def refusal(call, **arguments):
    with pytest.raises(ClientError) as refused:
        call(**arguments)
    error = refused.value.response["Error"]
    return error["Code"], error["Message"]


@pytest.fixture(scope="module")
def done(world):
    """A job that has succeeded: what was asked for, and its description."""
    asked = world.request(
        jobName="told-1",
        clientRequestToken="token-1",
        validationDataConfig={"validators": [{"s3Uri": world.dev}]},
        customizationConfig=customization(world.version, learningRate=1e-3),
        jobTags=[{"key": "reward", "value": "sums"}],
        customModelTags=[{"key": "of", "value": "told-1"}],
    )
    arn = world.bedrock.create_model_customization_job(**asked)["jobArn"]
    return asked, world.ended(world.bedrock, arn)


def test_a_job_succeeds_and_is_described_as_it_was_asked_for(done):
    asked, job = done
    assert job["status"] == "Completed", job.get("failureMessage")
    given = ("jobName", "roleArn", "customizationConfig", "trainingDataConfig", "outputDataConfig")
    for member in (*given, "validationDataConfig", "customizationType", "clientRequestToken"):
        assert job[member] == asked[member]
    assert job["baseModelArn"] == f"arn:aws:bedrock:{REGION}::foundation-model/{BASE}"
    assert job["outputModelName"] == asked["customModelName"]
    assert job["creationTime"] < job["endTime"] <= job["lastModifiedTime"]
    assert "failureMessage" not in job
    phases = [each["status"] for each in job["statusDetails"].values()]
    assert phases == ["Completed"] * 3


def test_its_metrics_lie_where_bedrock_writes_them(world, done):
    asked, job = done
    folder = f"rft-output/{asked['outputDataConfig']['s3Uri'].split('/')[-2]}"
    own = f"{folder}/model-customization-job-{job['jobArn'].rpartition('/')[2]}"
    found = world.s3.list_objects_v2(Bucket=world.bucket, Prefix=f"{folder}/")["Contents"]
    page, training, validation = [each["Key"] for each in found]
    assert page == f"{own}/simulation.html"
    shown = world.s3.get_object(Bucket=world.bucket, Key=page)["Body"].read().decode()
    assert f"<h1>SIMULATION: {job['jobName']}</h1>" in shown
    assert "<dt>status</dt><dd>succeeded</dd>" in shown
    assert "Reward over the steps (simulation)</h2>" in shown
    assert training == f"{own}/training_artifacts/step_wise_training_metrics.csv"
    assert validation.startswith(f"{own}/validation_artifacts/post_fine_tuning_validation/")
    text = world.s3.get_object(Bucket=world.bucket, Key=training)["Body"].read().decode()
    (line,) = csv.DictReader(io.StringIO(text))
    assert (line["step_number"], line["epoch_number"]) == ("1", "1")
    assert 1 > float(line["reward_mean"]) > 0


def test_nothing_that_it_acted_in_is_left(world, done):
    names = [role["RoleName"] for role in world.iam.list_roles()["Roles"]]
    assert not [name for name in names if name.startswith("simulation-")]


def test_a_token_makes_one_job_and_a_name_is_one_of_a_kind(world, done):
    asked, job = done
    create = world.bedrock.create_model_customization_job
    assert create(**asked)["jobArn"] == job["jobArn"]
    # "If this token matches a previous request, Amazon Bedrock ignores the request": botocore.
    assert create(**world.request(clientRequestToken="token-1"))["jobArn"] == job["jobArn"]
    for change in ({"jobName": "told-1"}, {"customModelName": asked["customModelName"]}):
        code, message = refusal(create, **world.request(**change))
        assert (code, "already in use" in message) == ("ConflictException", True)


def test_it_is_listed_by_filters_and_pages(world, done):
    every = world.bedrock.list_model_customization_jobs
    (found,) = every(nameContains="told-", statusEquals="Completed")[
        "modelCustomizationJobSummaries"
    ]
    assert found["customModelArn"] == done[1]["outputModelArn"]
    assert not every(nameContains="told-", statusEquals="Failed")["modelCustomizationJobSummaries"]
    assert not every(nameContains="told-", creationTimeAfter=found["endTime"])[
        "modelCustomizationJobSummaries"
    ]
    pages = world.bedrock.get_paginator("list_model_customization_jobs")
    listed = [
        job["jobArn"]
        for page in pages.paginate(maxResults=1)
        for job in page["modelCustomizationJobSummaries"]
    ]
    assert listed == sorted(set(listed), key=listed.index)
    assert found["jobArn"] in listed
    assert refusal(every, nextToken="x")[0] == "ValidationException"


def test_its_tags_are_read(world, done):
    _, job = done
    for arn, expected in (
        (job["jobArn"], ("reward", "sums")),
        (job["outputModelArn"], ("of", "told-1")),
    ):
        tags = world.bedrock.list_tags_for_resource(resourceARN=arn)["tags"]
        assert [(tag["key"], tag["value"]) for tag in tags] == [expected]


def converse(client, model, n=3, **options):
    prompt = next(rows(1, first=n))["messages"][0]["content"]
    turn = {"role": "user", "content": [{"text": prompt}]}
    return client.converse(modelId=model, messages=[turn], **options)


def text(answer):
    content = answer["output"]["message"]["content"]
    return content[0]["text"] if content else ""


def test_the_model_is_hosted_asked_and_removed(world, done):
    bedrock, model = world.bedrock, done[1]["outputModelArn"]
    described = bedrock.get_custom_model(modelIdentifier=done[0]["customModelName"])
    assert (described["modelArn"], described["modelStatus"]) == (model, "Active")
    (listed,) = bedrock.list_custom_models(nameContains=done[0]["customModelName"])[
        "modelSummaries"
    ]
    assert listed["baseModelName"] == "amazon.nova-2-lite-v1"
    read = bedrock.get_custom_model_deployment
    runtime = world.client(world.person, "bedrock-runtime")
    with world.slowed(seconds_to_host=3600):
        hosted = bedrock.create_custom_model_deployment(
            modelDeploymentName="hosted", modelArn=model, clientRequestToken="t"
        )["customModelDeploymentArn"]
        again = bedrock.create_custom_model_deployment(
            modelDeploymentName="hosted", modelArn=model, clientRequestToken="t"
        )
        assert again["customModelDeploymentArn"] == hosted
        code, message = refusal(converse, client=runtime, model=hosted)
        assert (code, "not Active" in message) == ("ValidationException", True)
        assert read(customModelDeploymentIdentifier="hosted")["status"] == "Creating"
    assert read(customModelDeploymentIdentifier=hosted)["status"] == "Active"
    # The greedy answer of the base to this prompt is a near miss; training makes it a right one.
    greedy = {"n": 17, "inferenceConfig": {"temperature": 0.0}}
    assert text(converse(runtime, hosted, **greedy)).endswith("#### 51")
    assert not text(converse(runtime, BASE, **greedy)).endswith("#### 51")
    assert refusal(bedrock.delete_custom_model, modelIdentifier=model)[0] == "ConflictException"
    summaries = bedrock.list_custom_model_deployments(modelArnEquals=model)
    assert [
        each["customModelDeploymentName"] for each in summaries["modelDeploymentSummaries"]
    ] == ["hosted"]
    bedrock.delete_custom_model_deployment(customModelDeploymentIdentifier="hosted")
    assert refusal(converse, client=runtime, model=hosted)[0] == "ResourceNotFoundException"


def test_a_tuned_model_is_the_base_of_another_job(world, done):
    asked = world.request(baseModelIdentifier=done[1]["outputModelArn"])
    arn = world.bedrock.create_model_customization_job(**asked)["jobArn"]
    job = world.ended(world.bedrock, arn)
    assert job["status"] == "Completed"
    found = world.bedrock.list_model_customization_jobs(nameContains=asked["jobName"])
    (summary,) = found["modelCustomizationJobSummaries"]
    assert summary["baseModelArn"] == done[1]["outputModelArn"]


def test_converse_counts_cuts_and_refuses(world):
    runtime = world.client(world.person, "bedrock-runtime")
    answer = converse(runtime, BASE, inferenceConfig={"maxTokens": 1, "temperature": 0.0})
    assert answer["stopReason"] == "max_tokens"
    assert len(text(answer)) == 4
    assert (
        answer["usage"]["totalTokens"]
        == answer["usage"]["inputTokens"] + answer["usage"]["outputTokens"]
    )
    code, message = refusal(converse, client=runtime, model=BASE, n=10**6)
    assert (code, "rft-data/" in message) == ("ValidationException", True)
    assert (
        refusal(converse, client=runtime, model="amazon.titan-x")[0] == "ResourceNotFoundException"
    )
    denied = world.client(world.user(), "bedrock-runtime")
    assert refusal(converse, client=denied, model=BASE)[0] == "AccessDeniedException"


def test_a_prompt_that_came_into_a_bucket_later_is_found(world):
    runtime = world.client(world.person, "bedrock-runtime")
    world.put("later.jsonl", jsonl(rows(1, first=50_000)))
    assert converse(runtime, f"us.{BASE}", n=50_000)["stopReason"] == "end_turn"


NOBODYS = f"arn:aws:bedrock:{REGION}:{ACCOUNT}:custom-model/amazon.nova-2/aaaaaaaaaaaa"
NO_ROLE = f"arn:aws:iam::{ACCOUNT}:role/training-double-none"
EVALUATIONS = f"arn:aws:bedrock:*:{ACCOUNT}:evaluation-job/*"
OTHER = "arn:aws:lambda:eu-west-1:000000000000:function:g:1"
REFUSED = {
    "a base nobody has": ({"baseModelIdentifier": "amazon.nova-9:0"}, "cannot be customized"),
    "a custom model nobody has": ({"baseModelIdentifier": NOBODYS}, "does not exist"),
    "a grader elsewhere": ({"customizationConfig": customization(OTHER)}, "must be a function of"),
    "no grader": ({"customizationConfig": {"rftConfig": {}}}, "must name a Lambda function"),
    "another kind": ({"customizationType": "FINE_TUNING"}, "only customizationType"),
    "no such role": ({"roleArn": NO_ROLE}, "does not exist"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_run_is_refused_and_nothing_is_made(world, what):
    change, sentence = REFUSED[what]
    before = world.control("state", "GET")["jobs"]
    code, message = refusal(world.bedrock.create_model_customization_job, **world.request(**change))
    assert code in ("ValidationException", "ResourceNotFoundException")
    assert sentence in message
    assert world.control("state", "GET")["jobs"] == before


TRUSTS = {
    "another service": document(
        {
            "Effect": "Allow",
            "Action": "sts:AssumeRole",
            "Principal": {"Service": "lambda.amazonaws.com"},
        }
    ),
    "another account's jobs": trust(StringEquals={"aws:SourceAccount": "111111111111"}),
    "another kind of job": trust(ArnLike={"aws:SourceArn": EVALUATIONS}),
}  # fmt: skip


@pytest.mark.parametrize("whose", TRUSTS)
def test_a_role_that_bedrock_may_not_assume_is_refused(world, whose):
    role = world.role(f"trusts-{list(TRUSTS).index(whose)}", document(), TRUSTS[whose])
    code, message = refusal(
        world.bedrock.create_model_customization_job, **world.request(roleArn=role)
    )
    assert (code, "Could not assume" in message) == ("ValidationException", True)


def test_a_role_is_handed_over_by_whoever_may_pass_it_to_bedrock_alone(world):
    elsewhere = {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}
    for statements in ((), (allow("iam:PassRole", "*", **elsewhere),)):
        client = world.client(world.user(allow("bedrock:*", "*"), *statements))
        code, message = refusal(client.create_model_customization_job, **world.request())
        assert (code, "iam:PassRole" in message) == ("AccessDeniedException", True)


def test_tags_need_a_right_of_their_own(world):
    denied = allow(["bedrock:Create*", "iam:PassRole"], "*")
    client = world.client(world.user(denied))
    tagged = world.request(jobTags=[{"key": "a", "value": "b"}])
    code, message = refusal(client.create_model_customization_job, **tagged)
    assert (code, "bedrock:TagResource" in message) == ("AccessDeniedException", True)


FUNCTIONS = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:*"
READS = allow("s3:GetObject", "*")
INVOKES = allow("lambda:InvokeFunction", FUNCTIONS)
FAILS = {
    # what is wrong: how it comes about, and the words of the job's failure
    "no such file": (lambda w: data("s3://training-double/rft-data/none.jsonl"), "NoSuchKey"),
    "99 rows": (lambda w: data(w.put("few.jsonl", jsonl(rows(99)))), "has 99 records"),
    "20,001 rows": (lambda w: data(w.put("many.jsonl", jsonl(rows(1)) * 20_001)), "has 20001"),
    "no JSON": (lambda w: data(w.put("cut.jsonl", jsonl(rows(1)) + b"{")), "line 2 is not"),
    "no messages": (lambda w: data(w.put("bare.jsonl", b"{}\n" * 100)), "`messages` is not a list"),
    "no reference": (lambda w: data(w.put("free.jsonl", unreferenced())), "row 1"),
    "a bad validation file": (
        lambda w: {"validationDataConfig": {"validators": [{"s3Uri": w.put("v.jsonl", b"1\n")}]}},
        "v.jsonl, line 1",
    ),
    "invocation logs": (lambda w: {"trainingDataConfig": LOGS}, "name a file"),
    "a role that reads nothing": (lambda w: acts(w, "blind", INVOKES), "AccessDenied"),
    "a role that invokes nothing": (lambda w: acts(w, "mute", READS), "lambda:InvokeFunction"),
    "a role that writes nothing": (lambda w: acts(w, "reader", READS, INVOKES), "s3:PutObject"),
    "a grader that fails": (lambda w: graded(w, "broken", BROKEN), "the table of prices is gone"),
    "an envelope": (lambda w: graded(w, "wrapped", WRAPPED), "response mode `envelope`"),
    "a version that is gone": (lambda w: graded(w, "gone", None), "ResourceNotFoundException"),
}  # fmt: skip
LOGS = {"invocationLogsConfig": {"invocationLogSource": {"s3Uri": "s3://training-double/logs"}}}


def data(uri):
    return {"trainingDataConfig": {"s3Uri": uri}}


def unreferenced():
    some = [*rows(100)]
    del some[0]["reference_answer"]
    return jsonl(some)


def acts(world, name, *statements):
    return {"roleArn": world.role(name, document(*statements))}


def graded(world, name, source):
    grader = world.grader(name, source or GRADER)
    if source is None:
        function, _, version = grader.rpartition(":")
        world.lambda_.delete_function(FunctionName=function, Qualifier=version)
    return {"customizationConfig": customization(grader)}


@pytest.fixture(scope="module")
def failed(world):
    """Each of these jobs, all started at once."""
    started = {}
    for what, (change, _) in FAILS.items():
        request = world.request(**change(world))
        started[what] = world.bedrock.create_model_customization_job(**request)["jobArn"]
    return started


@pytest.mark.parametrize("what", FAILS)
def test_a_job_fails_with_the_cause(world, failed, what):
    job = world.ended(world.bedrock, failed[what])
    assert (job["status"], FAILS[what][1] in job["failureMessage"]) == ("Failed", True), job
    assert len(job["failureMessage"]) <= 2048
    assert "outputModelArn" not in job
    assert "Failed" in [each["status"] for each in job["statusDetails"].values()]


@pytest.fixture
def slow(world):
    """A job that waits after its first step."""
    with world.slowed(seconds_per_step=3600):
        asked = world.request(customizationConfig=customization(world.version, epochCount=3))
        arn = world.bedrock.create_model_customization_job(**asked)["jobArn"]
        world.at_work(arn)
        yield arn
        world.double.service.runs.stop(world.double.service.state.made[arn])
    world.ended(world.bedrock, arn)


def test_a_job_that_is_stopped_stops_and_makes_no_model(world, slow):
    details = world.bedrock.get_model_customization_job(jobIdentifier=slow)["statusDetails"]
    assert details["trainingDetails"]["status"] == "InProgress"
    world.bedrock.stop_model_customization_job(jobIdentifier=slow)
    job = world.ended(world.bedrock, slow)
    assert (job["status"], "outputModelArn" in job) == ("Stopped", False)
    assert (
        refusal(world.bedrock.stop_model_customization_job, jobIdentifier=slow)[0]
        == "ConflictException"
    )


def test_a_service_that_breaks_is_rehearsed(world, slow):
    world.control("fail", job=slow, message="the hosts of the cluster were lost")
    job = world.ended(world.bedrock, slow)
    assert job["failureMessage"] == "simulation: the hosts of the cluster were lost"


def test_a_name_is_taken_as_soon_as_the_job_runs(world, slow):
    name = world.bedrock.get_model_customization_job(jobIdentifier=slow)["outputModelName"]
    request = world.request(customModelName=name)
    code, _ = refusal(world.bedrock.create_model_customization_job, **request)
    assert code == "ConflictException"


def test_a_throttled_operation_is_refused_as_often_as_was_asked_for(world):
    world.control("throttle", operation="ListCustomModels", times=2)
    for _ in range(2):
        code, _ = refusal(world.bedrock.list_custom_models)
        assert code == "ThrottlingException"
    assert "modelSummaries" in world.bedrock.list_custom_models()


def test_boto3_itself_waits_until_a_throttle_is_over(world):
    from botocore.config import Config

    patient = world.person.client(
        "bedrock",
        endpoint_url=world.double.endpoint,
        config=Config(retries={"mode": "standard", "total_max_attempts": 2}),
    )
    world.control("throttle", operation="ListCustomModels")
    assert "modelSummaries" in patient.list_custom_models()


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("get_model_customization_job", {"jobIdentifier": "nothing"}),
        ("stop_model_customization_job", {"jobIdentifier": "nothing"}),
        ("get_custom_model", {"modelIdentifier": "nothing"}),
        ("delete_custom_model", {"modelIdentifier": "nothing"}),
        ("get_custom_model_deployment", {"customModelDeploymentIdentifier": "nothing"}),
        ("delete_custom_model_deployment", {"customModelDeploymentIdentifier": "nothing"}),
        (
            "create_custom_model_deployment",
            {
                "modelDeploymentName": "x",
                "modelArn": NOBODYS,
            },
        ),
    ],
)
def test_what_is_not_there_is_not_found_by_whoever_may_look(world, operation, arguments):
    assert refusal(getattr(world.bedrock, operation), **arguments)[0] == "ResourceNotFoundException"
    stranger = world.client(world.user())
    assert refusal(getattr(stranger, operation), **arguments)[0] == "AccessDeniedException"


def test_what_the_double_does_not_serve_it_says(world):
    code, message = refusal(world.bedrock.list_guardrails)
    assert (code, "simulation" in message) == ("UnknownOperationException", True)


def test_boto3_without_its_own_checks_is_refused_by_the_double(world):
    client = world.client(world.person, parameter_validation=False)
    request = world.request(customizationConfig=customization(world.version, batchSize=513))
    code, message = refusal(client.create_model_customization_job, **request)
    assert (code, "less than or equal to 512" in message) == ("ValidationException", True)
