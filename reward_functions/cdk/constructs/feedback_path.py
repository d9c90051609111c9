"""The path of deferred rewards: results bucket, queue, the function that reports, its outbox.

    agent ── bucket ── queue ── function ── the rewards' versions
                         │         ├────── outbox
                    dead letters ──┘└───── the trainer's job runtime

S3 asks the queue whether it may announce there when it is told to: the queue's policy comes first.
Nothing reads the queue before every gate of the stage is passed.

The trainer waits for a rollout for a window of its own (600 s in `rollouts.report.settings`), and
what comes later is worth nothing: half of it in the queue is an alarm.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from reward_functions.aws import catalogue
from reward_functions.aws.names import Names
from reward_functions.aws.regions import partition_of
from reward_functions.cdk.constructs import runtime
from reward_functions.cdk.constructs.custody import Custodian, private_bucket
from reward_functions.cdk.constructs.monitoring import Watched, alarms, period
from reward_functions.cdk.constructs.roles import function_role, place_of
from reward_functions.cdk.constructs.runtime import log_group, python_function
from reward_functions.cdk.model.operating import (
    ERRORS,
    MINUTE,
    OLDEST,
    THROTTLES,
    VISIBLE,
    WINDOW,
    Alarm,
)
from reward_functions.cdk.model.operating import FEEDBACK as KIND
from reward_functions.cdk.policies import deferred
from reward_functions.cdk.policies.grants import pinnable_arns
from reward_functions.cdk.policies.iam import Place
from reward_functions.feedback.settings import FeedbackSettings
from reward_functions.rollouts.report.outbox.dynamodb import DEFINITION, TIME_TO_LIVE
from reward_functions.rollouts.report.settings import RolloutSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_sns as sns

    from reward_functions.cdk.constructs.codes import Code
    from reward_functions.cdk.model.rollouts import Feedback
    from reward_functions.cdk.model.stages import Stage

MODULE: Final = "reward_functions.feedback.handler"

VISIBILITY_OF_TIMEOUT: Final = 6
"""How much longer than the function may run a message stays with it, as Lambda's guide asks."""

RECEIVES: Final = 3
"""After so many a message is a dead letter."""

BATCHING_WINDOW: Final = Duration.seconds(1)
"""Waited for a batch to fill: results of one version are scored together."""

WAITS: Final = Duration.days(4)
DEAD_LETTERS_WAIT: Final = Duration.days(14)
"""A dead letter's age counts from when it was first sent: it is kept longer than it may wait."""

NO_ACCOUNT: Final = "0" * 12
"""Stands for an account that only whoever deploys knows."""


