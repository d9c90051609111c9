"""Who may do what, once it is deployed: asked of IAM's simulator, and tried.

The emulator's simulator takes no context, so what depends on one (a bucket's prefix, the service a
role is passed to) is denied there; listings are tried for real. It does not enforce `iam:PassRole`,
and asks about starting a job on "*", which no policy here allows: both are simulated only. What
depends on a context is decided by the documents themselves in tests/cdk/policies/test_decisions.py.
No SageMaker exists in the emulator: what its jobs and their people may do there is simulated alone;
what they may do elsewhere is tried in test_tried.py.
"""

from __future__ import annotations

import json
from functools import cache

import pytest
from botocore.exceptions import ClientError

from reward_functions import sample
from reward_functions.aws.catalogue import DeployedReward, deployment_parameter
from reward_functions.aws.deployed import DeployedFunction
from reward_functions.aws.deployed.function import FunctionError
from tests.deploy.what import AGENT

ACCOUNT = "000000000000"

ENVELOPE = {"statusCode": 200, "headers": {"Content-Type": "application/json"}, "body": "[]"}

BEDROCK, SAGEMAKER, MULTI_TURN, IMPORT = "Bedrock", "SageMaker", "multi-turn", "import"

DATA, JOBS, EVALUATE, OPERATE, CUSTOMIZE, AGENTS, TRAIN, SUBMIT = PEOPLE = (
    *("data", "jobs", "evaluate", "operate"),
    *("sagemaker", "agents", "training", "hyperpod"),
)

TRAINING_JOB, CLUSTER = "training job", "HyperPod cluster"

VERIFIER, JUDGE = "verifier", "judge"

MODEL = "amazon.nova-lite-v1:0"

MODELS = "arn:aws:bedrock:us-east-1::foundation-model"

