"""Every role and every policy of a stage beside every operation that any of them is granted.

The documents are those of a stage that has everything, whole, as they are deployed. A row names who
may do what to which resource in which context; whoever it does not name may not. A new grant fails
until it has a row, and so does a grant to somebody else, and a statement of any template that is
nobody's here. Each row is asked again for what is not this stage's, and without each key of its
context and with another. The documents decide, as IAM reads what documents here are made of; no
emulator is asked.
"""

from __future__ import annotations

import pytest

from reward_functions.cdk.policies.deferred import WORK_ON_QUEUE
from reward_functions.cdk.policies.documents import AGENTS, BEDROCK, IMPORT, SAGEMAKER, TRAINING
from reward_functions.cdk.policies.people import SEE_ALARMS
from reward_functions.cdk.policies.scale import KEPT_LOGS
from reward_functions.rollouts.report.outbox.dynamodb import ACTIONS as OUTBOX
from tests import rights_page
from tests.cdk.everybody import (
    AGENT,
    AGENT_KEY,
    API_KEY,
    BUCKET,
    CLUSTER,
    CODE,
    CUSTODIAN,
    HERE,
    JUDGE,
    KEYED,
    LOOKUP,
    MACHINE,
    MADE,
    MODEL,
    OWN_KEY,
    PLACE,
    PLAIN,
    PUBLISHER,
    QUEUED,
    ROLES,
    RUNTIME,
    SCORER,
    SEALED,
    SHARDS,
    TOPIC,
    VERIFIER,
    WITH_RIGHTS,
    documents,
)
from tests.cdk.policies.test_decisions import among, decided
from tests.cdk.policies.test_permissions import reference

# Who acts for a service, and people by their tasks; the others are named where they are made.
JOB, SERVERLESS, MULTI_TURN, INSTANCES, IMPORTING = (f"{kind} role" for kind in ROLES)
DATA, JOBS, EVALUATE, OPERATE = "data", "jobs", "evaluate", "operate"
CUSTOMIZE, ROLL_OUT, TRAIN, SUBMIT = "sagemaker", "agents", "training", "hyperpod"
SCORE = "score"
PEOPLE = {DATA, JOBS, EVALUATE, OPERATE, CUSTOMIZE, ROLL_OUT, TRAIN, SUBMIT, SCORE}
GRADED = {JOB, SERVERLESS, INSTANCES, CLUSTER}
"""What asks the rewards of the stage while it trains."""

JOINING = {JOB, SERVERLESS, MULTI_TURN, INSTANCES}
TRAINING_ALL = {*JOINING, CLUSTER}
SCORING = {SHARDS, SCORE}
"""Who reads files to be scored, and writes runs."""
FIGURES = {SERVERLESS, INSTANCES, CLUSTER}
FOLLOWING = {CUSTOMIZE, ROLL_OUT, TRAIN, SUBMIT}
NETWORKED = {WITH_RIGHTS, KEYED}
"""Functions in a VPC, whose interfaces Lambda makes and removes in their roles."""

NOBODY: set[str] = set()

REWARD, READY, IMMUTABLE, LEFT = (
    HERE.arn("lambda", f"function:SageMaker-reward-everything-{name}")
    for name in ("math", "strict", "held--01234567", "which-left")
)
SHARDED = HERE.arn("lambda", "function:reward-scale-everything")
SCALED, EXECUTION = (
    HERE.arn("states", f"{each}:reward-scale-everything") for each in ("stateMachine", "execution")
)
RUN = f"{BUCKET}/scored/a/part-000001"
FORWARDER = HERE.arn("lambda", "function:SageMaker-agent")
AGENT_RUNTIME = HERE.arn("bedrock-agentcore", "runtime/agent-0123456789")
CUSTOMIZATION = HERE.arn("bedrock", "model-customization-job/x")
TUNED, HOSTED = (
    HERE.arn("bedrock", f"{each}/x") for each in ("custom-model", "custom-model-deployment")
)
IMPORT_JOB, IMPORTED = (
    HERE.arn("bedrock", f"{each}/x") for each in ("model-import-job", "imported-model")
)
NOVA = "arn:aws:bedrock:eu-central-1::foundation-model/nova"
PROJECT = HERE.arn("bedrock-mantle", "project/default")
TRAINING_JOB, AGENT_JOB = HERE.arn("sagemaker", "training-job/x"), HERE.arn("sagemaker", "job/x")
PACKAGE, GROUP = (
    HERE.arn("sagemaker", f"{each}/x") for each in ("model-package", "model-package-group")
)
APP, HUB = HERE.arn("sagemaker", "mlflow-app/x"), HERE.arn("sagemaker", "hub/x")
EVALUATOR = HERE.arn("sagemaker", "hub-content/x/JsonDoc/y/1.0.0")
PUBLIC = "arn:aws:sagemaker:eu-central-1:aws:hub-content/SageMakerPublicHub/Model/qwen3/1.0.0"
HYPERPOD, EKS = HERE.arn("sagemaker", "cluster/x"), HERE.arn("eks", "cluster/x")
IMAGE = "arn:aws:ecr:eu-central-1:111122223333:repository/nova-fine-tune-repo"
INTERFACE = HERE.arn("ec2", "network-interface/eni-1")
SUBNET, OTHER_SUBNET = (
    HERE.arn("ec2", f"subnet/subnet-{each}") for each in ("0123456789abcdef0", "9")
)
TRAINING_LOG, AGENT_LOG, CLUSTER_LOG = (
    HERE.arn("logs", f"log-group:/aws/sagemaker/{each}")
    for each in ("TrainingJobs", "Job/AgentRFT", "Clusters/x/y")
)
REWARD_LOG = HERE.arn("logs", "log-group:/aws/lambda/SageMaker-reward-everything-math")
PARAMETER = HERE.arn("ssm", "parameter/reward-functions/everything/stage")
RESULTS = "arn:aws:s3:::sagemaker-rollouts-everything-123456789012-eu-central-1"
QUEUE, DEAD_LETTERS, REQUESTS = (
    HERE.arn("sqs", f"SageMaker-rollouts-everything-{name}")
    for name in ("feedback", "feedback-dead-letters", "queued")
)
OUTBOX_TABLE = HERE.arn("dynamodb", "table/SageMaker-rollouts-everything-feedback-outbox")
VERDICTS = HERE.arn("dynamodb", "table/reward-verdicts-everything")
JUDGES_ROLE = (
    "arn:aws:iam::123456789012:role/reward-functions/everything/eu-central-1/reference/role"
)
LOGS_OF = {
    VERIFIER: "SageMaker-reward-everything-math",
    WITH_RIGHTS: "SageMaker-reward-everything-given",
    JUDGE: "SageMaker-reward-everything-reference",
    KEYED: "SageMaker-rollouts-everything-keyed",
    QUEUED: "SageMaker-rollouts-everything-queued",
    CUSTODIAN: "reward-custodian-everything",
    SCORER: "SageMaker-rollouts-everything-feedback",
    SHARDS: "reward-scale-everything",
}
RUNTIME_LOG = HERE.arn(
    "logs", "log-group:/aws/bedrock-agentcore/runtimes/reward_everything__solver-a1b2c3d4e5-DEFAULT"
)
BUCKET_KEY = MADE.key_arn
MODEL_KEY = HERE.arn("kms", "key/01234567-89ab-cdef-0123-456789abcdef")


