"""The agents of a stage on Bedrock AgentCore: a stack beside the stage's, opt-in.

A deployment changes what the endpoint DEFAULT of a runtime leads to, also while a job asks it: it
is for the time between jobs.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import aws_cdk as cdk
from aws_cdk import aws_bedrockagentcore as agentcore
from aws_cdk import aws_s3_assets as s3_assets
from constructs import Construct

from reward_functions.cdk.constructs.artifacts import MAIN
from reward_functions.cdk.constructs.codes import zips
from reward_functions.cdk.constructs.roles import bound, place_of, role
from reward_functions.cdk.constructs.stack import pascal
from reward_functions.cdk.policies.agents import start_agent, trust_runtime
from reward_functions.cdk.policies.sagemaker import run_agent

if TYPE_CHECKING:
    from aws_cdk import aws_kms as kms

    from reward_functions.cdk.constructs.artifacts import AgentArtifacts
    from reward_functions.cdk.constructs.codes import Zip
    from reward_functions.cdk.model.rollouts import Agent
    from reward_functions.cdk.model.stages import Stage


class AgentStack(cdk.Stack):
    """The agents of a stage of `cdk.json`, in the order of their names.

    Args:
        scope: the app.
        stage: what to deploy, checked.
        artifacts: what they run from; built here, unless the command needs no assets.
        key: what encrypts the results of deferred rewards; None for S3's own.
    """

    def __init__(
        self,
        scope: Construct,
        *,
        stage: Stage,
        artifacts: AgentArtifacts,
        key: kms.IKey | None,
    ) -> None:
        super().__init__(
            scope,
            stage.names.agents_stack,
            env=cdk.Environment(account=stage.account, region=stage.region),
            description=f"Agents for reinforcement fine-tuning on AgentCore, stage {stage.name}",
            tags=stage.tags,
        )
        if stage.permissions_boundary:
            bound(self, stage.permissions_boundary)
        ordered = sorted(stage.agents, key=lambda each: each.name)
        built = zips(self, {each.name: partial(artifacts.of_agent, each) for each in ordered})
        agents = Construct(self, "Agents")
        for each in ordered:
            scoped = Construct(agents, each.name)
            runtime = _runtime(scoped, each, stage, built[each.name], key=key)
            output = f"Agent{pascal(each.name)}"
            cdk.CfnOutput(self, output, value=runtime.attr_agent_runtime_arn)


def _runtime(
    scope: Construct, agent: Agent, stage: Stage, built: Zip, *, key: kms.IKey | None
) -> agentcore.CfnRuntime:
    place, name = place_of(scope), agent.runtime_name(stage.names)
    code = s3_assets.Asset(
        scope,
        "Code",
        path=str(built.path),
        asset_hash=built.digest,
        asset_hash_type=cdk.AssetHashType.CUSTOM,
    )
    code_arn = f"arn:{place.partition}:s3:::{code.s3_bucket_name}/{code.s3_object_key}"
    runs_as = role(
        scope,
        "Role",
        description=f"What the agent {name} runs as",
        trust=trust_runtime(place, name),
        policies={
            "run-agent": run_agent(place, stage, key.key_arn if key is not None else ""),
            "start": start_agent(place, name, code_arn, agent.result_buckets),
        },
        path=stage.role_path,
    )
    vpc = agent.vpc and agentcore.CfnRuntime.VpcConfigProperty(
        subnets=[*agent.vpc.subnets], security_groups=[*agent.vpc.security_groups]
    )
    return agentcore.CfnRuntime(
        scope,
        "Runtime",
        agent_runtime_name=name,
        description=f"The agent {agent.name} of the stage {stage.name}",
        agent_runtime_artifact=agentcore.CfnRuntime.AgentRuntimeArtifactProperty(
            code_configuration=agentcore.CfnRuntime.CodeConfigurationProperty(
                code=agentcore.CfnRuntime.CodeProperty(
                    s3=agentcore.CfnRuntime.S3LocationProperty(
                        bucket=code.s3_bucket_name, prefix=code.s3_object_key
                    )
                ),
                entry_point=[MAIN],
                runtime=f"PYTHON_{stage.python.replace('.', '_')}",
            )
        ),
        role_arn=runs_as.attr_arn,
        network_configuration=agentcore.CfnRuntime.NetworkConfigurationProperty(
            network_mode="VPC" if vpc else "PUBLIC", network_mode_config=vpc
        ),
        lifecycle_configuration=agentcore.CfnRuntime.LifecycleConfigurationProperty(
            idle_runtime_session_timeout=agent.idle_seconds,
            max_lifetime=agent.lifetime_seconds,
        ),
        protocol_configuration="HTTP",
        environment_variables=agent.variables or None,
        tags=stage.tags or None,
    )