TABLE = [
    # who, what, on what, whether
    (BEDROCK, "lambda:InvokeFunction", "{gsm8k}:live", True),
    (BEDROCK, "lambda:InvokeFunction", "{gsm8k}", True),
    (BEDROCK, "lambda:InvokeFunction", "{gsm8k-envelope}:live", True),
    (BEDROCK, "lambda:InvokeFunction", "{math}:live", True),
    (BEDROCK, "lambda:InvokeFunction", "{gsm8k}:1", True),
    (BEDROCK, "lambda:InvokeFunction", "{gsm8k-envelope}:1", True),
    (BEDROCK, "lambda:InvokeFunction", "{gsm8k}-of-another-team", False),
    (BEDROCK, "lambda:InvokeFunction", "arn:aws:lambda:us-east-1:000000000000:function:x", False),
    (BEDROCK, "lambda:UpdateFunctionCode", "{gsm8k}", False),
    (BEDROCK, "lambda:GetFunction", "{gsm8k}", False),
    (BEDROCK, "s3:GetObject", "{bucket}/rft-data/train.jsonl", True),
    (BEDROCK, "s3:PutObject", "{bucket}/rft-data/train.jsonl", False),
    (BEDROCK, "s3:PutObject", "{bucket}/rft-output/job/metrics.csv", True),
    (BEDROCK, "s3:GetObject", "{bucket}/rft-output/job/metrics.csv", True),
    (BEDROCK, "s3:GetObject", "{bucket}/elsewhere", False),
    (BEDROCK, "s3:DeleteObject", "{bucket}/rft-output/job/metrics.csv", False),
    (BEDROCK, "s3:GetObject", "arn:aws:s3:::another/rft-data/x", False),
    (BEDROCK, "s3:ListBucket", "{bucket}", False),
    (BEDROCK, "iam:PassRole", "{role}", False),
    (BEDROCK, "bedrock:CreateModelCustomizationJob", "{job}", False),
    (BEDROCK, "ssm:GetParameter", "{catalogue}/deployments/gsm8k", False),
    (SAGEMAKER, "lambda:InvokeFunction", "{gsm8k-envelope}", True),
    (SAGEMAKER, "lambda:InvokeFunction", "{gsm8k-envelope}-of-another-team", False),
    (SAGEMAKER, "s3:GetObject", "{bucket}/rft-data/train.jsonl", True),
    (SAGEMAKER, "s3:PutObject", "{bucket}/rft-data/train.jsonl", False),
    (SAGEMAKER, "sagemaker:CreateTrainingJob", "*", False),
    (SAGEMAKER, "sagemaker:DescribeHubContent", "{hub}/JsonDoc/gsm8k/1.0.0", True),
    (SAGEMAKER, "sagemaker:CreateModelPackage", "{package}", True),
    (SAGEMAKER, "sagemaker-mlflow:LogBatch", "{app}", True),
    (SAGEMAKER, "logs:PutLogEvents", "{jobs}/TrainingJobs:log-stream:x", True),
    (SAGEMAKER, "lambda:InvokeFunction", "{agent}", False),
    (MULTI_TURN, "lambda:InvokeFunction", "{agent}", True),
    (MULTI_TURN, "lambda:InvokeFunction", "{agent}:3", True),
    (MULTI_TURN, "lambda:InvokeFunction", "{gsm8k}", False),
    (MULTI_TURN, "s3:GetObject", "{bucket}/rft-data/train.jsonl", True),
    (MULTI_TURN, "s3:PutObject", "{bucket}/rft-output/x", True),
    (MULTI_TURN, "s3:GetObject", "{bucket}/elsewhere", False),
    (MULTI_TURN, "logs:PutLogEvents", "{jobs}/Job/AgentRFT:log-stream:x", True),
    (MULTI_TURN, "sagemaker:UpdateReward", "{multi-turn}", False),
    (IMPORT, "s3:GetObject", "{bucket}/rft-output/job/x", True),
    (IMPORT, "s3:GetObject", "{bucket}/rft-data/train.jsonl", False),
    (IMPORT, "lambda:InvokeFunction", "{gsm8k}", False),
    (CUSTOMIZE, "sagemaker:CreateTrainingJob", "{training}", True),
    (CUSTOMIZE, "sagemaker:StopTrainingJob", "{training}", True),
    (CUSTOMIZE, "sagemaker:ImportHubContent", "{hub}/JsonDoc/gsm8k/1.0.0", True),
    (CUSTOMIZE, "sagemaker:ImportHubContent", "{hub}/Model/x/1.0.0", False),
    (CUSTOMIZE, "sagemaker:CreateJob", "{multi-turn}", False),
    (CUSTOMIZE, "s3:GetObject", "arn:aws:s3:::jumpstart-cache-prod-us-east-1/recipes/x", True),
    (CUSTOMIZE, "s3:GetObject", "{bucket}/rft-data/train.jsonl", False),
    (CUSTOMIZE, "lambda:InvokeFunction", "{gsm8k}", False),
    (CUSTOMIZE, "iam:SimulatePrincipalPolicy", "{role}", True),  # any, in the emulator
    (AGENTS, "sagemaker:CreateJob", "{multi-turn}", True),
    (AGENTS, "sagemaker:DeleteJob", "{multi-turn}", True),
    (AGENTS, "sagemaker:DescribeJobSchemaVersion", "*", True),
    (AGENTS, "sagemaker:CreateTrainingJob", "{training}", False),
    (AGENTS, "lambda:InvokeFunction", "{agent}", True),
    (AGENTS, "lambda:InvokeFunction", "{gsm8k}", False),
    (TRAINING_JOB, "lambda:InvokeFunction", "{gsm8k}:1", True),
    (TRAINING_JOB, "lambda:InvokeFunction", "{gsm8k}-of-another-team", False),
    (TRAINING_JOB, "s3:GetObject", "{bucket}/rft-data/train.jsonl", True),
    (TRAINING_JOB, "s3:PutObject", "{bucket}/rft-data/train.jsonl", False),
    (TRAINING_JOB, "s3:PutObject", "{bucket}/rft-output/x", True),
    (TRAINING_JOB, "ecr:BatchGetImage", "{image}", True),
    (TRAINING_JOB, "ecr:PutImage", "{image}", False),
    (TRAINING_JOB, "logs:PutLogEvents", "{jobs}/TrainingJobs:log-stream:x", True),
    (TRAINING_JOB, "sagemaker:CreateTrainingJob", "{training}", False),
    (TRAINING_JOB, "sagemaker:CreateModelPackage", "{package}", False),
    (CLUSTER, "lambda:InvokeFunction", "{gsm8k}:1", True),
    (CLUSTER, "lambda:InvokeFunction", "{agent}", False),
    (CLUSTER, "s3:PutObject", "{bucket}/rft-output/x", True),
    (CLUSTER, "s3:PutObject", "{bucket}/rft-data/x", False),
    (CLUSTER, "ecr:BatchGetImage", "{image}", False),
    (TRAIN, "sagemaker:CreateTrainingJob", "{training}", True),
    (TRAIN, "sagemaker:StopTrainingJob", "{training}", True),
    (TRAIN, "sagemaker:CreateJob", "{multi-turn}", False),
    (TRAIN, "sagemaker:ImportHubContent", "{hub}/JsonDoc/gsm8k/1.0.0", False),
    (TRAIN, "lambda:InvokeFunction", "{gsm8k}", False),
    (SUBMIT, "eks:DescribeCluster", "{eks}", True),
    (SUBMIT, "eks:UpdateClusterConfig", "{eks}", False),
    (SUBMIT, "sagemaker:DescribeCluster", "{cluster}", True),
    (SUBMIT, "sagemaker:UpdateCluster", "{cluster}", False),
    (SUBMIT, "sagemaker:CreateTrainingJob", "{training}", False),
    (IMPORT, "s3:GetObject", "arn:aws:s3:::customer-escrow-000000000000-smtj-x/model/x", True),
    (IMPORT, "s3:GetObject", "arn:aws:s3:::customer-escrow-111111111111-smtj-x/model/x", False),
    (JOBS, "sagemaker:CreateTrainingJob", "{training}", False),
    (EVALUATE, "bedrock:CreateModelImportJob", "*", True),
    (EVALUATE, "sagemaker:DeleteModelPackage", "{package}", False),
    (OPERATE, "sagemaker:DeleteModelPackage", "{package}", True),
    (OPERATE, "sagemaker:ListJobs", "*", True),
    (SAGEMAKER, "lambda:InvokeFunction", "{gsm8k-envelope}:1", True),
    (DATA, "s3:PutObject", "{bucket}/rft-data/train.jsonl", True),
    (DATA, "s3:PutObject", "{bucket}/rft-output/x", False),
    (DATA, "s3:GetObject", "{bucket}/rft-output/x", True),
    (DATA, "s3:DeleteObject", "{bucket}/rft-data/train.jsonl", False),
    (DATA, "s3:DeleteObject", "{bucket}/rft-data/jobs/train.jsonl", True),
    (DATA, "s3:DeleteObjectVersion", "{bucket}/rft-data/jobs/train.jsonl", False),
    (DATA, "s3:DeleteObject", "{bucket}/rft-output/job/metrics.csv", True),
    (DATA, "s3:AbortMultipartUpload", "{bucket}/rft-data/jobs/train.jsonl", True),
    (DATA, "logs:FilterLogEvents", "{logs}/SageMaker-reward-local-gsm8k", True),
    (DATA, "logs:FilterLogEvents", "{logs}/SageMaker-reward-local-gsm8k:*", True),
    (DATA, "logs:FilterLogEvents", "{logs}/SageMaker-reward-local-gsm8k-of-another:*", False),
    (DATA, "logs:FilterLogEvents", "{logs}/reward-custodian-local:*", False),
    (DATA, "logs:StartQuery", "{logs}/SageMaker-reward-local-gsm8k", True),
    (DATA, "logs:StartQuery", "{logs}/SageMaker-rollouts-local-feedback", True),
    (DATA, "logs:StartQuery", "{logs}/reward-custodian-local", False),
    (DATA, "lambda:InvokeFunction", "{gsm8k}:live", False),
    (DATA, "bedrock:CreateModelCustomizationJob", "{job}", False),
    (JOBS, "bedrock:CreateModelCustomizationJob", "{job}", True),
    (JOBS, "bedrock:GetModelCustomizationJob", "{job}", True),
    (JOBS, "bedrock:StopModelCustomizationJob", "{job}", True),
    (JOBS, "bedrock:DeleteCustomModel", "{job}", False),
    (JOBS, "bedrock:GetCustomModel", "{tuned}", True),
    (JOBS, "bedrock:TagResource", "{job}", True),
    (JOBS, "bedrock:ListTagsForResource", "{job}", True),
    (JOBS, "bedrock:ListModelCustomizationJobs", "*", True),
    (JOBS, "bedrock:InvokeModel", f"{MODELS}/{MODEL}", False),
    (JOBS, "bedrock-mantle:CallWithBearerToken", "*", True),
    (JOBS, "bedrock-mantle:CreateFineTuningJob", "{project}", True),
    (JOBS, "bedrock-mantle:CreateProject", "{project}", False),
    (JOBS, "lambda:InvokeFunction", "{gsm8k}:live", True),
    (JOBS, "lambda:InvokeFunction", "{gsm8k}:1", True),
    (JOBS, "lambda:InvokeFunction", "{gsm8k}-of-another-team", False),
    (JOBS, "lambda:GetFunctionConfiguration", "{gsm8k}:1", True),
    (JOBS, "lambda:GetFunctionConcurrency", "{gsm8k}", True),
    (JOBS, "lambda:ListVersionsByFunction", "{gsm8k}", True),
    (JOBS, "lambda:GetAccountSettings", "*", True),
    (JOBS, "lambda:UpdateFunctionConfiguration", "{gsm8k}", False),
    (JOBS, "s3:PutObject", "{bucket}/rft-data/train.jsonl", False),
    (JOBS, "iam:PassRole", "{role}", False),  # to Bedrock alone
    (JOBS, "iam:PassRole", "arn:aws:iam::000000000000:role/admin", False),
    (JOBS, "iam:CreateRole", "{role}", False),
    (JOBS, "iam:SimulatePrincipalPolicy", "{role}", True),
    (JOBS, "iam:GetRole", "{role}", True),
    (JOBS, "iam:GetRolePolicy", "{role}", False),
    (EVALUATE, "lambda:InvokeFunction", "{gsm8k}:1", True),
    (EVALUATE, "lambda:GetFunctionConfiguration", "{gsm8k}:live", True),
    (EVALUATE, "lambda:ListVersionsByFunction", "{gsm8k}", True),
    (EVALUATE, "lambda:GetAlias", "{gsm8k}", True),
    (EVALUATE, "lambda:UpdateAlias", "{gsm8k}", False),
    (EVALUATE, "bedrock:GetCustomModel", "{tuned}", True),
    (EVALUATE, "bedrock:CreateCustomModelDeployment", "{tuned}", True),
    (EVALUATE, "bedrock:InvokeModel", "{hosted}", True),
    (EVALUATE, "bedrock:InvokeModel", "{profile}", True),
    (EVALUATE, "bedrock:InvokeModel", f"{MODELS}/{MODEL}", True),
    (EVALUATE, "bedrock:DeleteCustomModelDeployment", "{hosted}", True),
    (EVALUATE, "bedrock:TagResource", "{hosted}", True),
    (EVALUATE, "bedrock:ListCustomModels", "*", True),
    (EVALUATE, "bedrock:DeleteCustomModel", "{tuned}", False),
    (EVALUATE, "bedrock:CreateModelCustomizationJob", "{job}", False),
    (EVALUATE, "ssm:PutParameter", "{catalogue}/deployments/gsm8k", False),
    (OPERATE, "lambda:UpdateAlias", "{gsm8k}", True),
    (OPERATE, "lambda:DeleteFunction", "{gsm8k}:1", True),
    (OPERATE, "lambda:DeleteFunction", "{gsm8k}", False),
    (OPERATE, "lambda:DeleteFunction", "{gsm8k}-of-another-team:1", False),
    (OPERATE, "lambda:UpdateFunctionCode", "{gsm8k}", False),
    (OPERATE, "lambda:GetAccountSettings", "*", True),
    (OPERATE, "bedrock:DeleteCustomModel", "{tuned}", True),
    (OPERATE, "ssm:PutParameter", "{catalogue}/deployments/gsm8k", True),
    (OPERATE, "ssm:PutParameter", "{parameters}/another/deployments/gsm8k", False),
    (OPERATE, "sagemaker:ListTrainingJobs", "*", True),
    (OPERATE, "cloudwatch:DescribeAlarms", "*", True),
    (OPERATE, "cloudwatch:DisableAlarmActions", "*", False),
    (OPERATE, "s3:GetObject", "{bucket}/rft-data/train.jsonl", False),
    *((who, "ssm:GetParameter", "{catalogue}/deployments/gsm8k", True) for who in PEOPLE),
    *((who, "ssm:GetParametersByPath", "{catalogue}/deployments", True) for who in PEOPLE),
    *((who, "ssm:GetParameter", "{parameters}/of/another/stage", False) for who in PEOPLE),
    (VERIFIER, "logs:CreateLogStream", "{logs}/SageMaker-reward-local-gsm8k:log-stream:x", True),
    (VERIFIER, "logs:PutLogEvents", "{logs}/SageMaker-reward-local-gsm8k:log-stream:x", True),
    (VERIFIER, "logs:PutLogEvents", "{logs}/SageMaker-reward-local-math:log-stream:x", False),
    (VERIFIER, "logs:CreateLogGroup", "{logs}/SageMaker-reward-local-gsm8k", False),
    (VERIFIER, "s3:GetObject", "{bucket}/rft-data/train.jsonl", False),
    (VERIFIER, "bedrock:InvokeModel", "arn:aws:bedrock:us-east-1::foundation-model/any", False),
    (VERIFIER, "lambda:InvokeFunction", "{gsm8k}:live", False),
    (VERIFIER, "ssm:GetParameter", "{catalogue}/deployments/gsm8k", False),
    (VERIFIER, "sts:AssumeRole", "{role}", False),
    (VERIFIER, "cloudwatch:PutMetricData", "*", False),
    (JUDGE, "bedrock:InvokeModel", f"{MODELS}/{MODEL}", True),
    (JUDGE, "bedrock:InvokeModel", f"{MODELS}/amazon.nova-lite-v1:0:300k", False),
    (JUDGE, "bedrock:InvokeModel", f"{MODELS}/amazon.nova-pro-v1:0", False),
    (JUDGE, "bedrock:InvokeModel", f"{MODELS}/{MODEL}".replace("us-east-1", "us-west-2"), False),
    (JUDGE, "bedrock:InvokeModelWithResponseStream", f"{MODELS}/{MODEL}", False),
    (JUDGE, "logs:PutLogEvents", "{logs}/SageMaker-reward-local-reference:log-stream:x", True),
    (JUDGE, "logs:PutLogEvents", "{logs}/SageMaker-reward-local-gsm8k:log-stream:x", False),
    (JUDGE, "s3:GetObject", "{bucket}/rft-data/train.jsonl", False),
    (JUDGE, "secretsmanager:GetSecretValue", "arn:aws:secretsmanager:us-east-1:1:secret:x", False),
    (JUDGE, "dynamodb:GetItem", "arn:aws:dynamodb:us-east-1:000000000000:table/verdicts", False),
    (JUDGE, "lambda:InvokeFunction", "{gsm8k}:live", False),
]  # fmt: skip


