"""One stage in one account: its functions, what training needs around them, the catalogue.

The table of verdicts that a stage's judges share: what one asked, none of them asks again.

It holds choices and no text, under hashes (`judge_runtime.cache`), and costs by its use alone.
DynamoDB encrypts it with a key of its own, to which no role needs a right.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from reward_functions.aws.catalogue import DeployedStage, deployment_parameter, stage_parameter
from reward_functions.cdk.constructs import runtime
from reward_functions.cdk.constructs.codes import codes
from reward_functions.cdk.constructs.custody import Custodian
from reward_functions.cdk.constructs.feedback_path import MODULE as FEEDBACK
from reward_functions.cdk.constructs.feedback_path import (
    FeedbackPath,
    feedback_row,
    watch_feedback,
)
from reward_functions.cdk.constructs.forwarder import ForwarderFunction
from reward_functions.cdk.constructs.job_events import JobEvents
from reward_functions.cdk.constructs.monitoring import Monitoring
from reward_functions.cdk.constructs.reward_function import DeployedFunction
from reward_functions.cdk.constructs.roles import bound
from reward_functions.cdk.constructs.runtime import kept
from reward_functions.cdk.constructs.scale import MODULE as SHARDS
from reward_functions.cdk.constructs.scale import ScaledScoring
from reward_functions.cdk.constructs.training import Training
from reward_functions.cdk.limits.starts import costs_of_memory, costs_of_starts
from reward_functions.cdk.model.deployed_before import DeployedBefore
from reward_functions.cdk.model.exposed import exposed
from reward_functions.cdk.model.operating import FEEDBACK as OF_FEEDBACK
from reward_functions.cdk.model.operating import FORWARDER as OF_FORWARDER
from reward_functions.cdk.model.operating import FUNCTION, SCALE
from reward_functions.cdk.model.rollouts import MODULE as FORWARDER
from reward_functions.cdk.policies.documents import AGENTS, BEDROCK, IMPORT, SAGEMAKER, TRAINING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from aws_cdk import aws_logs as logs
    from pydantic import BaseModel

    from reward_functions.cdk.artifact.artifact import Artifact
    from reward_functions.cdk.constructs.artifacts import Artifacts
    from reward_functions.cdk.constructs.codes import Code
    from reward_functions.cdk.model.stages import Stage


KEY: Final = "key"
EXPIRES: Final = "expires"
"""The attributes that DynamoDB has to know, as `DynamoDBCache` writes them."""


def verdict_table(scope: Construct, stage: Stage) -> dynamodb.Table:
    """A table as `DynamoDBCache` reads and writes it; in production it outlives the stack.

    Args:
        scope: the stack.
        stage: whose judges use it.
    """
    lasting = stage.production
    table = dynamodb.Table(
        scope,
        "Verdicts",
        table_name=stage.names.verdicts,
        partition_key=dynamodb.Attribute(name=KEY, type=dynamodb.AttributeType.STRING),
        billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
        time_to_live_attribute=EXPIRES,
        point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
            point_in_time_recovery_enabled=lasting
        ),
        removal_policy=kept(stage),
    )
    if not lasting:
        runtime.acknowledge(table, "DDB3", "A lost verdict is asked for again.")
    return table


ROLE_FIELDS: Final = {
    BEDROCK: "training_role_arn",
    SAGEMAKER: "sagemaker_role_arn",
    AGENTS: "agent_role_arn",
    TRAINING: "training_job_role_arn",
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
            stage.names.stack,
            env=cdk.Environment(account=stage.account, region=stage.region),
            description=f"Reward functions for reinforcement fine-tuning, stage {stage.name}",
            tags=stage.tags,
            termination_protection=stage.production,
        )
        before = before or DeployedBefore()
        if stage.permissions_boundary:
            bound(self, stage.permissions_boundary)
        ordered = sorted(stage.deployments, key=lambda each: each.name)
        stage = stage.model_copy(update={"deployments": tuple(ordered)})
        custodian = Custodian(self, "Custodian", stage=stage)
        rewards = Construct(self, "Rewards")
        self._code = self._codes(artifacts, stage)
        self.functions = [
            DeployedFunction(
                rewards,
                each.name,
                stage=stage,
                deployment=each,
                code=self._code[each.reward],
                custodian=custodian,
                before=before,
            )
            for each in stage.deployments
        ]
        self.verdicts = verdict_table(self, stage) if stage.verdict_cache else None
        self.training = Training(self, "Training", stage=stage, custodian=custodian)
        self.feedback = self._feedback(stage, custodian)
        self.job_events = JobEvents(self, "JobEvents", stage=stage, roles=self.training.roles)
        self.forwarders = self._forwarders(stage)
        self.scale = self._scale(stage)
        self.monitoring = self._monitoring(stage)
        reading = [self.feedback.mapping] if self.feedback is not None else []
        self._behind_all_gates([*reading, *self._catalogue(stage)])
        for name, sentence in before.warnings([each.record for each in self.functions]):
            cdk.Annotations.of(self).add_warning_v2(name, sentence)
        for number, sentence in enumerate(exposed(stage), 1):
            cdk.Annotations.of(self).add_warning_v2(f"exposed-{number}", sentence)
        for number, sentence in enumerate(costs_of_memory(stage), 1):
            cdk.Annotations.of(self).add_warning_v2(f"memory-{number}", sentence)
        for number, sentence in enumerate(costs_of_starts(stage), 1):
            cdk.Annotations.of(self).add_info_v2(f"at-rest-{number}", sentence)

    def _monitoring(self, stage: Stage) -> Monitoring:
        others, topic = [*self.job_events.alarms], self.job_events.topic
        written: dict[str, list[logs.ILogGroup]] = {
            FUNCTION: [each.log_group for each in self.functions],
            OF_FORWARDER: [each.log_group for each in self.forwarders],
        }
        if self.feedback is not None:
            others += watch_feedback(self.feedback, topic)
            written[OF_FEEDBACK] = [self.feedback.log_group]
        if self.scale is not None:
            others += self.scale.alarms
            written[SCALE] = [self.scale.log_group]
        others += [alarm for each in self.forwarders for alarm in each.alarms]
        made = Monitoring(
            self,
            "Monitoring",
            stage=stage,
            functions=self.functions,
            topic=topic,
            others=others,
            written=written,
        )
        if self.feedback is not None:
            made.dashboard.add_widgets(*feedback_row(self.feedback))
        return made

    def _forwarders(self, stage: Stage) -> list[ForwarderFunction]:
        if not stage.forwarders:
            return []
        code = self._code[FORWARDER]
        scope, topic = Construct(self, "Forwarders"), self.job_events.topic
        return [
            ForwarderFunction(scope, each, stage=stage, code=code, topic=topic)
            for each in sorted(stage.forwarders, key=lambda each: each.name)
        ]

    def _scale(self, stage: Stage) -> ScaledScoring | None:
        if stage.scale is None:
            return None
        return ScaledScoring(
            self,
            "Scale",
            stage=stage,
            scale=stage.scale,
            code=self._code[SHARDS],
            made=self.training.made,
            topic=self.job_events.topic,
        )

    def _feedback(self, stage: Stage, custodian: Custodian) -> FeedbackPath | None:
        if stage.feedback is None:
            return None
        return FeedbackPath(
            self,
            "Feedback",
            stage=stage,
            feedback=stage.feedback,
            code=self._code[FEEDBACK],
            custodian=custodian,
            key=self.training.key,
        )

    def _behind_all_gates(self, parameters: Iterable[Construct]) -> None:
        """One version that fails its gate keeps `live` and the catalogue of all where they are.

        Behind its own gate alone, a deployment would move while a slower gate is still asked. What
        is kept ready costs from the start, so that it is provided between the two.
        """
        gates = [each.gate for each in self.functions]
        provided = [each.provided for each in self.functions if each.provided is not None]
        aliases = [each.alias for each in self.functions if each.alias is not None]
        for ready in provided:
            ready.node.add_dependency(*gates)
        for pointing in (*aliases, *parameters):
            pointing.node.add_dependency(*gates, *provided)

    def _codes(self, artifacts: Artifacts, stage: Stage) -> dict[str, Code]:
        """What all functions run from: by their rewards, those that are none by their modules."""
        rewards = {each.reward for each in stage.deployments}
        others = {FORWARDER: stage.forwarders, FEEDBACK: stage.feedback is not None}
        others[SHARDS] = stage.scale is not None
        modules = [module for module, wanted in others.items() if wanted]
        made: dict[str, Callable[[], Artifact]] = {
            **{reward: partial(artifacts.artifact, reward) for reward in rewards},
            **{module: partial(artifacts.of_handler, module) for module in modules},
        }
        return codes(self, made)

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
        agent_runtime, hyperpod = self.training.agent_runtime, self.training.hyperpod_runtime
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
            hyperpod_runtime_policy_arn=hyperpod.attr_policy_arn if hyperpod else None,
            job_events_topic_arn=self.job_events.topic.topic_arn,
            dashboard=self.monitoring.dashboard.dashboard_name,
            job_rights=stage.job_rights,
            name_prefix=stage.names.prefix,
            read_buckets=stage.read_buckets,
            forwarders={each.forwarder.name: each.version_arn for each in self.forwarders},
            agent_runtimes=tuple(sorted(each.runtime_name(stage.names) for each in stage.agents)),
            feedback=self.feedback.record if self.feedback is not None else None,
            scale_machine_arn=self.scale.machine.ref if self.scale is not None else None,
            **roles,
            **policies,
        )
        parameters: list[Construct] = [
            _publish(scope, "Stage", stage_parameter(stage.name), shared)
        ]
        left_out = {"stage", "region", "keep_versions", "job_rights", "feedback", "forwarders"}
        left_out |= {"name_prefix", "read_buckets", "agent_runtimes"}
        for name, value in shared.model_dump(exclude=left_out, exclude_none=True).items():
            cdk.CfnOutput(self, f"Stage{pascal(name)}", value=value)
        for name, arn in shared.forwarders.items():
            cdk.CfnOutput(self, f"Forwarder{pascal(name)}", value=arn)
        for made in self.forwarders:
            if made.queue is not None:
                output = f"Requests{pascal(made.forwarder.name)}Url"
                cdk.CfnOutput(self, output, value=made.queue.queue_url)
        for name, value in shared.feedback.model_dump().items() if shared.feedback else ():
            cdk.CfnOutput(self, f"StageFeedback{pascal(name)}", value=value)
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


def pascal(name: str) -> str:
    """`gsm8k-strict` as CloudFormation names things: `Gsm8kStrict`."""
    return "".join(part[:1].upper() + part[1:] for part in name.replace("_", "-").split("-"))
