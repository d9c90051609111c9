"""The DynamoDB table of an outbox: its definition, who may do what with it, and what goes wrong."""

from __future__ import annotations

from typing import Any, Final

from reward_functions.core.aws_region import shell_region
from reward_functions.rollouts.request.errors import OutboxUnavailable

INDEX: Final = "queue"

TIME_TO_LIVE: Final = "forget"
"""The attribute by which DynamoDB deletes what is over."""

DEFINITION: Final[dict[str, Any]] = {
    "AttributeDefinitions": [
        {"AttributeName": "key", "AttributeType": "S"},
        {"AttributeName": "kind", "AttributeType": "S"},
        {"AttributeName": "queue", "AttributeType": "S"},
        {"AttributeName": "at", "AttributeType": "N"},
    ],
    "KeySchema": [
        {"AttributeName": "key", "KeyType": "HASH"},
        {"AttributeName": "kind", "KeyType": "RANGE"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": INDEX,
            "KeySchema": [
                {"AttributeName": "queue", "KeyType": "HASH"},
                {"AttributeName": "at", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "BillingMode": "PAY_PER_REQUEST",
}
"""Of the table, beside its name and its time to live."""

ACTIONS: Final = (
    "dynamodb:BatchGetItem",
    "dynamodb:ConditionCheckItem",
    "dynamodb:DeleteItem",
    "dynamodb:PutItem",
    "dynamodb:Query",
    "dynamodb:UpdateItem",
)
"""What an outbox does, on its table and on `index/*` of it."""

CREATE_ACTIONS: Final = (
    "dynamodb:CreateTable",
    "dynamodb:DescribeTable",
    "dynamodb:DescribeTimeToLive",
    "dynamodb:UpdateTimeToLive",
)
"""What `create_table` does, on the table."""

TIMEOUT: Final = 5.0
"""Seconds of a connection and of a reply."""

TRIES: Final = 3
"""Of botocore, for what is throttled or fails."""

PROBLEMS: Final = {
    "ResourceNotFoundException": "does not exist: `reward rollouts outbox create` makes it",
    "AccessDeniedException": f"may not be used: allow {', '.join(ACTIONS)} on it and on its index",
    "UnrecognizedClientException": "cannot be used with these credentials",
    "ExpiredTokenException": "cannot be used: the credentials have expired",
    "ProvisionedThroughputExceededException": "is throttled",
    "ThrottlingException": "is throttled",
    "RequestLimitExceeded": "is throttled",
    "NoCredentialsError": "cannot be used: there are no AWS credentials",
    "NoRegionError": "has no region: add ?region=REGION to its URL, or set AWS_REGION",
}
"""By error code, or by the name of botocore's exception; behind "the outbox table NAME"."""


def dynamodb_client(region: str = "", endpoint: str = "") -> Any:
    """A client of DynamoDB, which threads may share.

    Args:
        region: of AWS; "" for the environment's.
        endpoint: a URL in place of the service's own; "" for none.

    Raises:
        NoRegionError: of botocore, where nobody names one.
    """
    import boto3  # noqa: PLC0415 - takes a quarter of a second
    from botocore.config import Config  # noqa: PLC0415

    config = Config(
        connect_timeout=TIMEOUT,
        read_timeout=TIMEOUT,
        retries={"mode": "standard", "total_max_attempts": TRIES},
        max_pool_connections=64,
    )
    where = region or shell_region() or None
    return boto3.Session().client(
        "dynamodb", region_name=where, endpoint_url=endpoint or None, config=config
    )


def create_table(client: Any, name: str) -> bool:
    """Make the table of an outbox, wait until it can be used, and set its time to live.

    Args:
        client: boto3's for DynamoDB.
        name: of the table.

    Returns:
        Whether it was made; not where it was there already.

    Raises:
        OutboxUnavailable: there is a table of that name with other keys, or DynamoDB refuses.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - heavy

    try:
        made = _made(client, name)
        client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1})
        _require_definition(client.describe_table(TableName=name)["Table"])
        _set_time_to_live(client, name)
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        denied = f"may not be made: allow {', '.join(CREATE_ACTIONS)}"
        problem = denied if code == "AccessDeniedException" else f"cannot be made: {code}"
        raise OutboxUnavailable(f"the outbox table {name} {problem}") from None
    except BotoCoreError as error:
        problem = PROBLEMS.get(type(error).__name__, f"cannot be made: {type(error).__name__}")
        raise OutboxUnavailable(f"the outbox table {name} {problem}") from None
    return made


def _made(client: Any, name: str) -> bool:
    try:
        client.create_table(TableName=name, **DEFINITION)
    except client.exceptions.ResourceInUseException:
        return False
    return True


def _require_definition(table: dict[str, Any]) -> None:
    indexes = {each["IndexName"]: each for each in table.get("GlobalSecondaryIndexes", ())}
    (index,) = DEFINITION["GlobalSecondaryIndexes"]
    right = (
        table["KeySchema"] == DEFINITION["KeySchema"]
        and indexes.get(INDEX, {}).get("KeySchema") == index["KeySchema"]
    )
    if not right:
        raise OutboxUnavailable(
            f"the table {table['TableName']} is not an outbox: its keys or its index {INDEX!r} are "
            "others; choose another name"
        )


def _set_time_to_live(client: Any, name: str) -> None:
    found = client.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    if found["TimeToLiveStatus"] in {"DISABLED", "DISABLING"}:
        client.update_time_to_live(
            TableName=name,
            TimeToLiveSpecification={"Enabled": True, "AttributeName": TIME_TO_LIVE},
        )