def through(service):
    return {"kms:ViaService": f"{service}.eu-central-1.amazonaws.com"}


TAGS = {"BedrockManaged": "true", "BedrockModelCustomizationJobArn": CUSTOMIZATION}
ASKED = {f"aws:RequestTag/{name}": value for name, value in TAGS.items()}
TAGGED = {f"ec2:ResourceTag/{name}": value for name, value in TAGS.items()}
CREATED, WITHIN = {"ec2:CreateAction": "CreateNetworkInterface"}, {"ec2:Subnet": SUBNET}
METRICS = {"cloudwatch:namespace": "/aws/sagemaker/TrainingJobs"}


def all_of(service, *names):
    return tuple(f"{service}:{name}" for name in names)


BASE_MODEL, MODEL_THERE, MODEL_NOWHERE = (
    f"arn:aws:bedrock:{region}::foundation-model/{MODEL}"
    for region in ("eu-central-1", "eu-west-3", "")
)
PLAIN_MODEL = f"arn:aws:bedrock:eu-central-1::foundation-model/{PLAIN}"
GLOBAL, REGIONAL = (
    HERE.arn("bedrock", f"inference-profile/{kind}.{MODEL}") for kind in ("global", "eu")
)
OF_LOOKUP = through("secretsmanager") | {"kms:EncryptionContext:SecretARN": LOOKUP}
OF_AGENT_KEY = through("secretsmanager") | {"kms:EncryptionContext:SecretARN": AGENT_KEY}


def behind(profile):
    return {"bedrock:InferenceProfileArn": profile}


