"""The agents that are asked for rollouts, their answers, and the runtime that they report to.

| agent | how it is asked |
| --- | --- |
| `HttpAgent` | `/invocations` of AgentCore's contract, `/rollout` of the platform's guide |
| `LambdaAgent`, `AgentCoreAgent` | on AWS: a forwarder, a runtime with a session for each rollout |
| `PythonAgent` | in this process: a `rollout_handler`, or a callable that is made one |

| answer | the episode |
| --- | --- |
| HTTP 202; an object whose `status` is one of `WORKING`; `{}` of a forwarder | goes on after it |
| any other answer without an error | is over |
| HTTP 429 or 503 | has not begun: asked again while the window is open |
| another status outside 200 to 299; `errorType` of a forwarder | ends in an error |
| none before the window closes, or no connection | nobody knows |

An answer is bounded in size, and nothing in it but its status decides anything: rewards reach a
trainer through its runtime alone. No agent holds up a run for longer than the window: one that is
still answering then, byte by byte or not at all, is given up.

A request that was sent is never sent again, and the SDK makes a call once: an agent would run the
same rollout twice. Redirects are not followed. An agent of HTTP may still be starting, so that a
connection is tried again for a while. A session of AgentCore is stopped when its rollout has ended,
since an idle one is paid for. Coroutines of this process share one event loop, and with it the
clients that they share; reports go to the run's runtime through an outbox in memory.

A trainer's runtime is all that a run knows of a rollout: its state, its turns, its rewards. A
runtime at a URL is asked through the double's admin routes.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
from abc import ABC, abstractmethod
from collections import deque
from contextlib import ExitStack, contextmanager, suppress
from contextvars import copy_context
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, Self
from urllib.parse import quote, urlsplit, urlunsplit

from reward_functions.aws.arn import Arn
from reward_functions.aws.failures import in_words
from reward_functions.aws.shell import aws_session
from reward_functions.core.errors import ConfigurationError, RewardError
from reward_functions.core.importing import last_line
from reward_functions.core.looking import Looks
from reward_functions.core.loopback import is_loopback
from reward_functions.data.records import text_of
from reward_functions.rollouts.request.endpoints import REGION

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from reward_functions.rollouts.report.reporter import Reporter
    from reward_functions.rollouts.request.contract import RolloutRequest


LARGEST: Final = 1_000_000
"""Bytes of an answer that are read."""

WORKING: Final = frozenset({"accepted", "processing", "started", "queued", "in_progress"})
"""Of agentcore-rl-toolkit, the platform's guide, and our own servers."""

BUSY: Final = frozenset({429, 503})
SUCCESS: Final = range(200, 300)
ACCEPTED: Final = 202

SPARE: Final = 0.5
"""Seconds beside its window in which an agent's own timeout says what is wrong."""

Kind = Literal["working", "over", "busy", "error", "silent"]


class AgentAnswer(NamedTuple):
    """What an agent answered.

    Args:
        kind: see the table.
        error: a type, such as "HTTP 500" or "ValidationError"; never a text of the agent's.
        wait: seconds that a busy agent asks for; 0.0 where it does not.
    """

    kind: Kind
    error: str = ""
    wait: float = 0.0


class Agent(Protocol):
    """An agent; used from many threads."""

    name: str
    """As it was named on the command line."""

    local: bool
    """Whether it can reach an address of this machine."""

    def send(self, request: RolloutRequest, *, timeout: float) -> AgentAnswer:
        """Ask for a rollout.

        Args:
            request: as a trainer writes it.
            timeout: seconds to the last byte of the answer.
        """

    def reporting(self, request: RolloutRequest) -> bool:
        """Whether a report may still come of an episode that is over."""

    def release(self, request: RolloutRequest) -> None:
        """Let go of what a rollout that has ended holds, such as a session that is paid for."""


