"""Who may do what, decided by the documents where no emulator knows service or condition.

What the emulator decides stands in tests/deploy/test_permissions.py.
"""

from __future__ import annotations

import re

import pytest

from tests.serving.policies import (
    AGENT_ROLE,
    BUCKET,
    DOCUMENTS,
    FORWARDER,
    FUNCTION,
    HERE,
    IMPORT_ROLE,
    JOB_ROLE,
    KEY,
    PINNED,
    PROFILE,
    ROLE,
    RUNTIME,
)

ROLES = f"arn:{HERE.partition}:iam::{HERE.account}:role/reward-functions"
JOB = HERE.arn("bedrock", "model-customization-job/x")
HOSTED = HERE.arn("bedrock", "custom-model-deployment/x")
TUNED = HERE.arn("bedrock", "custom-model/x")
NOVA = "arn:aws-cn:bedrock:cn-north-1::foundation-model/nova"
PROJECT = HERE.arn("bedrock-mantle", "project/default")
TO_BEDROCK = {"iam:PassedToService": "bedrock.amazonaws.com"}
TO_LAMBDA = {"iam:PassedToService": "lambda.amazonaws.com"}
OWN, OTHER = {"aws:SourceAccount": "123456789012"}, {"aws:SourceAccount": "999999999999"}
OF_A_JOB = {"aws:SourceArn": JOB}
THROUGH_S3 = {"kms:ViaService": "s3.cn-north-1.amazonaws.com.cn"}
THROUGH_BEDROCK = {"kms:ViaService": "bedrock.cn-north-1.amazonaws.com.cn"}
PROFILES = HERE.arn("bedrock", "inference-profile/us.nova")
ELSEWHERE = "arn:aws-cn:bedrock:cn-northwest-1::foundation-model/nova"
LOG_GROUP = HERE.arn("logs", "log-group:/aws/lambda/SageMaker-reward-dev-gsm8k")
INTERFACE = HERE.arn("ec2", "network-interface/eni-1")
INSIDE = {"ec2:Subnet": HERE.arn("ec2", "subnet/subnet-1")}
TAGS = {"BedrockManaged": "true", "BedrockModelCustomizationJobArn": JOB}
ASKED_WITH_TAGS = {f"aws:RequestTag/{name}": value for name, value in TAGS.items()}
TAGGED = {f"ec2:ResourceTag/{name}": value for name, value in TAGS.items()}
MADE = {"ec2:CreateAction": "CreateNetworkInterface"}
BEHIND = {"bedrock:InferenceProfileArn": PROFILE}

