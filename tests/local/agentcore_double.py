"""A stand-in for AgentCore's data plane, and for the bucket that results are written to.

    with serving(FunctionAgent(agent)) as double:
        client = RolloutClient(ARN, "results", "run", agentcore_client=…, s3_client=…)

It takes and says what botocore's model of bedrock-agentcore knows. A request of neither of its
operations is S3's, in the path style. A status of the agent that is not 200 is AgentCore's
RuntimeClientError, as the service has it. What it cannot show: containers that start and die, and
whether AWS takes a credential.

What runs behind it is a function whose result is stored, or an app on this machine:

FunctionAgent(lambda payload: {"rewards": 1.0})     replies at once and stores, as AgentCoreRLApp
AppAgent("http://127.0.0.1:8080")                    POST /invocations with the session's header

Accidents by a plan that is the same in every run:

| kind | what happens |
| --- | --- |
| `throttle` | 429 ThrottlingException; nothing is done |
| `conflict` | 409 RetryableConflictException; nothing is done |
| `error` | 500; nothing is done |
| `forbidden` | 403; nothing is done |
| `slow` | the answer comes after `slow_seconds` |
| `dropped` | it is done, and the connection closes without an answer |

Operations are `invoke`, `stop`, `head` and `get`. Which accident a call has is a function of the
seed, the session or key, the operation and the number of the attempt; `most` in a row fail at most.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http import HTTPStatus
from threading import Condition, Event, Lock, Thread
from urllib.error import HTTPError
from urllib.parse import unquote
from urllib.request import Request, urlopen
from xml.sax.saxutils import escape

from reward_functions.aws.request_validation import service_model
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.loopback import is_loopback
from reward_functions.local.loopback_service.server import LoopbackServer, missing
from reward_functions.local.loopback_service.wire import labels, parameters

XML = {"Content-Type": "application/xml"}


class Bucket:
    """Objects by bucket and key."""

    def __init__(self):
        self._lock = Lock()
        self._objects = {}

    def put(self, bucket, key, body, *, new=False):
        """Keep an object; whether it was kept: with `new`, only where there is none."""
        with self._lock:
            if new and f"{bucket}/{key}" in self._objects:
                return False
            self._objects[f"{bucket}/{key}"] = body
            return True

    def get(self, bucket, key):
        """An object; None where there is none."""
        with self._lock:
            return self._objects.get(f"{bucket}/{key}")

    def keys(self):
        """`BUCKET/KEY` of all of them."""
        with self._lock:
            return sorted(self._objects)

    def reply(self, request):
        """The answer to a request of S3."""
        bucket, _, key = unquote(request.path).lstrip("/").partition("/")
        match request.method:
            case "PUT":
                new = request.header("if-none-match") == "*"
                if self.put(bucket, key, request.body, new=new):
                    return HTTPStatus.OK, {"ETag": '"0"'}, b""
                return refused(HTTPStatus.PRECONDITION_FAILED, "PreconditionFailed")
            case "GET" | "HEAD":
                body = self.get(bucket, key)
                if body is None:
                    return refused(HTTPStatus.NOT_FOUND, "NoSuchKey")
                headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
                return HTTPStatus.OK, headers, body if request.method == "GET" else b""
            case _:
                with self._lock:
                    self._objects.pop(f"{bucket}/{key}", None)
                return HTTPStatus.NO_CONTENT, {}, b""


def refused(status, code):
    """As S3 refuses."""
    return status, XML, f"<Error><Code>{escape(code)}</Code></Error>".encode()


SESSION_HEADER = "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id"

SECONDS = 900.0


class FunctionAgent:
    """A function of the payload; its result is stored where `_rollout` says.

    Args:
        function: returns the result, bytes that are stored as they are, or None for nothing; what
            it raises is stored as a failure. It runs on a thread of its own.
    """

    def __init__(self, function):
        self._function = function

    def __call__(self, body, session, bucket):
        """Reply at once; the function runs behind the reply."""
        payload = json.loads(body)
        rollout = payload["_rollout"]
        key = f"{rollout['exp_id']}/{rollout['input_id']}/{session}.json"
        where = {"s3_bucket": rollout["s3_bucket"], "result_key": key}
        Thread(target=self._run, args=(payload, where, bucket), daemon=True).start()
        return 200, json.dumps({"status": "processing", **where}).encode()

    def _run(self, payload, where, bucket):
        try:
            result = self._function(payload)
        except (ValueError, RuntimeError, LookupError, TypeError) as error:
            result = {"status_code": 500, "stop_reason": f"{type(error).__name__}: {error}"}
        if result is None:
            return
        if not isinstance(result, bytes):
            named = {"input_id": payload["_rollout"]["input_id"], **where}
            full = {"status_code": 200, "stop_reason": "end_turn", **named, **result}
            result = json.dumps(full).encode()
        bucket.put(where["s3_bucket"], where["result_key"], result)


class AppAgent:
    """An agent's app on this machine.

    Args:
        url: of the app, without a path.

    Raises:
        ConfigurationError: it leads to another machine.
    """

    def __init__(self, url):
        if not is_loopback(url) or not url.startswith("http://"):
            raise ConfigurationError("an app behind the double runs on this machine: http://…")
        self._url = url.rstrip("/") + "/invocations"

    def __call__(self, body, session, bucket):
        """The app's own reply."""
        headers = {"Content-Type": "application/json", SESSION_HEADER: session}
        request = Request(self._url, data=body, headers=headers)
        try:
            with urlopen(request, timeout=SECONDS) as reply:
                return reply.status, reply.read()
        except HTTPError as error:
            with error:
                return error.code, error.read()


