"""Files of any size scored on AWS: the shard function, and the state machine that asks it.

    machine ── Next: what is missing ──┬── Shards: a map over todo.jsonl, by reference ── Next …
                                       └── Over

The machine holds no rows and no results: a shard is named by its place, and its part is in S3. At
rest it costs nothing but its alarm.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from aws_cdk import Duration, Size
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as stepfunctions
from constructs import Construct

from reward_functions.cdk.constructs import runtime
from reward_functions.cdk.constructs.monitoring import Watched, alarms, period
from reward_functions.cdk.constructs.roles import function_role, place_of, role
from reward_functions.cdk.constructs.runtime import log_group, python_function
from reward_functions.cdk.model.operating import SCALE
from reward_functions.cdk.policies import scale as policies

if TYPE_CHECKING:
    from aws_cdk import aws_sns as sns

    from reward_functions.cdk.constructs.codes import Code
    from reward_functions.cdk.model.operating import Alarm
    from reward_functions.cdk.model.scale import Scale
    from reward_functions.cdk.model.stages import Stage
    from reward_functions.cdk.policies.grants import Made

MODULE: Final = "reward_functions.scoring.aws.handler"

EMULATED: Final = 4
"""Shards at once on the local AWS emulator, which does not read `MaxConcurrencyPath`, and would
start as many interpreters as there are shards."""

RETRY: Final = {
    "ErrorEquals": [
        *("Lambda.TooManyRequestsException", "Lambda.ServiceException"),
        *("Lambda.AWSLambdaException", "Lambda.SdkClientException", "Sandbox.Timedout"),
    ],
    "IntervalSeconds": 1,
    "BackoffRate": 2,
    "MaxAttempts": 6,
    "MaxDelaySeconds": 60,
    "JitterStrategy": "FULL",
}
"""Of what is nobody's fault; a shard that fails otherwise is missing, and given again."""


def definition(function: str, partition: str, scale: Scale, *, emulated: bool) -> dict[str, Any]:
    """The state machine, in Amazon States Language.

    Args:
        function: the ARN of the shard function's version.
        partition: of AWS.
        scale: what the stage says.
        emulated: whether it runs on the local AWS emulator.
    """

    def ask(payload: dict[str, Any], following: dict[str, Any]) -> dict[str, Any]:
        return {
            "Type": "Task",
            "Resource": f"arn:{partition}:states:::lambda:invoke",
            "TimeoutSeconds": scale.timeout_seconds,
            "Parameters": {"FunctionName": function, **payload},
            "OutputPath": "$.Payload",
            "Retry": [RETRY],
            **following,
        }

    most = {"MaxConcurrency": EMULATED} if emulated else {"MaxConcurrencyPath": "$.concurrency"}
    return {
        "StartAt": "Next",
        "States": {
            "Next": ask({"Payload": {"step": "next", "state.$": "$"}}, {"Next": "Which"}),
            "Which": {
                "Type": "Choice",
                "Choices": [{"Variable": "$.task", "StringEquals": "over", "Next": "Over"}],
                "Default": "Shards",
            },
            "Shards": {
                "Type": "Map",
                "Label": "shards",
                "ItemReader": {
                    "Resource": f"arn:{partition}:states:::s3:getObject",
                    "ReaderConfig": {"InputType": "JSONL"},
                    "Parameters": {"Bucket.$": "$.bucket", "Key.$": "$.list"},
                },
                "ItemSelector": {
                    "run.$": "$.run",
                    "task.$": "$.task",
                    "shard.$": "$$.Map.Item.Value",
                },
                "ItemProcessor": {
                    "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
                    "StartAt": "Shard",
                    "States": {"Shard": ask({"Payload.$": "$"}, {"End": True})},
                },
                **most,
                "ToleratedFailurePercentage": 100,
                "ResultPath": None,
                "Next": "Next",
            },
            "Over": {"Type": "Succeed"},
        },
    }


class ScaledScoring(Construct):
    """The shard function and the state machine of a stage.

    Args:
        scope: the stack.
        name: in the construct tree.
        stage: whose rewards are asked.
        scale: how the stage wants it.
        code: what the function runs from.
        made: the stage's bucket, where runs stand.
        topic: receives the alarm.

    Attributes:
        machine: the state machine.
        log_group: the function's log.
        alarms: what its topic hears of.
    """

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        stage: Stage,
        scale: Scale,
        code: Code,
        made: Made,
        topic: sns.ITopic,
    ) -> None:
        super().__init__(scope, name)
        place, physical = place_of(self), stage.names.scale
        self.log_group = log_group(self, physical, stage)
        function = python_function(
            self,
            "Function",
            stage,
            function_name=physical,
            description="Has one shard of a file scored by the version that its run pins",
            code=code.asset,
            handler=f"{MODULE}.handler",
            memory_size=scale.memory_mb,
            ephemeral_storage_size=Size.mebibytes(scale.spool_mb),
            timeout=Duration.seconds(scale.timeout_seconds),
            log_group=self.log_group,
            role=function_role(
                self, stage, physical, {"shards": policies.shards(place, stage, made)}
            ),
        )
        self.machine = self._made_machine(stage, scale, function.current_version.function_arn, made)
        called = partial(stage.names.alarm_of_stage, "scale")
        watched = Watched(kind=SCALE, about="Scored files", name=called, metric=self._metric)
        self.alarms = alarms(self, watched, topic)

    def _metric(self, row: Alarm) -> cloudwatch.Metric:
        return cloudwatch.Metric(
            namespace="AWS/States",
            metric_name=row.metric,
            dimensions_map={"StateMachineArn": self.machine.ref},
            statistic=row.statistic,
            period=period(row),
        )

    def _made_machine(
        self, stage: Stage, scale: Scale, function: str, made: Made
    ) -> stepfunctions.CfnStateMachine:
        place, physical = place_of(self), stage.names.scale
        acting = role(
            self,
            "MachineRole",
            description=f"What the state machine {physical} runs as",
            trust=policies.trust_machine(place, stage),
            policies={"machine": policies.machine(place, stage, made)},
            path=stage.role_path,
        )
        group = logs.LogGroup(
            self,
            "MachineLogs",
            log_group_name=f"/aws/vendedlogs/states/{physical}",
            retention=runtime.retention(stage),
            removal_policy=runtime.kept(stage),
        )
        states = definition(function, place.partition, scale, emulated=stage.emulated)
        machine = stepfunctions.CfnStateMachine(
            self,
            "Machine",
            state_machine_name=physical,
            definition_string=json.dumps(states),  # CDK's own would leave out what is null
            role_arn=acting.attr_arn,
            logging_configuration=stepfunctions.CfnStateMachine.LoggingConfigurationProperty(
                level="ALL",
                include_execution_data=False,
                destinations=[
                    stepfunctions.CfnStateMachine.LogDestinationProperty(
                        cloud_watch_logs_log_group=(
                            stepfunctions.CfnStateMachine.CloudWatchLogsLogGroupProperty(
                                log_group_arn=group.log_group_arn
                            )
                        )
                    )
                ],
            ),
        )
        runtime.acknowledge(
            machine, "SF2", "What each shard took stands in the run's folder; a trace adds nothing."
        )
        return machine
