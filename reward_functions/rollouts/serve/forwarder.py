"""The Lambda that a trainer calls for an agent of one's own: it forwards the request, and ends.

The handler is `reward_functions.rollouts.servers.forwarder.handler`. It answers `{}`, or an
`errorType` and one sentence:

| cause | errorType |
| --- | --- |
| an event that is no request, or has no ids or malformed ones | ValidationError |
| a request that is too large for the queue; the agent's 400, 413, 422 | ValidationError |
| the agent's 401, 403; its key or its queue may not be used | AccessDenied |
| any other answer of the agent but 2xx, redirects among them | InternalServerError |
| the agent cannot be reached, or not in time | InternalServerError |
| the function's settings are missing or wrong | InternalServerError |

| variable | meaning |
| --- | --- |
| `AGENT_ENDPOINT` | URL of the agent: https, or loopback; `/rollout` where it has no path |
| `AGENT_QUEUE_URL` | or an SQS queue that the agent reads |
| `AGENT_API_KEY` | sent as `Authorization: Bearer`; best not here, but in |
| `AGENT_API_KEY_SECRET` | a secret of Secrets Manager: the key, or `{"AGENT_API_KEY": …}` |

The function waits for the agent's answer as long as it may run itself, less a second. A connection
that fails is tried once more; what has been sent is not, as an agent may have begun. Neither the
payload nor the key is logged. Not handled: an agent that sends the head of its answer byte by byte
is ended by the function's own timeout.

Source: "Preparing your agent" of the SageMaker developer guide, "Custom agent".
"""

from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple
from urllib.parse import urlsplit

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.loopback import AMBIGUOUS, is_loopback
from reward_functions.core.settings import EnvSettings
from reward_functions.rollouts.request.api_key import API_KEY, is_key, require_key
from reward_functions.rollouts.request.contract import read_request
from reward_functions.rollouts.request.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reward_functions.rollouts.request.contract import RolloutRequest

ErrorType = Literal["ValidationError", "AccessDenied", "InternalServerError"]

ROUTE: Final = "/rollout"
"""Of an agent whose URL has no path."""

JOB_ARN: Final = re.compile(
    r"arn:aws[a-z\-]*:sagemaker:[a-z0-9\-]*:[0-9]{12}:job/[A-Za-z0-9_\-]+/[A-Za-z0-9\-]{1,63}"
)
LONGEST_ARN: Final = 256
TRAJECTORY_ID: Final = re.compile(r"[!-~]{1,256}")
"""Both of botocore's model of `sagemakerjobruntime`; an id stands in a header, without spaces."""

RESERVE_SECONDS: Final = 1.0
"""Left for the answer of the function itself."""

WITHOUT_CONTEXT_SECONDS: Final = 30.0
"""For the agent's answer where no Lambda says how long it may run."""

PAUSE_SECONDS: Final = 0.2
"""Before the second attempt to connect."""

LARGEST_MESSAGE: Final = 1024 * 1024
"""Bytes of a message ("Amazon SQS message quotas")."""

REFUSED: Final[Mapping[int, ErrorType]] = {
    400: "ValidationError",
    413: "ValidationError",
    422: "ValidationError",
    401: "AccessDenied",
    403: "AccessDenied",
}

DENIED: Final = frozenset(
    {
        *("AccessDenied", "AccessDeniedException", "AccessDeniedFault", "InvalidClientTokenId"),
        *("UnrecognizedClientException", "ExpiredToken", "ExpiredTokenException"),
        *("KmsAccessDenied", "KMS.AccessDeniedException"),
    }
)
"""Error codes of AWS for a caller that may not."""

_log = logging.getLogger(__name__)


class Address(NamedTuple):
    """Where an agent is.

    Args:
        secure: whether it is reached over TLS.
        host: its name.
        port: None for the usual one.
        target: path and query.
    """

    secure: bool
    host: str
    port: int | None
    target: str


@dataclass(frozen=True, kw_only=True)
class ForwarderSettings(EnvSettings):
    """Where requests go."""

    PREFIX: ClassVar = "AGENT_"
    NAMED: ClassVar = {"queue": "AGENT_QUEUE_URL", "secret": f"{API_KEY}_SECRET"}
    SHARED: ClassVar = True

    endpoint: str = ""
    """URL of the agent, or:."""

    queue: str = ""
    """URL of a queue that it reads."""

    api_key: str = field(default="", repr=False)
    """The agent's key, or:."""

    secret: str = ""
    """Name or ARN of one that holds it."""

    def __post_init__(self) -> None:
        """Check them.

        Raises:
            ConfigurationError: they do not fit together. The message names the variable.
        """
        if bool(self.endpoint) == bool(self.queue):
            raise ConfigurationError("set one of AGENT_ENDPOINT and AGENT_QUEUE_URL")
        if self.api_key and self.secret:
            raise ConfigurationError("set one of AGENT_API_KEY and AGENT_API_KEY_SECRET")
        require_key(self.api_key)
        if self.endpoint:
            address_of(self.endpoint)