DECIDED = [
    # whose document, what, on what, with which context keys, whether
    ("prepare_data", "s3:PutObject", f"{BUCKET}/rft-data/jobs/x.jsonl", {}, True),
    ("prepare_data", "s3:AbortMultipartUpload", f"{BUCKET}/rft-data/jobs/x.jsonl", {}, True),
    ("prepare_data", "s3:DeleteObject", f"{BUCKET}/rft-data/jobs/x.jsonl", {}, True),
    ("prepare_data", "s3:DeleteObject", f"{BUCKET}/rft-output/job/metrics.csv", {}, True),
    ("prepare_data", "s3:DeleteObject", f"{BUCKET}/rft-data/shared.jsonl", {}, False),
    ("prepare_data", "s3:DeleteObjectVersion", f"{BUCKET}/rft-data/jobs/x.jsonl", {}, False),
    *(
        ("prepare_data", action, KEY, through, may)
        for action in ("kms:GenerateDataKey", "kms:Decrypt")
        for through, may in ((THROUGH_S3, True), (THROUGH_BEDROCK, False), ({}, False))
    ),
    *(
        ("prepare_data", "logs:FilterLogEvents", group, {}, may)
        for group, may in (
            (LOG_GROUP, True),
            (f"{LOG_GROUP}:*", True),
            (f"{LOG_GROUP}-own", True),  # immutable: its functions share the deployment's
            (f"{LOG_GROUP}-own:*", True),
            (f"{LOG_GROUP}-own--01234567", False),
            (f"{LOG_GROUP}-of-another:*", False),
        )
    ),
    ("prepare_data", "logs:GetQueryResults", LOG_GROUP, {}, False),
    ("run_jobs", "iam:SimulatePrincipalPolicy", ROLE, {}, True),
    ("run_jobs", "iam:GetRole", ROLE, {}, True),
    ("run_jobs", "iam:GetRole", f"{ROLE}-of-another", {}, False),
    ("run_jobs", "iam:GetRolePolicy", ROLE, {}, False),
    ("run_jobs", "bedrock:GetCustomModel", TUNED, {}, True),
    ("run_jobs", "bedrock:ListTagsForResource", JOB, {}, True),
    ("run_jobs", "bedrock:TagResource", HOSTED, {}, False),
    ("run_jobs", "lambda:GetFunctionConcurrency", FUNCTION, {}, True),
    ("run_jobs", "lambda:GetFunctionConfiguration", f"{FUNCTION}:7", {}, True),
    ("run_jobs", "lambda:ListVersionsByFunction", FUNCTION, {}, True),
    ("run_jobs", "lambda:PutFunctionConcurrency", FUNCTION, {}, False),
    ("run_jobs", "lambda:GetFunction", FUNCTION, {}, False),  # has the address of its code
    ("run_jobs", "lambda:GetAccountSettings", "*", {}, True),
    ("run_jobs", "kms:CreateGrant", KEY, THROUGH_BEDROCK, True),
    ("run_jobs", "kms:CreateGrant", KEY, {}, False),
    ("run_jobs", "kms:CreateGrant", f"{KEY}2", THROUGH_BEDROCK, False),
    ("run_jobs", "bedrock:InvokeModel", NOVA, {}, False),
    ("evaluate", "bedrock:TagResource", HOSTED, {}, True),
    ("evaluate", "bedrock:TagResource", TUNED, {}, False),
    ("evaluate", "bedrock:ListCustomModels", "*", {}, True),
    ("evaluate", "bedrock:DeleteCustomModelDeployment", HOSTED, {}, True),
    ("evaluate", "bedrock:DeleteCustomModel", TUNED, {}, False),
    ("evaluate", "bedrock:InvokeModel", PROFILES, {}, True),
    ("evaluate", "bedrock:InvokeModel", ELSEWHERE, {"bedrock:InferenceProfileArn": PROFILES}, True),
    ("evaluate", "bedrock:InvokeModel", ELSEWHERE, {}, False),
    (
        "evaluate",
        "bedrock:InvokeModel",
        ELSEWHERE,
        {"bedrock:InferenceProfileArn": PROFILES.replace("123456789012", "999999999999")},
        False,
    ),
    ("evaluate", "kms:Decrypt", KEY, THROUGH_BEDROCK, True),
    ("evaluate", "kms:CreateGrant", KEY, THROUGH_BEDROCK, False),
    ("operate", "bedrock:DeleteCustomModel", TUNED, {}, True),
    ("operate", "bedrock:DeleteCustomModel", HOSTED, {}, False),
    ("use_model_key", "kms:CreateGrant", KEY, THROUGH_BEDROCK, True),
    ("use_model_key", "kms:Decrypt", KEY, THROUGH_S3, False),
    ("read_invocation_logs", "s3:GetObject", "arn:aws-cn:s3:::logs/bedrock/x.json.gz", {}, True),
    ("read_invocation_logs", "s3:GetObject", "arn:aws-cn:s3:::logs/bedrock-of-others/x", {}, False),
    *(
        ("read_invocation_logs", "s3:ListBucket", "arn:aws-cn:s3:::logs", context, may)
        for context, may in (
            ({"s3:prefix": "bedrock"}, True),
            ({"s3:prefix": "bedrock/AWSLogs/"}, True),
            ({"s3:prefix": "bedrock-of-others/"}, False),
            ({}, False),
        )
    ),
    ("read_invocation_logs", "s3:PutObject", "arn:aws-cn:s3:::logs/bedrock/x", {}, False),
    ("read_a_whole_bucket", "s3:GetObject", "arn:aws-cn:s3:::logs/any/where", {}, True),
    ("read_a_whole_bucket", "s3:ListBucket", "arn:aws-cn:s3:::logs", {}, True),
    ("read_a_whole_bucket", "s3:GetObject", "arn:aws-cn:s3:::logs-of-others/x", {}, False),
    ("join_vpc", "ec2:DescribeSubnets", "*", {}, True),
    ("join_vpc", "ec2:CreateNetworkInterface", HERE.arn("ec2", "subnet/subnet-1"), {}, True),
    ("join_vpc", "ec2:CreateNetworkInterface", HERE.arn("ec2", "subnet/subnet-2"), {}, False),
    ("join_vpc", "ec2:CreateNetworkInterface", HERE.arn("ec2", "security-group/sg-1"), {}, True),
    ("join_vpc", "ec2:CreateNetworkInterface", INTERFACE, ASKED_WITH_TAGS, True),
    ("join_vpc", "ec2:CreateNetworkInterface", INTERFACE, {}, False),
    *(
        ("join_vpc", f"ec2:{action}", INTERFACE, context, may)
        for action in (
            "CreateNetworkInterfacePermission",
            "DeleteNetworkInterface",
            "DeleteNetworkInterfacePermission",
        )
        for context, may in ((TAGGED | INSIDE, True), (INSIDE, False), (TAGGED, False))
    ),
    ("join_vpc", "ec2:CreateTags", INTERFACE, MADE | {"aws:TagKeys": [*TAGS]}, True),
    ("join_vpc", "ec2:CreateTags", INTERFACE, MADE | {"aws:TagKeys": [*TAGS, "Name"]}, False),
    ("join_vpc", "ec2:CreateTags", INTERFACE, {"aws:TagKeys": [*TAGS]}, False),
    ("run_jobs", "iam:PassRole", ROLE, TO_BEDROCK, True),
    ("run_jobs", "iam:PassRole", ROLE, TO_LAMBDA, False),
    ("run_jobs", "iam:PassRole", ROLE, {}, False),
    ("run_jobs", "iam:PassRole", f"{ROLE}-of-another", TO_BEDROCK, False),
    ("run_jobs", "bedrock:CreateModelCustomizationJob", JOB, {}, True),
    ("run_jobs", "bedrock:DeleteCustomModel", TUNED, {}, False),
    ("run_jobs", "bedrock-mantle:CallWithBearerToken", "*", {}, True),
    ("run_jobs", "bedrock-mantle:CreateFineTuningJob", PROJECT, {}, True),
    ("run_jobs", "bedrock-mantle:CancelFineTuningJob", PROJECT, {}, True),
    ("run_jobs", "bedrock-mantle:CreateFile", PROJECT, {}, True),
    ("run_jobs", "bedrock-mantle:CreateProject", PROJECT, {}, False),
    ("run_jobs", "lambda:InvokeFunction", f"{FUNCTION}:7", {}, True),
    ("run_jobs", "lambda:InvokeFunction", f"{FUNCTION}-own--01234567", {}, True),
    ("run_jobs", "lambda:InvokeFunction", f"{FUNCTION}-of-another", {}, False),
    ("run_jobs", "lambda:DeleteFunction", f"{FUNCTION}:7", {}, False),
    ("evaluate", "bedrock:CreateCustomModelDeployment", TUNED, {}, True),
    ("evaluate", "bedrock:InvokeModel", HOSTED, {}, True),
    ("evaluate", "bedrock:InvokeModel", NOVA, {}, True),
    ("evaluate", "bedrock:CreateModelCustomizationJob", JOB, {}, False),
    ("evaluate", "lambda:GetFunctionConfiguration", f"{FUNCTION}:live", {}, True),
    ("evaluate", "lambda:UpdateAlias", FUNCTION, {}, False),
    ("operate", "lambda:UpdateAlias", FUNCTION, {}, True),
    ("operate", "lambda:DeleteFunction", f"{FUNCTION}:7", {}, True),
    ("operate", "lambda:DeleteFunction", FUNCTION, {}, False),
    ("operate", "lambda:InvokeFunction", FUNCTION, {}, False),
    ("operate", "sagemaker:DescribeTrainingJob", HERE.arn("sagemaker", "training-job/x"), {}, True),
    ("operate", "sagemaker:StopTrainingJob", HERE.arn("sagemaker", "training-job/x"), {}, False),
    ("train", "s3:ListBucket", BUCKET, {"s3:prefix": "rft-data/x"}, True),
    ("train", "s3:ListBucket", BUCKET, {"s3:prefix": "elsewhere"}, False),
    ("train", "s3:ListBucket", BUCKET, {}, False),
    ("use_key", "kms:Decrypt", HERE.arn("kms", "key/k"), THROUGH_S3, True),
    ("use_key", "kms:Decrypt", HERE.arn("kms", "key/k"), {}, False),
    ("ask_judge", "bedrock:InvokeModel", NOVA.replace("north-1", "northwest-1"), BEHIND, True),
    ("ask_judge", "bedrock:InvokeModel", NOVA.replace("north-1", "northwest-1"), {}, False),
    ("trust_bedrock", "sts:AssumeRole", "", OWN | OF_A_JOB, True),
    ("trust_bedrock", "sts:AssumeRole", "", OTHER | OF_A_JOB, False),
    ("trust_bedrock", "sts:AssumeRole", "", OWN, False),
    ("keep_house", "lambda:InvokeFunction", f"{FUNCTION}:7", {}, True),
    ("keep_house", "lambda:InvokeFunction", FUNCTION, {}, False),
    ("keep_house", "lambda:DeleteFunction", f"{FUNCTION}-gone--01234567", {}, True),
    ("keep_house", "lambda:DeleteFunction", FUNCTION, {}, False),
    ("keep_house", "iam:ListRoles", "*", {}, True),
    *(
        ("keep_house", action, f"{ROLES}/{path}x", {}, may)
        for action in ("iam:ListRolePolicies", "iam:DeleteRolePolicy", "iam:DeleteRole")
        for path, may in (
            (f"dev/{HERE.region}/judged/", True),
            (f"dev-eu/{HERE.region}/judged/", False),
            ("dev/another-region-1/judged/", False),
            ("", False),
        )
    ),
    ("keep_house", "iam:PutRolePolicy", f"{ROLES}/dev/{HERE.region}/judged/x", {}, False),
    ("keep_house", "lambda:DeleteFunction", f"{FUNCTION}:7", {}, False),
]  # fmt: skip


