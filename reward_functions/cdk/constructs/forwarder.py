"""A forwarder as AWS resources: a function of which a job holds a version that never changes.

A new deployment publishes another version and leaves the older ones, as of rewards. It changes what
all of them may do: a queue or a secret that is taken out of `cdk.json` is out of reach of a version
that a job still asks.

The function reports what it could not hand on as an answer, which is no error to Lambda: an alarm
counts the lines of its log that say so.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from reward_functions.aws.names import Names
from reward_functions.cdk.constructs.monitoring import Watched, alarms, period
from reward_functions.cdk.constructs.roles import function_role, place_of
from reward_functions.cdk.constructs.runtime import OUTLIVES, log_group, python_function
from reward_functions.cdk.model.operating import FORWARDER, NOT_FORWARDED, QUEUE, VISIBLE
from reward_functions.cdk.model.rollouts import DEAD, MODULE
from reward_functions.cdk.policies import own_rights
from reward_functions.cdk.policies.agents import hand_on
from reward_functions.rollouts.serve.forwarder import ForwarderSettings

if TYPE_CHECKING:
    from aws_cdk import aws_cloudwatch as cloudwatch
    from aws_cdk import aws_sns as sns

    from reward_functions.cdk.constructs.codes import Code
    from reward_functions.cdk.model.operating import Alarm
    from reward_functions.cdk.model.rollouts import Forwarder
    from reward_functions.cdk.model.stages import Stage

RECEIVES: Final = 3
"""How often an agent may take a request and not delete it, before it is a dead letter."""

VISIBILITY: Final = Duration.minutes(2)
"""For an agent to begin an episode and delete its request; it need not end it meanwhile."""

KEPT: Final = Duration.hours(1)
"""Of a request: the trainer does not wait as long for its reward."""

KEPT_DEAD: Final = Duration.days(14)

NAMESPACE: Final = "RewardFunctions/Rollouts"

NOT_FORWARDED_LINES: Final = '"not forwarded"'
"""What a line of the handler's log says of every request that it could not hand on."""


class ForwarderFunction(Construct):
    """The function, its version, its log, what it may do, and its alarms.

    Args:
        scope: what holds the stage's forwarders.
        forwarder: what to make.
        stage: what surrounds it.
        code: what it runs from.
        topic: receives the alarms.

    Attributes:
        function: the function.
        log_group: its log.
        alarms: what its topic hears of.
        queue: the stage's own, where it hands requests on through one.
        version_arn: what a job is given.
    """

    def __init__(
        self,
        scope: Construct,
        forwarder: Forwarder,
        *,
        stage: Stage,
        code: Code,
        topic: sns.ITopic,
    ) -> None:
        super().__init__(scope, forwarder.name)
        self.forwarder, self._stage = forwarder, stage
        self._physical = forwarder.function_name(stage.names)
        self.queue: sqs.Queue | None = None
        self._dead: sqs.Queue | None = None
        if forwarder.owns_queue:
            self._dead = self._made_queue("DeadLetters", f"{self._physical}{DEAD}", KEPT_DEAD)
            self.queue = self._made_queue("Requests", self._physical, KEPT, self._dead)
        self.log_group = log_group(self, self._physical, stage)
        self.function = self._made_function(code)
        self.version_arn = self.function.current_version.function_arn
        self.alarms = self._watch(topic)

    def _environment(self) -> dict[str, str]:
        given = self.forwarder
        queue = self.queue.queue_url if self.queue else given.queue
        return ForwarderSettings(
            endpoint=given.endpoint or "", queue=str(queue or ""), secret=given.secret or ""
        ).to_env()

    def _made_function(self, code: Code) -> lambda_.Function:
        given, stage = self.forwarder, self._stage
        return python_function(
            self,
            "Function",
            stage,
            vpc=given.vpc,
            function_name=self._physical,
            description=f"Hands requests for rollouts to the agent {given.name}"[:256],
            code=code.asset,
            handler=f"{MODULE}.handler",
            memory_size=given.memory_mb,
            timeout=Duration.seconds(given.timeout_seconds),
            reserved_concurrent_executions=given.reserved_concurrency,
            environment=self._environment(),
            log_group=self.log_group,
            role=self._made_role(),
            current_version_options=lambda_.VersionOptions(removal_policy=OUTLIVES),
        )

    def _made_role(self) -> iam.IRole:
        given, place = self.forwarder, place_of(self)
        policies = {
            "forward": hand_on(
                place,
                queue_arn=given.queue_arn(place, self._stage.names),
                secret_arn=given.secret or "",
                key_arn=given.key or "",
            )
        }
        if given.vpc:
            own = given.function_arn(place, self._stage.names)
            policies |= {"network": own_rights.join_network(place, [own])}
        return function_role(self, self._stage, self._physical, policies)

    def _made_queue(
        self, name: str, physical: str, kept: Duration, dead: sqs.Queue | None = None
    ) -> sqs.Queue:
        key = self.forwarder.key
        return sqs.Queue(
            self,
            name,
            queue_name=physical,
            encryption=sqs.QueueEncryption.KMS if key else sqs.QueueEncryption.SQS_MANAGED,
            encryption_master_key=cast("Any", kms.Key.from_key_arn(self, f"{name}Key", key))
            if key
            else None,
            enforce_ssl=True,
            retention_period=kept,
            visibility_timeout=VISIBILITY,
            dead_letter_queue=sqs.DeadLetterQueue(max_receive_count=RECEIVES, queue=dead)
            if dead
            else None,
        )

    def _watch(self, topic: sns.ITopic) -> list[cloudwatch.Alarm]:
        """Make the alarms of what can go wrong between a trainer and its agent."""
        lines = logs.MetricFilter(
            self,
            "NotForwardedLines",
            log_group=cast("Any", self.log_group),
            filter_pattern=logs.FilterPattern.literal(NOT_FORWARDED_LINES),
            metric_namespace=NAMESPACE,
            metric_name=f"{self._physical}-{NOT_FORWARDED}",
        )

        def metric(row: Alarm) -> cloudwatch.Metric:
            given = {"period": period(row), "statistic": row.statistic}
            if row.metric == VISIBLE:
                assert self._dead is not None  # the row is of a queue
                return self._dead.metric(row.metric, **given)
            if row.metric == NOT_FORWARDED:
                return lines.metric(**given)
            return self.function.metric(row.metric, **given)

        about, name = f"forwarder {self.forwarder.name}", partial(Names.alarm, self._physical)
        return [
            made
            for kind in (FORWARDER, *([QUEUE] if self._dead is not None else []))
            for made in alarms(self, Watched(kind, about, name, metric), topic)
        ]
