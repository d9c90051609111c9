"""One stage in one account: its functions, what training needs around them, the catalogue."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from reward_functions.cdk.artifact import build_all
from reward_functions.cdk.custody import Custodian
from reward_functions.cdk.deployed_before import DeployedBefore
from reward_functions.cdk.documents import AGENTS, BEDROCK, IMPORT, SAGEMAKER
from reward_functions.cdk.job_events import JobEvents
from reward_functions.cdk.monitoring import Monitoring
from reward_functions.cdk.reward_function import Code, DeployedFunction
from reward_functions.cdk.training import Training
from reward_functions.serving.catalogue import (
    DeployedStage,
    deployment_parameter,
    stack_name,
    stage_parameter,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import BaseModel

    from reward_functions.cdk.artifacts import Artifacts
    from reward_functions.cdk.stages import Stage

NO_DIGEST: Final = "0" * 64
"""Stands for an artifact's where the command needs none."""

ROLE_FIELDS: Final = {
    BEDROCK: "training_role_arn",
    SAGEMAKER: "sagemaker_role_arn",
    AGENTS: "agent_role_arn",
    IMPORT: "import_role_arn",
}
"""Where a `DeployedStage` has the roles of jobs, by their kinds."""


class RewardStack(cdk.Stack):
    """A stage of `cdk.json`.

    Deployments stand under one scope, so that they may be called as they like, and in the order of
    their names, so that theirs in `cdk.json` changes nothing.

    Args:
        scope: the app.
        stage: what to deploy, checked.
        artifacts: what functions run from; built here, unless the command needs no assets.
        before: what stands in the account already.

    Raises:
        NoInterpreter: the stage is strict, and an artifact would carry no bytecode.
    """

    def __init__(
        self,
        scope: Construct,
        *,
        stage: Stage,
        artifacts: Artifacts,
        before: DeployedBefore | None = None,
    ) -> None:
        super().__init__(
            scope,
            stack_name(stage.name),
            env=cdk.Environment(account=stage.account, region=stage.region),
            description=f"Reward functions for reinforcement fine-tuning, stage {stage.name}",
            tags=stage.tags,
        )
        before = before or DeployedBefore()
        ordered = sorted(stage.deployments, key=lambda each: each.name)
        stage = stage.model_copy(update={"deployments": tuple(ordered)})
        custodian = Custodian(self, "Custodian", stage=stage)
        rewards = Construct(self, "Rewards")
        codes = self._codes(artifacts, {each.reward for each in stage.deployments})
        self.functions = [
            DeployedFunction(
                rewards,
                each.name,
                stage=stage,
                deployment=each,
                code=codes[each.reward],
                custodian=custodian,
                before=before,
            )
            for each in stage.deployments
        ]
        self.training = Training(self, "Training", stage=stage, custodian=custodian)
        self.job_events = JobEvents(self, "JobEvents", stage=stage)
        self.monitoring = Monitoring(
            self,
            "Monitoring",
            stage=stage,
            functions=self.functions,
            topic=self.job_events.topic,
        )
        self._behind_all_gates(self._catalogue(stage))
        for name, sentence in before.warnings([each.record for each in self.functions]):
            cdk.Annotations.of(self).add_warning_v2(name, sentence)

    def _behind_all_gates(self, parameters: Iterable[Construct]) -> None:
        """One version that fails its gate keeps `live` and the catalogue of all where they are.

        Behind its own gate alone, a deployment would move while a slower gate is still asked.
        """
        aliases = [each.alias for each in self.functions if each.alias is not None]
        for pointing in (*aliases, *parameters):
            pointing.node.add_dependency(*(each.gate for each in self.functions))

    def _codes(self, artifacts: Artifacts, rewards: Iterable[str]) -> dict[str, Code]:
        """The artifact of every reward as an asset, built where it is not there yet.

        `cdk list` and `cdk destroy` need none: any folder stands for it then.
        """
        if not self.bundling_required:
            return {reward: _asset(Path(__file__).parent, NO_DIGEST) for reward in rewards}
        folder = Path(cast("cdk.Stage", cdk.Stage.of(self)).outdir)
        made = {reward: artifacts.artifact(reward) for reward in sorted(rewards)}
        paths = {reward: folder / f"artifact.{each.digest}.zip" for reward, each in made.items()}
        build_all({paths[reward]: each for reward, each in made.items()})
        return {reward: _asset(paths[reward], each.digest) for reward, each in made.items()}

    def _catalogue(self, stage: Stage) -> list[Construct]:
        """What was deployed, for programs as SSM parameters and for people as outputs: the former.

        No output's name is another's: `Stage…` and `Reward…` begin differently, and no ending of a
        deployment's outputs is the ending of another ending.
        """
        scope = Construct(self, "Catalogue")
        roles = {
            field: self.training.roles[kind].attr_arn
            for kind, field in ROLE_FIELDS.items()
            if kind in self.training.roles
        }
        agent_runtime = self.training.agent_runtime
        policies = {
            f"{task}_policy_arn": policy.attr_policy_arn
            for task, policy in self.training.people.items()
        }
        shared = DeployedStage(
            stage=stage.name,
            region=stage.region,
            keep_versions=stage.keep_versions,
            bucket=self.training.bucket.bucket_name,
            agent_runtime_policy_arn=agent_runtime.attr_policy_arn if agent_runtime else None,
            job_events_topic_arn=self.job_events.topic.topic_arn,
            dashboard=self.monitoring.dashboard.dashboard_name,
            job_rights=stage.job_rights,
            **roles,
            **policies,
        )
        parameters: list[Construct] = [
            _publish(scope, "Stage", stage_parameter(stage.name), shared)
        ]
        left_out = {"stage", "region", "keep_versions", "job_rights"}
        for name, value in shared.model_dump(exclude=left_out, exclude_none=True).items():
            cdk.CfnOutput(self, f"Stage{pascal(name)}", value=value)
        for each in self.functions:
            record = each.record
            parameter = deployment_parameter(stage.name, record.name)
            parameters.append(_publish(each, "Catalogue", parameter, record))
            outputs = {
                "VersionArn": record.version_arn,
                "AliasArn": record.alias_arn,
                "Content": f"{record.reward} {record.version} {record.digest}",
            }
            for ending, value in outputs.items():
                if value is not None:
                    cdk.CfnOutput(self, f"Reward{pascal(record.name)}{ending}", value=value)
        return parameters


def _publish(scope: Construct, name: str, parameter: str, record: BaseModel) -> ssm.StringParameter:
    return ssm.StringParameter(
        scope,
        name,
        parameter_name=parameter,
        string_value=record.model_dump_json(),
        # Parameters that fit a function's environment can be more than a standard parameter holds.
        tier=ssm.ParameterTier.INTELLIGENT_TIERING,
    )


def _asset(path: Path, digest: str) -> Code:
    asset = lambda_.Code.from_asset(
        str(path), asset_hash=digest, asset_hash_type=cdk.AssetHashType.CUSTOM
    )
    return Code(asset, digest)


def pascal(name: str) -> str:
    """`gsm8k-strict` as CloudFormation names things: `Gsm8kStrict`."""
    return "".join(part[:1].upper() + part[1:] for part in name.replace("_", "-").split("-"))