KINDS = ("throttle", "conflict", "error", "forbidden", "slow", "dropped")
OPERATIONS = ("invoke", "stop", "head", "get")


@dataclass(frozen=True, slots=True)
class Faults:
    """Which calls meet with an accident.

    Args:
        shares: by "operation.kind", each from 0 to 1.
        seed: another one, other calls.
        slow_seconds: how long a slow answer takes.
        most: calls of one operation of one session that fail in a row.

    Raises:
        ConfigurationError: an unknown operation or kind, or a share out of its range.
    """

    shares: dict = field(default_factory=dict)
    seed: int = 0
    slow_seconds: float = 0.2
    most: int = 2
    _rows: Counter[str] = field(default_factory=Counter, init=False, repr=False)
    _attempts: Counter[str] = field(default_factory=Counter, init=False, repr=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False)

    def __post_init__(self):
        for name, share in self.shares.items():
            operation, _, kind = name.partition(".")
            if operation not in OPERATIONS or kind not in KINDS or not 0 <= share <= 1:
                raise ConfigurationError(f"faults: {name[:64]!r} is no share of an accident")

    def next(self, operation, whose):
        """The accident of the next call; "" for none."""
        call = f"{operation}\0{whose}"
        with self._lock:
            attempt = self._attempts[call]
            self._attempts[call] += 1
            digest = sha256(f"{self.seed}\0{call}\0{attempt}".encode()).digest()
            drawn = int.from_bytes(digest[:8]) / 2**64
            for kind in KINDS:
                drawn -= self.shares.get(f"{operation}.{kind}", 0.0)
                if drawn < 0 and (kind == "slow" or self._rows[call] < self.most):
                    self._rows[call] += kind != "slow"
                    return kind
            self._rows[call] = 0
        return ""


class Sessions:
    """All sessions that a double has seen."""

    def __init__(self):
        self._changed = Condition()
        self.invoked = Counter()
        self.stopped = Counter()
        self._running = set()
        self.most_running = 0

    @property
    def running(self):
        """Those that were invoked and not stopped since."""
        with self._changed:
            return set(self._running)

    def invoke(self, session):
        """It runs from now on."""
        with self._changed:
            self.invoked[session] += 1
            self._running.add(session)
            self.most_running = max(self.most_running, len(self._running))
            self._changed.notify_all()

    def stop(self, session):
        """It runs no more; whether it was ever invoked."""
        with self._changed:
            known = session in self.invoked
            if known:
                self.stopped[session] += 1
            self._running.discard(session)
            self._changed.notify_all()
            return known

    def wait_idle(self, timeout):
        """Wait until none runs; whether that came to pass."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._running, timeout)

    def wait_running(self, count, timeout):
        """Wait until so many run; whether that came to pass."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self._running) >= count, timeout)


