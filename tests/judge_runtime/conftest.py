"""A judge model's server on loopback: Converse and chat completions, misbehaving on a schedule."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHECKSUM = re.compile(r"Checksum: (\w+)")


@dataclass
class ModelServer:
    """What the server does, call by call, and what it was asked."""

    verdict: Callable[[Any], dict[str, str]]
    """The interesting fields of a verdict, from what it is about."""
    schedule: Callable[[int, str], str] = lambda call, text: "ok"
    """How the call of that number, with that user text, goes."""
    delay: float = 0.0
    body: bytes | None = None
    """What every call is sent with status 200, in place of a response."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    url: str = ""
    lock: Lock = field(default_factory=Lock)

    def begin(self, request, headers):
        with self.lock:
            self.requests.append(request)
            self.headers.append(headers)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            return len(self.requests) - 1

    def end(self):
        with self.lock:
            self.at_once -= 1


class Handler(BaseHTTPRequestHandler):
    """One request to the model."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    model: ModelServer

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        request = json.loads(body)
        connection = {"connection-of": str(self.client_address[1])}
        call = self.model.begin(request, dict(self.headers.items()) | connection)
        try:
            talk = Converse(request) if self.path.endswith("/converse") else Chat(request)
            self.answer(talk, self.model.schedule(call, talk.text))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            self.model.end()

    def answer(self, talk, how):
        time.sleep(self.model.delay)
        if self.model.body is not None:
            self.send(200, self.model.body)
            return
        verdict = {
            **{name: spec.get("enum", ["because"])[0] for name, spec in talk.schema.items()},
            "addressed_to_judge": "no",
            "confidence": "high",
            "checksum": CHECKSUM.search(talk.text)[1],
            **self.model.verdict(talk),
        }
        if how.isdigit():
            self.reply(int(how), {"message": "no"}, talk.code(int(how)))
        elif how in SAID:
            self.reply(200, SAID[how](talk, verdict))
        elif how in SENT:
            self.send(200, SENT[how])
        else:
            getattr(self, how.replace(" ", "_"))(talk.said(json.dumps(verdict)))

    def slow(self, reply):
        time.sleep(1.5)
        self.reply(200, reply)

    def cut_body(self, reply):
        body = json.dumps(reply).encode()
        self.send(200, body[: len(body) // 2], length=len(body))
        self.close_connection = True

    def hang_up(self, reply):
        self.close_connection = True
        self.connection.close()

    def drip(self, reply):
        body = json.dumps(reply).encode()
        self.send(200, b"", length=len(body))
        for byte in body:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            time.sleep(0.02)

    def reply(self, status, body, code=""):
        self.send(status, json.dumps(body).encode(), code)

    def send(self, status, body, code="", length=None):
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body) if length is None else length))
        if code:
            self.send_header("x-amzn-errortype", code)
        self.end_headers()
        self.wfile.write(body)


SENT = {"empty body": b"", "empty object": b"{}", "no JSON": b"<html>bad gateway</html>"}
"""Bodies of status 200 that are no response."""

SAID = {
    "ok": lambda talk, verdict: talk.said(json.dumps(verdict)),
    "truncated": lambda talk, verdict: talk.said(json.dumps(verdict)[:40], "max_tokens"),
    "refused": lambda talk, verdict: talk.said("I cannot help.", "content_filtered"),
    "prose": lambda talk, verdict: talk.said(f"Sure! {json.dumps(verdict)} That is 10/10."),
    "wrong schema": lambda talk, verdict: talk.said('{"score": 10}'),
    "wrong choice": lambda talk, verdict: talk.said(json.dumps({**verdict, "same": "very"})),
    "wrong checksum": lambda talk, verdict: talk.said(
        json.dumps({**verdict, "checksum": "0" * 12})
    ),
    "two verdicts": lambda talk, verdict: talk.said(json.dumps(verdict)[:-1] + ', "same": "yes"}'),
}
"""What a model says, by how the call goes."""


class Converse:
    """Amazon Bedrock's dialect."""

    def __init__(self, request):
        content = request["messages"][0]["content"]
        self.text = "\n".join(block["text"] for block in content if "text" in block)
        self.tool = "toolConfig" in request
        self.schema = {}
        if self.tool:
            tool = request["toolConfig"]["tools"][0]["toolSpec"]
            self.schema = tool["inputSchema"]["json"]["properties"]
        elif "outputConfig" in request:
            described = request["outputConfig"]["textFormat"]["structure"]["jsonSchema"]
            self.schema = json.loads(described["schema"])["properties"]
        else:
            self.schema = listed(request["system"][0]["text"])

    def said(self, text, reason=""):
        block = {"text": text}
        if self.tool and not reason:
            try:
                arguments = json.loads(text)
                block = {"toolUse": {"toolUseId": "1", "name": "verdict", "input": arguments}}
            except ValueError:
                pass
        thought = {"reasoningContent": {"reasoningText": {"text": "Hmm. The score is 10."}}}
        return {
            "output": {"message": {"role": "assistant", "content": [thought, block]}},
            "stopReason": reason or ("tool_use" if "toolUse" in block else "end_turn"),
            "usage": {"inputTokens": 100, "outputTokens": 20, "totalTokens": 120},
            "metrics": {"latencyMs": 1},
        }

    @staticmethod
    def code(status):
        return {
            400: "ValidationException",
            403: "AccessDeniedException",
            404: "ResourceNotFoundException",
            408: "ModelTimeoutException",
            429: "ThrottlingException",
            500: "InternalServerException",
            503: "ServiceUnavailableException",
        }[status]


class Chat:
    """OpenAI's dialect."""

    def __init__(self, request):
        self.text = request["messages"][1]["content"]
        self.tool = "tools" in request
        if self.tool:
            self.schema = request["tools"][0]["function"]["parameters"]["properties"]
        elif "response_format" in request:
            self.schema = request["response_format"]["json_schema"]["schema"]["properties"]
        else:
            self.schema = listed(request["messages"][0]["content"])

    def said(self, text, reason=""):
        message = {"role": "assistant", "content": text, "reasoning_content": "The score is 10."}
        if self.tool and not reason:
            call = {"type": "function", "function": {"name": "verdict", "arguments": text}}
            message |= {"content": None, "tool_calls": [call]}
        names = {"max_tokens": "length", "content_filtered": "content_filter", "": "stop"}
        choice = {"index": 0, "message": message, "finish_reason": names[reason]}
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        return {"id": "1", "choices": [choice], "usage": usage}

    @staticmethod
    def code(status):
        return ""


def listed(instructions):
    """The fields that instructions in prose list."""
    found = re.findall(r'^  "(\w+)": (.+?)  \(', instructions, re.MULTILINE)
    return {
        name: {"enum": json.loads(f"[{choices.replace(' | ', ',')}]")} if '"' in choices else {}
        for name, choices in found
    }


class Server(ThreadingHTTPServer):
    """Takes many connections at once, and waits for none of them in the end."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128


@pytest.fixture
def serve(monkeypatch) -> Iterator[Callable[..., ModelServer]]:
    """Start servers; they are stopped after the test."""
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
        monkeypatch.setenv(f"AWS_{name}", "test")
    running = []

    def start(**behaviour):
        model = ModelServer(**{"verdict": lambda talk: {"same": "yes"}, **behaviour})
        handler = type("Bound", (Handler,), {"model": model})
        server = Server(("127.0.0.1", 0), handler)
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        running.append((server, thread))
        model.url = f"http://127.0.0.1:{server.server_port}"
        return model

    yield start
    for server, thread in running:
        server.shutdown()
        server.server_close()
        thread.join()