@pytest.fixture(scope="module")
def arns(stage):
    """What the table's placeholders stand for."""
    place = f"us-east-1:{ACCOUNT}"
    return {
        **{name: reward.function_arn for name, reward in stage.catalogue.items()},
        "bucket": f"arn:aws:s3:::{stage.shared.bucket}",
        "role": stage.shared.training_role_arn,
        "catalogue": f"arn:aws:ssm:{place}:parameter/reward-functions/local",
        "parameters": f"arn:aws:ssm:{place}:parameter/reward-functions",
        "job": f"arn:aws:bedrock:{place}:model-customization-job/x",
        "tuned": f"arn:aws:bedrock:{place}:custom-model/x",
        "hosted": f"arn:aws:bedrock:{place}:custom-model-deployment/x",
        "profile": f"arn:aws:bedrock:{place}:inference-profile/us.amazon.nova-2-lite-v1:0",
        "project": f"arn:aws:bedrock-mantle:{place}:project/default",
        "logs": f"arn:aws:logs:{place}:log-group:/aws/lambda",
        "jobs": f"arn:aws:logs:{place}:log-group:/aws/sagemaker",
        "training": f"arn:aws:sagemaker:{place}:training-job/x",
        "cluster": f"arn:aws:sagemaker:{place}:cluster/abc",
        "eks": f"arn:aws:eks:{place}:cluster/hyperpod",
        "image": "arn:aws:ecr:us-east-1:111122223333:repository/nova-fine-tune-repo",
        "multi-turn": f"arn:aws:sagemaker:{place}:job/AgentRFT/x",
        "package": f"arn:aws:sagemaker:{place}:model-package/x/1",
        "app": f"arn:aws:sagemaker:{place}:mlflow-app/x",
        "hub": f"arn:aws:sagemaker:{place}:hub-content/04ks",
        "agent": AGENT,
    }


