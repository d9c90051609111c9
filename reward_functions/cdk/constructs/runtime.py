"""What the functions of a stage have in common: Python, processor, JSON logs, joining a VPC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from aws_cdk import aws_lambda as lambda_

from reward_functions.cdk.constructs import nag

if TYPE_CHECKING:
    from constructs import Construct

    from reward_functions.cdk.model.stages import Stage
    from reward_functions.cdk.policies.deployments_own_rights import FunctionVpc


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
    nag.acknowledge(
        function,
        "L1",
        "The stage says which Python runs; bytecode in the artifact is of that version.",
    )
    return function