TABLE = [
    # who may, what, on what, in which context
    ({*GRADED, JOBS, EVALUATE}, all_of("lambda", "InvokeFunction"), REWARD, {}),
    *(
        ({*GRADED, JOBS, EVALUATE, CUSTODIAN, *also},
         all_of("lambda", "InvokeFunction"), f"{REWARD}:{qualifier}", {})
        for qualifier, also in (("7", {SCORER, SHARDS}), ("live", set()), ("$LATEST", set()))
    ),
    ({*GRADED, JOBS, EVALUATE, CUSTODIAN, SCORER, SHARDS},
     all_of("lambda", "InvokeFunction"), IMMUTABLE, {}),
    ({MACHINE}, all_of("lambda", "InvokeFunction"), f"{SHARDED}:7", {}),
    (NOBODY, all_of("lambda", "InvokeFunction"), SHARDED, {}),
    ({MACHINE, SCORE}, all_of("states", "StartExecution"), SCALED, {}),
    ({MACHINE, SCORE},
     all_of("states", "DescribeExecution", "StopExecution"), f"{EXECUTION}:x", {}),
    ({MACHINE}, all_of("states", "StopExecution"), f"{EXECUTION}/shards:x", {}),
    (NOBODY, all_of("states", "UpdateStateMachine", "DeleteStateMachine"), SCALED, {}),
    ({SHARDS, SCORE}, all_of("s3", "PutObject", "AbortMultipartUpload"), f"{RUN}.jsonl", {}),
    ({*SCORING, MACHINE}, all_of("s3", "GetObject"), f"{RUN}.jsonl", {}),
    ({SCORE, CUSTODIAN}, all_of("s3", "DeleteObject"), f"{RUN}.jsonl", {}),
    ({*SCORING, CUSTODIAN}, all_of("s3", "DeleteObject"), f"{RUN}.begun.jsonl", {}),
    (SCORING, all_of("s3", "ListBucket"), BUCKET, {}),
    ({MACHINE}, KEPT_LOGS, "*", {}),
    ({SCORE}, all_of("cloudwatch", "GetMetricStatistics"), "*", {}),
    ({MULTI_TURN, ROLL_OUT}, all_of("lambda", "InvokeFunction"), FORWARDER, {}),
    (NOBODY, all_of("lambda", "InvokeFunction"), f"{REWARD}-of-another", {}),
    ({JOBS, EVALUATE},
     all_of("lambda", "GetFunctionConfiguration", "ListVersionsByFunction"), REWARD, {}),
    ({JOBS, EVALUATE, SCORER}, all_of("lambda", "GetFunctionConfiguration"), f"{REWARD}:7", {}),
    ({CUSTODIAN},
     all_of("lambda", "PutProvisionedConcurrencyConfig", "GetProvisionedConcurrencyConfig"),
     f"{READY}:7", {}),
    (NOBODY, all_of("lambda", "PutProvisionedConcurrencyConfig"), f"{REWARD}:7", {}),
    ({CUSTODIAN}, all_of("lambda", "DeleteProvisionedConcurrencyConfig"), f"{LEFT}:7", {}),
    (NOBODY, all_of("lambda", "DeleteProvisionedConcurrencyConfig"), LEFT, {}),
    ({OPERATE, CUSTODIAN}, all_of("lambda", "DeleteFunction"), f"{LEFT}--01234567", {}),
    ({CUSTODIAN}, all_of("lambda", "ListTags"), f"{LEFT}--01234567", {}),
    ({JOBS}, all_of("lambda", "GetFunctionConcurrency"), REWARD, {}),
    ({ROLL_OUT},
     all_of("lambda", "GetFunctionConfiguration", "GetFunctionConcurrency"), FORWARDER, {}),
    ({EVALUATE}, all_of("lambda", "GetAlias", "ListAliases"), REWARD, {}),
    ({OPERATE}, all_of("lambda", "UpdateAlias"), REWARD, {}),
    ({OPERATE}, all_of("lambda", "DeleteFunction"), f"{REWARD}:7", {}),
    (NOBODY, all_of("lambda", "DeleteFunction"), REWARD, {}),
    ({OPERATE, CUSTODIAN}, all_of("lambda", "ListFunctions"), "*", {}),
    ({CUSTODIAN}, all_of("iam", "ListRoles"), "*", {}),
    ({CUSTODIAN},
     all_of("iam", "ListRolePolicies", "DeleteRolePolicy", "DeleteRole"), JUDGES_ROLE, {}),
    (NOBODY, all_of("iam", "DeleteRole"), ROLES[BEDROCK], {}),
    ({JOBS, OPERATE, ROLL_OUT, SCORE}, all_of("lambda", "GetAccountSettings"), "*", {}),
    ({*TRAINING_ALL, *SCORING, DATA}, all_of("s3", "GetObject"), f"{BUCKET}/rft-data/x", {}),
    ({*TRAINING_ALL, IMPORTING, DATA}, all_of("s3", "GetObject"), f"{BUCKET}/rft-output/x", {}),
    (NOBODY, all_of("s3", "GetObject", "PutObject"), f"{BUCKET}/elsewhere", {}),
    ({DATA}, all_of("s3", "PutObject", "AbortMultipartUpload"), f"{BUCKET}/rft-data/x", {}),
    (TRAINING_ALL, all_of("s3", "PutObject"), f"{BUCKET}/rft-output/x", {}),
    ({DATA, CUSTODIAN}, all_of("s3", "DeleteObject"), f"{BUCKET}/rft-output/x", {}),
    *(
        ({CUSTODIAN}, all_of("s3", "DeleteObject", "DeleteObjectVersion"), each, {})
        for each in (f"{BUCKET}/rft-data/x", f"{RESULTS}/rollouts/x")
    ),
    *(({CUSTODIAN}, all_of("s3", "ListBucketVersions"), each, {}) for each in (BUCKET, RESULTS)),
    ({AGENT}, all_of("s3", "PutObject"), f"{RESULTS}/rollouts/x", {}),
    ({SCORER}, all_of("s3", "GetObject", "GetObjectVersion"), f"{RESULTS}/rollouts/x", {}),
    (NOBODY, all_of("s3", "PutObject", "GetObject"), f"{RESULTS}/elsewhere", {}),
    ({SCORER}, all_of("s3", "ListBucket"), RESULTS, {}),
    ({*TRAINING_ALL, *SCORING, DATA},
     all_of("s3", "GetObject"), "arn:aws:s3:::acme-data/rft/x", {}),
    (NOBODY, all_of("s3", "PutObject", "DeleteObject"), "arn:aws:s3:::acme-data/rft/x", {}),
    ({*TRAINING_ALL, *SCORING, DATA},
     all_of("s3", "ListBucket"), "arn:aws:s3:::acme-data", {"s3:prefix": "rft/"}),
    ({*TRAINING_ALL, *SCORING, DATA}, all_of("kms", "Decrypt"), SEALED, through("s3")),
    ({WITH_RIGHTS}, all_of("s3", "GetObject"), "arn:aws:s3:::acme-cases/math.jsonl",
     {"aws:ResourceAccount": "123456789012"}),
    ({RUNTIME}, all_of("s3", "GetObject"), CODE, {}),
    ({RUNTIME}, all_of("s3", "PutObject", "GetObject"), "arn:aws:s3:::rollout-results/e/i/s", {}),
    (NOBODY, all_of("s3", "ListBucket", "DeleteObject"), "arn:aws:s3:::rollout-results", {}),
    ({*TRAINING_ALL, *SCORING, DATA},
     all_of("s3", "ListBucket"), BUCKET, {"s3:prefix": "rft-data/"}),
    ({*TRAINING_ALL, *SCORING, IMPORTING, DATA},
     all_of("s3", "ListBucket"), BUCKET, {"s3:prefix": "rft-output/"}),
    ({IMPORTING}, all_of("s3", "ListBucket"), "arn:aws:s3:::customer-escrow-123456789012-hp-x", {}),
    ({JOB}, all_of("s3", "GetObject"), "arn:aws:s3:::company-logs/bedrock/x", {}),
    ({IMPORTING},
     all_of("s3", "GetObject"), "arn:aws:s3:::customer-escrow-123456789012-hp-x/y", {}),
    (NOBODY, all_of("s3", "GetObject"), "arn:aws:s3:::customer-escrow-999999999999-hp-x/y", {}),
    ({CUSTOMIZE, TRAIN, SUBMIT},
     all_of("s3", "GetObject"), "arn:aws:s3:::jumpstart-cache-prod/x", {}),
    ({*TRAINING_ALL, *SCORING, DATA, AGENT},
     all_of("kms", "GenerateDataKey"), BUCKET_KEY, through("s3")),
    ({*TRAINING_ALL, *SCORING, IMPORTING, DATA, AGENT, SCORER, MACHINE},
     all_of("kms", "Decrypt"), BUCKET_KEY, through("s3")),
    ({WITH_RIGHTS}, all_of("kms", "Decrypt"), OWN_KEY, OF_LOOKUP),
    ({KEYED}, all_of("kms", "Decrypt"), OWN_KEY, OF_AGENT_KEY),
    ({QUEUED, AGENT}, all_of("kms", "Decrypt"), OWN_KEY, through("sqs")),
    ({QUEUED}, all_of("kms", "GenerateDataKey"), OWN_KEY, through("sqs")),
    *(
        ({whose}, all_of("secretsmanager", "GetSecretValue"), secret, {})
        for whose, secret in ((WITH_RIGHTS, LOOKUP), (KEYED, AGENT_KEY), (JUDGE, API_KEY))
    ),
    ({WITH_RIGHTS}, all_of("ssm", "GetParameter"), PLACE, {}),
    ({QUEUED}, all_of("sqs", "SendMessage"), REQUESTS, {}),
    ({AGENT}, all_of("sqs", "ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility",
                     "GetQueueAttributes"), REQUESTS, {}),
    ({OPERATE}, all_of("sqs", "SendMessage"), QUEUE, {}),
    ({SCORER}, WORK_ON_QUEUE, QUEUE, {}),
    ({SCORER}, all_of("sqs", "SendMessage"), DEAD_LETTERS, {}),
    ({OPERATE}, all_of("sqs", "ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility"),
     DEAD_LETTERS, {}),
    (NOBODY, all_of("sqs", "PurgeQueue", "DeleteQueue", "SetQueueAttributes"), DEAD_LETTERS, {}),
    ({SCORER}, OUTBOX, OUTBOX_TABLE, {}),
    ({SCORER}, OUTBOX, f"{OUTBOX_TABLE}/index/queue", {}),
    (NOBODY, all_of("dynamodb", "Scan", "DeleteTable", "GetItem"), OUTBOX_TABLE, {}),
    ({JUDGE}, all_of("dynamodb", "GetItem", "PutItem"), VERDICTS, {}),
    (NOBODY, all_of("dynamodb", "DeleteItem", "Scan"), VERDICTS, {}),
    ({PUBLISHER}, all_of("sns", "Publish"), TOPIC, {}),
    ({WITH_RIGHTS}, all_of("xray", "PutTraceSegments", "PutTelemetryRecords"), "*", {}),
    ({SERVERLESS, MULTI_TURN, INSTANCES, CLUSTER},
     all_of("kms", "GenerateDataKey"), MODEL_KEY, through("s3")),
    ({JOB, JOBS}, all_of("kms", "GenerateDataKey", "CreateGrant"), MODEL_KEY, through("bedrock")),
    ({JOB, JOBS, MULTI_TURN}, all_of("kms", "DescribeKey"), MODEL_KEY, through("bedrock")),
    ({JOB, JOBS, EVALUATE}, all_of("kms", "Decrypt"), MODEL_KEY, through("bedrock")),
    ({AGENT}, all_of("kms", "Decrypt", "GenerateDataKey"), MODEL_KEY, through("sagemaker")),
    ({ROLL_OUT}, all_of("kms", "CreateGrant"), MODEL_KEY, through("sagemaker")),
    ({MULTI_TURN, ROLL_OUT}, all_of("kms", "DescribeKey"), MODEL_KEY, through("sagemaker")),
    ({MULTI_TURN}, all_of("kms", "DescribeKey"), MODEL_KEY, {}),
    (JOINING,
     all_of("ec2", "DescribeVpcs", "DescribeDhcpOptions", "DescribeSecurityGroups"), "*", {}),
    (JOINING | NETWORKED,
     all_of("ec2", "DescribeNetworkInterfaces", "DescribeSubnets"), "*", {}),
    (JOINING | NETWORKED, all_of("ec2", "CreateNetworkInterface"), SUBNET, {}),
    (NETWORKED, all_of("ec2", "CreateNetworkInterface"), OTHER_SUBNET, {}),
    (JOINING | NETWORKED, all_of("ec2", "CreateNetworkInterface"), INTERFACE, ASKED),
    (JOINING - {JOB} | NETWORKED, all_of("ec2", "CreateNetworkInterface"), INTERFACE, {}),
    (JOINING | NETWORKED, all_of("ec2", "DeleteNetworkInterface"), INTERFACE, WITHIN | TAGGED),
    (JOINING - {JOB} | NETWORKED, all_of("ec2", "DeleteNetworkInterface"), INTERFACE, WITHIN),
    *(
        (whose, all_of("ec2", "CreateNetworkInterfacePermission",
                       "DeleteNetworkInterfacePermission"), INTERFACE, context)
        for whose, context in ((JOINING, WITHIN | TAGGED), (JOINING - {JOB}, WITHIN))
    ),
    (JOINING, all_of("ec2", "CreateTags"), INTERFACE, CREATED | {"aws:TagKeys": [*TAGS]}),
    (JOINING - {JOB}, all_of("ec2", "CreateTags"), INTERFACE, CREATED),
    (NETWORKED,
     all_of("ec2", "AssignPrivateIpAddresses", "UnassignPrivateIpAddresses",
            "DeleteNetworkInterface"), INTERFACE, {}),
    *(
        (NETWORKED - {whose}, all_of("ec2", "DeleteNetworkInterface"), INTERFACE,
         {"lambda:SourceFunctionArn": HERE.arn("lambda", f"function:{LOGS_OF[whose]}")})
        for whose in (WITH_RIGHTS, KEYED)
    ),
    ({INSTANCES}, all_of("ecr", "BatchCheckLayerAvailability", "GetDownloadUrlForLayer",
                         "BatchGetImage"), IMAGE, {}),
    (NOBODY, all_of("ecr", "BatchGetImage"), HERE.arn("ecr", "repository/ours"), {}),
    ({INSTANCES}, all_of("ecr", "GetAuthorizationToken"), "*", {}),
    ({INSTANCES}, all_of("cloudwatch", "PutMetricData"), "*", METRICS),
    (NOBODY,
     all_of("cloudwatch", "PutMetricData"), "*", {"cloudwatch:namespace": "RewardFunctions"}),
    ({SERVERLESS, INSTANCES},
     all_of("logs", "CreateLogGroup", "CreateLogStream", "PutLogEvents"), TRAINING_LOG, {}),
    ({MULTI_TURN},
     all_of("logs", "CreateLogGroup", "CreateLogStream", "PutLogEvents"), AGENT_LOG, {}),
    ({SERVERLESS, INSTANCES, CUSTOMIZE, TRAIN},
     all_of("logs", "DescribeLogStreams"), TRAINING_LOG, {}),
    ({CUSTOMIZE, TRAIN}, all_of("logs", "FilterLogEvents", "GetLogEvents"), TRAINING_LOG, {}),
    ({ROLL_OUT}, all_of("logs", "FilterLogEvents", "GetLogEvents"), AGENT_LOG, {}),
    ({MULTI_TURN, ROLL_OUT}, all_of("logs", "DescribeLogStreams"), AGENT_LOG, {}),
    ({SUBMIT},
     all_of("logs", "FilterLogEvents", "GetLogEvents", "DescribeLogStreams"), CLUSTER_LOG, {}),
    *(
        ({DATA}, all_of("logs", "FilterLogEvents", "StartQuery", "GetQueryResults"),
         HERE.arn("logs", f"log-group:/aws/lambda/{LOGS_OF[each]}"), {})
        for each in (VERIFIER, KEYED, QUEUED, SCORER, SHARDS)
    ),
    ({OPERATE}, SEE_ALARMS, "*", {}),
    (NOBODY, all_of("logs", "PutQueryDefinition", "DeleteQueryDefinition"), "*", {}),
    (NOBODY, all_of("cloudwatch", "PutMetricAlarm", "DeleteAlarms", "DisableAlarmActions",
                    "SetAlarmState"), HERE.arn("cloudwatch", "alarm:x"), {}),
    *(
        ({whose}, all_of("logs", "CreateLogStream", "PutLogEvents"),
         HERE.arn("logs", f"log-group:/aws/lambda/{name}:log-stream:x"), {})
        for whose, name in LOGS_OF.items()
    ),
    (NOBODY, all_of("logs", "CreateLogGroup", "DeleteLogGroup"), REWARD_LOG, {}),
    ({RUNTIME}, all_of("logs", "CreateLogGroup", "DescribeLogStreams"), RUNTIME_LOG, {}),
    ({RUNTIME}, all_of("logs", "CreateLogStream", "PutLogEvents"),
     f"{RUNTIME_LOG}:log-stream:x", {}),
    ({RUNTIME, MACHINE}, all_of("logs", "DescribeLogGroups"), HERE.arn("logs", "log-group:x"), {}),
    (PEOPLE, all_of("ssm", "GetParameter", "GetParametersByPath"), PARAMETER, {}),
    ({OPERATE}, all_of("ssm", "PutParameter"), PARAMETER, {}),
    *(
        ({whose} if service == own else NOBODY, all_of("iam", "PassRole"), ROLES[kind],
         {"iam:PassedToService": service})
        for kind, whose, own in (
            (BEDROCK, JOBS, "bedrock.amazonaws.com"),
            (IMPORT, EVALUATE, "bedrock.amazonaws.com"),
            (SAGEMAKER, CUSTOMIZE, "sagemaker.amazonaws.com"),
            (TRAINING, TRAIN, "sagemaker.amazonaws.com"),
            (AGENTS, ROLL_OUT, "job.sagemaker.amazonaws.com"),
        )
        for service in ("bedrock.amazonaws.com", "sagemaker.amazonaws.com",
                        "job.sagemaker.amazonaws.com", "lambda.amazonaws.com")
    ),
    *(
        ({whose}, all_of("iam", "GetRole", "SimulatePrincipalPolicy"), ROLES[kind], {})
        for kind, whose in (
            (BEDROCK, JOBS),
            (SAGEMAKER, CUSTOMIZE),
            (TRAINING, TRAIN),
            (AGENTS, ROLL_OUT),
        )
    ),
    ({JOBS},
     all_of("bedrock", "CreateModelCustomizationJob", "StopModelCustomizationJob"),
     CUSTOMIZATION, {}),
    ({JOBS, OPERATE}, all_of("bedrock", "GetModelCustomizationJob"), CUSTOMIZATION, {}),
    ({JOBS, OPERATE, SCORE}, all_of("bedrock", "ListModelCustomizationJobs"), "*", {}),
    ({JOBS, EVALUATE, OPERATE}, all_of("bedrock", "GetCustomModel"), TUNED, {}),
    ({OPERATE}, all_of("bedrock", "DeleteCustomModel"), TUNED, {}),
    ({JOBS}, all_of("bedrock", "TagResource", "ListTagsForResource"), CUSTOMIZATION, {}),
    ({EVALUATE},
     all_of("bedrock", "TagResource", "ListTagsForResource", "InvokeModel"), HOSTED, {}),
    ({EVALUATE}, all_of("bedrock", "CreateCustomModelDeployment"), TUNED, {}),
    ({EVALUATE},
     all_of("bedrock", "GetCustomModelDeployment", "DeleteCustomModelDeployment"), HOSTED, {}),
    ({EVALUATE}, all_of("bedrock", "ListCustomModels", "ListCustomModelDeployments",
                        "CreateModelImportJob", "CreateCustomModel", "ListModelImportJobs",
                        "ListImportedModels"), "*", {}),
    ({EVALUATE}, all_of("bedrock", "GetModelImportJob"), IMPORT_JOB, {}),
    ({EVALUATE},
     all_of("bedrock", "GetImportedModel", "DeleteImportedModel", "InvokeModel"), IMPORTED, {}),
    ({EVALUATE, SERVERLESS}, all_of("bedrock", "InvokeModel"), NOVA, {}),
    ({EVALUATE, SERVERLESS, JUDGE}, all_of("bedrock", "InvokeModel"), PLAIN_MODEL, {}),
    ({EVALUATE, JUDGE}, all_of("bedrock", "InvokeModel"), GLOBAL, {}),
    ({EVALUATE, JUDGE}, all_of("bedrock", "InvokeModel"), REGIONAL, {}),
    ({EVALUATE, SERVERLESS}, all_of("bedrock", "InvokeModel"), BASE_MODEL, {}),
    ({EVALUATE, SERVERLESS, JUDGE}, all_of("bedrock", "InvokeModel"), BASE_MODEL, behind(GLOBAL)),
    ({EVALUATE, JUDGE}, all_of("bedrock", "InvokeModel"), MODEL_THERE, behind(REGIONAL)),
    ({EVALUATE}, all_of("bedrock", "InvokeModel"), MODEL_THERE, behind(GLOBAL)),
    ({EVALUATE}, all_of("bedrock", "InvokeModel"), MODEL_NOWHERE, behind(GLOBAL)),
    ({EVALUATE, JUDGE}, all_of("bedrock", "InvokeModel"), MODEL_NOWHERE,
     behind(GLOBAL) | {"aws:RequestedRegion": "unspecified"}),
    ({JOBS}, all_of("bedrock-mantle", "CreateFile", "GetFile", "ListFiles", "DeleteFile",
                    "CreateFineTuningJob", "GetFineTuningJob", "ListFineTuningJobs",
                    "CancelFineTuningJob", "CreateInference", "GetInference", "GetModel",
                    "ListModels", "GetProject", "ListProjects"), PROJECT, {}),
    ({JOBS}, all_of("bedrock-mantle", "CallWithBearerToken"), "*", {}),
    ({MULTI_TURN, ROLL_OUT},
     all_of("bedrock-agentcore", "InvokeAgentRuntime", "GetAgentRuntime"),
     AGENT_RUNTIME, {}),
    ({MULTI_TURN}, all_of("bedrock-agentcore", "StopRuntimeSession"), AGENT_RUNTIME, {}),
    ({AGENT}, all_of("sagemaker", "Sample", "SampleWithResponseStream"), AGENT_JOB, {}),
    ({AGENT, SCORER}, all_of("sagemaker", "CompleteRollout", "UpdateReward"), AGENT_JOB, {}),
    ({AGENT}, all_of("sagemaker", "CallWithBearerToken"), "*", {}),
    ({CUSTOMIZE, TRAIN},
     all_of("sagemaker", "CreateTrainingJob", "StopTrainingJob", "AddTags", "ListTags"),
     TRAINING_JOB, {}),
    ({CUSTOMIZE, TRAIN, OPERATE}, all_of("sagemaker", "DescribeTrainingJob"), TRAINING_JOB, {}),
    ({CUSTOMIZE, TRAIN, OPERATE, SCORE}, all_of("sagemaker", "ListTrainingJobs"), "*", {}),
    ({ROLL_OUT},
     all_of("sagemaker", "CreateJob", "StopJob", "DeleteJob", "AddTags", "ListTags"),
     AGENT_JOB, {}),
    ({ROLL_OUT, OPERATE}, all_of("sagemaker", "DescribeJob"), AGENT_JOB, {}),
    ({ROLL_OUT, OPERATE}, all_of("sagemaker", "ListJobs"), "*", {}),
    ({ROLL_OUT}, all_of("sagemaker", "ListJobSchemaVersions", "DescribeJobSchemaVersion"), "*", {}),
    (FOLLOWING, all_of("sagemaker", "ListMlflowApps"), "*", {}),
    ({SUBMIT}, all_of("sagemaker", "DescribeCluster"), HYPERPOD, {}),
    ({SUBMIT}, all_of("eks", "DescribeCluster", "ListAddons"), EKS, {}),
    ({SUBMIT}, all_of("sagemaker", "ListClusters"), "*", {}),
    ({SERVERLESS, CUSTOMIZE}, all_of("sagemaker", "DescribeHub"), HUB, {}),
    ({CUSTOMIZE}, all_of("sagemaker", "CreateHub"), HUB, {}),
    ({CUSTOMIZE}, all_of("sagemaker", "ImportHubContent"), EVALUATOR, {}),
    ({SERVERLESS, MULTI_TURN, CUSTOMIZE, OPERATE},
     all_of("sagemaker", "DescribeHubContent"), EVALUATOR, {}),
    ({SERVERLESS, MULTI_TURN, *FOLLOWING}, all_of("sagemaker", "DescribeHubContent"), PUBLIC, {}),
    (FOLLOWING, all_of("sagemaker", "ListHubContents", "ListHubContentVersions"), PUBLIC, {}),
    ({SERVERLESS, CUSTOMIZE, ROLL_OUT}, all_of("sagemaker", "CreateModelPackageGroup"), GROUP, {}),
    ({SERVERLESS, MULTI_TURN, CUSTOMIZE, ROLL_OUT},
     all_of("sagemaker", "DescribeModelPackageGroup"), GROUP, {}),
    ({SERVERLESS, MULTI_TURN}, all_of("sagemaker", "CreateModelPackage"), PACKAGE, {}),
    ({SERVERLESS, MULTI_TURN, IMPORTING, EVALUATE, OPERATE, CUSTOMIZE, ROLL_OUT},
     all_of("sagemaker", "DescribeModelPackage"), PACKAGE, {}),
    ({SERVERLESS}, all_of("sagemaker", "UpdateModelPackage"), PACKAGE, {}),
    ({MULTI_TURN, IMPORTING}, all_of("sagemaker", "AccessModelPackage"), PACKAGE, {}),
    ({SERVERLESS, EVALUATE, CUSTOMIZE, ROLL_OUT},
     all_of("sagemaker", "ListModelPackages"), PACKAGE, {}),
    ({SERVERLESS, CUSTOMIZE, ROLL_OUT}, all_of("sagemaker", "AddTags"), PACKAGE, {}),
    ({OPERATE}, all_of("sagemaker", "DeleteModelPackage"), PACKAGE, {}),
    ({*FIGURES, MULTI_TURN, *FOLLOWING},
     all_of("sagemaker", "DescribeMlflowApp", "CallMlflowAppApi"), APP, {}),
    ({*FIGURES, MULTI_TURN, *FOLLOWING},
     all_of("sagemaker-mlflow", "GetRun", "GetMetricHistory"), APP, {}),
    ({*FIGURES, *FOLLOWING}, all_of("sagemaker-mlflow", "GetExperiment", "SearchRuns"), APP, {}),
    (FOLLOWING, all_of("sagemaker", "CreatePresignedMlflowAppUrl"), APP, {}),
    (FOLLOWING, all_of("sagemaker-mlflow", "AccessUI"), APP, {}),
    ({*FIGURES, MULTI_TURN}, all_of("sagemaker-mlflow", "GetExperimentByName", "ListArtifacts",
                                    "CreateExperiment", "CreateRun", "UpdateRun", "LogBatch"),
     APP, {}),
    (FIGURES, all_of("sagemaker-mlflow", "SearchExperiments", "LogMetric", "LogParam", "LogModel",
                     "LogInputs", "SetTag"), APP, {}),
    ({MULTI_TURN}, all_of("sagemaker-mlflow", "StartTrace", "EndTrace", "SearchTraces"), APP, {}),
    # What no policy of a stage grants to anybody.
    (NOBODY, all_of("sagemaker", "CreateTrainingSession", "UpdateCluster", "DeleteCluster",
                    "DeleteHubContent", "CreateEndpoint"), "*", {}),
    (NOBODY, all_of("eks", "AccessKubernetesApi", "CreateAccessEntry"), EKS, {}),
    (NOBODY, all_of("ssm", "StartSession"), "*", {}),
    (NOBODY, all_of("iam", "CreateRole", "PutRolePolicy", "AttachRolePolicy"), ROLES[BEDROCK], {}),
    (NOBODY,
     all_of("lambda", "UpdateFunctionCode", "UpdateFunctionConfiguration", "GetFunction"),
     REWARD, {}),
    (NOBODY, all_of("s3", "PutBucketPolicy", "PutLifecycleConfiguration"), BUCKET, {}),
]  # fmt: skip


