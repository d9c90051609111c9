"""A Bedrock job's change of state, as EventBridge's rules would hear of it.

`PutEvents` refuses a source that begins with `aws.`, on AWS and on the emulator, so the event
cannot be put onto the bus. It is matched against the rules of the default bus by the emulator's own
`TestEventPattern`, and brought to their targets: SNS topics, SQS queues, functions. A target's
input transformer and its dead-letter queue are not used.

Source: "Monitor Amazon Bedrock job state changes using Amazon EventBridge"; best effort there too.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any, Final

from reward_functions.local.training_double.state import now

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from reward_functions.local.training_double.clients import Clients

    Client = Callable[[str], Any]

DETAIL_TYPE: Final = "Model Customization Job State Change"

log = logging.getLogger(__name__)


def _to_topic(client: Client, arn: str, event: str) -> None:
    client("sns").publish(TopicArn=arn, Message=event)


def _to_queue(client: Client, arn: str, event: str) -> None:
    sqs = client("sqs")
    url = sqs.get_queue_url(QueueName=arn.rpartition(":")[2])["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody=event)


def _to_function(client: Client, arn: str, event: str) -> None:
    client("lambda").invoke(FunctionName=arn, InvocationType="Event", Payload=event.encode())


TARGETS: Final = {"sns": _to_topic, "sqs": _to_queue, "lambda": _to_function}
"""How an event reaches a target, by the service of its ARN."""


def deliver(clients: Clients, detail: dict[str, Any], identifier: UUID) -> None:
    """Bring one change of state to whoever asked for it.

    Args:
        clients: of the emulator.
        detail: of the event; `jobArn` says whose it is.
        identifier: of the event.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    _, _, _, region, account, _ = detail["jobArn"].split(":", 5)
    event = json.dumps(
        {
            "version": "0",
            "id": str(identifier),
            "detail-type": DETAIL_TYPE,
            "source": "aws.bedrock",
            "account": account,
            "time": now().strftime("%Y-%m-%dT%H:%M:%SZ"),
            "region": region,
            "resources": [detail["jobArn"]],
            "detail": detail,
        }
    )

    def client(service: str) -> Any:
        return clients.root(service, region)

    try:
        for arn in _matching(client("events"), event):
            service = arn.split(":")[2]
            if service in TARGETS:
                TARGETS[service](client, arn, event)
    except (BotoCoreError, ClientError) as error:
        log.warning("an event did not reach its target: %s", error)


def _matching(events: Any, event: str) -> list[str]:
    """The ARNs of the targets whose rules take this event."""
    found: list[str] = []
    for rule in events.list_rules()["Rules"]:
        if rule.get("State") != "ENABLED" or "EventPattern" not in rule:
            continue
        if events.test_event_pattern(EventPattern=rule["EventPattern"], Event=event)["Result"]:
            targets = events.list_targets_by_rule(Rule=rule["Name"])["Targets"]
            found += [target["Arn"] for target in targets]
    return found