def without_path(role):
    """The emulator's simulator finds no role by an ARN with a path."""
    return f"{role.partition('/')[0]}/{role.rpartition('/')[2]}"


@pytest.fixture(scope="module")
def principals(stage):
    """Who asks; people have one of the stage's policies each, and nothing else."""
    iam = stage.session.client("iam")
    people = {}
    given = {task: getattr(stage.shared, f"{task}_policy_arn") for task in PEOPLE}
    given[CLUSTER] = stage.shared.hyperpod_runtime_policy_arn  # for a role that is not the stage's
    for who, policy in given.items():
        name = who.replace(" ", "-")
        people[who] = iam.create_user(UserName=name)["User"]["Arn"]
        iam.attach_user_policy(UserName=name, PolicyArn=policy)
    client = stage.session.client("lambda")
    runs_as = {
        name: client.get_function_configuration(FunctionName=stage.catalogue[name].function_arn)
        for name in ("gsm8k", "reference")
    }
    return {
        BEDROCK: without_path(stage.shared.training_role_arn),
        SAGEMAKER: without_path(stage.shared.sagemaker_role_arn),
        MULTI_TURN: without_path(stage.shared.agent_role_arn),
        IMPORT: without_path(stage.shared.import_role_arn),
        TRAINING_JOB: without_path(stage.shared.training_job_role_arn),
        CLUSTER: people[CLUSTER],
        **people,
        VERIFIER: runs_as["gsm8k"]["Role"],
        JUDGE: without_path(runs_as["reference"]["Role"]),
    }


