"""The Lambda's entry: a batch of SQS's messages, and those that are to come again.

Powertools' batch processor answers with the messages that failed, and SQS keeps these alone.
Clients are made once, when the function starts. A log line has counts, kinds and the ids of
messages; it has no text of a prompt, a response or a reference.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from aws_lambda_powertools.logging import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit
from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)

from reward_functions.feedback.findings import EXPIRED, UNSCORED
from reward_functions.feedback.path import DEAD, REPORTED, Message, Path
from reward_functions.feedback.reports import Reports
from reward_functions.feedback.scoring import ASKED_AT_ONCE, PinnedRewards
from reward_functions.feedback.settings import FeedbackSettings
from reward_functions.rollouts.report.outbox.opening import open_outbox
from reward_functions.rollouts.report.transports import open_transport
from reward_functions.serving.observability import StandardOutput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
    from aws_lambda_powertools.utilities.typing import LambdaContext

SERVICE: Final = "feedback"

METRICS: Final = (REPORTED, DEAD, EXPIRED, UNSCORED)

ASKING: Final = 100
"""Seconds that an invocation of a reward may be silent: a feedback function runs for 120."""

CONNECT: Final = 5


class Handler:
    """The handler of one stage.

    Args:
        path: of the stage.
        settings: of the stage.
    """

    def __init__(self, path: Path, settings: FeedbackSettings) -> None:
        self._path = path
        self._logger = Logger(service=SERVICE, logger_handler=StandardOutput())
        self._metrics = EphemeralMetrics(
            namespace=settings.namespace,
            service=SERVICE,
            default_dimensions={"stage": settings.stage},
        )

    def __call__(self, event: dict[str, Any], context: LambdaContext) -> Any:
        """Settle a batch; the answer names the messages that are to come again."""
        messages = [
            Message(
                id=record["messageId"],
                body=record["body"],
                receives=int(record["attributes"]["ApproximateReceiveCount"]),
                receipt=record["receiptHandle"],
            )
            for record in event["Records"]
        ]
        failed, counts = self._path.settle(
            messages, remaining=lambda: context.get_remaining_time_in_millis() / 1000
        )
        for name in METRICS:
            self._metrics.add_metric(name=name, unit=MetricUnit.Count, value=counts[name])
        self._metrics.flush_metrics()
        self._logger.info(
            "batch",
            messages=len(messages),
            counts={name: counts[name] for name in METRICS},
            again={name: f"{each.kind}: {each}" for name, each in failed.items()},
        )

        def settled(record: SQSRecord) -> None:
            if (stopped := failed.get(record.message_id)) is not None:
                raise stopped

        # An exception of the whole batch would be counted as a failure of this function.
        processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)
        return process_partial_response(event, settled, processor, context)


def bind(environ: Mapping[str, str]) -> Handler:
    """The handler of a stage's environment.

    Raises:
        ConfigurationError: a setting is missing or wrong. The message names the variable.
    """
    import boto3  # noqa: PLC0415 - a test binds none of its clients
    from botocore.config import Config  # noqa: PLC0415

    settings = FeedbackSettings.from_env(environ)
    # A reward is asked once an attempt: the queue tries again, and each answer costs.
    asking = Config(
        read_timeout=ASKING,
        connect_timeout=CONNECT,
        retries={"total_max_attempts": 1},
        max_pool_connections=ASKED_AT_ONCE,
    )
    usual = Config(
        connect_timeout=CONNECT,
        read_timeout=10,
        retries={"mode": "standard", "total_max_attempts": 3},
    )
    trusted = (settings.endpoint,) if settings.endpoint else ()
    path = Path(
        settings,
        s3=boto3.client("s3", config=usual),
        sqs=boto3.client("sqs", config=usual),
        rewards=PinnedRewards(boto3.client("lambda", config=asking), settings.functions),
        reports=Reports(
            open_outbox(settings.outbox),
            open_transport("modelled", trusted=trusted),
            endpoint=settings.endpoint,
            environ=environ,
        ),
    )
    return Handler(path, settings)


def __getattr__(name: str) -> Any:
    """`handler`, bound when the runtime asks for it: importing this module reads no environment."""
    if name != "handler":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    bound = globals()["handler"] = bind(os.environ)
    return bound
