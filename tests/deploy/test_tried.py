"""What may and may not be done, tried on the emulator, which enforces what IAM says.

Each who is a user with the very policies of a deployed role, or one of the stage's, or with the
documents that a stage with forwarders and a table of verdicts would deploy. What is asked for need not
exist: who may is told that it does not, and who may not is refused before. Of these services the
emulator checks action, resource and a bucket's prefix; what depends on other keys (KMS, namespaces of
metrics, who a role is handed to) is decided by the documents in tests/cdk/test_who_may_what.py, and
so is SNS, which the emulator lets everybody use.
"""  # noqa: E501

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from reward_functions.aws.names import Names
from reward_functions.cdk.policies import agents, permissions
from reward_functions.cdk.policies.iam import Place
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from tests.deploy.what import AGENT, STAGE
from tests.rights_page import ROWS

HERE = Place("aws", "us-east-1", "000000000000")
NAMES = Names(STAGE)

SERVERLESS, MULTI_TURN, INSTANCES, IMPORTING = (
    f"{kind} role" for kind in ("sagemaker", "agent", "training_job", "import")
)
CLUSTER, TRAIN, SUBMIT, AGENTS = "cluster", "training", "hyperpod", "agents"
CUSTODIAN, JUDGE = "custodian", "judge with a cache"
QUEUED, KEYED = "forwarder with a queue", "forwarder with a secret"

TRIED = [
    # who, service, operation, its arguments, whether
    *(
        (who, "lambda", "invoke", {"FunctionName": "{gsm8k}:1", "Payload": "[]"}, may)
        for who, may in (
            (SERVERLESS, True),
            (INSTANCES, True),
            (CLUSTER, True),
            (CUSTODIAN, True),
            (MULTI_TURN, False),
            (IMPORTING, False),
            (TRAIN, False),
            (SUBMIT, False),
            (AGENTS, False),
            (QUEUED, False),
        )
    ),
    (INSTANCES, "lambda", "invoke", {"FunctionName": AGENT}, False),
    (MULTI_TURN, "lambda", "invoke", {"FunctionName": AGENT}, True),
    (AGENTS, "lambda", "invoke", {"FunctionName": AGENT}, True),
    *(
        (who, "s3", "get_object", {"Bucket": "{bucket}", "Key": key}, may)
        for who in (SERVERLESS, MULTI_TURN, INSTANCES, CLUSTER, IMPORTING)
        for key, may in (
            ("rft-data/none", who != IMPORTING),
            ("rft-output/none", True),
            ("elsewhere", False),
        )
    ),
    *(
        (who, "s3", operation, {"Bucket": "{bucket}", "Key": "rft-data/none"}, False)
        for who in (SERVERLESS, MULTI_TURN, INSTANCES, CLUSTER, IMPORTING)
        for operation in ("put_object", "delete_object")
    ),
    *(
        (who, "s3", "list_objects_v2", {"Bucket": "{bucket}", "Prefix": prefix}, may)
        for who in (MULTI_TURN, INSTANCES, CLUSTER, IMPORTING)
        for prefix, may in (("rft-output/", True), ("", False))
    ),
    (INSTANCES, "ecr", "get_authorization_token", {}, True),
    (CLUSTER, "ecr", "get_authorization_token", {}, False),
    *(
        (who, "logs", "filter_log_events", {"logGroupName": f"/aws/{group}"}, may)
        for who, group, may in (
            (TRAIN, "sagemaker/TrainingJobs", True),
            (TRAIN, "lambda/SageMaker-reward-local-gsm8k", False),
            (SUBMIT, "sagemaker/Clusters/a/b", True),
            (SUBMIT, "sagemaker/TrainingJobs", False),
            (AGENTS, "sagemaker/Job/AgentRFT", True),
            (AGENTS, "sagemaker/TrainingJobs", False),
        )
    ),
    (SUBMIT, "eks", "describe_cluster", {"name": "none"}, True),
    (SUBMIT, "eks", "delete_cluster", {"name": "none"}, False),
    (TRAIN, "eks", "describe_cluster", {"name": "none"}, False),
    (CUSTODIAN, "s3", "list_object_versions", {"Bucket": "{bucket}"}, True),
    (CUSTODIAN, "s3", "list_object_versions", {"Bucket": "{results}"}, True),
    (CUSTODIAN, "s3", "list_object_versions", {"Bucket": "of-another"}, False),
    (CUSTODIAN, "s3", "delete_object", {"Bucket": "{results}", "Key": "rollouts/none"}, True),
    (CUSTODIAN, "s3", "get_object", {"Bucket": "{results}", "Key": "rollouts/none"}, False),
    (CUSTODIAN, "iam", "list_roles", {}, True),
    (CUSTODIAN, "iam", "delete_role", {"RoleName": "of-another"}, False),
    (CUSTODIAN, "lambda", "delete_function", {"FunctionName": "of-another"}, False),
    (QUEUED, "sqs", "send_message", {"QueueUrl": "{own queue}", "MessageBody": "tried"}, True),
    (QUEUED, "sqs", "receive_message", {"QueueUrl": "{own queue}"}, False),
    (QUEUED, "sqs", "send_message", {"QueueUrl": "{queue}", "MessageBody": "tried"}, False),
    (KEYED, "secretsmanager", "get_secret_value", {"SecretId": "{secret}"}, True),
    (KEYED, "secretsmanager", "describe_secret", {"SecretId": "{secret}"}, False),
    (QUEUED, "secretsmanager", "get_secret_value", {"SecretId": "{secret}"}, False),
    *(
        (who, "dynamodb", "get_item", {"TableName": table, "Key": {"key": {"S": "none"}}}, may)
        for who, table, may in (
            (JUDGE, "reward-verdicts-local", True),
            (JUDGE, "{outbox}", False),
            (KEYED, "reward-verdicts-local", False),
        )
    ),
    (JUDGE, "dynamodb", "scan", {"TableName": "reward-verdicts-local"}, False),
]  # fmt: skip


