"""A change of a training job's state becomes a notification.

Two services send such events, each with the role that a job runs as under a name of its own: so a
stage's subscribers hear of its own jobs. AWS documents no events of multi-turn jobs, and jobs of the
OpenAI-compatible API run as nobody: those of the stage are not change.

Sources: "Monitor Amazon Bedrock job state changes using Amazon EventBridge"; "Events that Amazon
    SageMaker AI sends to Amazon EventBridge". By "Using resource-based policies for Amazon
    EventBridge" a topic's policy takes no condition for EventBridge, while a rule may publish as a
    role. For that role's trust: "Cross- service confused deputy prevention" there.
"""  # noqa: E501

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from reward_functions.cdk.constructs import runtime
from reward_functions.cdk.constructs.monitoring import Watched, alarms, period
from reward_functions.cdk.constructs.roles import place_of, role
from reward_functions.cdk.model.operating import JOB_EVENTS
from reward_functions.cdk.policies import permissions
from reward_functions.cdk.policies.documents import BEDROCK, SAGEMAKER, TRAINING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reward_functions.cdk.model.stages import Stage


class StateChange(NamedTuple):
    """The events of one service.

    Args:
        construct: of the rule, in the construct tree.
        ending: of the rule's name.
        jobs: for the reader who finds the rule.
        source: of an event.
        detail_type: of an event.
        role_field: where an event's detail has the role of its job.
        roles: the kinds of roles that such jobs run as.
    """

    construct: str
    ending: str
    jobs: str
    source: str
    detail_type: str
    role_field: str
    roles: frozenset[str]


STATE_CHANGES: Final = (
    StateChange(
        "Rule",
        "bedrock",
        "Bedrock model customization jobs",
        "aws.bedrock",
        "Model Customization Job State Change",
        "roleArn",
        frozenset({BEDROCK}),
    ),
    StateChange(
        "SageMakerRule",
        "sagemaker",
        "SageMaker training jobs",
        "aws.sagemaker",
        "SageMaker Training Job State Change",
        "RoleArn",
        frozenset({SAGEMAKER, TRAINING}),
    ),
)


def rule_name(stage: Stage, change: StateChange) -> str:
    """A rule's physical name, by which the role it publishes as knows it."""
    return f"{stage.names.stack}-{change.ending}"


class JobEvents(Construct):
    """EventBridge's events of training jobs, published to a topic.

    Bedrock sends them without a guarantee; `GetModel…Job` returns a job's state.

    Args:
        scope: the stack.
        name: in the construct tree.
        stage: whose subscriptions are made, and who says whose jobs they hear of.
        roles: what the stage's jobs run as, by the kinds of `documents.KINDS`.

    Attributes:
        topic: receives the alarms too.
        undelivered: events the topic did not take.
        alarms: those of its events.
    """

    def __init__(
        self, scope: Construct, name: str, *, stage: Stage, roles: Mapping[str, iam.CfnRole]
    ) -> None:
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
        runtime.acknowledge(
            self.undelivered, "SQS3", "It is itself the dead-letter queue of the rule."
        )
        wide = stage.job_events == "account"
        changes = [each for each in STATE_CHANGES if wide or each.roles & roles.keys()]
        publisher = self._publisher(stage, changes)
        for change in changes:
            arns = [made.attr_arn for kind, made in roles.items() if kind in change.roles]
            own = None if wide else {change.role_field: arns}
            events.Rule(
                self,
                change.construct,
                rule_name=rule_name(stage, change),
                description=f"State changes of {change.jobs}",
                event_pattern=events.EventPattern(
                    source=[change.source], detail_type=[change.detail_type], detail=own
                ),
                targets=[
                    targets.SnsTopic(self.topic, role=publisher, dead_letter_queue=self.undelivered)
                ],
            )
        watched = Watched(
            kind=JOB_EVENTS,
            about="Job events",
            name=partial(stage.names.alarm_of_stage, "job-events"),
            metric=lambda row: self.undelivered.metric(
                row.metric, period=period(row), statistic=row.statistic
            ),
        )
        # What keeps events from the topic need not keep alarms from it: another service sends them.
        self.alarms = alarms(self, watched, self.topic)

    def _publisher(self, stage: Stage, changes: Iterable[StateChange]) -> iam.IRole:
        """What the rules publish as; it may publish to this topic, and they alone take it on."""
        place = place_of(self)
        rules = [place.arn("events", f"rule/{rule_name(stage, each)}") for each in changes]
        made = role(
            self,
            "PublisherRole",
            description="What the rules of job events publish as",
            trust=permissions.trust_rules(place, rules),
            policies={"publish": permissions.publish_events(self.topic.topic_arn)},
            path=stage.role_path,
        )
        return iam.Role.from_role_arn(self, "PublisherByArn", made.attr_arn, mutable=False)