class FeedbackPath(Construct):
    """Results that agents put are scored by the version that they name, and reported.

    Args:
        scope: the stack.
        name: in the construct tree.
        stage: whose rewards are asked.
        feedback: how the stage wants it.
        code: what the function runs from.
        custodian: who empties the bucket before it is deleted.
        key: what encrypts the bucket; None for S3's own.

    Attributes:
        physical: the name of the function and of the queue.
        settings: of the function, as far as they are known at synthesis.
        function: scores and reports.
        log_group: its log.
        queue: announces results.
        dead_letters: what could not be scored or reported.
        mapping: what makes Lambda read the queue.
        record: for the catalogue.
    """

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        stage: Stage,
        feedback: Feedback,
        code: Code,
        custodian: Custodian,
        key: kms.IKey | None,
    ) -> None:
        super().__init__(scope, name)
        self._stage, self._feedback = stage, feedback
        self.physical = stage.names.rollouts(deferred.FEEDBACK)
        self.dead_letters = self._made_dead_letters()
        self.queue = self._made_queue()
        self.bucket = self._made_bucket(key, custodian)
        self.outbox = self._made_outbox()
        self.settings = self._made_settings()
        self.function = self._made_function(code, key.key_arn if key is not None else "")
        version = self.function.current_version
        self.mapping = lambda_.EventSourceMapping(
            self,
            "Mapping",
            target=version,
            event_source_arn=self.queue.queue_arn,
            batch_size=feedback.batch_size,
            max_batching_window=BATCHING_WINDOW,
            max_concurrency=feedback.concurrency,
            report_batch_item_failures=True,
        )
        self.record = catalogue.FeedbackPath(
            results_bucket=self.bucket.bucket_name,
            queue_url=self.queue.queue_url,
            dead_letters_url=self.dead_letters.queue_url,
            function_arn=version.function_arn,
            outbox_table=self.outbox.ref,
        )

    def _made_dead_letters(self) -> sqs.Queue:
        made = sqs.Queue(
            self,
            "DeadLetters",
            queue_name=self._stage.names.rollouts(deferred.DEAD_LETTERS),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=DEAD_LETTERS_WAIT,
        )
        runtime.acknowledge(made, "SQS3", "It is itself the dead-letter queue.")
        return made

    def _made_queue(self) -> sqs.Queue:
        made = sqs.Queue(
            self,
            "Queue",
            queue_name=self.physical,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=WAITS,
            visibility_timeout=Duration.seconds(
                VISIBILITY_OF_TIMEOUT * self._feedback.timeout_seconds
            ),
            dead_letter_queue=sqs.DeadLetterQueue(
                queue=self.dead_letters, max_receive_count=RECEIVES
            ),
        )
        statement = deferred.announce(place_of(self), self._stage.names)
        made.add_to_resource_policy(iam.PolicyStatement.from_json(statement))
        return made

    def _made_bucket(self, key: kms.IKey | None, custodian: Custodian) -> s3.Bucket:
        stage, expires = self._stage, Duration.days(self._feedback.keep_results_days)
        bucket = private_bucket(
            self,
            "Results",
            stage=stage,
            physical=stage.names.results(place_of(self).account, stage.region),
            key=key,
            lifecycle=s3.LifecycleRule(
                expiration=expires,
                noncurrent_version_expiration=expires,
                abort_incomplete_multipart_upload_after=Duration.days(1),
            ),
            custodian=custodian,
            unlogged="Who puts results is in CloudTrail where an account records data events; what "
            "becomes of each is in the function's log.",
        )
        self._announce(bucket)
        return bucket

    def _announce(self, bucket: s3.Bucket) -> None:
        """In the bucket's own properties: CDK would make a function for it, with its rights."""
        made = bucket.node.default_child
        assert isinstance(made, s3.CfnBucket)
        made.notification_configuration = s3.CfnBucket.NotificationConfigurationProperty(
            queue_configurations=[
                s3.CfnBucket.QueueConfigurationProperty(
                    event="s3:ObjectCreated:*",
                    queue=self.queue.queue_arn,
                    filter=s3.CfnBucket.NotificationFilterProperty(
                        s3_key=s3.CfnBucket.S3KeyFilterProperty(
                            rules=[
                                s3.CfnBucket.FilterRuleProperty(
                                    name="prefix", value=deferred.RESULTS_PREFIX
                                )
                            ]
                        )
                    ),
                )
            ]
        )
        bucket.node.add_dependency(self.queue)  # with its policy, which S3 reads at once

    def _made_outbox(self) -> dynamodb.CfnTable:
        production = self._stage.production
        made = dynamodb.CfnTable(
            self,
            "Outbox",
            table_name=self._stage.names.rollouts(deferred.OUTBOX),
            billing_mode=DEFINITION["BillingMode"],
            attribute_definitions=[
                dynamodb.CfnTable.AttributeDefinitionProperty(
                    attribute_name=each["AttributeName"], attribute_type=each["AttributeType"]
                )
                for each in DEFINITION["AttributeDefinitions"]
            ],
            key_schema=_keys(DEFINITION["KeySchema"]),
            global_secondary_indexes=[
                dynamodb.CfnTable.GlobalSecondaryIndexProperty(
                    index_name=each["IndexName"],
                    key_schema=_keys(each["KeySchema"]),
                    projection=dynamodb.CfnTable.ProjectionProperty(
                        projection_type=each["Projection"]["ProjectionType"]
                    ),
                )
                for each in DEFINITION["GlobalSecondaryIndexes"]
            ],
            time_to_live_specification=dynamodb.CfnTable.TimeToLiveSpecificationProperty(
                attribute_name=TIME_TO_LIVE, enabled=True
            ),
            point_in_time_recovery_specification=(
                dynamodb.CfnTable.PointInTimeRecoverySpecificationProperty(
                    point_in_time_recovery_enabled=True
                )
                if production
                else None
            ),
        )
        made.apply_removal_policy(RemovalPolicy.DESTROY)
        if not production:
            runtime.acknowledge(
                made, "DDB3", "What is in it is over with its rollouts, within days."
            )
        return made

    def _made_function(self, code: Code, key_arn: str) -> lambda_.Function:
        stage, feedback, place = self._stage, self._feedback, place_of(self)
        physical = self.physical
        self.log_group = log_group(self, physical, stage)
        policies = {"report": deferred.report(place, stage, key_arn)}
        return python_function(
            self,
            "Function",
            stage,
            function_name=physical,
            description="Has deferred rewards scored by the version that each names, and reports",
            code=code.asset,
            handler=f"{MODULE}.handler",
            memory_size=feedback.memory_mb,
            timeout=Duration.seconds(feedback.timeout_seconds),
            environment=self._variables(place),
            log_group=self.log_group,
            role=function_role(self, stage, physical, policies),
        )

    def _made_settings(self) -> FeedbackSettings:
        """Checked, with `NO_ACCOUNT` where the account is not known."""
        stage = self._stage
        known = Place(partition_of(stage.region), stage.region, NO_ACCOUNT)
        return FeedbackSettings(
            stage=stage.name,
            functions=pinnable_arns(known, stage),
            buckets=(self.bucket.bucket_name,),
            queue=self.queue.queue_url,
            dead_letters=self.dead_letters.queue_url,
            outbox=f"dynamodb://{self.outbox.ref}?region={stage.region}",
            endpoint=self._feedback.endpoint or "",
            receives=RECEIVES,
        )

    def _variables(self, place: Place) -> dict[str, str]:
        """The settings in the account that is deployed to."""
        stage, settings = self._stage, self.settings
        about = f":{stage.region}:{NO_ACCOUNT}:"
        there = f":{stage.region}:{place.account}:"
        return {name: text.replace(about, there) for name, text in settings.to_env().items()}


