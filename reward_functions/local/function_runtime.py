"""Lambda on a laptop: AWS's own runtime client, driven by a Runtime API on the loopback interface.

    with LocalRuntime(LambdaSettings(name="gsm8k").to_env()) as runtime:
        cold = runtime.invoke(event)     # starts the function: cold.cold is True
        warm = runtime.invoke(event)
        print(warm.payload, warm.seconds)

The function runs in a process of its own, `python -m awslambdaric HANDLER`, as it does in Lambda:
this shows what really crosses the wire, encoding, error types, failed starts, timeouts, the 6 MB
limits. One invocation at a time, as in one of Lambda's execution environments. Not reproduced: the
memory limit, throttled processors, permissions, microVM start and download. Times are this
machine's and say nothing absolute about Lambda's.

Protocol: docs.aws.amazon.com/lambda/latest/dg/runtimes-api, as awslambdaric 4.2 speaks it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from queue import Empty, SimpleQueue
from signal import strsignal
from tempfile import TemporaryFile
from threading import Thread
from time import monotonic, perf_counter, time
from typing import IO, TYPE_CHECKING, Any, Final, Self
from uuid import uuid4
from weakref import finalize

import reward_functions
from reward_functions.aws.deployed.function import (
    MAX_PAYLOAD_BYTES,
    FunctionEnded,
    FunctionError,
    InitError,
    Invocation,
)
from reward_functions.core.extras import require
from reward_functions.core.http_server.messages import Refused, Reply, Request
from reward_functions.core.http_server.server import Server

if TYPE_CHECKING:
    from collections.abc import Mapping

HANDLER: Final = "reward_functions.serving.handler.handler"

FOLDER: Final = Path(reward_functions.__file__).parents[1]
"""Where the package is installed: the function's working folder, as its unpacked zip would be."""

MAX_RESPONSE_BYTES: Final = MAX_PAYLOAD_BYTES + 100
"""What Lambda really lets back; its error message has this number."""

INIT_SECONDS: Final = 10.0
"""What Lambda gives a function to start ("Lambda execution environment lifecycle")."""

ALIVE_SECONDS: Final = 0.05
"""How often a silent process is looked at; an answer is taken at once."""

INIT_ERROR: Final = "/2018-06-01/runtime/init/error"

LOOPBACK: Final = "127.0.0.1"

IDLE_SECONDS: Final = 24 * 3600.0
"""How long the client may be silent: as long as the function works."""

UNBOUNDED: Final = 10**12
"""Bytes that a function may send back: what is over Lambda's limit is answered as Lambda does."""

FUNCTION_NAME: Final = "local"

FUNCTION_ARN: Final = f"arn:aws:lambda:us-east-1:123456789012:function:{FUNCTION_NAME}"

EXECUTION_ENV: Final = "AWS_Lambda_python3.13"
"""The runtime rewards are deployed to; the client's encoding of responses depends on it."""