@pytest.fixture(scope="module")
def there(stage):
    """What the arguments name; the queue and the secret of forwarders are made here."""
    sqs, secrets = stage.session.client("sqs"), stage.session.client("secretsmanager")
    queue = sqs.create_queue(QueueName=NAMES.rollouts("tried"))["QueueUrl"]
    secret = secrets.create_secret(Name="tried", SecretString="key")["ARN"]
    feedback = stage.shared.feedback
    yield {
        "gsm8k": stage.catalogue["gsm8k"].function_arn,
        "bucket": stage.shared.bucket,
        "results": feedback.results_bucket,
        "queue": feedback.queue_url,
        "outbox": feedback.outbox_table,
        "own queue": queue,
        "secret": secret,
    }
    sqs.delete_queue(QueueUrl=queue)
    secrets.delete_secret(SecretId=secret, ForceDeleteWithoutRecovery=True)


@pytest.fixture(scope="module")
def session_of(stage, there):
    """The session of a user with somebody's policies."""
    iam = stage.session.client("iam")
    asking = JudgeConfig(models=(JudgeModel(model="nova"),), cache_table=NAMES.verdicts)
    queue = HERE.arn("sqs", NAMES.rollouts("tried"))
    made = {
        JUDGE: {"judge": permissions.ask_judge(HERE, asking)},
        QUEUED: {"forward": agents.hand_on(HERE, queue_arn=queue)},
        KEYED: {"forward": agents.hand_on(HERE, secret_arn=there["secret"])},
    }
    attached = {
        CLUSTER: stage.shared.hyperpod_runtime_policy_arn,
        **{task: getattr(stage.shared, f"{task}_policy_arn") for task in (TRAIN, SUBMIT, AGENTS)},
    }

    def inline(role):
        return {
            name: iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
            for name in iam.list_role_policies(RoleName=role)["PolicyNames"]
        }

    def documents(who):
        if who in made:
            return made[who]
        if who == CUSTODIAN:
            function = stage.session.client("lambda").get_function_configuration(
                FunctionName=NAMES.custodian
            )
            return inline(function["Role"].rpartition("/")[2])
        named = getattr(stage.shared, f"{who.removesuffix(' role')}_role_arn")
        return inline(named.rpartition("/")[2])

    @cache
    def session(who):
        user = f"tries-{who.replace(' ', '-')}"
        iam.create_user(UserName=user)
        if who in attached:
            iam.attach_user_policy(UserName=user, PolicyArn=attached[who])
        else:
            for name, document in documents(who).items():
                iam.put_user_policy(
                    UserName=user, PolicyName=name, PolicyDocument=json.dumps(document)
                )
        key = iam.create_access_key(UserName=user)["AccessKey"]
        return stage.aws.session(
            aws_access_key_id=key["AccessKeyId"], aws_secret_access_key=key["SecretAccessKey"]
        )

    return session


@pytest.mark.parametrize(
    "row", TRIED, ids=lambda row: " ".join((*row[:3], *map(str, row[3].values())))
)
def test_who_may_does_and_who_may_not_is_refused(session_of, there, row):
    who, service, operation, arguments, may = row
    given = {
        name: each.format_map(there) if isinstance(each, str) and "{" in each else each
        for name, each in arguments.items()
    }
    client = session_of(who).client(service)
    assert allowed(getattr(client, operation), given) == may


def allowed(call, given):
    """Whether a call is not refused; read whole, as what is left in a connection warns later."""
    try:
        answer = call(**given)
    except ClientError as error:
        return error.response["Error"]["Code"] not in ("AccessDenied", "AccessDeniedException")
    for name in {"Payload", "Body"} & answer.keys():
        answer[name].read()
    return True


SHOWN = {
    SERVERLESS: "SageMaker's serverless jobs",
    INSTANCES: "SageMaker's training jobs",
    CLUSTER: "a HyperPod cluster's jobs",
    MULTI_TURN: "multi-turn jobs",
    IMPORTING: "imports",
    QUEUED: "a forwarder",
    KEYED: "a forwarder",
    JUDGE: "a judge",
    CUSTODIAN: "the custodian",
    AGENTS: "`agents`, `training`, `hyperpod`",
    TRAIN: "`agents`, `training`, `hyperpod`",
    SUBMIT: "`agents`, `training`, `hyperpod`",
}
"""In which row of the documentation who is tried here stands."""

ENFORCED_ELSEWHERE = {
    "Bedrock's jobs": "test_permissions",
    "who takes a role on": "test_permissions",
    "`data`, `jobs`, `evaluate`, `operate`": "test_permissions",
    "an agent": "test_feedback",
    "the function of deferred rewards": "test_feedback",
    "`operate`, with `feedback`": "test_feedback",
    "a reward with rights of its own": "test_rights",
    "the function of shards": "test_scale",
    "`score`": "test_scale",
}
"""The other rows that say so, and the tests beside these that hold them."""


def test_the_documentation_calls_enforced_what_is_tried():
    said = {row.who for row in ROWS if "enforced" in row.checked}
    assert {*SHOWN} == {row[0] for row in TRIED}
    assert said == {*SHOWN.values(), *ENFORCED_ELSEWHERE}
    for name in ENFORCED_ELSEWHERE.values():
        assert (Path(__file__).parent / f"{name}.py").exists()