@pytest.fixture(scope="module")
def everybody():
    return documents()


FUNCTIONS = {VERIFIER, WITH_RIGHTS, JUDGE, KEYED, QUEUED, CUSTODIAN, SCORER, SHARDS}


def test_everybody_stands_in_the_table(everybody):
    others = {IMPORTING, AGENT, PUBLISHER, RUNTIME, MACHINE}
    assert {*everybody} == {*PEOPLE, *TRAINING_ALL, *FUNCTIONS, *others}
    assert {*LOGS_OF} == FUNCTIONS


def whoever(everybody, action, resource, context):
    """Who may: one of whose documents allows it, and none refuses it."""
    return {
        name
        for name, given in everybody.items()
        if decided(
            {"Statement": [each for one in given for each in one["Statement"]]},
            action,
            resource,
            context,
        )
    }


ROWS = [(who, action, *rest) for who, named, *rest in TABLE for action in named]


@pytest.mark.parametrize(("who", "action", "resource", "context"), ROWS)
def test_whoever_a_row_names_may_and_nobody_else(everybody, who, action, resource, context):
    assert whoever(everybody, action, resource, context) == who


ELSEWHERE = {
    "another account": [("123456789012", "999999999999")],
    "another region": [("eu-central-1", "eu-west-1")],
    "another bucket": [(f"{BUCKET}/", f"{BUCKET}-2/")],
    "a stage whose name begins as this one's": [
        ("everything__", "everything_eu__"),
        ("everything", "everything-eu"),
    ],
    "a stage with a prefix": [
        (name, f"acme-{name}")
        for name in (
            *("SageMaker-re", "SageMaker-ro", "sagemaker-rollouts"),
            *("reward-custodian", "reward-verdicts", "reward-scale"),
        )
    ],
}
"""What to replace in a resource so that it is not this stage's, by what it is then."""

