"""The server of an agent: AgentCore's contract, and that of sagemaker.train.rft's agents.

    app = RolloutApp(agent)          # a `rollout_handler`, or any function of a payload
    app.run()

Or, typed: `python -m reward_functions.rollouts.servers.app my_agent:agent`; with `--queue URL` it
takes requests from an SQS queue as well.

| route | answer |
| --- | --- |
| `POST /invocations`, `POST /rollout` | `{"status": "accepted", "trajectory_id": …}` at once |
| the same, `?wait=1` or `Prefer: wait[=SECONDS]` | what the handler returns |
| the same, of a payload without rollout ids | what the handler returns |
| the same, of a rollout that was begun before | `{"status": "duplicate", …}` |
| `GET /ping` | `{"status": "Healthy" or "HealthyBusy", "time_of_last_update": …}` |
| `GET /health` | `{"status": "healthy"}`; 503 and `draining` once it ends |

A failure is `{"error": …}`, one sentence: 400 for a payload that is no request, 401 without the API
key, 413 over 6 MB. A 503 with Retry-After means that the agent is full or ends; a 500 that the
agent failed and somebody waits for it. AgentCore keeps a session that is HealthyBusy, and sends to
port 8080 of all addresses: `--host 0.0.0.0`. Other listeners are best bound to loopback, the
default, or given an API key; TLS is for the proxy in front.

At SIGTERM it takes no new work, says HealthyBusy while episodes run, and waits for them for a time.
Those that outlast it are reported as failed, or left to the next process where that runs them
again; then what is due is delivered. The rest is in the outbox, for the next process.

A queue holds what a forwarder has put there:

| a message | becomes |
| --- | --- |
| a request | an episode, and is deleted once the outbox has its beginning |
| a request whose rollout has begun | nothing, and is deleted: the agent does not run again |
| no request, or one without the ids of a rollout | what it was, until the queue has it dead |

It takes no more than can run at once and leaves the rest to other readers. A begun episode is in
the outbox, whose promise holds from then on. So no message need stay hidden while its episode runs,
and a process that dies before leaves the message to the next one. The window of a rollout runs
since the message was sent.

Sources: "HTTP protocol contract" of the AgentCore developer guide; `sagemaker.train.rft.models`;
"Amazon SQS visibility timeout" and `ReceiveMessage` of the SQS API reference.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import signal
import time
from concurrent.futures import CancelledError
from contextlib import contextmanager
from contextvars import copy_context
from hmac import compare_digest
from http import HTTPStatus
from math import inf
from threading import Event, current_thread, main_thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.http_server.messages import Refused, Reply, Request
from reward_functions.core.http_server.server import Server
from reward_functions.core.importing import named
from reward_functions.core.local_requests import is_loopback_address
from reward_functions.rollouts.episode.background import WORKERS, Background, handed_in
from reward_functions.rollouts.request.api_key import API_KEY, require_key
from reward_functions.rollouts.request.clock import from_wall, wall
from reward_functions.rollouts.request.contract import LARGEST, read_request
from reward_functions.rollouts.request.errors import BadRequest, TooBusy, UntrustedEndpoint
from reward_functions.rollouts.serve.answering import Answering, Begun, RequestContext, accepted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from reward_functions.rollouts.report.outbox import Episode


GLANCE_SECONDS: Final = 0.2
"""How often a signal is looked for."""


@contextmanager
def handling(signals: Sequence[int], handler: Callable[..., None]) -> Iterator[None]:
    """Handle signals for a block, where Python lets this thread."""
    mine = signals if current_thread() is main_thread() else ()
    before = {number: signal.signal(number, handler) for number in mine}
    try:
        yield
    finally:
        for number, other in before.items():
            signal.signal(number, other)


def until_asked(asked: Event) -> None:
    """Wait for an event that a signal's handler sets.

    A wait without a limit may sleep on: the handler runs in this thread, and not before it wakes,
    where another thread was busy when the signal came. Of 12 signals amid requests, 10 were lost.
    """
    while not asked.wait(GLANCE_SECONDS):
        pass


LOOPBACK: Final = "127.0.0.1"

PORT: Final = 8080
"""AgentCore's."""