def answered(agent: Agent, request: RolloutRequest, seconds: float) -> AgentAnswer:
    """The answer of an agent, or that it was silent for so long.

    Raises:
        RewardError, OSError: nothing can be asked of it at all.
    """
    answers: SimpleQueue[AgentAnswer | RewardError | OSError] = SimpleQueue()

    def ask() -> None:
        try:
            answers.put(agent.send(request, timeout=seconds))
        except (RewardError, OSError) as error:
            answers.put(error)

    # A timeout of a socket begins anew with each byte that an agent sends.
    Thread(target=copy_context().run, args=(ask,), name="rollout", daemon=True).start()
    try:
        found = answers.get(timeout=seconds + SPARE)
    except Empty:
        return AgentAnswer("silent")
    if isinstance(found, Exception):
        raise found
    return found


def answer_of(
    status: int, body: bytes, *, wait: float = 0.0, forwarder: bool = False
) -> AgentAnswer:
    """Read an answer over HTTP.

    Args:
        status: of HTTP.
        body: JSON, or anything else, which means nothing.
        wait: seconds of its Retry-After.
        forwarder: whether a Lambda forwarder answers, whose `{}` says that the agent has begun.
    """
    if status in BUSY:
        return AgentAnswer("busy", f"HTTP {status}", wait)
    if status not in SUCCESS:
        return AgentAnswer("error", f"HTTP {status}")
    content = _object(body)
    if forwarder and "errorType" in content:
        return AgentAnswer("error", word(content["errorType"]))
    return AgentAnswer("working") if forwarder or status == ACCEPTED else result_of(content)


def result_of(content: Any) -> AgentAnswer:
    """The state that an agent without a failure reports: it works, or anything else."""
    status = content.get("status") if isinstance(content, dict) else None
    working = isinstance(status, str) and status in WORKING
    return AgentAnswer("working" if working else "over")


def word(given: Any, most: int = 64) -> str:
    """The name of an error's type, which an agent may have made up."""
    text = given if isinstance(given, str) else ""
    return "".join(char for char in text[:most] if char.isalnum() or char in "._-") or "an error"


def _object(body: bytes) -> dict[str, Any]:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def body_of(response: Any, most: int, end: float) -> bytes:
    """As much of a body as is wanted, in the time there is.

    A timeout of a socket begins anew with each byte; this one does not.

    Args:
        response: of urllib3, its body not read yet.
        most: bytes that are read.
        end: when no more is waited for, in monotonic seconds.

    Raises:
        urllib3.exceptions.HTTPError: the body breaks off, or cannot be decoded.
    """
    content = bytearray()
    while len(content) < most and monotonic() < end:
        piece = response.read1(most - len(content))
        if not piece:
            break
        content += piece
    return bytes(content)


KEY: Final = "AGENT_API_KEY"
"""The variable of the Lambda forwarder, sent as a bearer token."""

SESSION: Final = "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id"

ROUTE: Final = "/invocations"

STARTING: Final = 30.0
"""Seconds an agent may take to start: what AgentCore allows."""

PAUSE: Final = 0.5
"""Seconds between two connections."""


