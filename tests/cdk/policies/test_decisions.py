"""Who may do what, decided by the documents where no emulator knows service or condition.

What the emulator decides stands in tests/deploy/test_permissions.py.
"""

from __future__ import annotations

import re

import pytest

from tests.cdk.policies.policies import (
    AGENT_ROLE,
    BUCKET,
    DOCUMENTS,
    FORWARDER,
    FUNCTION,
    HERE,
    IMPORT_ROLE,
    JOB_ROLE,
    KEY,
    MODEL_KEY,
    PARAMETER,
    PINNED,
    PROFILE,
    QUEUE,
    ROLE,
    RULE,
    RUNTIME,
    SEALED,
    SECRET,
    TOPIC,
    TRAINING_JOB_ROLE,
)

ROLES = f"arn:{HERE.partition}:iam::{HERE.account}:role/reward-functions"
JOB = HERE.arn("bedrock", "model-customization-job/x")
HOSTED = HERE.arn("bedrock", "custom-model-deployment/x")
TUNED = HERE.arn("bedrock", "custom-model/x")
NOVA = "arn:aws-cn:bedrock:cn-north-1::foundation-model/nova"
GLOBALLY = HERE.arn("bedrock", "inference-profile/global.nova")
NOWHERE = "arn:aws-cn:bedrock:::foundation-model/nova"
NO_REGION = {"aws:RequestedRegion": "unspecified"}
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
OF_SECRET = {
    "kms:ViaService": "secretsmanager.cn-north-1.amazonaws.com.cn",
    "kms:EncryptionContext:SecretARN": SECRET,
}
OF_PARAMETER = {
    "kms:ViaService": "ssm.cn-north-1.amazonaws.com.cn",
    "kms:EncryptionContext:PARAMETER_ARN": PARAMETER,
}
THROUGH_SQS = {"kms:ViaService": "sqs.cn-north-1.amazonaws.com.cn"}
RESULTS = "arn:aws-cn:s3:::sagemaker-rollouts-dev-123456789012-cn-north-1"
FEEDBACK = HERE.arn("sqs", "SageMaker-rollouts-dev-feedback")
OF_SOLVER = HERE.arn("bedrock-agentcore", "runtime/reward_dev__solver-0123456789")
FROM_CODE = {"lambda:SourceFunctionArn": FUNCTION}
BEHIND = {"bedrock:InferenceProfileArn": PROFILE}

