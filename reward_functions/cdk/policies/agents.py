"""The rights around an agent, beside `sagemaker.run_agent`: its runtime, and what asks it.

    trust_runtime   AgentCore, for this account's runtimes of one name
    start_agent     read its own code, write its own log, and keep results in buckets that it names
    hand_on         a forwarder: send to one queue, read one secret, and use the keys of the two
    read_queues     an agent that is asked by way of a queue of the stage's own

`cdk.policies.own_rights.join_network` is for a forwarder that reaches its agent in a VPC.

Sources: "Least-privilege policies" of SQS and "Encryption at rest" of both services for their keys.
    "IAM Permissions for AgentCore Runtime" of the AgentCore developer guide, execution role. They
    are narrowed to one object and one runtime's log groups. Traces, metrics and identities are left
    out, which our server does not use. CDK's own construct of 2.275 trusts the same way and grants
    the whole bucket. None of it has been used on AWS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.cdk.policies.iam import USE_DATA, allow, document, through, trust_own
from reward_functions.cdk.policies.own_rights import read_secrets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.cdk.policies.iam import Document, Place


def runtime_arn(place: Place, name: str) -> str:
    """A runtime as a grant names it: AWS puts ten characters after its name, which has no hyphen.

    Args:
        place: where it runs.
        name: its own.
    """
    return place.arn("bedrock-agentcore", f"runtime/{name}-*")


def trust_runtime(place: Place, name: str) -> Document:
    """AgentCore runs this account's runtime of this name in this role, and nobody else's."""
    return trust_own(place, "bedrock-agentcore.amazonaws.com", [runtime_arn(place, name)])


def start_agent(
    place: Place, name: str, code_arn: str, result_buckets: Sequence[str] = ()
) -> Document:
    """The rights of a runtime before and while an agent runs in it.

    Args:
        place: where it runs.
        name: of the runtime.
        code_arn: of the object of S3 that it is unpacked from.
        result_buckets: that results of rollouts are put into, and read from: after a lost reply the
            agent looks whether the object is its own.
    """
    results = [f"arn:{place.partition}:s3:::{bucket}/*" for bucket in result_buckets]
    group = place.arn("logs", f"log-group:/aws/bedrock-agentcore/runtimes/{name}-*")
    return document(
        allow("ReadCode", ["s3:GetObject"], [code_arn]),
        allow("KeepRuntimeLog", ["logs:CreateLogGroup", "logs:DescribeLogStreams"], [group]),
        allow(
            "WriteRuntimeLog",
            ["logs:CreateLogStream", "logs:PutLogEvents"],
            [f"{group}:log-stream:*"],
        ),
        allow("FindLogGroups", ["logs:DescribeLogGroups"], [place.arn("logs", "log-group:*")]),
        allow("KeepResults", ["s3:PutObject", "s3:GetObject"], results),
    )


def hand_on(
    place: Place, *, queue_arn: str = "", secret_arn: str = "", key_arn: str = ""
) -> Document:
    """The rights of a forwarder beside writing its log; without a statement where it needs nothing.

    Args:
        place: where the function runs.
        queue_arn: of the queue that its agent reads; "" where it asks a URL.
        secret_arn: of the secret that holds the agent's key; "" for none.
        key_arn: of the KMS key that encrypts queue or secret; "" for AWS's own.
    """
    if secret_arn:
        return read_secrets(place, [(secret_arn, key_arn)])
    return document(
        allow("SendToAgent", ["sqs:SendMessage"], [queue_arn]),
        through("sqs", place, "EncryptRequests", USE_DATA, key_arn),
    )


def read_queues(place: Place, queue_arns: Sequence[str], key_arns: Sequence[str]) -> list[Document]:
    """The statements by which an agent takes its requests from queues.

    Args:
        place: where the queues are.
        queue_arns: of the queues.
        key_arns: of the KMS keys that encrypt them; none for AWS's own.
    """
    actions = ("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility")
    opening = [
        through("sqs", place, f"OpenRequests{number}", ["kms:Decrypt"], key)
        for number, key in enumerate(dict.fromkeys(key_arns), 1)
    ]
    return [allow("TakeRequests", [*actions, "sqs:GetQueueAttributes"], queue_arns), *opening]