STATUS = {
    "throttle": (HTTPStatus.TOO_MANY_REQUESTS, "ThrottlingException"),
    "conflict": (HTTPStatus.CONFLICT, "RetryableConflictException"),
    "error": (HTTPStatus.INTERNAL_SERVER_ERROR, "InternalServerException"),
    "forbidden": (HTTPStatus.FORBIDDEN, "AccessDeniedException"),
}
"""Of accidents."""

FAILED_DEPENDENCY = HTTPStatus.FAILED_DEPENDENCY


class AgentCoreDouble(LoopbackServer):
    """A server of one agent; `serving` runs one for a block.

    Args:
        agent: what an invocation is handed to.
        faults: which calls meet with an accident.
        port: where it listens; a free one where 0.

    Attributes:
        sessions: what became of each.
        bucket: what agents stored.

    Raises:
        OSError: something else listens there.
    """

    def __init__(self, agent, faults=None, *, port=0):
        super().__init__(port=port)
        self._agent, self._faults = agent, Faults() if faults is None else faults
        self.sessions, self.bucket = Sessions(), Bucket()
        self._ending = Event()
        model = service_model("bedrock-agentcore")
        self._operations = [
            model.operation_model(name) for name in ("InvokeAgentRuntime", "StopRuntimeSession")
        ]

    def answer(self, request):
        """The answer of AgentCore or of S3."""
        for operation in self._operations:
            if (found := labels(operation, request)) is not None:
                given = parameters(operation, found, request)
                invoked = operation.name == "InvokeAgentRuntime"
                return self._invoke(given) if invoked else self._stop(given)
        operation = {"HEAD": "head", "GET": "get"}.get(request.method, "")
        accident = self._faults.next(operation, request.path) if operation else ""
        if accident in STATUS:
            status, code = STATUS[accident]
            return refused(status, code)
        return self._late(accident, self.bucket.reply(request))

    def denial(self, request, refused):
        """As AgentCore refuses."""
        return _error(refused.status, refused.code, str(refused))

    def shutdown(self):
        """End; slow answers are sent at once."""
        self._ending.set()
        super().shutdown()

    def _invoke(self, given):
        session = given["runtimeSessionId"]
        accident = self._faults.next("invoke", session)
        if accident in STATUS:
            status, code = STATUS[accident]
            return _error(status, code, "simulation: an accident by plan")
        self.sessions.invoke(session)
        status_code, body = self._agent(given["payload"], session, self.bucket)
        if status_code != HTTPStatus.OK:
            text = f"the agent answered {status_code}"
            return _error(FAILED_DEPENDENCY, "RuntimeClientError", text)
        return self._late(accident, (HTTPStatus.OK, {SESSION_HEADER: session}, body))

    def _stop(self, given):
        session = given["runtimeSessionId"]
        accident = self._faults.next("stop", session)
        if accident in STATUS:
            status, code = STATUS[accident]
            return _error(status, code, "simulation: an accident by plan")
        if not self.sessions.stop(session):
            return self.refusal_of(missing("there is no such session"))
        return self._late(accident, (HTTPStatus.OK, {SESSION_HEADER: session}, b"{}"))

    def refusal_of(self, refused):
        """The answer to what is not there."""
        return _error(refused.status, refused.code, str(refused))

    def _late(self, accident, reply):
        if accident == "slow":
            self._ending.wait(self._faults.slow_seconds)
        return None if accident == "dropped" else reply


def _error(status, code, message):
    headers = {"x-amzn-ErrorType": code}
    return status, headers, json.dumps({"message": message}).encode()


@contextmanager
def serving(agent, faults=None):
    """A double for a block, on a free port."""
    double = AgentCoreDouble(agent, faults)
    with double.in_background():
        yield double
