"""A change of a training job's state becomes a notification."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from reward_functions.cdk import nag
from reward_functions.cdk.roles import place_of
from reward_functions.serving import permissions

if TYPE_CHECKING:
    from reward_functions.cdk.stages import Stage


class JobEvents(Construct):
    """EventBridge's events of Bedrock customization jobs, published to a topic.

    Bedrock sends these events without a guarantee; `GetModel…Job` returns a job's state.
    The rule matches every customization job of the account and region.

    Args:
        scope: the stack.
        name: in the construct tree.
        stage: whose subscriptions are made.

    Attributes:
        topic: receives the alarms too.
        undelivered: events the topic did not take.
    """

    def __init__(self, scope: Construct, name: str, *, stage: Stage) -> None:
        super().__init__(scope, name)
        self.topic = sns.Topic(self, "Topic", enforce_ssl=True)
        self.topic.add_to_resource_policy(
            iam.PolicyStatement.from_json(
                permissions.publish_alarms(place_of(self), self.topic.topic_arn)
            )
        )
        for address in stage.subscriptions:
            subscribed = (
                subscriptions.UrlSubscription(address)
                if address.startswith("https://")
                else subscriptions.EmailSubscription(address)
            )
            self.topic.add_subscription(subscribed)
        self.undelivered = sqs.Queue(
            self,
            "Undelivered",
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=Duration.days(14),
        )
        nag.acknowledge(self.undelivered, "SQS3", "It is itself the dead-letter queue of the rule.")
        events.Rule(
            self,
            "Rule",
            description="State changes of Bedrock model customization jobs",
            event_pattern=events.EventPattern(
                source=["aws.bedrock"], detail_type=["Model Customization Job State Change"]
            ),
            targets=[targets.SnsTopic(self.topic, dead_letter_queue=self.undelivered)],
        )
        alarm = cloudwatch.Alarm(
            self,
            "NotTold",
            metric=self.undelivered.metric_approximate_number_of_messages_visible(
                period=Duration.minutes(5), statistic="Maximum"
            ),
            threshold=0,
            evaluation_periods=1,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
            alarm_description="Job events did not reach the topic; they wait in its queue.",
        )
        # What keeps events from the topic need not keep alarms from it: another service sends them.
        alarm.add_alarm_action(actions.SnsAction(self.topic))
