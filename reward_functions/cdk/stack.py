"""One stage in one account: its functions, what training needs around them, the catalogue."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_ssm as ssm

from reward_functions.cdk.artifact import COST
from reward_functions.cdk.interpreter import NoInterpreter
from reward_functions.cdk.job_events import JobEvents
from reward_functions.cdk.monitoring import Monitoring
from reward_functions.cdk.reward_function import DeployedFunction
from reward_functions.cdk.training import Training
from reward_functions.serving.catalogue import (
    DeployedStage,
    deployment_parameter,
    stack_name,
    stage_parameter,
)

if TYPE_CHECKING:
    from constructs import Construct
    from pydantic import BaseModel

    from reward_functions.cdk.artifact import Artifact
    from reward_functions.cdk.stages import Stage


class RewardStack(cdk.Stack):
    """A stage of `cdk.json`.

    Args:
        scope: the app.
        stage: what to deploy, checked.
        artifact: what every function runs from; built here, unless the command needs no assets.

    Raises:
        NoInterpreter: the stage is strict, and the artifact would carry no bytecode.
    """

    def __init__(self, scope: Construct, *, stage: Stage, artifact: Artifact) -> None:
        super().__init__(
            scope,
            stack_name(stage.name),
            env=cdk.Environment(account=stage.account, region=stage.region),
            description=f"Reward functions for reinforcement fine-tuning, stage {stage.name}",
            tags=stage.tags,
        )
        code = self._code(stage, artifact)
        self.functions = [
            DeployedFunction(self, pascal(each.name), stage=stage, deployment=each, code=code)
            for each in stage.deployments
        ]
        self.training = Training(
            self,
            "Training",
            stage=stage,
            function_arns=[each.function.function_arn for each in self.functions],
        )
        self.job_events = JobEvents(self, "JobEvents", stage=stage)
        self.monitoring = Monitoring(
            self,
            "Monitoring",
            stage=stage,
            functions=self.functions,
            topic=self.job_events.topic,
        )
        self._catalogue(stage)

    def _code(self, stage: Stage, artifact: Artifact) -> lambda_.Code:
        """The artifact as an asset, built where it is not there yet.

        `cdk list` and `cdk destroy` need none: any file stands for it then.
        """
        fingerprint = artifact.fingerprint()
        path = Path(__file__)
        if self.bundling_required:
            if stage.strict and artifact.interpreter is None:
                cost = COST.format(python=stage.python)
                raise NoInterpreter(f"stage {stage.name!r} is strict: {cost}")
            path = (
                Path(cast("cdk.Stage", cdk.Stage.of(self)).outdir) / f"artifact.{fingerprint}.zip"
            )
            if not path.is_file():
                artifact.build(path)
        return lambda_.Code.from_asset(
            str(path if path.suffix == ".zip" else path.parent),
            asset_hash=fingerprint,
            asset_hash_type=cdk.AssetHashType.CUSTOM,
        )

    def _catalogue(self, stage: Stage) -> None:
        """What was deployed, for programs as SSM parameters and for people as outputs."""
        sagemaker_role = self.training.sagemaker_role
        shared = DeployedStage(
            stage=stage.name,
            region=stage.region,
            bucket=self.training.bucket.bucket_name,
            training_role_arn=self.training.bedrock_role.attr_arn,
            submitter_policy_arn=self.training.submitters.attr_policy_arn,
            sagemaker_role_arn=sagemaker_role.attr_arn if sagemaker_role else None,
            job_events_topic_arn=self.job_events.topic.topic_arn,
            dashboard=self.monitoring.dashboard.dashboard_name,
        )
        self._publish("Stage", stage_parameter(stage.name), shared)
        for name, value in shared.model_dump(
            exclude={"stage", "region"}, exclude_none=True
        ).items():
            cdk.CfnOutput(self, pascal(name), value=value)
        for each in self.functions:
            name = each.record.name
            self._publish(
                f"Catalogue{pascal(name)}", deployment_parameter(stage.name, name), each.record
            )
            cdk.CfnOutput(self, f"{pascal(name)}AliasArn", value=each.record.alias_arn)
            cdk.CfnOutput(self, f"{pascal(name)}FunctionArn", value=each.record.function_arn)

    def _publish(self, name: str, parameter: str, record: BaseModel) -> None:
        ssm.StringParameter(
            self,
            name,
            parameter_name=parameter,
            string_value=record.model_dump_json(),
            # Parameters that fit a function's environment can be more than a standard parameter
            # holds.
            tier=ssm.ParameterTier.INTELLIGENT_TIERING,
        )


def pascal(name: str) -> str:
    """`gsm8k-strict` as CloudFormation names things: `Gsm8kStrict`."""
    return "".join(part[:1].upper() + part[1:] for part in name.replace("_", "-").split("-"))
