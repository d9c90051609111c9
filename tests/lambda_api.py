"""Lambda's API on the loopback interface, with functions that misbehave on a schedule.

A function is a list of answers, one for each invocation, the last for all that follow. An answer is
made from the rows that were sent. Protocol: the Invoke and GetFunctionConfiguration operations of
botocore's model of Lambda; GetAccountSettings is answered with the configuration of a function
called `account-settings`, and GetFunctionConcurrency with that of the ARN without a qualifier.
"""

from __future__ import annotations

import json
from base64 import b64encode
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Callable

CONFIGURATION = {"Timeout": 60, "MemorySize": 1769, "State": "Active"}


@dataclass
class Reply:
    """What one invocation is answered with."""

    body: bytes
    status: int = 200
    error: str | None = None  # X-Amz-Function-Error
    log: str = ""
    code: str = ""  # of a refusal, which no function sees
    version: str | None = None  # that answers, where it is not the one of the ARN


@dataclass
class Function:
    """A function that exists: its answers, and what it was asked."""

    answers: list
    configuration: dict | Reply | Callable[[], dict] = field(
        default_factory=lambda: dict(CONFIGURATION)
    )
    asked: list = field(default_factory=list)

    def answer(self, event):
        self.asked.append(event)
        made = self.answers[min(len(self.asked), len(self.answers)) - 1]
        made = made(event) if callable(made) else made
        return made if isinstance(made, Reply) else Reply(json.dumps(made).encode())


def refusal(status, code, message):
    """An API error: the function is never run."""
    return Reply(json.dumps({"Message": message, "Type": "User"}).encode(), status, code=code)


def function_error(**payload):
    """A function that failed."""
    return Reply(json.dumps(payload).encode(), error="Unhandled")


def scored(rows):
    """A reward that likes the answer 42: what a function should do."""

    def score(row):
        messages = row.get("messages") or [{}]
        last = messages[-1]
        content = last.get("content") or ""
        if isinstance(content, list):
            content = "".join(block["text"] for block in content)
        return float("42" in content and last.get("role") != "user")

    return [result(row["id"], score(row)) for row in rows]


def result(id, score):
    metrics = [{"name": "correct", "value": score, "type": "Metric"}]
    return {"id": id, "aggregate_reward_score": score, "metrics_list": metrics}


def executed(path):
    """The version that answers: the number behind the name in an ARN, or how a plain one is."""
    _, _, version = path.rpartition(":function:")[2].split("/")[0].partition(":")
    return version or "$LATEST"


class InProcess:
    """Invokes functions by their ARN as boto3's client of Lambda does, without HTTP between."""

    def __init__(self, functions):
        self._functions = functions

    def invoke(self, FunctionName, Payload, LogType):  # noqa: N803 - boto3's
        reply = self._functions[FunctionName].answer(json.loads(Payload))
        failed = {"FunctionError": reply.error} if reply.error else {}
        return {"Payload": BytesIO(reply.body)} | failed

    def get_function_configuration(self, FunctionName):  # noqa: N803 - boto3's
        return self._functions[FunctionName].configuration


@contextmanager
def lambda_api(functions):
    """Serve functions by their ARN; yields the address."""

    class Api(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def function(self):
            *_, name, operation = self.path.split("?")[0].split("/")
            whole = operation == "account-settings"
            return functions.get(operation if whole else unquote(name))

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            function = self.function()
            if function is None:
                self.reply(refusal(404, "ResourceNotFoundException", "Function not found"))
            else:
                self.reply(function.answer(json.loads(body)), executed(unquote(self.path)))

        def do_GET(self):
            found = self.function().configuration
            found = found() if callable(found) else found
            known = isinstance(found, Reply)
            self.reply(found if known else Reply(json.dumps(found).encode()))

        def reply(self, reply, version=""):
            self.send_response(reply.status)
            self.send_header(
                "X-Amz-Executed-Version", version if reply.version is None else reply.version
            )
            if reply.code:
                self.send_header("x-amzn-errortype", reply.code)
            if reply.error:
                self.send_header("X-Amz-Function-Error", reply.error)
            if reply.log:
                self.send_header("X-Amz-Log-Result", b64encode(reply.log.encode()).decode())
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