class HttpAgent:
    """An agent at a URL.

    Args:
        url: with or without a path; without one it is `/invocations`.
        concurrency: connections at once.
        starting: seconds from now in which nobody may answer at all.
        sleep: waits, in seconds.

    Raises:
        ConfigurationError: it is no URL.
    """

    def __init__(
        self,
        url: str,
        *,
        concurrency: int = 64,
        starting: float = STARTING,
        sleep: Callable[[float], object] = sleep,
    ) -> None:
        import urllib3  # noqa: PLC0415 - 50 ms, and not for agents of this process

        self.name = url
        self.local = is_loopback(url)
        self._url = _address(url)
        self._starting, self._sleep = monotonic() + starting, sleep
        self._met = False
        key = os.environ.get(KEY, "")
        self._headers = {"Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._http = urllib3.PoolManager(maxsize=concurrency, retries=False)

    def send(self, request: RolloutRequest, *, timeout: float) -> AgentAnswer:
        """Post a request, once there is a connection.

        Raises:
            ConfigurationError: nobody has ever answered.
        """
        from urllib3.exceptions import (  # noqa: PLC0415
            ConnectTimeoutError,
            HTTPError,
            NewConnectionError,
        )

        end = monotonic() + timeout
        body = request.json().encode()
        while True:
            try:
                answer = self._sent(body, request.metadata.trajectory_id, end)
            except (NewConnectionError, ConnectTimeoutError):
                if self._met:
                    return AgentAnswer("error", "no connection")
                if monotonic() + PAUSE >= min(end, self._starting):
                    raise ConfigurationError(
                        f"nobody answers at {self._url}: start the agent with "
                        f"{ENDPOINT}={request.metadata.endpoint}"
                    ) from None
                self._sleep(PAUSE)
                continue
            except (HTTPError, OSError):
                answer = AgentAnswer("silent")
            self._met = True
            return answer

    def reporting(self, request: RolloutRequest) -> bool:  # noqa: ARG002
        """It may: nobody sees its outbox."""
        return True

    def release(self, request: RolloutRequest) -> None:
        """Nothing is held."""

    def _sent(self, body: bytes, rollout: str, end: float) -> AgentAnswer:
        import urllib3  # noqa: PLC0415

        left = max(0.1, end - monotonic())
        response = self._http.request(
            "POST",
            self._url,
            body=body,
            headers={**self._headers, SESSION: rollout},
            timeout=urllib3.Timeout(connect=min(CONNECT, left), total=left),
            redirect=False,
            preload_content=False,
        )
        try:
            content = body_of(response, LARGEST, end)
        finally:
            response.close() if response.length_remaining else response.release_conn()
        if monotonic() >= end:
            return AgentAnswer("silent")
        return answer_of(response.status, content, wait=_wait(response.headers))


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
        known = parts.scheme in {"http", "https"} and parts.hostname and (parts.port or 1)
    except ValueError:
        known = None
    if not known:
        raise ConfigurationError(f"{url!r} is not the URL of an agent: http://127.0.0.1:8080")
    path = parts.path if parts.path not in {"", "/"} else ROUTE
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def _wait(headers: Any) -> float:
    with suppress(ValueError):
        return max(0.0, float(headers.get("Retry-After") or 0))
    return 0.0


SHORTEST_SESSION: Final = 33
"""Characters of a session's id, at least (botocore's model of bedrock-agentcore)."""

CONNECT: Final = 10.0
"""Seconds for one connection."""

THROTTLED: Final = frozenset(
    {"TooManyRequestsException", "ThrottlingException", "RetryableConflictException"}
)


class AwsAgent(ABC):
    """An agent on AWS.

    Args:
        service: as boto3 names it.
        name: as it was named; an ARN says the region.
        seconds: for one answer: the window of a rollout.
        concurrency: calls at once.

    Raises:
        AwsFailed: no client can be made.
    """

    def __init__(self, service: str, name: str, seconds: float, concurrency: int) -> None:
        from botocore.config import Config  # noqa: PLC0415 - 0.2 s

        self.name = name
        config = Config(
            connect_timeout=CONNECT,
            read_timeout=seconds,
            max_pool_connections=concurrency,
            retries={"total_max_attempts": 1},
        )
        with in_words(f"making a client of {service}"):
            self._client = aws_session().client(service, region_name=_region(name), config=config)
        self.local = is_loopback(self._client.meta.endpoint_url)

    def send(self, request: RolloutRequest, *, timeout: float) -> AgentAnswer:  # noqa: ARG002 - the client has it
        """Invoke it, and wait for its answer."""
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - 0.2 s

        from reward_functions.rollouts.collect.calls import BROKEN  # noqa: PLC0415 - the same

        try:
            return self._invoked(request)
        except ClientError as error:
            code = word(error.response.get("Error", {}).get("Code"))
            return AgentAnswer("busy" if code in THROTTLED else "error", code)
        except (BotoCoreError, *BROKEN) as error:
            return AgentAnswer("silent", type(error).__name__)

    @abstractmethod
    def _invoked(self, request: RolloutRequest) -> AgentAnswer: ...

    def reporting(self, request: RolloutRequest) -> bool:  # noqa: ARG002
        """It may: nobody sees its outbox."""
        return True


class LambdaAgent(AwsAgent):
    """A forwarder by its name or ARN, with a qualifier or without, invoked as the trainer does."""

    def __init__(self, name: str, *, seconds: float, concurrency: int = 64) -> None:
        super().__init__("lambda", name, seconds, concurrency)

    def _invoked(self, request: RolloutRequest) -> AgentAnswer:
        reply = self._client.invoke(FunctionName=self.name, Payload=request.json().encode())
        body = reply["Payload"].read(LARGEST)
        if reply.get("FunctionError"):
            return AgentAnswer("error", word(reply["FunctionError"]))
        return answer_of(SUCCESS.start, body, forwarder=True)

    def release(self, request: RolloutRequest) -> None:
        """Nothing is held."""


class AgentCoreAgent(AwsAgent):
    """An AgentCore runtime by its ARN; a session for each rollout.

    Args:
        qualifier: of its endpoint; "" for the default one.
    """

    def __init__(
        self, arn: str, *, seconds: float, qualifier: str = "", concurrency: int = 64
    ) -> None:
        super().__init__("bedrock-agentcore", arn, seconds, concurrency)
        self._named = {"agentRuntimeArn": arn} | ({"qualifier": qualifier} if qualifier else {})

    def _invoked(self, request: RolloutRequest) -> AgentAnswer:
        reply = self._client.invoke_agent_runtime(
            **self._named,
            runtimeSessionId=session_of(request),
            contentType="application/json",
            accept="application/json",
            payload=request.json().encode(),
        )
        body = reply["response"].read(LARGEST)
        return answer_of(reply.get("statusCode", SUCCESS.start), body)

    def release(self, request: RolloutRequest) -> None:
        """Stop the session; one that has ended by itself is no failure."""
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - 0.2 s

        from reward_functions.rollouts.collect.calls import BROKEN  # noqa: PLC0415 - the same

        with suppress(BotoCoreError, ClientError, *BROKEN):
            self._client.stop_runtime_session(**self._named, runtimeSessionId=session_of(request))


def session_of(request: RolloutRequest) -> str:
    """A session's id for a rollout: its own, as long as AgentCore demands."""
    return request.metadata.trajectory_id.ljust(SHORTEST_SESSION, "0")


def _region(name: str) -> str | None:
    """The region of an ARN; None of a bare name, whose region is the shell's."""
    if not name.startswith("arn:"):
        return None
    arn = Arn.read(name)
    if arn is None or not REGION.fullmatch(arn.region):
        raise ConfigurationError(f"{name!r}: what it names is not the name of a region")
    return arn.region


NOBODY: Final = {
    "AWS_ACCESS_KEY_ID": "local",
    "AWS_SECRET_ACCESS_KEY": "local",
    "AWS_REGION": "us-west-2",
}
"""What a runtime double is signed to with, where the shell has no credentials: it checks the form
alone."""

ENDPOINT: Final = "RFT_RUNTIME_ENDPOINT"
"""Names the runtime that an agent gives a credential to."""

LOOK: Final = 3.0
"""Seconds in which credentials are found, or are not."""


class PythonAgent:
    """A callable of this process; a context manager, which sets where it reports.

    Args:
        function: a `rollout_handler`, or a function of a payload.
        name: as it was named on the command line.
        endpoint: of the run's runtime.
        reward: what a plain function's response is scored by; None where it returns its reward.
        window: seconds from a request to the end of waiting.
        trajectories: where what it does is kept, unless it has a place of its own; "" for the
            variable's.
    """

    local = True

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        *,
        endpoint: str,
        reward: Any = None,
        window: float = 600.0,
        trajectories: str = "",
    ) -> None:
        from reward_functions.rollouts.episode.handler import rollout_handler  # noqa: PLC0415 - boto3

        self.name = name
        handled = hasattr(function, "rollout")
        self._call = (
            function if handled else rollout_handler(function, reward=reward, window=window)
        )
        self._file = _file_of(function)
        self._endpoint, self._window, self._trajectories = endpoint, window, trajectories
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(pointed(self._endpoint))
            self._reporter = stack.enter_context(_reporting(self._window, self._trajectories))
            self._loop = stack.enter_context(_looping())
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def send(self, request: RolloutRequest, *, timeout: float) -> AgentAnswer:  # noqa: ARG002
        """Call it, and run it to its end; the caller lets go of one that never ends."""
        try:
            return result_of(self._finished(self._call(request.wire())))
        except BaseException as error:  # noqa: BLE001 - an agent's code; its reports decide
            return AgentAnswer("error", self._words(error))

    def reporting(self, request: RolloutRequest) -> bool:
        """Whether a report of it is in the run's outbox, and not delivered."""
        ids = request.metadata.job_arn, request.metadata.trajectory_id
        pending = self._reporter.outbox.list(["pending"])
        targets = (each.intent.target for each in pending)
        return ids in {(target.job_arn, target.trajectory_id) for target in targets}

    def release(self, request: RolloutRequest) -> None:
        """Nothing is held."""

    def _finished(self, result: Any) -> Any:
        """What a call returned, run to its end."""
        if inspect.isawaitable(result) or inspect.isasyncgen(result):
            return asyncio.run_coroutine_threadsafe(_ended(result), self._loop).result()
        if inspect.isgenerator(result):
            deque(result, maxlen=0)
        return result

    def _words(self, error: BaseException) -> str:
        """Its type, and the agent's line that ran last; never its text, which may hold a prompt."""
        kind = type(error).__name__
        line = self._file and last_line(error, self._file)
        return f"{kind} ({self._file.name}, line {line})" if self._file and line else kind