@pytest.mark.parametrize("row", TABLE, ids=lambda row: " ".join(map(str, row)))
def test_everybody_may_do_exactly_this(stage, principals, arns, row):
    who, action, resource, allowed = row
    answer = stage.session.client("iam").simulate_principal_policy(
        PolicySourceArn=principals[who],
        ActionNames=[action],
        ResourceArns=[resource.format_map(arns)],
    )
    (result,) = answer["EvaluationResults"]
    assert (result["EvalDecision"] == "allowed") == allowed


@pytest.fixture(scope="module")
def stand_in(stage):
    """A session with the very policies of the training role: only Bedrock itself may assume it."""
    iam = stage.session.client("iam")
    role = stage.shared.training_role_arn.rpartition("/")[2]
    iam.create_user(UserName="stand-in")
    for name in iam.list_role_policies(RoleName=role)["PolicyNames"]:
        document = iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
        iam.put_user_policy(
            UserName="stand-in", PolicyName=name, PolicyDocument=json.dumps(document)
        )
    key = iam.create_access_key(UserName="stand-in")["AccessKey"]
    return stage.aws.session(
        aws_access_key_id=key["AccessKeyId"], aws_secret_access_key=key["SecretAccessKey"]
    )


def refused(call, **arguments):
    with pytest.raises(ClientError) as raised:
        call(**arguments)
    return raised.value.response["Error"]["Code"] in ("AccessDenied", "AccessDeniedException")