def address_of(endpoint: str) -> Address:
    """Where a URL leads.

    Raises:
        ConfigurationError: not https, and not this machine; or no URL that has one reading.
    """
    problem = "AGENT_ENDPOINT is not a URL such as https://agent.example.com"
    try:
        parts = urlsplit(endpoint)
        host, port = parts.hostname, parts.port
        (host or "").encode("idna")  # as a connection does: an empty label has no address
    except ValueError:
        raise ConfigurationError(problem) from None
    if AMBIGUOUS.search(endpoint) or "@" in parts.netloc or not host or parts.fragment:
        raise ConfigurationError(problem)
    # A zone is this machine's own, and a request's first line is ASCII.
    if "%" in host or port == 0 or not f"{parts.path}{parts.query}".isascii():
        raise ConfigurationError(problem)
    if parts.scheme not in {"http", "https"}:
        raise ConfigurationError(problem)
    if parts.scheme == "http" and not is_loopback(endpoint):
        raise ConfigurationError("AGENT_ENDPOINT is not https: the agent's key would be readable")
    path = ROUTE if parts.path in {"", "/"} else parts.path
    return Address(
        parts.scheme == "https", host, port, f"{path}{'?' * bool(parts.query)}{parts.query}"
    )


class Failed(Exception):
    """The request was not forwarded. The message is one sentence without secrets or prompts.

    Args:
        type: the contract's name of the cause.
        message: the sentence.
    """

    def __init__(self, type: ErrorType, message: str) -> None:  # noqa: A002 - the contract's own word
        super().__init__(message)
        self.type = type


class Forwarder:
    """Forwards requests; one for the life of a Lambda.

    Args:
        settings: where they go.
        session: boto3's, for the queue and the secret; the environment's where None.
        pause: waits some seconds, before a second attempt to connect.
    """

    def __init__(
        self,
        settings: ForwarderSettings,
        *,
        session: Any = None,
        pause: Callable[[float], None] = sleep,
    ) -> None:
        self._settings = settings
        self._session = session
        self._pause = pause
        self._key = settings.api_key
        self._clients: dict[str, Any] = {}

    def answer(self, event: Any, context: Any = None) -> dict[str, str]:
        """The answer to an event: empty, or the error of the contract."""
        left = getattr(context, "get_remaining_time_in_millis", None)
        seconds = left() / 1000 - RESERVE_SECONDS if left else WITHOUT_CONTEXT_SECONDS
        try:
            request = require_ids(event)
            forward = self._to_queue if self._settings.queue else self._to_agent
            forward(request, until=monotonic() + seconds)
        except Failed as failed:
            _log.warning("not forwarded: %s: %s", failed.type, failed)
            return {"errorType": failed.type, "errorMessage": str(failed)}
        _log.info("forwarded rollout %s", request.metadata.trajectory_id)
        return {}

    def _to_agent(self, request: RolloutRequest, *, until: float) -> None:
        body = _json(request)
        headers = {"Content-Type": "application/json", "User-Agent": "reward-functions"}
        if key := self._api_key():
            headers["Authorization"] = f"Bearer {key}"
        status = self._post(address_of(self._settings.endpoint), body, headers, until)
        if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            self._key = self._settings.api_key  # a secret that was rotated is read again, next time
        if not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
            raise Failed(REFUSED.get(status, "InternalServerError"), f"the agent answered {status}")

    def _post(self, address: Address, body: bytes, headers: Mapping[str, str], until: float) -> int:
        """The status of the agent's answer."""
        connection = self._connected(address, until)
        try:
            connection.request("POST", address.target, body, dict(headers))
            if connection.sock is not None:
                connection.sock.settimeout(_left(until))
            status = connection.getresponse().status
        except TimeoutError:
            raise Failed("InternalServerError", "the agent did not answer in time") from None
        except (OSError, HTTPException) as error:
            raise Failed(
                "InternalServerError", f"the agent did not answer: {type(error).__name__}"
            ) from None
        finally:
            connection.close()
        return status

    def _connected(self, address: Address, until: float) -> HTTPConnection:
        """A connection, at the second attempt if need be; nothing has been sent on it."""
        kind = HTTPSConnection if address.secure else HTTPConnection
        failed = ""
        for again in (True, False):
            connection = kind(address.host, address.port, timeout=_left(until))
            try:
                connection.connect()
            except OSError as error:
                failed = type(error).__name__
                if again:
                    self._pause(PAUSE_SECONDS)
            else:
                return connection
        raise Failed("InternalServerError", f"the agent cannot be reached: {failed}")

    def _to_queue(self, request: RolloutRequest, *, until: float) -> None:
        _left(until)
        body = _json(request)
        if len(body) > LARGEST_MESSAGE:
            raise Failed("ValidationError", f"a message has {LARGEST_MESSAGE} bytes at most")
        message = {"QueueUrl": self._settings.queue, "MessageBody": body.decode()}
        if self._settings.queue.endswith(".fifo"):
            # A trainer that asks twice within five minutes is served once.
            ids = f"{request.metadata.job_arn} {request.metadata.trajectory_id}"
            name = sha256(ids.encode()).hexdigest()
            message |= {"MessageGroupId": name, "MessageDeduplicationId": name}
        self._aws("sqs", "send_message", message, "the agent's queue")

    def _api_key(self) -> str:
        """The key, which is read once."""
        if not self._key and self._settings.secret:
            given = {"SecretId": self._settings.secret}
            found = self._aws("secretsmanager", "get_secret_value", given, "AGENT_API_KEY_SECRET")
            self._key = _key_of(found.get("SecretString"))
        return self._key

    def _aws(self, service: str, operation: str, given: Mapping[str, Any], what: str) -> Any:
        """What an operation of AWS returns.

        Raises:
            Failed: it does not.
        """
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - 0.2 s

        try:
            return getattr(self._client(service), operation)(**given)
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", ""))
            kind: ErrorType = "AccessDenied" if code in DENIED else "InternalServerError"
            raise Failed(kind, f"{what} could not be used: {code[:64]}") from None
        except BotoCoreError as error:
            name = type(error).__name__
            raise Failed("InternalServerError", f"{what} could not be used: {name}") from None

    def _client(self, service: str) -> Any:
        if service not in self._clients:
            import boto3  # noqa: PLC0415 - 0.2 s
            from botocore.config import Config  # noqa: PLC0415

            limits = Config(connect_timeout=2, read_timeout=5, retries={"total_max_attempts": 2})
            session = self._session or boto3.Session()
            self._clients[service] = session.client(service, config=limits)
        return self._clients[service]