def _file_of(function: Any) -> Path | None:
    """The file of an agent's code; None where it has none, such as a class of C."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return Path(code.co_filename) if code else None


@contextmanager
def _looping() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop that runs on a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, name="rollouts-loop", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _ended(result: Any) -> Any:
    if inspect.isawaitable(result):
        return await result
    async for _ in result:
        pass
    return None


@contextmanager
def pointed(endpoint: str, environ: Any = os.environ) -> Iterator[None]:
    """The variables of a process whose agent reports to a runtime; as before after the block.

    After Ctrl-C they stay: agents that go on may still read them, and the process ends.
    """
    wanted = {ENDPOINT: endpoint}
    if is_loopback(endpoint) and not Looks(LOOK).at(_credentials, otherwise=False):
        wanted |= {name: value for name, value in NOBODY.items() if not environ.get(name)}
    before: Mapping[str, str | None] = {name: environ.get(name) for name in wanted}
    environ.update(wanted)
    try:
        yield
    except KeyboardInterrupt:
        before = {}
        raise
    finally:
        for name, value in before.items():
            if value is None:
                environ.pop(name, None)
            else:
                environ[name] = value


def _credentials() -> bool:

    return aws_session().get_credentials() is not None


@contextmanager
def _reporting(window: float, trajectories: str = "") -> Iterator[Reporter]:
    from dataclasses import replace  # noqa: PLC0415

    from reward_functions.rollouts.report.outbox.opening import open_outbox  # noqa: PLC0415 - boto3
    from reward_functions.rollouts.report.reporter import Reporter, reporting  # noqa: PLC0415
    from reward_functions.rollouts.report.settings import RolloutSettings  # noqa: PLC0415
    from reward_functions.rollouts.report.transports import open_transport  # noqa: PLC0415

    known = RolloutSettings.from_env()
    margin = min(known.margin, window / 4)
    kept = trajectories or known.trajectories
    settings = replace(known, outbox="memory:", window=window, margin=margin, trajectories=kept)
    _ = settings.sink  # refused before anything runs
    reporter = Reporter(settings, open_outbox("memory:"), transports=open_transport)
    with reporting(reporter):
        reporter.start()
        try:
            yield reporter
        finally:
            reporter.close(patience=0.0)


ENDED: Final = frozenset({"REWARD_RECEIVED", "FAILED"})
"""States that a rollout does not leave."""

READY: Final = "READY"
"""The state of a rollout that is complete, and has no reward yet."""

FIRST_PAUSE: Final = 0.05
LONGEST_PAUSE: Final = 2.0
GROWTH: Final = 1.5
"""Seconds between two looks at a runtime elsewhere; each pause is longer than the one before."""

ADMIN: Final = "/_runtime"
ERROR_TYPE: Final = "x-amzn-errortype"
MAX_ANSWER: Final = 64 * 1024 * 1024
"""Bytes of a trajectory with all its texts."""


class SeenRollout(NamedTuple):
    """A runtime's facts about a rollout.

    Args:
        state: of the service: "PENDING", "READY", "REWARD_RECEIVED" or "FAILED".
        turns: policy calls.
        rewards: as they arrived.
        tool_calls: that the policy asked for.
        duplicates: reports that came again after they were taken.
        response: the text of the policy's last turn; None without one, or where the runtime has not
            kept it.
    """

    state: str
    turns: int = 0
    rewards: tuple[float, ...] = ()
    tool_calls: int = 0
    duplicates: int = 0
    response: str | None = None


class Runtime(Protocol):
    """A runtime, used from many threads."""

    endpoint: str

    def register(self, job: str, rollout: str) -> None:
        """Let a rollout begin."""

    def wait(self, job: str, rollout: str, states: Collection[str], timeout: float) -> SeenRollout:
        """The state of a rollout once it is one of these states, or the time is over."""


class RuntimeElsewhere:
    """A runtime double that runs already, such as `reward local runtime`.

    Args:
        url: of the double.
        concurrency: connections at once.

    Raises:
        ConfigurationError: nobody answers there, or no runtime double.
    """

    def __init__(self, url: str, *, concurrency: int = 64) -> None:
        import urllib3  # noqa: PLC0415 - 50 ms, and not for a runtime of this process

        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ConfigurationError(f"{url!r} is not the URL of a runtime: http://127.0.0.1:8765")
        self.endpoint = url.rstrip("/")
        self._http = urllib3.PoolManager(
            maxsize=concurrency,
            retries=urllib3.Retry(connect=2, read=2, redirect=0, backoff_factor=0.1),
            timeout=urllib3.Timeout(connect=5.0, read=30.0),
        )
        self._asked("GET", "counts")

    def register(self, job: str, rollout: str) -> None:
        """Let a rollout begin."""
        self._asked("POST", "trajectories", {"job": job, "trajectory": rollout})

    def wait(self, job: str, rollout: str, states: Collection[str], timeout: float) -> SeenRollout:
        """The state of a rollout once it is one of these states, or the time is over."""
        end, pause = monotonic() + timeout, FIRST_PAUSE
        route = f"trajectories/{quote(rollout, safe='')}?job={quote(job, safe='')}&texts=last"
        while True:
            found = seen_in(self._asked("GET", route))
            left = end - monotonic()
            if found.state in states or left <= 0:
                return found
            sleep(min(pause, left))
            pause = min(pause * GROWTH, LONGEST_PAUSE)

    def _asked(self, method: str, route: str, content: dict[str, Any] | None = None) -> Any:
        from urllib3.exceptions import HTTPError  # noqa: PLC0415

        try:
            response = self._http.request(
                method, f"{self.endpoint}{ADMIN}/{route}", json=content, preload_content=False
            )
            body = response.read(MAX_ANSWER)
            response.release_conn()
        except HTTPError as error:
            raise ConfigurationError(
                f"no runtime double answers at {self.endpoint} ({type(error).__name__}): start "
                "one with `reward local runtime`"
            ) from None
        try:
            found = json.loads(body or b"null")
        except (ValueError, RecursionError):
            found = None
        refusal = found.get("Message") if isinstance(found, dict) else None
        if response.status not in SUCCESS and response.headers.get(ERROR_TYPE):
            raise ConfigurationError(f"the runtime double at {self.endpoint} refuses: {refusal}")
        if response.status not in SUCCESS or not isinstance(found, dict):
            raise ConfigurationError(
                f"what answers at {self.endpoint} is no runtime double (HTTP {response.status})"
            )
        return found


def seen_in(trajectory: Mapping[str, Any]) -> SeenRollout:
    """Read the double's JSON of a trajectory.

    Raises:
        ConfigurationError: it is of another form.
    """
    try:
        turns = trajectory["turns"]
        last = turns[-1]["response"] if turns else None
        return SeenRollout(
            state=str(trajectory["state"]),
            turns=len(turns),
            rewards=tuple(map(float, trajectory["rewards"] or ())),
            tool_calls=sum(turn["tool_calls"] for turn in turns),
            duplicates=sum(each["ended"] == "replayed" for each in trajectory["deliveries"]),
            response=last and text_of(last.get("content")),
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ConfigurationError("the runtime describes a trajectory in another form") from None
