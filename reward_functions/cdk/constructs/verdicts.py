"""The table of verdicts that a stage's judges share: what one asked, none of them asks again.

It holds choices and no text, under hashes (`judge_runtime.cache`), and costs by its use alone.
DynamoDB encrypts it with a key of its own, to which no role needs a right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aws_cdk import aws_dynamodb as dynamodb

from reward_functions.cdk.constructs import nag
from reward_functions.cdk.constructs.keeping import kept

if TYPE_CHECKING:
    from constructs import Construct

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
        nag.acknowledge(table, "DDB3", "A lost verdict is asked for again.")
    return table
