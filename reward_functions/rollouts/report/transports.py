r"""How a report is carried to the service: one attempt, one reply, no retries.

| transport | authorized by | job ARN | trajectory id | status |
| --- | --- | --- | --- | --- |
| `modelled` | SigV4 | the model's pattern, in a header | 1 to 256 characters | ready, failed |
| `bearer` | a bearer token | printable ASCII, in a header and in the body | likewise | likewise |
| `alpha` | SigV4 | not sent | likewise | ready |

`modelled` is what boto3's `sagemakerjobruntime` sends, idempotency token included. `bearer` is what
sagemaker.train.rft sends, with that token. `alpha`, the older API of aws-rft-sdk, has none: a
report that is sent again after a lost reply is told apart by the conflict that it meets.

botocore signs a request and opens its connections. Its own sending waits as long as a client was
configured to, for every call, and reads all that comes. It tries again by itself, which would
multiply with our attempts. A redirect is a reply like any other and never followed: the credential
would travel with it. Proxies and CA bundles are those of the environment, as botocore reads them. A
status counts as soon as it is there, even where the body after it is too long, too slow, or cut
off.

A server that sends its status line byte by byte can exceed a timeout; nobody but a trusted endpoint
is ever asked.

Source: botocore's model of `sagemakerjobruntime`, 2026-02-01; the public copies of aws-rft-sdk; the
pull request 5596 of sagemaker-python-sdk.
"""

from __future__ import annotations

import json
import os
import re
import socket
from email.utils import parsedate_to_datetime
from functools import lru_cache
from threading import Lock, local
from time import monotonic, time
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol
from uuid import uuid4

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean
from reward_functions.rollouts.report.credentials import Account, BearerTokens, NoReply
from reward_functions.rollouts.report.intents import canonical, client_token
from reward_functions.rollouts.request.endpoints import require_trusted
from reward_functions.rollouts.request.errors import BadRequest, UnsupportedReport
from reward_functions.rollouts.request.headers import JOB_HEADER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from reward_functions.rollouts.report.intents import Intent, Operation, Target


Field = Literal["JobArn", "TrajectoryId", "ClientToken", "Status", "Rewards"]
"""What a report can have."""


class Wire(NamedTuple):
    """The wire form of a kind of transport.

    Args:
        paths: by operation.
        fields: of a body, in their order; one that a report does not have is left out.
        ping: how the policy is asked for one token; "" where its route is not public.
        arn: what the job's ARN has to be, which stands in a header; None where it does not.
        bearer: whether a bearer token authorizes; SigV4 where not.
        as_boto3: with the unsigned headers of boto3's client.
        has_failed: whether a rollout can be reported as failed.
        endpoint: where nobody names another; "" for that of the request.
    """

    paths: Mapping[Operation, str]
    fields: tuple[Field, ...]
    ping: Literal["sample", "chat", ""]
    arn: re.Pattern[str] | None = None
    bearer: bool = False
    as_boto3: bool = False
    has_failed: bool = True
    endpoint: str = ""


PATHS: Final[dict[Operation, str]] = {"complete": "/complete-rollout", "reward": "/update-reward"}

PUBLISHED: Final[tuple[Field, ...]] = ("JobArn", "TrajectoryId", "Status", "Rewards")
"""The fields of sagemaker.train.rft's bodies."""

WIRES: Final[Mapping[str, Wire]] = {
    "modelled": Wire(
        PATHS,
        ("TrajectoryId", "ClientToken", "Status", "Rewards"),
        "sample",
        arn=re.compile(
            r"arn:aws[a-z\-]*:sagemaker:[a-z0-9\-]*:[0-9]{12}"
            r":job/[a-zA-Z0-9_\-]+/[a-zA-Z0-9](?:-*[a-zA-Z0-9]){0,62}"
        ),
        as_boto3=True,
    ),
    "bearer": Wire(
        PATHS, (*PUBLISHED, "ClientToken"), "chat", arn=re.compile(r"[!-~]*"), bearer=True
    ),
    "alpha": Wire(
        {"complete": "/CompleteTrajectory", "reward": "/UpdateReward"},
        ("TrajectoryId", "Rewards"),
        "",
        has_failed=False,
        endpoint="https://finetuning-job-runtime.alpha.sagemaker.us-west-2.api.aws",
    ),
}
KINDS: Final = tuple(WIRES)