PING, HEALTH = PROBES = (("GET", "/ping"), ("GET", "/health"))
"""What anybody may ask."""

SESSION: Final = "x-amzn-bedrock-agentcore-runtime-session-id"

GRACE_SECONDS: Final = 25.0
"""How long episodes may go on at the end: ECS and Kubernetes kill after 30 unless they are set."""

POLL_SECONDS: Final = 0.02
"""How often what ends a server is looked at."""

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

WAIT: Final = re.compile(r"wait(?:=([0-9]{1,6}))?")

_log = logging.getLogger(__name__)


class CannotListen(ConfigurationError):
    """The address is taken, or is not this machine's."""


class RolloutApp:
    """An agent that HTTP reaches.

    Args:
        handler: a `rollout_handler`, or anything that `Answering` takes.
        background: where episodes run; 64 at a time where not given.
        api_key: what POST requests carry as `Authorization: Bearer KEY`; the variable AGENT_API_KEY
            where None, and none where that is not set either, or where it is "".

    The reporter of a `rollout_handler` is started, given what runs an orphan again, and closed at
    the end.

    Raises:
        ConfigurationError: the handler is no function, or the key cannot stand in a header.
    """

    largest = LARGEST

    def __init__(
        self,
        handler: Callable[..., Any],
        *,
        background: Background | None = None,
        api_key: str | None = None,
    ) -> None:
        self.background = background or Background()
        self._answering = Answering(handler, self.background)
        self._rollout = self._answering.agent.rollout
        key = require_key(os.environ.get(API_KEY, "") if api_key is None else api_key)
        self._authorization = f"Bearer {key}".encode() if key else b""
        self._draining = Event()
        self._routes = {
            ("POST", "/invocations"): self._invocation,
            ("POST", "/rollout"): self._invocation,
            PING: self._ping,
            HEALTH: self._health,
        }

    @property
    def reports(self) -> bool:
        """Whether the handler reports its rollouts, as a `rollout_handler` does."""
        return self._rollout is not None

    def begin(self, payload: dict[str, Any], *, since: float) -> Begun:
        """Begin what came by another way than HTTP.

        Args:
            payload: of the request.
            since: when the window of its rollout began, in seconds since the epoch.

        Raises:
            BadRequest, UntrustedEndpoint, TooBusy: as `Answering.begin` does.
        """
        surroundings = copy_context()
        surroundings.run(handed_in.set, since)
        return surroundings.run(self._answering.begin, payload, RequestContext())

    def run(
        self,
        host: str = LOOPBACK,
        port: int = PORT,
        *,
        grace: float = GRACE_SECONDS,
        until: Callable[[Event], object] = until_asked,
    ) -> None:
        """Serve until SIGTERM or SIGINT; the second one ends the waiting.

        Args:
            host: 0.0.0.0 for all addresses, as AgentCore needs it.
            port: 0 for a free one, which the log says.
            grace: seconds that episodes may go on at the end.
            until: what this thread does until the event is set; serving ends with it.

        Raises:
            CannotListen: the address is taken, or not this machine's.
        """
        asked, hurried = Event(), Event()

        def end(*_: object) -> None:
            (hurried if asked.is_set() else asked).set()

        with (
            handling((signal.SIGTERM, signal.SIGINT), end),
            self.serving(host, port, grace=grace, hurried=hurried) as url,
        ):
            _log.info("listening on %s", url)
            until(asked)
            _log.info("ending: %d episodes run or wait", self.background.busy)

    serve = run

    @contextmanager
    def serving(
        self,
        host: str = LOOPBACK,
        port: int = 0,
        *,
        grace: float = GRACE_SECONDS,
        hurried: Event | None = None,
    ) -> Iterator[str]:
        """Serve for a block, on a free port where none is given: its URL.

        Args:
            host: as `run` has it.
            port: likewise.
            grace: likewise.
            hurried: ends the waiting when it is set.

        Raises:
            CannotListen: as `run` does.
        """
        reporter = None if self._rollout is None else self._rollout.reporter
        try:
            server = Server(
                (host, port), self._reply, self._admit, largest=self.largest, anybody=PROBES
            )
        except OSError as error:
            raise CannotListen(f"cannot listen on {host}:{port}: {error.strerror}") from None
        if not self._authorization and not is_loopback_address(server.server_name):
            _log.warning(
                "anybody who reaches %s can start rollouts: set %s, unless AgentCore is in front",
                server.url,
                API_KEY,
            )
        try:
            if reporter is not None:
                reporter.rerun = self._rerun
                reporter.start()
            with server.serving() as url:
                try:
                    yield url
                finally:
                    self._draining.set()
                    self._wait(grace, hurried or Event())
                    self._answering.agent.interrupt()
        finally:
            self.background.close()
            if reporter is not None:
                reporter.rerun = None
                reporter.close()

    def _wait(self, grace: float, hurried: Event) -> None:
        """Wait for what runs, but not for longer than it may take."""
        late = monotonic() + grace
        while self._runs() and monotonic() < late and not hurried.is_set():
            self.background.join(min(POLL_SECONDS, grace))

    def _runs(self) -> bool:
        """Whether its end waits for something."""
        return bool(self.background.busy)

    def _rerun(self, episode: Episode) -> None:
        """Run an episode again that another process left, to its end, in the window it had.

        Raises:
            TooBusy: not now.
            CancelledError: the agent ends.
        """
        self.begin(json.loads(episode.payload), since=episode.began).future.exception()

    def _admit(self, request: Request) -> None:
        """Look at a request before its body is read."""
        if (request.method, request.path) not in self._routes:
            raise Refused(
                HTTPStatus.NOT_FOUND,
                "there are POST /invocations, POST /rollout, GET /ping and GET /health",
            )
        if request.method == "POST" and self._authorization:
            given = request.headers.get("authorization", "").encode("latin-1", "replace")
            if not compare_digest(given, self._authorization):
                raise Refused(
                    HTTPStatus.UNAUTHORIZED,
                    "the request does not carry the agent's API key",
                    WWW_Authenticate="Bearer",
                )

    def _reply(self, request: Request) -> Reply:
        return self._routes[request.method, request.path](request)

    def _ping(self, _: Request) -> Reply:
        status = "HealthyBusy" if self._is_busy() else "Healthy"
        updated = int(wall(self.background.since))
        return Reply(HTTPStatus.OK, {"status": status, "time_of_last_update": updated})

    def _is_busy(self) -> bool:
        """Whether the session is to be kept."""
        return bool(self.background.busy) or self._draining.is_set()

    def _health(self, _: Request) -> Reply:
        if self._draining.is_set():
            return Reply(HTTPStatus.SERVICE_UNAVAILABLE, {"status": "draining"})
        return Reply(HTTPStatus.OK, {"status": "healthy"})

    def _invocation(self, request: Request) -> Reply:
        if self._draining.is_set():
            raise _full("the agent is ending")
        try:
            payload = read_request(_text(request.body)).payload
            context = RequestContext(session_id=request.headers.get(SESSION))
            begun = self._answering.begin(dict(payload), context)
        except (BadRequest, UntrustedEndpoint) as error:
            raise Refused(HTTPStatus.BAD_REQUEST, str(error)) from None
        except TooBusy as error:
            raise _full(f"the agent is full: {error}") from None
        seconds = _patience(request) if begun.answers_at_once else inf
        if not seconds:
            return Reply(HTTPStatus.OK, accepted(begun.request))
        try:
            failure = begun.future.exception(None if seconds == inf else seconds)
        except TimeoutError:
            return Reply(HTTPStatus.OK, accepted(begun.request))
        except CancelledError:
            raise _full("the agent is ending") from None
        if failure is not None:
            return _failed(failure)
        return Reply(HTTPStatus.OK, plain(begun.future.result()))