def _keys(schema: Sequence[dict[str, str]]) -> list[dynamodb.CfnTable.KeySchemaProperty]:
    return [
        dynamodb.CfnTable.KeySchemaProperty(
            attribute_name=each["AttributeName"], key_type=each["KeyType"]
        )
        for each in schema
    ]


SERVICE, STAGE = "feedback", "stage"
"""The service that the function's metrics name, and their other dimension."""

ROW: Final = 8
"""Columns of a widget, of the dashboard's 24."""


def watch_feedback(path: FeedbackPath, topic: sns.ITopic) -> list[cloudwatch.Alarm]:
    """Make the alarms of a path.

    Args:
        path: what is watched.
        topic: receives the alarms.
    """
    watched = Watched(
        kind=KIND,
        about="Deferred rewards",
        name=partial(Names.alarm, path.physical),
        metric=partial(_watched_metric, path),
        bounds={WINDOW: RolloutSettings().window},
    )
    return alarms(path, watched, topic)


def _watched_metric(path: FeedbackPath, row: Alarm) -> cloudwatch.Metric:
    """The metric that a row watches: of the function, of a queue, or of the function's own."""
    if row.metric in {ERRORS, THROTTLES}:
        return path.function.metric(row.metric, period=period(row), statistic=row.statistic)
    if row.metric in {OLDEST, VISIBLE}:
        queue = path.queue if row.metric == OLDEST else path.dead_letters
        return queue.metric(row.metric, period=period(row), statistic=row.statistic)
    return _metric(path, row.metric)


def _metric(path: FeedbackPath, name: str) -> cloudwatch.Metric:
    """A metric of the function's own, with the dimensions it is emitted with."""
    return cloudwatch.Metric(
        namespace=path.settings.namespace,
        metric_name=name,
        dimensions_map={"service": SERVICE, STAGE: path.settings.stage},
        statistic="Sum",
        period=Duration.minutes(MINUTE),
    )


def feedback_row(path: FeedbackPath) -> list[cloudwatch.IWidget]:
    """The dashboard's row of a path."""
    queue, letters, function = path.queue, path.dead_letters, path.function
    return [
        cloudwatch.GraphWidget(
            title="deferred rewards: what became of them",
            left=[
                _metric(path, each)
                for each in ("rewards_reported", "dead_letters", "expired", "unscored")
            ],
            width=ROW,
        ),
        cloudwatch.GraphWidget(
            title="deferred rewards: waiting",
            left=[
                queue.metric_approximate_number_of_messages_visible(),
                letters.metric_approximate_number_of_messages_visible(),
            ],
            right=[queue.metric_approximate_age_of_oldest_message()],
            width=ROW,
        ),
        cloudwatch.GraphWidget(
            title="deferred rewards: work",
            left=[function.metric_invocations(), function.metric_errors()],
            right=[function.metric_duration(statistic=each) for each in ("p50", "p99")],
            width=ROW,
        ),
    ]