DECIDED = [
    # whose document, what, on what, with which context keys, whether
    ("stated", "s3:GetObject", f"{BUCKET}/cases.jsonl", {}, True),
    ("stated", "s3:GetObject", f"{BUCKET}/cases.jsonl2", {}, False),
    ("stated", "s3:PutObject", f"{BUCKET}/cases.jsonl", {}, False),
    ("stated", "s3:ListBucket", BUCKET, {"s3:prefix": "cases/"}, True),
    ("stated", "s3:ListBucket", BUCKET, {}, False),
    ("read_secrets", "secretsmanager:GetSecretValue", SECRET, {}, True),
    ("read_secrets", "secretsmanager:GetSecretValue", f"{SECRET}-2", {}, True),
    ("read_secrets", "secretsmanager:GetSecretValue", f"{SECRET}-3", {}, False),
    ("read_secrets", "secretsmanager:PutSecretValue", SECRET, {}, False),
    ("read_secrets", "ssm:GetParameter", PARAMETER, {}, True),
    ("read_secrets", "ssm:GetParameter", f"{PARAMETER}/x", {}, False),
    ("read_secrets", "ssm:GetParameter", SECRET, {}, False),
    *(
        ("read_secrets", "kms:Decrypt", KEY, context, may)
        for context, may in (
            (OF_SECRET, True),
            (OF_PARAMETER, True),
            ({}, False),
            (THROUGH_S3, False),
            (OF_SECRET | {"kms:EncryptionContext:SecretARN": f"{SECRET}-2"}, False),
            (OF_SECRET | {"kms:ViaService": OF_PARAMETER["kms:ViaService"]}, False),
        )
    ),
    ("read_secrets", "kms:GenerateDataKey", KEY, OF_SECRET, False),
    *(
        ("join_network", action, resource, context, may)
        for action, resource in (
            ("ec2:CreateNetworkInterface", HERE.arn("ec2", "subnet/subnet-1")),
            ("ec2:DeleteNetworkInterface", INTERFACE),
            ("ec2:DescribeNetworkInterfaces", "*"),
        )
        for context, may in (
            ({}, True),  # Lambda itself
            (FROM_CODE, False),
        )
    ),
    ("join_network", "ec2:DeleteNetworkInterface", "arn:aws-cn:ec2:a:1:x/y", {}, False),
    ("join_network", "ec2:RunInstances", INTERFACE, {}, False),
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
        ("prepare_data", action, group, {}, may)
        for action in ("logs:FilterLogEvents", "logs:StartQuery")
        for group, may in (
            (LOG_GROUP, True),
            (f"{LOG_GROUP}:*", True),
            (f"{LOG_GROUP}-own", True),  # immutable: its functions share the deployment's
            (f"{LOG_GROUP}-own:*", True),
            (f"{LOG_GROUP}-own--01234567", False),
            (f"{LOG_GROUP}-of-another:*", False),
        )
    ),
    ("prepare_data", "logs:GetQueryResults", LOG_GROUP, {}, True),
    ("prepare_data", "logs:GetLogEvents", LOG_GROUP, {}, False),
    *(
        (who, action, f"arn:aws-cn:s3:::{what}", {}, may)
        for who in ("read_folders", "prepare_data_elsewhere")
        for action, what, may in (
            ("s3:GetObject", "acme/rft/a/b.jsonl", True),
            ("s3:GetObject", "acme/rft-2/b.jsonl", False),
            ("s3:GetObject", "acme/x", False),
            ("s3:PutObject", "acme/rft/a", False),
            ("s3:DeleteObject", "acme/rft/a", False),
            ("s3:GetObject", "sealed/anything", True),
            ("s3:ListBucket", "sealed", True),
            ("s3:ListBucket", "acme", False),
        )
    ),
    *(
        (who, "s3:ListBucket", "arn:aws-cn:s3:::acme", {"s3:prefix": prefix}, may)
        for who in ("read_folders", "prepare_data_elsewhere")
        for prefix, may in (("rft", True), ("rft/a", True), ("rft-2", False), ("", False))
    ),
    *(
        (who, action, SEALED, through, may)
        for who in ("read_folders", "prepare_data_elsewhere")
        for action, through, may in (
            ("kms:Decrypt", THROUGH_S3, True),
            ("kms:Decrypt", {}, False),
            ("kms:Decrypt", THROUGH_BEDROCK, False),
            ("kms:GenerateDataKey", THROUGH_S3, False),
        )
    ),
    # A bucket that a key encrypts: who uploads and reads, through what, and who need not.
    *(
        (who, action, KEY, through, who in through_whom)
        for through, action, through_whom in (
            (THROUGH_S3, "kms:GenerateDataKey", {"prepare_data", "use_key"}),
            (THROUGH_S3, "kms:Decrypt", {"prepare_data", "use_key"}),
            (THROUGH_S3, "kms:CreateGrant", set()),
            (THROUGH_S3, "kms:DescribeKey", set()),
            (THROUGH_BEDROCK, "kms:GenerateDataKey", {"run_jobs", "use_model_key"}),
            (THROUGH_BEDROCK, "kms:CreateGrant", {"run_jobs", "use_model_key"}),
            (THROUGH_BEDROCK, "kms:DescribeKey", {"run_jobs", "use_model_key"}),
            (THROUGH_BEDROCK, "kms:Decrypt", {"run_jobs", "use_model_key", "evaluate"}),
            ({}, "kms:Decrypt", set()),
            ({}, "kms:GenerateDataKey", set()),
        )
        for who in (
            *("prepare_data", "run_jobs", "evaluate", "operate", "run_customization"),
            *("use_key", "use_model_key", "prepare_data_elsewhere"),
        )
    ),
    # A global profile: the profile, the model where it is asked, and the model in no region.
    *(
        ("ask_anywhere", "bedrock:InvokeModel", what, context, may)
        for what, context, may in (
            (GLOBALLY, {}, True),
            (f"{GLOBALLY}-2", {}, False),
            (NOVA, {"bedrock:InferenceProfileArn": GLOBALLY}, True),
            (NOVA, {}, False),
            (ELSEWHERE, {"bedrock:InferenceProfileArn": GLOBALLY}, False),
            (NOWHERE, NO_REGION | {"bedrock:InferenceProfileArn": GLOBALLY}, True),
            (NOWHERE, {"bedrock:InferenceProfileArn": GLOBALLY}, False),
            (NOWHERE, NO_REGION, False),
            (NOWHERE, NO_REGION | {"bedrock:InferenceProfileArn": PROFILE}, False),
            (
                NOWHERE,
                {"aws:RequestedRegion": "cn-north-1", "bedrock:InferenceProfileArn": GLOBALLY},
                False,
            ),
        )
    ),
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
    ("operate", "ssm:PutParameter", HERE.arn("ssm", "parameter/reward-functions/dev/x"), {}, True),
    ("operate", "ssm:PutParameter", HERE.arn("ssm", "parameter/reward-functions/dev"), {}, False),
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
    ("keep_house", "lambda:PutProvisionedConcurrencyConfig", f"{FUNCTION}:7", {}, True),
    ("keep_house", "lambda:PutProvisionedConcurrencyConfig", f"{FUNCTION}-gone:7", {}, False),
    ("keep_house", "lambda:GetProvisionedConcurrencyConfig", f"{FUNCTION}:7", {}, True),
    ("keep_house", "lambda:DeleteProvisionedConcurrencyConfig", f"{FUNCTION}-gone:7", {}, True),
    ("keep_house", "lambda:DeleteProvisionedConcurrencyConfig", FUNCTION, {}, False),
    # The path of deferred rewards, forwarders, and what AgentCore runs.
    *(
        ("report", "lambda:InvokeFunction", f"{FUNCTION}{qualifier}", {}, may)
        for qualifier, may in (
            (":7", True), ("", False), (":live", False), (":$LATEST", False),
            ("-own--01234567", True), ("-of-another:7", False),
        )
    ),
    ("report", "s3:GetObject", f"{RESULTS}/rollouts/x", {}, True),
    ("report", "s3:PutObject", f"{RESULTS}/rollouts/x", {}, False),
    ("report", "s3:GetObject", f"{RESULTS}/rollouts", {}, False),
    ("report", "s3:GetObject", f"{RESULTS}-2/rollouts/x", {}, False),
    ("report", "sqs:ReceiveMessage", f"{FEEDBACK}-dead-letters", {}, False),
    ("report", "sqs:SendMessage", FEEDBACK, {}, False),
    *(
        (who, "kms:Decrypt", KEY, context, may)
        for who in ("report", "put_results")
        for context, may in ((THROUGH_S3, True), (THROUGH_BEDROCK, False), ({}, False))
    ),
    ("report", "kms:GenerateDataKey", KEY, THROUGH_S3, False),
    ("put_results", "s3:PutObject", f"{RESULTS}/rollouts/x", {}, True),
    ("put_results", "s3:PutObject", f"{RESULTS}/rollouts-2/x", {}, False),
    *(
        ("put_results", f"s3:{action}", f"{RESULTS}/rollouts/x", {}, False)
        for action in ("GetObject", "DeleteObject", "PutObjectTagging")
    ),
    ("redrive", "sqs:SendMessage", FEEDBACK, {}, True),
    ("redrive", "sqs:SendMessage", f"{FEEDBACK}-dead-letters", {}, False),
    ("redrive", "sqs:ReceiveMessage", FEEDBACK, {}, False),
    ("redrive", "sqs:ReceiveMessage", FEEDBACK.replace("-dev-", "-dev-eu-"), {}, False),
    ("hand_on", "sqs:SendMessage", QUEUE, {}, True),
    ("hand_on", "sqs:ReceiveMessage", QUEUE, {}, False),
    *(
        (who, "kms:Decrypt", KEY, context, may)
        for who, own, other in (
            ("hand_on", THROUGH_SQS, OF_SECRET),
            ("read_queues", THROUGH_SQS, OF_SECRET),
            ("hand_on_with_a_key", OF_SECRET, THROUGH_SQS),
        )
        for context, may in ((own, True), (other, False), ({}, False))
    ),
    ("hand_on_with_a_key", "kms:Decrypt", KEY,
     OF_SECRET | {"kms:EncryptionContext:SecretARN": f"{SECRET}-2"}, False),
    ("hand_on_with_a_key", "secretsmanager:GetSecretValue", f"{SECRET}-2", {}, False),
    ("read_queues", "sqs:SendMessage", QUEUE, {}, False),
    ("start_agent", "s3:GetObject", f"{BUCKET}/solver.zip", {}, True),
    ("start_agent", "s3:GetObject", f"{BUCKET}/solver.zip2", {}, False),
    *(
        ("trust_runtime", "sts:AssumeRole", "", {**account, "aws:SourceArn": arn}, may)
        for account, arn, may in (
            (OWN, OF_SOLVER, True),
            (OTHER, OF_SOLVER, False),
            (OWN, OF_SOLVER.replace("__solver", "__solver2"), False),
            (OWN, OF_SOLVER.replace("reward_dev", "reward_dev_eu"), False),
            (OWN, OF_SOLVER.replace("cn-north-1", "cn-northwest-1"), False),
        )
    ),
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
IMAGE = "arn:aws-cn:ecr:cn-north-1:111122223333:repository/nova-fine-tune-repo"
IN_NAMESPACE = {"cloudwatch:namespace": "/aws/sagemaker/TrainingJobs"}
CLUSTER_LOG = HERE.arn("logs", "log-group:/aws/sagemaker/Clusters/name/id:log-stream:x")
ESCROW = "arn:aws-cn:s3:::customer-escrow-123456789012-smtj-x/job/model"
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
    *(
        ("trust_rules", action, "", context, may and action == "sts:AssumeRole")
        for action in ("sts:AssumeRole", "sts:TagSession")
        for context, may in (
            (OWN | source(RULE), True),
            (OTHER | source(RULE), False),
            (OWN | source(f"{RULE}-of-another"), False),
            (OWN | elsewhere(RULE), False),
            (OWN, False),
        )
    ),
    ("publish_events", "sns:Publish", TOPIC, {}, True),
    ("publish_events", "sns:Publish", f"{TOPIC}-of-another", {}, False),
    ("run_container", "ecr:BatchGetImage", IMAGE, {}, True),
    ("run_container", "ecr:BatchGetImage", IMAGE.replace("nova-", "ours-"), {}, False),
    ("run_container", "ecr:BatchGetImage", IMAGE.replace("cn-north-1", "eu-west-1"), {}, False),
    ("run_container", "ecr:PutImage", IMAGE, {}, False),
    ("run_container", "cloudwatch:PutMetricData", "*", IN_NAMESPACE, True),
    ("run_container", "cloudwatch:PutMetricData", "*", {}, False),
    ("run_container", "lambda:InvokeFunction", FUNCTION, {}, False),  # `train` does
    ("train_on_hyperpod", "lambda:InvokeFunction", f"{FUNCTION}:7", {}, True),
    ("train_on_hyperpod", "lambda:InvokeFunction", f"{FUNCTION}-of-another", {}, False),
    ("train_on_hyperpod", "s3:ListBucket", BUCKET, {"s3:prefix": "rft-data/"}, True),
    ("train_on_hyperpod", "s3:ListBucket", BUCKET, {"s3:prefix": "elsewhere/"}, False),
    ("train_on_hyperpod", "s3:DeleteObject", f"{BUCKET}/rft-output/x", {}, False),
    *(
        ("train_on_hyperpod", "kms:GenerateDataKey", key, context, may)
        for key in (KEY, MODEL_KEY)
        for context, may in ((THROUGH_S3, True), (THROUGH_SAGEMAKER, False), ({}, False))
    ),
    ("run_training_jobs", "iam:PassRole", TRAINING_JOB_ROLE, TO_SAGEMAKER, True),
    ("run_training_jobs", "iam:PassRole", TRAINING_JOB_ROLE, TO_JOB, False),
    ("run_training_jobs", "iam:PassRole", JOB_ROLE, TO_SAGEMAKER, False),
    ("run_training_jobs", "sagemaker:CreateTrainingJob", TRAINING_JOB, {}, True),
    ("run_training_jobs", "sagemaker:ImportHubContent", EVALUATOR, {}, False),
    ("run_training_jobs", "sagemaker:CreateModelPackageGroup", GROUP, {}, False),
    ("submit_to_hyperpod", "iam:PassRole", TRAINING_JOB_ROLE, TO_SAGEMAKER, False),
    ("submit_to_hyperpod", "eks:DescribeCluster", HERE.arn("eks", "cluster/x"), {}, True),
    ("submit_to_hyperpod", "eks:AccessKubernetesApi", HERE.arn("eks", "cluster/x"), {}, False),
    ("submit_to_hyperpod", "logs:GetLogEvents", CLUSTER_LOG, {}, True),
    ("submit_to_hyperpod", "logs:GetLogEvents", JOB_LOGS, {}, False),
    ("import_model", "s3:GetObject", ESCROW, {}, False),
    ("import_from_escrow", "s3:GetObject", ESCROW, {}, True),
    ("import_from_escrow", "s3:GetObject", ESCROW.replace("123456789012", "1" * 12), {}, False),
    ("import_from_escrow", "s3:PutObject", ESCROW, {}, False),
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
    effects = {
        statement["Effect"]
        for statement in document["Statement"]
        if action in actions(statement)
        and any(like(resource, each) for each in among(statement.get("Resource", resource)))
        and all(
            holds(operator, context.get(key), among(values))
            for operator, keys in statement.get("Condition", {}).items()
            for key, values in keys.items()
        )
    }
    return effects == {"Allow"}


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


COMPARED = {"StringEquals": str.__eq__, "StringLike": like, "ArnLike": like, "ArnEquals": like}


def among(values):
    return [values] if isinstance(values, str) else values


def actions(statement):
    return among(statement["Action"])