def test_nobody_but_bedrock_becomes_the_training_role(stage):
    sts = stage.session.client("sts")
    role = stage.shared.training_role_arn
    assert refused(sts.assume_role, RoleArn=role, RoleSessionName="me")


def test_a_training_job_invokes_the_catalogue_and_nothing_else(stage, stand_in):
    client = stand_in.client("lambda")
    gsm8k = stage.catalogue["gsm8k"].function_arn
    rewards = stage.catalogue.values()
    for arn in (*[arn for each in rewards for arn in (each.live_arn, each.version_arn)], gsm8k):
        answer = client.invoke(FunctionName=arn, Payload=b"[]")
        assert "FunctionError" not in answer
        # Read whole: what is left in a connection that is given up is a warning later.
        assert json.loads(answer["Payload"].read()) in ([], ENVELOPE)
    assert refused(client.get_function_configuration, FunctionName=gsm8k)
    assert refused(client.list_functions)


def test_a_training_job_reads_and_writes_its_prefixes_and_nothing_else(stage, stand_in):
    bucket, root, job = stage.shared.bucket, stage.session.client("s3"), stand_in.client("s3")
    for key in ("rft-data/train.jsonl", "elsewhere"):
        root.put_object(Bucket=bucket, Key=key, Body=b"{}")
    try:
        assert job.get_object(Bucket=bucket, Key="rft-data/train.jsonl")["Body"].read() == b"{}"
        job.put_object(Bucket=bucket, Key="rft-output/metrics.csv", Body=b"step")
        (listed,) = job.list_objects_v2(Bucket=bucket, Prefix="rft-data/")["Contents"]
        assert listed["Key"] == "rft-data/train.jsonl"
        assert refused(job.get_object, Bucket=bucket, Key="elsewhere")
        assert refused(job.put_object, Bucket=bucket, Key="rft-data/more", Body=b"")
        assert refused(job.delete_object, Bucket=bucket, Key="rft-output/metrics.csv")
        assert refused(job.list_objects_v2, Bucket=bucket)
        assert refused(job.list_objects_v2, Bucket=bucket, Prefix="elsewhere")
        assert refused(job.list_buckets)
    finally:
        versions = root.list_object_versions(Bucket=bucket)["Versions"]
        for version in versions:
            root.delete_object(Bucket=bucket, Key=version["Key"], VersionId=version["VersionId"])