LONGEST_ARN: Final = 256
LONGEST_ID: Final = 256

LARGEST: Final = 64 * 1024
"""Bytes of a reply that are read: an error has a message of at most 1,024 characters."""

CHUNK: Final = 16 * 1024

LIMITS: Final = (0.25, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds of a request. A pool of botocore has one limit for all its requests, so there is a pool
for each of these, and a request takes the longest that fits."""

SHORTEST: Final = LIMITS[0]
"""Seconds below which nothing is sent."""

CONNECT: Final = 3.0
"""Seconds to a connection, at most; a third of a request's limit where that is less."""

URLS: Final = 64
"""Whose proxies are remembered for the life of a transport, as botocore does for a client's."""

CONNECTIONS: Final = 64
"""Kept open to one host: rollouts that end together, of one process."""

NO_DELAY: Final = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]
"""Headers and body leave as two segments: without it the second waits 40 ms for the first's
acknowledgement. botocore takes urllib3's own setting away."""

MULTIPLE: Final = 300
"""The first status that is not a success."""

LONGEST: Final = 200
"""Characters of a message."""

READ: Final = 2_000
"""Characters of a message that are looked at."""

SECRETS: Final = re.compile(
    r"sagemaker-api-key-[A-Za-z0-9+/=_-]*"
    r"|\bBearer [^\s\"',]*"
    r"|\b(?:X-Amz-[A-Za-z-]{1,40}|Signature|Credential)=[^&\s\"',]*",
    re.IGNORECASE,
)
"""Credentials, should an error quote the request."""

TYPE: Final = re.compile(r"[A-Za-z][A-Za-z0-9]{0,99}")
SECONDS: Final = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6})?")


class Reply(NamedTuple):
    """What the service answered.

    Args:
        status: of HTTP.
        error_type: such as "ConflictException"; "" where the reply has none.
        retry_after: seconds that it asks to wait; 0.0 where it does not.
        detail: its message, at most 200 printable characters.
    """

    status: int
    error_type: str = ""
    retry_after: float = 0.0
    detail: str = ""


class Transport(Protocol):
    """Carries reports; shared by threads."""

    def send(self, intent: Intent, *, timeout: float) -> Reply:
        """Send an intent once, to its own endpoint.

        Args:
            intent: its token and its body are sent as they are.
            timeout: seconds.

        Raises:
            NoReply: no connection, or no reply in time; CredentialsMissing is one.
            UntrustedEndpoint: the endpoint may not be given a credential.
            BadRequest: it cannot carry these ids.
            UnsupportedReport: its API has no such report.
        """

    def trust(self, endpoints: Iterable[str]) -> None:
        """Allow credentials to go to these endpoints too, for as long as the process lives."""

    def renew(self) -> None:
        """Forget cached credentials: the service has refused them."""


def open_transport(kind: str, *, trusted: Iterable[str] = (), session: Any = None) -> WireTransport:
    """A transport with connections, credentials and tokens of its own.

    Args:
        kind: one of `KINDS`.
        trusted: endpoints that may be given a credential, beside AWS's and the environment's.
        session: boto3's or botocore's; None for one of the environment.

    Raises:
        ConfigurationError: no such kind.
    """
    if kind not in WIRES:
        raise ConfigurationError(f"{kind!r} is no transport of rollouts{did_you_mean(kind, KINDS)}")
    return WireTransport(kind, Account(session), trusted)