def _failed(failure: BaseException) -> Reply:
    """The answer to whoever waits: of what an agent raises, the type alone names no prompt."""
    if isinstance(failure, BadRequest):
        return Reply(HTTPStatus.BAD_REQUEST, {"error": str(failure)})
    sentence = f"the agent raised {type(failure).__name__}"
    return Reply(HTTPStatus.INTERNAL_SERVER_ERROR, {"error": sentence})


def _full(sentence: str) -> Refused:
    return Refused(HTTPStatus.SERVICE_UNAVAILABLE, sentence, Retry_After="1")


def _text(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise BadRequest("the payload is not UTF-8") from None


def _patience(request: Request) -> float:
    """Seconds that the sender waits for the result (RFC 7240, section 4.3)."""
    if parse_qs(request.query).get("wait", ["0"])[-1] not in {"0", "false"}:
        return inf
    found = WAIT.fullmatch(request.headers.get("prefer", "").strip())
    return 0.0 if found is None else float(found[1] or inf)


def plain(result: Any) -> Any:
    """A handler's result as JSON data; other objects are written by their `str`."""
    try:
        return json.loads(json.dumps(result, default=str, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise Refused(
            HTTPStatus.INTERNAL_SERVER_ERROR, "what the handler returned is not JSON"
        ) from None


class CannotRead(ConfigurationError):
    """The queue is not there, or may not be read."""


class QueueReader:
    """Hands an agent the requests of a queue.

    Args:
        app: the agent's server, of a `rollout_handler`: nobody reads what another one returns.
        url: of the queue.
        client: boto3's for SQS; one of the environment, in the queue's region, where None.

    Raises:
        ConfigurationError: the agent is no `rollout_handler`.
    """

    def __init__(self, app: RolloutApp, url: str, *, client: Any = None) -> None:
        if not app.reports:
            raise ConfigurationError(
                "an agent that reads a queue is a rollout_handler: what another one returns, "
                "nobody would read"
            )
        self._app, self._url = app, url
        self._sqs = _client(url) if client is None else client
        self._failures = 0

    def read(self, ended: Event) -> None:
        """Read until an event is set; what SQS gives after that goes back at once.

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
            self._app.begin(payload, since=from_wall(min(sent, time.time())))
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


def serves_itself(app: Any) -> bool:
    """Whether it is an app of AgentCore's kind, such as `AgentCoreRLApp`."""
    return not isinstance(app, RolloutApp) and all(
        callable(getattr(app, name, None)) for name in ("run", "add_async_task", "entrypoint")
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve what the command line names."""
    parser = argparse.ArgumentParser(
        prog="python -m reward_functions.rollouts.servers.app",
        description="Serve an agent over HTTP.",
    )
    parser.add_argument("handler", help="MODULE:HANDLER or FILE.py:HANDLER; or an app")
    parser.add_argument("--host", default=LOOPBACK, help="AgentCore needs 0.0.0.0 (%(default)s)")
    parser.add_argument("--port", type=int, default=PORT, help="0 for a free one (%(default)s)")
    parser.add_argument(
        "--workers", type=int, default=WORKERS, help="episodes at a time (%(default)s)"
    )
    parser.add_argument(
        "--grace",
        type=float,
        default=GRACE_SECONDS,
        help="seconds for running episodes at the end (%(default)g)",
    )
    parser.add_argument("--queue", help="URL of an SQS queue that it takes requests from as well")
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    if given.workers < 1:
        parser.error("--workers is 1 or more")
    try:
        app = named(given.handler)
        if serves_itself(app):
            if given.queue:
                parser.error("--queue is for a handler: an app that serves itself reads none")
            app.run(port=given.port, host=given.host)
            return
        if not isinstance(app, RolloutApp):
            app = RolloutApp(app, background=Background(given.workers))
        until = QueueReader(app, given.queue).read if given.queue else until_asked
        app.run(given.host, given.port, grace=given.grace, until=until)
    except ConfigurationError as error:
        parser.error(str(error))
    except OSError as error:
        parser.error(f"{error.filename}: {error.strerror}")


if __name__ == "__main__":
    main()