def require_ids(event: Any) -> RolloutRequest:
    """The request of an event, whose reward can be reported.

    Raises:
        Failed: it is no request, or its ids are missing or malformed.
    """
    try:
        request = read_request(event)
    except BadRequest as error:
        raise Failed("ValidationError", str(error)) from None
    arn, name = request.metadata.job_arn, request.metadata.trajectory_id
    if len(arn) > LONGEST_ARN or not JOB_ARN.fullmatch(arn):
        raise Failed("ValidationError", "metadata.jobArn is not the ARN of a SageMaker job")
    if not TRAJECTORY_ID.fullmatch(name):
        raise Failed("ValidationError", "metadata.rolloutId is not 1 to 256 printable characters")
    return request


def handler(event: Any, context: Any = None) -> dict[str, str]:
    """Lambda's entry point.

    Args:
        event: what the trainer sends.
        context: Lambda's, for the time that is left.

    Returns:
        `{}`, or `errorType` and `errorMessage`.
    """
    try:
        forwarder = _forwarder()
    except ConfigurationError as error:
        _log.error("not forwarded: InternalServerError: %s", error)
        return {"errorType": "InternalServerError", "errorMessage": str(error)}
    return forwarder.answer(event, context)


@cache
def _forwarder() -> Forwarder:
    return Forwarder(ForwarderSettings.from_env())


def _json(request: RolloutRequest) -> bytes:
    """The payload as it came, as strict JSON."""
    try:
        return json.dumps(request.payload, allow_nan=False, separators=(",", ":")).encode()
    except ValueError:
        raise Failed(
            "ValidationError", "the payload holds a number that JSON does not know"
        ) from None
    except RecursionError:
        raise Failed("ValidationError", "the payload is nested too deeply") from None


def _key_of(secret: Any) -> str:
    """The key that a secret holds; whole, or under the variable's name."""
    try:
        decoded = json.loads(secret)
    except (TypeError, ValueError):
        decoded = None
    key = decoded.get(API_KEY) if isinstance(decoded, dict) else secret
    if not is_key(key):
        raise Failed("InternalServerError", "the secret holds no key of printable characters")
    return str(key)


def _left(until: float) -> float:
    """Seconds that are left.

    Raises:
        Failed: none.
    """
    left = until - monotonic()
    if left <= 0:
        raise Failed("InternalServerError", "the agent did not answer in time")
    return left