@pytest.fixture(scope="module")
def person(stage, principals):
    """The session of a person with one task, by task."""

    @cache
    def session(task):
        name = principals[task].rpartition("/")[2]
        key = stage.session.client("iam").create_access_key(UserName=name)["AccessKey"]
        return stage.aws.session(
            aws_access_key_id=key["AccessKeyId"], aws_secret_access_key=key["SecretAccessKey"]
        )

    return session


@pytest.mark.parametrize("task", [JOBS, EVALUATE])
def test_who_runs_jobs_or_evaluates_reads_the_catalogue_and_tries_a_reward(person, task):
    # One parameter: the emulator asks about listing them on "*", where AWS asks on the path.
    session = person(task)
    parameter = deployment_parameter("local", "gsm8k")
    told = session.client("ssm").get_parameter(Name=parameter)["Parameter"]["Value"]
    gsm8k = DeployedReward.model_validate_json(told)
    for arn in (gsm8k.version_arn, gsm8k.alias_arn):
        (told,) = DeployedFunction(arn, session=session).score([sample("#### 42", "42", id="a")])
        assert told.score.value == 1.0
    assert refused(session.client("iam").list_roles)
    assert refused(session.client("lambda").delete_function, FunctionName=gsm8k.function_arn)


def test_who_operates_deletes_and_invokes_no_function(stage, person):
    # Moving an alias is simulated only: the emulator asks about lambda:ListAliases there.
    client, gsm8k = person(OPERATE).client("lambda"), stage.catalogue["gsm8k"]
    assert refused(client.delete_function, FunctionName=gsm8k.function_arn)
    assert refused(client.invoke, FunctionName=gsm8k.function_arn, Payload=b"[]")


def test_who_runs_jobs_looks_at_the_role_before_a_start(stage, person):
    # Simulated as the whole table is, here by the submitter: the emulator knows no path.
    iam, client = person(JOBS).client("iam"), person(JOBS).client("lambda")
    role, gsm8k = stage.shared.training_role_arn, stage.catalogue["gsm8k"]
    answer = iam.simulate_principal_policy(
        PolicySourceArn=without_path(role),
        ActionNames=["lambda:InvokeFunction"],
        ResourceArns=[gsm8k.version_arn],
    )
    assert [each["EvalDecision"] for each in answer["EvaluationResults"]] == ["allowed"]
    found = iam.get_role(RoleName=role.rpartition("/")[2])["Role"]
    assert "bedrock.amazonaws.com" in json.dumps(found["AssumeRolePolicyDocument"])
    assert client.get_function_configuration(FunctionName=gsm8k.version_arn)["Timeout"]
    assert client.list_versions_by_function(FunctionName=gsm8k.function_arn)["Versions"]
    assert client.get_account_settings()["AccountLimit"]
    assert refused(iam.list_roles)


def test_who_brings_data_reads_the_logs_of_rewards_and_clears_up_after_jobs(stage, person):
    session, bucket = person(DATA), stage.shared.bucket
    s3, logs = session.client("s3"), session.client("logs")
    group = f"/aws/lambda/{stage.catalogue['gsm8k'].function_arn.rpartition(':')[2]}"
    assert "events" in logs.filter_log_events(logGroupName=group)
    custodian = "/aws/lambda/reward-custodian-local"
    assert refused(logs.filter_log_events, logGroupName=custodian)
    keys = ("rft-data/jobs/gsm8k.jsonl", "rft-data/shared.jsonl")
    try:
        for key in keys:
            s3.put_object(Bucket=bucket, Key=key, Body=b"{}")
        uploaded = s3.head_object(Bucket=bucket, Key=keys[0])["VersionId"]
        s3.delete_object(Bucket=bucket, Key=keys[0])
        assert s3.list_objects_v2(Bucket=bucket, Prefix=keys[0])["KeyCount"] == 0
        assert refused(s3.delete_object, Bucket=bucket, Key=keys[0], VersionId=uploaded)
        assert refused(s3.delete_object, Bucket=bucket, Key=keys[1])
    finally:
        root = stage.session.client("s3")
        listed = root.list_object_versions(Bucket=bucket)
        for each in (*listed.get("Versions", ()), *listed.get("DeleteMarkers", ())):
            root.delete_object(Bucket=bucket, Key=each["Key"], VersionId=each["VersionId"])


