"""The functions of a stage have in common: Python, processor, JSON logs, joining a VPC.

These parts outlive a stack: in production what was stored and logged, and what jobs may still use.

cdk-nag's AwsSolutions rules at every synth, and every finding we accept, with its reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from aws_cdk import Acknowledgment, RemovalPolicy, Validations
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs

if TYPE_CHECKING:
    from constructs import Construct

    from reward_functions.cdk.model.stages import Stage
    from reward_functions.cdk.policies.own_rights import FunctionVpc

PACK: Final = "AwsSolutions"


def check(scope: Construct) -> None:
    """Apply the rules to a construct tree: a finding without an acknowledgement fails the synth."""
    from cdk_nag import AwsSolutionsChecks  # noqa: PLC0415 - a second, and an emulator needs none

    Validations.of(scope).add_plugins(AwsSolutionsChecks(scope))


def acknowledge(construct: Construct, rule: str, reason: str) -> None:
    """Accept one finding on one resource.

    Args:
        construct: the resource.
        rule: such as `S1`, or `IAM5[Resource::…]` for one of several findings.
        reason: why it is right here.
    """
    Validations.of(construct).acknowledge(
        Acknowledgment(id=f"{PACK}::{PACK}-{rule}", reason=reason)
    )


def python_function(
    scope: Construct, name: str, stage: Stage, *, vpc: FunctionVpc | None = None, **given: Any
) -> lambda_.Function:
    """A function on the Python and the processor of a stage.

    Args:
        scope: what it belongs to.
        name: in the construct tree.
        stage: says what it runs on.
        vpc: the network that it is in; its role has the rights to join already.
        given: the other properties, as `lambda_.Function` takes them.
    """
    function = lambda_.Function(
        scope,
        name,
        # As CDK names it, also where CDK does not know it yet.
        runtime=lambda_.Runtime(
            f"python{stage.python}", lambda_.RuntimeFamily.PYTHON, supports_snap_start=True
        ),
        architecture=(
            lambda_.Architecture.ARM_64
            if stage.architecture == "arm64"
            else lambda_.Architecture.X86_64
        ),
        logging_format=lambda_.LoggingFormat.JSON,
        **given,
    )
    if vpc:
        # CDK's own property would want the VPC of these ids, and add rights to the role.
        made = cast("lambda_.CfnFunction", function.node.default_child)
        made.vpc_config = lambda_.CfnFunction.VpcConfigProperty(
            subnet_ids=[*vpc.subnets], security_group_ids=[*vpc.security_groups]
        )
    acknowledge(
        function,
        "L1",
        "The stage says which Python runs; bytecode in the artifact is of that version.",
    )
    return function


OUTLIVES: Final = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
"""What failed when it was made goes again, for the next deployment to make it anew."""


def kept(stage: Stage) -> RemovalPolicy:
    """Of what was stored and logged: it stays in production, and goes with any other stage."""
    return OUTLIVES if stage.production else RemovalPolicy.DESTROY


def retention(stage: Stage) -> logs.RetentionDays:
    """For how long logs are kept: a month; a year in production."""
    return logs.RetentionDays.ONE_YEAR if stage.production else logs.RetentionDays.ONE_MONTH


def log_group(scope: Construct, function: str, stage: Stage) -> logs.LogGroup:
    """The log of a function, by the function's physical name."""
    return logs.LogGroup(
        scope,
        "Logs",
        log_group_name=f"/aws/lambda/{function}",
        retention=retention(stage),
        removal_policy=kept(stage),
    )