class WireTransport:
    """The protocol `Transport`, by a row of `WIRES`.

    Args:
        kind: one of `KINDS`.
        account: who signs.
        trusted: endpoints that may be given a credential, beside AWS's and the environment's.
    """

    def __init__(self, kind: str, account: Account, trusted: Iterable[str] = ()) -> None:
        self.kind = kind
        self._wire = WIRES[kind]
        self._account = account
        self._tokens = BearerTokens(account)
        self._http = Http(account.ca_bundle)
        self._trusted = set(trusted)
        self._last = local()

    def send(self, intent: Intent, *, timeout: float) -> Reply:
        """See `Transport`."""
        require_sendable(intent)
        body = report_body(intent, self._wire.fields)
        return self.post(intent.target, self._wire.paths[intent.operation], body, timeout=timeout)

    def post(self, target: Target, path: str, body: str, *, timeout: float) -> Reply:
        """Send a body once; see `send`."""
        require_trusted(target.endpoint, trusted=self._trusted)
        headers = {"Content-Type": "application/json", "User-Agent": "reward-functions"}
        if self._wire.arn:
            headers[JOB_HEADER] = target.job_arn

        def authorize(request: Any) -> None:
            from botocore.auth import SigV4Auth  # noqa: PLC0415 - takes 0.1 seconds

            if self._wire.bearer:
                token = self._last.token = self._tokens.get(target.region)
                request.headers["Authorization"] = f"Bearer {token}"
            else:
                SigV4Auth(self._account.credentials(), "sagemaker", target.region).add_auth(request)
            if self._wire.as_boto3:
                _add_headers_of_boto3(request)

        url = f"{target.endpoint}{path}"
        return self._http.post(url, headers, body, timeout=timeout, authorize=authorize)

    def trust(self, endpoints: Iterable[str]) -> None:
        """See `Transport`."""
        self._trusted |= set(endpoints)

    def renew(self) -> None:
        """Forget the token that this thread sent last, and look for credentials anew."""
        self._tokens.forget(getattr(self._last, "token", None))
        self._account.renew()


def require_sendable(intent: Intent) -> None:
    """Refuse an intent that its transport cannot carry.

    Raises:
        BadRequest: not with these ids. The message holds their lengths at most.
        UnsupportedReport: its API has no such report.
    """
    require_carried(intent.target)
    wire = WIRES.get(intent.target.transport)
    if wire and not wire.has_failed and intent.payload.get("Status") == "failed":
        raise UnsupportedReport(
            f"the {intent.target.transport} API has no failed rollouts: report a reward, "
            "or set REWARD_ROLLOUTS_TRANSPORT=modelled"
        )


def require_carried(target: Target) -> None:
    """Refuse a target whose ids its transport cannot carry.

    Raises:
        BadRequest: the message holds their lengths at most.
    """
    wire = WIRES.get(target.transport)
    arn = target.job_arn
    if wire and wire.arn and not (len(arn) <= LONGEST_ARN and wire.arn.fullmatch(arn)):
        raise BadRequest("metadata.jobArn is not the ARN of a SageMaker job")
    if not 1 <= len(target.trajectory_id) <= LONGEST_ID:
        raise BadRequest(
            f"metadata.rolloutId has {len(target.trajectory_id)} characters, not 1 to {LONGEST_ID}"
        )


def report_body(intent: Intent, fields: Sequence[str]) -> str:
    """Those fields of a report that it has, as JSON."""
    ids = {"JobArn": intent.target.job_arn, "TrajectoryId": intent.target.trajectory_id}
    known = {**ids, "ClientToken": intent.token, **intent.payload}
    return json.dumps({name: known[name] for name in fields if name in known})


def with_token(path: str, body: str) -> str:
    """A body of sagemaker.train.rft's with the idempotency token that follows from it."""
    fields = json.loads(body)
    payload = dict(fields)
    ids = payload.pop("JobArn"), payload.pop("TrajectoryId")
    (operation,) = [each for each in PATHS if PATHS[each] == path]
    token = client_token(*ids, operation, canonical(payload))
    return json.dumps(fields | {"ClientToken": token})


