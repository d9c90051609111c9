"""Requests from an SQS queue, into which a forwarder has put them: `servers.app --queue URL`.

| a message | becomes |
| --- | --- |
| a request | an episode, and is deleted once the outbox has its beginning |
| a request whose rollout has begun | nothing, and is deleted: the agent does not run again |
| no request, or one without the ids of a rollout | what it was, until the queue has it dead |

It takes no more than can run at once and leaves the rest to other readers. What has begun is in the
outbox, whose promise holds from then on; so no message need stay hidden while its episode runs, and
a process that dies before leaves the message to the next one. The window of a rollout runs since
the message was sent.

Source: "Amazon SQS visibility timeout" and `ReceiveMessage` of the SQS API reference.
"""

from __future__ import annotations

import logging
import re
import time
from typing import TYPE_CHECKING, Any, Final, Protocol

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.request.clock import from_wall
from reward_functions.rollouts.request.contract import read_request
from reward_functions.rollouts.request.errors import BadRequest, TooBusy, UntrustedEndpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from threading import Event

    from reward_functions.rollouts.episode.background import Background

WAIT_SECONDS: Final = 5
"""How long SQS holds a receive that finds nothing; an end is heard behind it, so it is no 20."""

AT_ONCE: Final = 10
"""Messages of one receive, SQS's most."""

FULL_SECONDS: Final = 0.2
"""How often an agent that is full looks whether it still is."""

LONGEST_PAUSE: Final = 30.0
"""Seconds between two receives that failed."""

CLIENTS_FAULT: Final = 4
"""Hundreds of a status that says so."""

AWS_URL: Final = re.compile(r"https://sqs\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?/.+")

_log = logging.getLogger(__name__)


class CannotRead(ConfigurationError):
    """The queue is not there, or may not be read."""


class Server(Protocol):
    """The part of `RolloutApp` that hands requests to its agent."""

    background: Background

    @property
    def reports(self) -> bool:
        """Whether the agent reports its rollouts."""

    def begin(self, payload: dict[str, Any], *, since: float) -> object:
        """Begin what a payload asks for, whose window began then."""


class QueueReader:
    """Hands an agent the requests of a queue.

    Args:
        app: the agent's server, of a `rollout_handler`: nobody reads what another one returns.
        url: of the queue.
        client: boto3's for SQS; one of the environment, in the queue's region, where None.
        clock: seconds since the epoch.

    Raises:
        ConfigurationError: the agent is no `rollout_handler`.
    """

    def __init__(
        self,
        app: Server,
        url: str,
        *,
        client: Any = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not app.reports:
            raise ConfigurationError(
                "an agent that reads a queue is a rollout_handler: what another one returns, "
                "nobody would read"
            )
        self._app, self._url, self._clock = app, url, clock
        self._sqs = _client(url) if client is None else client
        self._failures = 0

    def read(self, ended: Event) -> None:
        """Read until an event is set; what SQS gives behind that goes back at once.

        Raises:
            CannotRead: it is not there, or may not be read.
        """
        _log.info("reading %s", self._url)
        while not ended.is_set():
            free = min(AT_ONCE, self._app.background.free)
            if not free:
                ended.wait(FULL_SECONDS)
                continue
            for message in self._received(free, ended):
                if ended.is_set():
                    self._give_back(message)
                else:
                    self._take(message)

    def _received(self, number: int, ended: Event) -> list[Mapping[str, Any]]:
        """Some messages; none where the queue fails for now."""
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - 0.2 s

        try:
            found = self._sqs.receive_message(
                QueueUrl=self._url,
                MaxNumberOfMessages=number,
                WaitTimeSeconds=WAIT_SECONDS,
                AttributeNames=["SentTimestamp"],
            )
        except (BotoCoreError, ClientError) as error:
            if _stays(error):
                raise CannotRead(f"the queue {self._url} cannot be read: {_code(error)}") from None
            pause = min(LONGEST_PAUSE, 2.0**self._failures)
            self._failures += 1
            _log.warning("the queue was not read: %s: again in %g s", _code(error), pause)
            ended.wait(pause)
            return []
        self._failures = 0
        return list(found.get("Messages", ()))

    def _take(self, message: Mapping[str, Any]) -> None:
        """Begin what a message asks for, and delete it."""
        sent = float(message.get("Attributes", {}).get("SentTimestamp", "inf")) / 1000
        try:
            payload = _request(message["Body"])
            self._app.begin(payload, since=from_wall(min(sent, self._clock())))
        except TooBusy:
            self._give_back(message)
        except (BadRequest, UntrustedEndpoint) as error:
            _log.warning("the message %s is left to the queue: %s", message["MessageId"], error)
        else:
            self._settled("delete_message", message)

    def _give_back(self, message: Mapping[str, Any]) -> None:
        self._settled("change_message_visibility", message, VisibilityTimeout=0)

    def _settled(self, operation: str, message: Mapping[str, Any], **given: int) -> None:
        """Tell the queue; where that fails the message comes again, and a rollout begins once."""
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - 0.2 s

        asked = {"QueueUrl": self._url, "ReceiptHandle": message["ReceiptHandle"], **given}
        try:
            getattr(self._sqs, operation)(**asked)
        except (BotoCoreError, ClientError) as error:
            _log.warning("the message %s comes again: %s", message["MessageId"], _code(error))


def _request(body: str) -> dict[str, Any]:
    """The payload of a message, whose reward can be reported.

    Raises:
        BadRequest: it is none, or its ids are missing.
    """
    request = read_request(body)
    if not request.metadata.complete:
        raise BadRequest("it has no jobArn or no rolloutId")
    return dict(request.payload)


def _client(url: str) -> Any:
    """boto3's, in the queue's region."""
    import boto3  # noqa: PLC0415 - 0.2 s
    from botocore.config import Config  # noqa: PLC0415
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415

    found = AWS_URL.fullmatch(url)
    # Longer than SQS holds a receive.
    limits = Config(connect_timeout=5, read_timeout=WAIT_SECONDS + 10)
    try:
        return boto3.client("sqs", region_name=found and found["region"], config=limits)
    except BotoCoreError as error:
        raise CannotRead(f"the queue {url} cannot be read: {type(error).__name__}") from None


def _code(error: Exception) -> str:
    """What AWS calls it, or its type."""
    answered = getattr(error, "response", {})
    return str(answered.get("Error", {}).get("Code") or type(error).__name__)[:64]


def _stays(error: Exception) -> bool:
    """Whether the same receive would fail again: SQS answers, and neither fails nor throttles."""
    answered = getattr(error, "response", {}).get("ResponseMetadata", {})
    passes = "Throttl" in _code(error) or _code(error) == "RequestLimitExceeded"
    return answered.get("HTTPStatusCode", 0) // 100 == CLIENTS_FAULT and not passes