# SageMaker's jobs, which no emulator knows: simulated with the context keys that AWS documents.
TRAINING_JOB = HERE.arn("sagemaker", "training-job/math-1")
MULTI_TURN = HERE.arn("sagemaker", "job/AgentRFT/math-1")
IMPORTING = HERE.arn("bedrock", "model-import-job/x")
IMPORTED = HERE.arn("bedrock", "imported-model/x")
PACKAGE = HERE.arn("sagemaker", "model-package/math/1")
GROUP = HERE.arn("sagemaker", "model-package-group/math")
APP = HERE.arn("sagemaker", "mlflow-app/app-1")
HUB = HERE.arn("sagemaker", "hub/04ks")
EVALUATOR = HERE.arn("sagemaker", "hub-content/04ks/JsonDoc/gsm8k/1.0.0")
NOTEBOOK = HERE.arn("sagemaker", "hub-content/04ks/Notebook/x/1.0.0")
PUBLIC = "arn:aws-cn:sagemaker:cn-north-1:aws:hub-content/SageMakerPublicHub/Model/qwen3/1.0.0"
JOB_LOGS = HERE.arn("logs", "log-group:/aws/sagemaker/TrainingJobs")
AGENT_LOGS = HERE.arn("logs", "log-group:/aws/sagemaker/Job/AgentRFT")
RECIPE = "arn:aws-cn:s3:::jumpstart-cache-prod-cn-north-1/recipes/x.json"
TO_SAGEMAKER = {"iam:PassedToService": "sagemaker.amazonaws.com"}
TO_JOB = {"iam:PassedToService": "job.sagemaker.amazonaws.com"}
THROUGH_SAGEMAKER = {"kms:ViaService": "sagemaker.cn-north-1.amazonaws.com.cn"}
NEW = {"ec2:CreateAction": "CreateNetworkInterface"}
WITHIN = {"ec2:Subnet": HERE.arn("ec2", "subnet/subnet-1")}
WITHOUT = {"ec2:Subnet": HERE.arn("ec2", "subnet/subnet-2")}