class Http:
    """Posts over pooled connections, in its time, and reads a bounded reply; shared by threads.

    Args:
        ca_bundle: gives the path of a bundle, or None for REQUESTS_CA_BUNDLE or botocore's own.
    """

    def __init__(self, ca_bundle: Callable[[], str | None] = lambda: None) -> None:
        self._ca_bundle = ca_bundle
        self._lock = Lock()
        self._pools: dict[tuple[Any, ...], Any] = {}
        self._proxies = lru_cache(maxsize=URLS)(_proxies)

    def post(
        self,
        url: str,
        headers: Mapping[str, str],
        body: str,
        *,
        timeout: float,
        authorize: Callable[[Any], object] = lambda _: None,
    ) -> Reply:
        """Post a body once.

        Args:
            url: where.
            headers: that are sent.
            body: likewise.
            timeout: seconds, of which at least `SHORTEST` are taken.
            authorize: signs botocore's request.

        Raises:
            NoReply: no status came.
        """
        from botocore.awsrequest import AWSRequest  # noqa: PLC0415 - takes 0.1 seconds
        from botocore.exceptions import BotoCoreError, HTTPClientError  # noqa: PLC0415

        made = AWSRequest(
            method="POST", url=url, data=body.encode(), headers=dict(headers), stream_output=True
        )
        authorize(made)
        limit = max((each for each in LIMITS if each <= timeout), default=SHORTEST)
        end = monotonic() + limit
        try:
            response = self._pool(url, limit).send(made.prepare())
        except HTTPClientError as error:
            raise NoReply(type(error).__name__) from None
        except BotoCoreError as error:  # a connection that was never made, TLS included
            raise NoReply(type(error).__name__, sent=False) from None
        return _reply(response.status_code, response.headers, _read(response.raw, end))

    def _pool(self, url: str, limit: float) -> Any:
        """The pool for a limit and the proxies of a URL."""
        from botocore.httpsession import URLLib3Session  # noqa: PLC0415

        proxies = self._proxies(url)
        key = limit, *sorted(proxies.items())
        with self._lock:
            if key not in self._pools:
                connect = min(CONNECT, limit / 3)
                self._pools[key] = URLLib3Session(
                    verify=self._ca_bundle() or os.environ.get("REQUESTS_CA_BUNDLE") or True,
                    proxies=proxies,
                    timeout=(connect, limit - connect),
                    max_pool_connections=CONNECTIONS,
                    socket_options=NO_DELAY,
                )
            return self._pools[key]


def _add_headers_of_boto3(request: Any) -> None:
    from botocore.handlers import add_recursion_detection_header  # noqa: PLC0415

    request.headers["amz-sdk-invocation-id"] = str(uuid4())
    request.headers["amz-sdk-request"] = "attempt=1; max=1"
    add_recursion_detection_header({"headers": request.headers})


def _proxies(url: str) -> dict[str, str]:
    """The environment's proxies for a URL: asking for them takes a tenth of a report's time."""
    from botocore.utils import get_environ_proxies  # noqa: PLC0415 - takes 0.1 seconds

    return dict(get_environ_proxies(url))


def _read(raw: Any, end: float) -> bytes:
    """What comes of a body in its time; a connection that is not read to its end is closed."""
    from urllib3.exceptions import HTTPError  # noqa: PLC0415

    body = bytearray()
    try:
        while len(body) < LARGEST and monotonic() < end:
            chunk = raw.read1(CHUNK)
            if not chunk:
                raw.release_conn()
                return bytes(body)
            body += chunk
    except HTTPError:
        pass  # the status came, and says what became of the report
    raw.close()
    return bytes(body)


def _reply(status: int, headers: Mapping[str, str], body: bytes) -> Reply:
    """A reply, of which a success needs its status alone."""
    if status < MULTIPLE:
        return Reply(status)
    found = _object(body)
    named = headers.get("x-amzn-errortype") or found.get("__type") or found.get("code")
    return Reply(
        status,
        error_type(named),
        _pause(headers.get("retry-after", "")),
        _printable(found.get("Message") or found.get("message")),
    )


def error_type(named: Any) -> str:
    """`ThrottlingException` of `aws.protocol#ThrottlingException:http://…`; "" otherwise.

    Source: the REST JSON protocol of Smithy, "Operation error serialization".
    """
    bare = str(named or "").partition(":")[0].rpartition("#")[2].strip()
    return bare if TYPE.fullmatch(bare) else ""


def _printable(message: Any) -> str:
    """A message on one line, at most 200 characters, without credentials."""
    if not isinstance(message, str):
        return ""
    bare = SECRETS.sub("[credential]", message[:READ])
    return "".join(each if each.isprintable() else " " for each in bare)[:LONGEST]


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _pause(given: str) -> float:
    """The seconds of a Retry-After header, a number or a date; 0.0 where it is neither."""
    if SECONDS.fullmatch(given):
        return float(given)
    try:
        return max(0.0, parsedate_to_datetime(given).timestamp() - time())
    except (ValueError, OverflowError):
        return 0.0
