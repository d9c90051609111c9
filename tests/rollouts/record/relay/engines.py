"""An inference engine that follows a script, on loopback: real HTTP, and every token known before.

What it answers depends on the last message alone, so that a test can say what must be captured.
"""

from __future__ import annotations

import json
import random
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

TOOL = {"name": "add", "arguments": '{"a": 1, "b": 2}'}


def tokens_of(text, count=None):
    """(prompt ids, completion ids, log-probabilities) of an answer to a text."""
    seeded = random.Random(text)
    count = seeded.randint(4, 24) if count is None else count
    ids = [seeded.randrange(152_000) for _ in range(count)]
    logprobs = [-seeded.expovariate(2.0) for _ in range(count)]
    return [seeded.randrange(152_000) for _ in range(12)], ids, logprobs


def logprob_items(logprobs):
    return [{"token": "t", "logprob": each, "bytes": None, "top_logprobs": []} for each in logprobs]


def message_of(text):
    """The answer to a text; to one with "tool" in it, a call."""
    if "tool" in text:
        call = {"id": f"call-{text}", "type": "function", "function": TOOL}
        return {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"
    return {"role": "assistant", "content": f"answer to {text}: é ✓ fin"}, "stop"


def completion(text):
    """What vLLM answers, whole."""
    prompt, ids, logprobs = tokens_of(text)
    message, finish = message_of(text)
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": finish,
        "stop_reason": None,
        "logprobs": {"content": logprob_items(logprobs)},
        "token_ids": ids,
    }
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [choice],
        "usage": usage(prompt, ids),
        "prompt_token_ids": prompt,
        "prompt_logprobs": None,
    }


def usage(prompt, ids):
    return {
        "prompt_tokens": len(prompt),
        "completion_tokens": len(ids),
        "total_tokens": len(prompt) + len(ids),
    }


def chunks(text):
    """What vLLM streams: some tokens an event, a tool's arguments in pieces."""
    prompt, ids, logprobs = tokens_of(text)
    message, finish = message_of(text)
    head = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "scripted",
    }
    first = {"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}
    yield head | {"choices": [first], "prompt_token_ids": prompt}
    if "tool_calls" in message:
        (call,) = message["tool_calls"]
        function = call["function"]
        opening = call | {"index": 0, "function": {"name": function["name"], "arguments": ""}}
        deltas = [{"tool_calls": [opening]}]
        deltas += [
            {"tool_calls": [{"index": 0, "function": {"arguments": letter}}]}
            for letter in function["arguments"]
        ]
    else:
        deltas = [{"content": letter} for letter in message["content"]]
    size = max(1, -(-len(ids) // len(deltas)))
    for number, delta in enumerate(deltas):
        part = slice(number * size, (number + 1) * size)
        choice = {
            "index": 0,
            "delta": delta,
            "finish_reason": None,
            "logprobs": {"content": logprob_items(logprobs[part])},
            "token_ids": ids[part],
        }
        yield head | {"choices": [choice]}
    yield head | {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
    yield head | {"choices": [], "usage": usage(prompt, ids)}


def events(parts):
    """Chunks as a stream."""
    for part in parts:
        yield b"data: " + json.dumps(part, ensure_ascii=False).encode() + b"\n\n"
    yield b"data: [DONE]\n\n"


def last_text(body):
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else json.dumps(content)


class Engine(ThreadingHTTPServer):
    """The engine.

    Args:
        script: answers a request instead, with (status, headers, iterable of bytes) or None.
    """

    daemon_threads = True
    request_queue_size = 512

    def __init__(self, script=None):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = script
        self.requests, self.heads, self.connections = [], [], 0
        self.lock = Lock()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, *_):
        """Clients go away."""

    @contextmanager
    def serving(self):
        """Answer for a block."""
        thread = Thread(target=self.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.shutdown()
            thread.join()
            self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def setup(self):
        super().setup()
        with self.server.lock:
            self.server.connections += 1

    def do_GET(self):
        self._whole({"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.requests.append(body)
            self.server.heads.append(dict(self.headers))
        if self.path == "/tokenize":
            self._whole({"count": 7, "tokens": [1] * 7})
            return
        scripted = self.server.script and self.server.script(body)
        if scripted:
            self._pieces(*scripted)
        elif body.get("stream"):
            kind = {"Content-Type": "text/event-stream; charset=utf-8"}
            self._pieces(200, kind, events(chunks(last_text(body))))
        else:
            self._whole(completion(last_text(body)))

    def _whole(self, value):
        content = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _pieces(self, status, headers, pieces):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in pieces:
            if piece is None:  # the engine dies
                self.wfile.flush()
                self.close_connection = True
                self.connection.close()
                return
            if piece:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_):
        """Nothing."""