TRIES = """
import botocore.session
from botocore.exceptions import ClientError

def handler(event, context):
    session, told = botocore.session.get_session(), []
    for service, operation, arguments in event:
        client = session.create_client(service)
        try:
            getattr(client, operation)(**arguments)
            told.append("done")
        except ClientError as error:
            told.append(error.response["Error"]["Code"])
    return told
"""


@pytest.fixture
def tried(stage, function_zip):
    """What calls come to in a function of this role: what code in a reward could do at worst."""
    client, name = stage.session.client("lambda"), "tries-everything"

    def tried(role, calls):
        client.create_function(
            FunctionName=name,
            Runtime="python3.13",
            Role=role,
            Handler="function.handler",
            Code={"ZipFile": function_zip(TRIES)},
            Timeout=60,
        )
        answer = client.invoke(FunctionName=name, Payload=json.dumps(calls).encode())
        told = json.loads(answer["Payload"].read())
        assert len(told) == len(calls), told
        return told

    yield tried
    client.delete_function(FunctionName=name)
    stage.session.client("logs").delete_log_group(logGroupName=f"/aws/lambda/{name}")


def converse(model):
    return ["bedrock-runtime", "converse", {"modelId": model, "messages": []}]


def everything_but_models(stage):
    gsm8k = stage.catalogue["gsm8k"]
    return [
        ("s3", "list_buckets", {}),
        ("s3", "get_object", {"Bucket": stage.shared.bucket, "Key": "rft-data/train.jsonl"}),
        ("ssm", "get_parameter", {"Name": "/reward-functions/local/stage"}),
        ("secretsmanager", "get_secret_value", {"SecretId": "any"}),
        ("lambda", "invoke", {"FunctionName": gsm8k.alias_arn, "Payload": "[]"}),
        ("iam", "list_roles", {}),
        (
            "sts",
            "assume_role",
            {"RoleArn": stage.shared.training_role_arn, "RoleSessionName": "me"},
        ),
    ]


def test_a_verifiers_own_role_reaches_no_service_and_no_model(stage, principals, tried):
    calls = [*everything_but_models(stage), converse(MODEL)]
    assert set(tried(principals[VERIFIER], calls)) <= {"AccessDenied", "AccessDeniedException"}


def test_a_judges_own_role_reaches_exactly_its_model(stage, principals, tried):
    others = [converse("amazon.nova-pro-v1:0"), converse("anthropic.claude-3-haiku-20240307-v1:0")]
    calls = [converse(MODEL), *others, *everything_but_models(stage)]
    asked, *refused = tried(principals[JUDGE], calls)
    assert asked == "done"
    assert set(refused) <= {"AccessDenied", "AccessDeniedException"}


def test_a_judge_whose_model_is_another_one_scores_nothing(stage):
    """The deployed function itself, told to ask a model that its role does not name."""
    client = stage.session.client("lambda")
    name = stage.catalogue["reference"].function_arn
    variables = client.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    other = variables | {
        "REWARD_JUDGE": variables["REWARD_JUDGE"].replace("nova-lite", "nova-pro"),
    }
    samples = [sample("The answer is the city of Canberra.", "Canberra", id="a")]
    try:
        client.update_function_configuration(FunctionName=name, Environment={"Variables": other})
        with pytest.raises(FunctionError, match="JudgeUnavailable 1"):
            DeployedFunction(name, session=stage.session, attempts=1).score(samples)
    finally:
        client.update_function_configuration(
            FunctionName=name, Environment={"Variables": variables}
        )
    (told,) = DeployedFunction(name, session=stage.session).score(samples)
    assert told.score.value == 1.0
