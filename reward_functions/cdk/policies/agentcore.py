"""What a runtime of AgentCore may do beside `sagemaker.run_agent`, and who takes its role on.

    trust_runtime   AgentCore, for this account's runtimes of one name
    start_agent     read its own code, write its own log, and keep results in buckets that it names

Source: "IAM Permissions for AgentCore Runtime" of the AgentCore developer guide, execution role;
narrowed to one object, one runtime's log groups, and without traces, metrics and identities, which
our server does not use. CDK's own construct of 2.275 trusts the same way and grants the whole
bucket. None of it has been used on AWS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.cdk.policies.iam import allow, document, trust_own

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.cdk.policies.iam import Document, Place


def runtime_arn(place: Place, name: str) -> str:
    """A runtime as a grant names it: AWS puts ten characters behind its name, which has no hyphen.

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
    """What a runtime does before and while an agent runs in it.

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