def source(arn):
    return {"aws:SourceArn": arn}


def elsewhere(arn):
    return {"aws:SourceArn": arn.replace("cn-north-1", "cn-northwest-1")}


OF_SAGEMAKER = [
    # whose document, what, on what, with which context keys, whether
    *(
        (f"trust_{name}", action, "", context, may and action in taken)
        for name, own, other, taken in (
            ("training", TRAINING_JOB, MULTI_TURN, {"sts:AssumeRole"}),
            ("multi_turn", MULTI_TURN, TRAINING_JOB, {"sts:AssumeRole", "sts:TagSession"}),
            ("import", IMPORTING, JOB, {"sts:AssumeRole"}),
            ("import", TUNED, JOB, {"sts:AssumeRole"}),
        )
        for action in ("sts:AssumeRole", "sts:TagSession", "sts:SetSourceIdentity")
        for context, may in (
            (OWN | source(own), True),
            (OTHER | source(own), False),
            (OWN | source(other), False),
            (OWN | elsewhere(own), False),
            (OWN | source(own.replace("123456789012", "9" * 12)), False),
            (OWN, False),
            ({}, False),
        )
    ),
    ("customize", "sagemaker:DescribeHubContent", EVALUATOR, {}, True),
    ("customize", "sagemaker:DescribeHubContent", PUBLIC, {}, True),
    ("customize", "sagemaker:DescribeHub", HUB, {}, True),
    ("customize", "sagemaker:ImportHubContent", HUB, {}, False),
    ("customize", "sagemaker:CreateModelPackage", PACKAGE, {}, True),
    ("customize", "sagemaker:CreateModelPackageGroup", GROUP, {}, True),
    ("customize", "sagemaker:DeleteModelPackage", PACKAGE, {}, False),
    ("customize", "sagemaker:AddTags", PACKAGE, {}, True),
    ("customize", "sagemaker:AddTags", TRAINING_JOB, {}, False),
    ("customize", "sagemaker:CreateTrainingJob", TRAINING_JOB, {}, False),
    ("customize", "sagemaker-mlflow:LogBatch", APP, {}, True),
    ("customize", "sagemaker-mlflow:DeleteRun", APP, {}, False),
    ("customize", "logs:PutLogEvents", f"{JOB_LOGS}:log-stream:math-1/algo", {}, True),
    ("customize", "logs:CreateLogGroup", JOB_LOGS, {}, True),
    ("customize", "logs:PutLogEvents", f"{JOB_LOGS}OfOthers:log-stream:x", {}, False),
    ("customize", "logs:PutLogEvents", f"{LOG_GROUP}:log-stream:x", {}, False),
    ("customize", "logs:FilterLogEvents", JOB_LOGS, {}, False),
    ("customize", "bedrock:InvokeModel", NOVA, {}, True),
    ("customize", "bedrock:InvokeModel", HOSTED, {}, False),
    ("customize", "s3:GetObject", f"{BUCKET}/elsewhere", {}, False),
    ("roll_out", "lambda:InvokeFunction", FORWARDER, {}, True),
    ("roll_out", "lambda:InvokeFunction", f"{FORWARDER}:live", {}, True),
    ("roll_out", "lambda:InvokeFunction", f"{FORWARDER}-of-another", {}, False),
    ("roll_out", "lambda:InvokeFunction", PINNED, {}, True),
    ("roll_out", "lambda:InvokeFunction", PINNED.removesuffix(":7"), {}, False),
    ("roll_out", "lambda:InvokeFunction", f"{PINNED}7", {}, False),
    ("roll_out", "lambda:InvokeFunction", FUNCTION, {}, False),
    ("roll_out", "lambda:GetFunctionConfiguration", FORWARDER, {}, False),
    ("roll_out", "bedrock-agentcore:InvokeAgentRuntime", RUNTIME, {}, True),
    (
        "roll_out",
        "bedrock-agentcore:InvokeAgentRuntime",
        f"{RUNTIME}/runtime-endpoint/DEFAULT",
        {},
        True,
    ),
    ("roll_out", "bedrock-agentcore:InvokeAgentRuntime", f"{RUNTIME}1", {}, False),
    ("roll_out", "bedrock-agentcore:StopRuntimeSession", RUNTIME, {}, True),
    ("roll_out", "bedrock-agentcore:DeleteAgentRuntime", RUNTIME, {}, False),
    ("roll_out", "s3:GetObject", f"{BUCKET}/rft-data/x", {}, True),
    ("roll_out", "s3:PutObject", f"{BUCKET}/rft-data/x", {}, False),
    ("roll_out", "s3:PutObject", f"{BUCKET}/rft-output/x", {}, True),
    ("roll_out", "s3:ListBucket", BUCKET, {"s3:prefix": "rft-data/"}, True),
    ("roll_out", "s3:ListBucket", BUCKET, {"s3:prefix": "elsewhere/"}, False),
    ("roll_out", "sagemaker:AccessModelPackage", PACKAGE, {}, True),
    ("roll_out", "sagemaker:CompleteRollout", MULTI_TURN, {}, False),  # the agent's
    ("roll_out", "sagemaker-mlflow:StartTrace", APP, {}, True),
    ("roll_out", "logs:PutLogEvents", f"{AGENT_LOGS}:log-stream:x", {}, True),
    ("roll_out", "logs:PutLogEvents", f"{AGENT_LOGS}Evaluation:log-stream:x", {}, True),
    ("roll_out", "logs:PutLogEvents", f"{JOB_LOGS}:log-stream:x", {}, False),
    ("run_agent", "sagemaker:Sample", MULTI_TURN, {}, True),
    ("run_agent", "sagemaker:SampleWithResponseStream", MULTI_TURN, {}, True),
    ("run_agent", "sagemaker:CompleteRollout", MULTI_TURN, {}, True),
    ("run_agent", "sagemaker:UpdateReward", MULTI_TURN, {}, True),
    ("run_agent", "sagemaker:UpdateReward", MULTI_TURN.replace("12345", "99999"), {}, False),
    ("run_agent", "sagemaker:CallWithBearerToken", "*", {}, True),
    ("run_agent", "sagemaker:StopJob", MULTI_TURN, {}, False),
    ("run_agent", "kms:Decrypt", KEY, THROUGH_SAGEMAKER, True),
    ("run_agent", "kms:Decrypt", KEY, THROUGH_S3, False),
    ("import_model", "s3:GetObject", f"{BUCKET}/rft-output/job/checkpoints/hf_merged/x", {}, True),
    ("import_model", "s3:GetObject", f"{BUCKET}/rft-data/train.jsonl", {}, False),
    ("import_model", "s3:PutObject", f"{BUCKET}/rft-output/x", {}, False),
    ("import_model", "s3:ListBucket", BUCKET, {"s3:prefix": "rft-output/job/"}, True),
    ("import_model", "s3:ListBucket", BUCKET, {"s3:prefix": "rft-data/"}, False),
    ("import_model", "sagemaker:DescribeModelPackage", PACKAGE, {}, True),
    ("import_model", "lambda:InvokeFunction", FUNCTION, {}, False),
    ("join_vpc_of_sagemaker", "ec2:CreateNetworkInterface", INTERFACE, {}, True),
    (
        "join_vpc_of_sagemaker",
        "ec2:CreateNetworkInterface",
        HERE.arn("ec2", "subnet/subnet-2"),
        {},
        False,
    ),
    ("join_vpc_of_sagemaker", "ec2:DeleteNetworkInterface", INTERFACE, WITHIN, True),
    ("join_vpc_of_sagemaker", "ec2:DeleteNetworkInterface", INTERFACE, WITHOUT, False),
    ("join_vpc_of_sagemaker", "ec2:DeleteNetworkInterface", INTERFACE, {}, False),
    ("join_vpc_of_sagemaker", "ec2:CreateTags", INTERFACE, NEW, True),
    ("join_vpc_of_sagemaker", "ec2:CreateTags", INTERFACE, {}, False),
    ("run_customization", "iam:PassRole", JOB_ROLE, TO_SAGEMAKER, True),
    ("run_customization", "iam:PassRole", JOB_ROLE, TO_JOB, False),
    ("run_customization", "iam:PassRole", JOB_ROLE, TO_BEDROCK, False),
    ("run_customization", "iam:PassRole", AGENT_ROLE, TO_SAGEMAKER, False),
    ("run_customization", "iam:SimulatePrincipalPolicy", JOB_ROLE, {}, True),
    ("run_customization", "iam:GetRole", ROLE, {}, False),
    ("run_customization", "sagemaker:CreateTrainingJob", TRAINING_JOB, {}, True),
    ("run_customization", "sagemaker:StopTrainingJob", TRAINING_JOB, {}, True),
    ("run_customization", "sagemaker:ListTrainingJobs", "*", {}, True),
    ("run_customization", "sagemaker:CreateJob", MULTI_TURN, {}, False),
    ("run_customization", "sagemaker:ImportHubContent", EVALUATOR, {}, True),
    ("run_customization", "sagemaker:ImportHubContent", HUB, {}, True),
    ("run_customization", "sagemaker:ImportHubContent", NOTEBOOK, {}, False),
    ("run_customization", "sagemaker:DeleteHubContent", EVALUATOR, {}, False),
    ("run_customization", "sagemaker:DescribeHubContent", PUBLIC, {}, True),
    ("run_customization", "sagemaker:ImportHubContent", PUBLIC, {}, False),
    ("run_customization", "s3:GetObject", RECIPE, {}, True),
    ("run_customization", "s3:GetObject", f"{BUCKET}/rft-data/x", {}, False),
    ("run_customization", "sagemaker:CreateModelPackageGroup", GROUP, {}, True),
    ("run_customization", "sagemaker:DeleteModelPackage", PACKAGE, {}, False),
    ("run_customization", "sagemaker-mlflow:GetMetricHistory", APP, {}, True),
    ("run_customization", "sagemaker-mlflow:LogMetric", APP, {}, False),
    ("run_customization", "sagemaker:CreatePresignedMlflowAppUrl", APP, {}, True),
    ("run_customization", "logs:FilterLogEvents", f"{JOB_LOGS}:*", {}, True),
    ("run_customization", "logs:FilterLogEvents", AGENT_LOGS, {}, False),
    ("run_customization", "lambda:InvokeFunction", FUNCTION, {}, False),  # `jobs` does
    ("run_multi_turn", "iam:PassRole", AGENT_ROLE, TO_JOB, True),
    ("run_multi_turn", "iam:PassRole", AGENT_ROLE, TO_SAGEMAKER, False),
    ("run_multi_turn", "iam:PassRole", AGENT_ROLE, {}, False),
    ("run_multi_turn", "iam:PassRole", JOB_ROLE, TO_JOB, False),
    *(
        ("run_multi_turn", f"sagemaker:{action}", MULTI_TURN, {}, True)
        for action in ("CreateJob", "DescribeJob", "StopJob", "DeleteJob")
    ),
    *(
        ("run_multi_turn", f"sagemaker:{action}", "*", {}, True)
        for action in ("ListJobs", "ListJobSchemaVersions", "DescribeJobSchemaVersion")
    ),
    ("run_multi_turn", "sagemaker:CreateTrainingJob", TRAINING_JOB, {}, False),
    ("run_multi_turn", "sagemaker:UpdateReward", MULTI_TURN, {}, False),
    ("run_multi_turn", "lambda:InvokeFunction", f"{FORWARDER}:live", {}, True),
    ("run_multi_turn", "lambda:InvokeFunction", FUNCTION, {}, False),
    ("run_multi_turn", "bedrock-agentcore:GetAgentRuntime", RUNTIME, {}, True),
    ("run_multi_turn", "logs:FilterLogEvents", AGENT_LOGS, {}, True),
    ("run_multi_turn", "kms:CreateGrant", KEY, THROUGH_SAGEMAKER, True),
    ("run_multi_turn", "kms:CreateGrant", KEY, THROUGH_BEDROCK, False),
    ("evaluate", "iam:PassRole", IMPORT_ROLE, TO_BEDROCK, True),
    ("evaluate", "iam:PassRole", IMPORT_ROLE, TO_SAGEMAKER, False),
    ("evaluate", "iam:PassRole", ROLE, TO_BEDROCK, False),
    ("evaluate", "bedrock:CreateModelImportJob", "*", {}, True),
    ("evaluate", "bedrock:GetModelImportJob", IMPORTING, {}, True),
    ("evaluate", "bedrock:InvokeModel", IMPORTED, {}, True),
    ("evaluate", "bedrock:DeleteImportedModel", IMPORTED, {}, True),
    ("evaluate", "sagemaker:DescribeModelPackage", PACKAGE, {}, True),
    *(
        (name, "sagemaker:ListModelPackages", resource, {}, True)
        for name in ("evaluate", "run_customization", "run_multi_turn")
        for resource in ("*", PACKAGE)
    ),
    ("run_jobs", "sagemaker:ListModelPackages", "*", {}, False),
    ("evaluate", "sagemaker:DeleteModelPackage", PACKAGE, {}, False),
    ("operate", "sagemaker:DeleteModelPackage", PACKAGE, {}, True),
    ("operate", "sagemaker:ListJobs", "*", {}, True),
    ("operate", "sagemaker:DescribeJob", MULTI_TURN, {}, True),
    ("operate", "sagemaker:StopJob", MULTI_TURN, {}, False),
    *(
        ("run_jobs", action, resource, {}, False)
        for action, resource in (
            ("sagemaker:CreateTrainingJob", TRAINING_JOB),
            ("sagemaker:CreateJob", MULTI_TURN),
            ("sagemaker:ImportHubContent", EVALUATOR),
        )
    ),
]