THERE_TOO = {
    # An immutable function that left the stage is known by the beginning of its name alone, and so
    # is a version that was kept ready: the custodian and `prune` look whose it is before.
    ("a stage whose name begins as this one's", "lambda:DeleteFunction"): {OPERATE, CUSTODIAN},
    ("a stage whose name begins as this one's", "lambda:ListTags"): {CUSTODIAN},
    ("a stage whose name begins as this one's", "lambda:DeleteProvisionedConcurrencyConfig"): {
        CUSTODIAN
    },
    # A list, granted on everything as well.
    **{
        (where, "sagemaker:ListModelPackages"): {EVALUATE, CUSTOMIZE, ROLL_OUT}
        for where in ("another account", "another region")
    },
    # A list; what delivers the state machine's log is granted on everything, as AWS's guide asks.
    **{
        (where, "logs:DescribeLogGroups"): {MACHINE}
        for where in ("another account", "another region")
    },
    # Behind an inference profile of this account, which may lead to any region.
    ("another region", "bedrock:InvokeModel"): {EVALUATE},
}
"""Who may, where a policy cannot tell it from the stage's own."""


@pytest.mark.parametrize("where", ELSEWHERE)
def test_nobody_may_where_it_is_not_the_stage_s(everybody, where):
    named = {(action, resource) for _, action, resource, _ in ROWS}
    wrong = {}
    for _, action, resource, context in ROWS:
        other = resource
        for this, that in ELSEWHERE[where]:
            other = other.replace(this, that)
        if (action, other) not in named:
            may = whoever(everybody, action, other, context)
            if may - THERE_TOO.get((where, action), set()):
                wrong[action, other] = may
    assert wrong == {}