class LocalRuntime:
    """One function under AWS's runtime client; a context manager that leaves no process running.

    The function starts at the first invocation, and again at the first after one that killed it.

    Args:
        environment: the function's environment variables. It gets these and Lambda's own, and
            nothing of the caller's.
        handler: `module.function`.
        folder: where the module is found.
        timeout: seconds an invocation may take; a cold one may take ten more to start.

    Raises:
        MissingExtra: awslambdaric is not installed.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        handler: str = HANDLER,
        folder: Path = FOLDER,
        timeout: float = 30.0,
    ) -> None:
        require("awslambdaric", by="a function on this machine")
        self._environment = dict(environment)
        self._handler = handler
        self._folder = folder
        self._timeout = timeout
        self._logs = TemporaryFile()  # noqa: SIM115 - `close` does
        self._sandbox: _Sandbox | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def invoke(self, event: Any) -> Invocation:
        """Call the function and wait for its answer.

        Args:
            event: JSON data, or the bytes of a JSON text, which are sent as they are.

        Raises:
            InitError: the function could not start.
            FunctionEnded: its process ended (`Runtime.ExitError`), its time ran out
                (`Sandbox.Timedout`), its response is over 6 MB (`Function.ResponseSizeTooLarge`).
            FunctionError: the handler raised, or the event is over 6 MB.
        """
        body = event if isinstance(event, bytes) else json.dumps(event).encode()
        if len(body) > MAX_PAYLOAD_BYTES:
            raise FunctionError.request_too_large(len(body))
        began = perf_counter()
        cold = self._sandbox is None
        if self._sandbox is None:
            self._sandbox = _Sandbox(self._handler, self._environment, self._folder, self._logs)
        try:
            answer = self._sandbox.ask(body, self._timeout, INIT_SECONDS if cold else 0.0)
        except FunctionEnded:
            self._stop()
            raise
        return Invocation(answer, perf_counter() - began, cold)

    @property
    def logs(self) -> str:
        """Everything the function wrote so far, standard output and error together."""
        # Not seek and read: the function writes at the same file position.
        log = self._logs.fileno()
        return os.pread(log, os.fstat(log).st_size, 0).decode(errors="replace")

    def close(self) -> None:
        """End the process and the server; the logs are gone too."""
        self._stop()
        self._logs.close()

    def _stop(self) -> None:
        if self._sandbox is not None:
            self._sandbox.close()
            self._sandbox = None


class _Sandbox:
    """A process that runs the function, and the Runtime API it asks for work."""

    def __init__(
        self, handler: str, environment: Mapping[str, str], folder: Path, logs: IO[bytes]
    ) -> None:
        self.requests: SimpleQueue[_Request | None] = SimpleQueue()
        self.answers: SimpleQueue[bytes | FunctionError] = SimpleQueue()
        self.server = Server(
            (LOOPBACK, 0),
            self._reply,
            lambda _: None,
            largest=UNBOUNDED,
            idle_seconds=IDLE_SECONDS,
        )
        try:
            self.process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-m", "awslambdaric", handler],
                cwd=folder,
                env={**self._lambdas_own(folder), **environment},
                stdin=subprocess.DEVNULL,
                stdout=logs,
                stderr=subprocess.STDOUT,
            )
        except OSError:
            self.server.server_close()
            raise
        # An interpreter that exits without `close` waits for no thread and leaves no process.
        finalize(self, self.process.kill)
        self.thread = Thread(
            target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self.thread.start()

    def ask(self, body: bytes, timeout: float, init: float) -> bytes:
        """The function's answer to one event; its failures are raised."""
        request = _Request(str(uuid4()), body, timeout)
        self.requests.put(request)
        deadline = monotonic() + init + timeout
        while monotonic() < deadline:
            try:
                answer = self.answers.get(timeout=ALIVE_SECONDS)
            except Empty:
                if self.process.poll() is not None and self.answers.empty():
                    raise self._ended(
                        request, "Runtime.ExitError", f"Runtime exited with{self._how()}"
                    ) from None
                continue
            if isinstance(answer, FunctionError):
                raise answer
            return answer
        raise self._ended(
            request, "Sandbox.Timedout", f"Task timed out after {timeout:.2f} seconds"
        )

    def close(self) -> None:
        """End the process, then the threads that served it."""
        self.process.kill()
        self.process.wait()
        self.requests.put(None)
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def _reply(self, asked: Request) -> Reply:
        """The calls that the runtime client makes: for the next event, and with what became of it.

        Raises:
            Refused: the function has ended.
        """
        if asked.method == "GET":
            return self._next()
        answer = _answer(asked)
        too_large = isinstance(answer, bytes) and len(answer) > MAX_RESPONSE_BYTES
        if too_large:
            answer = FunctionEnded(
                "Function.ResponseSizeTooLarge",
                f"the response has {len(asked.body)} bytes; Response payload size exceeded maximum "
                f"allowed payload size ({MAX_RESPONSE_BYTES} bytes).",
            )
        self.answers.put(answer)
        status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE if too_large else HTTPStatus.ACCEPTED
        return Reply(status, {})

    def _next(self) -> Reply:
        """`invocation/next`: wait for the next event."""
        request = self.requests.get()
        if request is None:
            raise Refused(HTTPStatus.GONE, "the function has ended")
        headers = {
            "Content-Length": str(len(request.body)),
            "Lambda-Runtime-Aws-Request-Id": request.id,
            "Lambda-Runtime-Deadline-Ms": str(int((time() + request.timeout) * 1000)),
            "Lambda-Runtime-Invoked-Function-Arn": FUNCTION_ARN,
        }
        return Reply(HTTPStatus.OK, iter([request.body]), headers)

    def _lambdas_own(self, folder: Path) -> dict[str, str]:
        return {
            "AWS_EXECUTION_ENV": EXECUTION_ENV,
            "AWS_LAMBDA_FUNCTION_NAME": FUNCTION_NAME,
            "AWS_LAMBDA_RUNTIME_API": f"{LOOPBACK}:{self.server.server_port}",
            "LAMBDA_TASK_ROOT": str(folder),
            "LANG": "C.UTF-8",
            "TZ": ":UTC",
        }

    def _how(self) -> str:
        """How the process ended, as Lambda puts it."""
        status = self.process.returncode
        if status == 0:
            return "out providing a reason"
        if status < 0:
            return f" error: signal: {(strsignal(-status) or str(-status)).lower()}"
        return f" error: exit status {status}"

    @staticmethod
    def _ended(request: _Request, error_type: str, message: str) -> FunctionEnded:
        """Lambda's own words about an invocation whose process cannot speak any more."""
        return FunctionEnded(error_type, f"RequestId: {request.id} Error: {message}")


@dataclass(frozen=True, slots=True)
class _Request:
    id: str
    body: bytes
    timeout: float


def _answer(asked: Request) -> bytes | FunctionError:
    """What `invocation/ID/response`, `invocation/ID/error` and `init/error` say."""
    if asked.path.endswith("/response"):
        return asked.body
    error = json.loads(asked.body)
    kind = InitError if asked.path == INIT_ERROR else FunctionError
    return kind(
        error["errorType"],
        error["errorMessage"],
        error["stackTrace"],
        request_id=error.get("requestId") or "",
    )