@pytest.mark.parametrize("row", [*DECIDED, *OF_SAGEMAKER], ids=lambda row: " ".join(map(str, row)))
def test_a_document_decides(row):
    name, action, resource, context, allowed = row
    assert decided(DOCUMENTS[name], action, resource, context) == allowed


def decided(document, action, resource, context):
    """Whether a document allows something, as IAM reads what documents here are made of."""
    return any(
        action in actions(statement)
        and any(like(resource, each) for each in statement.get("Resource", [resource]))
        and all(
            holds(operator, context.get(key), among(values))
            for operator, keys in statement.get("Condition", {}).items()
            for key, values in keys.items()
        )
        for statement in document["Statement"]
    )


def holds(operator, value, allowed):
    """Whether a key of the context is one of those allowed; of several, whether each is."""
    for_all, _, operator = operator.rpartition(":")
    values = value if for_all else [value]
    return value is not None and all(
        any(COMPARED[operator](each, other) for other in allowed) for each in values
    )


def like(value, pattern):
    """IAM's comparison: a star is anything, colons and slashes as well."""
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), value) is not None


COMPARED = {"StringEquals": str.__eq__, "StringLike": like, "ArnLike": like}


def among(values):
    return [values] if isinstance(values, str) else values


def actions(statement):
    return among(statement["Action"])