def test_every_key_of_a_context_counts(everybody):
    """Without it, or with another value, nobody may but by a row that does not ask for it."""
    wrong = {}
    for _, action, resource, context in ROWS:
        for key in context:
            rest = {name: value for name, value in context.items() if name != key}
            for changed in (rest, rest | {key: "another"}):
                others = (
                    who
                    for who, acts, what, when in ROWS
                    if (acts, what) == (action, resource) and when.items() <= changed.items()
                )
                may = whoever(everybody, action, resource, changed)
                if may - set().union(*others):
                    wrong[action, resource, str(changed)] = may
    assert wrong == {}


def test_whatever_is_granted_has_a_row(everybody):
    granted = {
        (name, action)
        for name, given in everybody.items()
        for each in given
        for statement in each["Statement"]
        for action in statement["Action"]
        if statement["Effect"] == "Allow"
    }
    shown = {(name, action) for who, action, *_ in ROWS for name in who}
    assert shown == granted


def test_every_action_is_one_of_iam_s(everybody):
    granted = {
        action
        for given in everybody.values()
        for each in given
        for statement in each["Statement"]
        for action in statement["Action"]
    }
    unknown = {
        each
        for each in granted
        for service, _, name in [each.partition(":")]
        if name.lower() not in reference()[service]["Actions"]
    }
    assert unknown == set()


SYNTHESISED = ["everything", "judged", "company", "agents", "deferred"]


@pytest.mark.parametrize("name", SYNTHESISED)
def test_no_statement_of_a_template_is_nobody_s_here(everybody, synthesised, name):
    known = {
        (statement["Sid"].rstrip("0123456789"), action)
        for given in everybody.values()
        for each in given
        for statement in each["Statement"]
        for action in statement["Action"]
    }
    template = synthesised(name).template["Resources"].values()
    found = {
        (statement.get("Sid", "").rstrip("0123456789"), action)
        for each in template
        for document in policies(each)
        for statement in document["Statement"]
        for action in among(statement["Action"])
    }
    stated = {each for each in found if each[0] == "Stated"}
    assert found - stated <= known
    assert found


def policies(resource):
    """The documents of a role or a policy of a template."""
    properties = resource.get("Properties", {})
    if resource["Type"] == "AWS::IAM::Role":
        return [each["PolicyDocument"] for each in properties.get("Policies", ())]
    return [properties["PolicyDocument"]] if resource["Type"] in POLICIES else []


POLICIES = {"AWS::IAM::Policy", "AWS::IAM::ManagedPolicy"}


def test_everybody_has_a_row_on_the_page_of_the_deployment():
    shown = {name for row in rights_page.ROWS for name in row.documents}
    assert shown | {*rights_page.PEOPLE} == documents().keys()
    _, *people = rights_page.TABLES["rights-people"]()
    for task, whom, held in people:
        assert whom
        assert not whom.startswith("For "), task
        assert held.startswith("read catalogue (`ssm:` GetParameter"), task
    _, *roles = rights_page.TABLES["rights-roles"]()
    (judge,) = (may for who, may, *_ in roles if who == "a judge")
    assert "ask models" in judge
    assert "denied: ask nothing that moves" in dict(row[:2] for row in roles)[SCORER]


@pytest.mark.parametrize("name", SYNTHESISED)
def test_a_service_acts_for_this_stage_s_account_alone(synthesised, name):
    """Lambda runs functions in roles of their own account, which were handed over; a rule of events
    is named by its ARN, which has the account."""
    template = synthesised(name).template["Resources"].values()
    acting = [
        (statement["Principal"]["Service"], statement.get("Condition", {}))
        for each in template
        for kind in ("AssumeRolePolicyDocument", "PolicyDocument", "KeyPolicy")
        for statement in each.get("Properties", {}).get(kind, {}).get("Statement", ())
        if statement["Effect"] == "Allow" and "Service" in statement.get("Principal", ())
    ]
    services = {service for service, _ in acting}
    assert {"lambda.amazonaws.com", "bedrock.amazonaws.com"} <= services
    for service, condition in acting:
        keys = {key for each in condition.values() for key in each}
        named = {"lambda.amazonaws.com": set(), "events.amazonaws.com": {"aws:SourceArn"}}
        assert keys >= named.get(service, {"aws:SourceAccount"}), service
