"""Both hosts behind real HTTP, an S3 on the loopback interface, and waiting for what they do."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import md5
from threading import Condition, Thread

import uvicorn

from reward_functions.rollouts.serve.agentcore.apps import RolloutEntrypoints, RuntimeInvocations
from reward_functions.rollouts.serve.agentcore.bedrock_host import BedrockHost
from reward_functions.rollouts.serve.agentcore.own_host import OwnHost
from tests.loopback import Service
from tests.waiting import until

HOSTS = {"AgentCore's app": BedrockHost, "our server": OwnHost}

LIMIT = 60.0
"""Seconds for what is to happen: the machine may be busy."""

SESSION = "session-0123456789-0123456789-0123456789"
SESSION_HEADER = "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id"
BUCKET = "rollout-results"


def rl_app(host, **options):
    made = type("App", (RolloutEntrypoints, host), {})
    return made(**{"result_buckets": [BUCKET], "pauses": (), "grace": LIMIT} | options)


def runtime_app(host, **options):
    return type("App", (RuntimeInvocations, host), {})(**{"grace": LIMIT} | options)


@contextmanager
def serving(app):
    """The address of an app that serves."""
    if isinstance(app, OwnHost):
        with app.serving() as url:
            yield url
        return
    config = uvicorn.Config(app, port=0, ws="none", log_level="critical", lifespan="on")
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    try:
        until(lambda: server.started)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(LIMIT)
        end_worker_loop(app)
    assert not thread.is_alive()


def end_worker_loop(app):
    """AgentCore's app leaves its event loop to the process."""
    if app._worker_loop is not None:
        app._worker_loop.call_soon_threadsafe(app._worker_loop.stop)
        app._worker_thread.join(LIMIT)
        app._worker_loop.close()


def ask(url, payload, session=SESSION, path="/invocations"):
    """(status, content) of a request; a payload of bytes is sent as it is."""
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    headers = {"Content-Type": "application/json"}
    if session:
        headers[SESSION_HEADER] = session
    request = urllib.request.Request(f"{url}{path}", body, headers)
    try:
        with urllib.request.urlopen(request, timeout=LIMIT) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, json.load(refused)


def ping(url):
    with urllib.request.urlopen(f"{url}/ping", timeout=LIMIT) as answer:
        return json.load(answer)["status"]


@dataclass
class S3(Service):
    """PUT, with If-None-Match, and GET of objects.

    Args:
        objects: (bucket, key) → bytes.
    """

    objects: dict = field(default_factory=dict)
    changed: Condition = field(default_factory=Condition)

    def operation(self, asked):
        bucket, *parts = asked.path
        place = (bucket, "/".join(parts))
        if asked.method == "PUT":
            return "put", lambda: self._put(place, asked)
        return "get", lambda: self._get(place)

    def _put(self, place, asked):
        headers = {name.lower(): value for name, value in asked.headers.items()}
        with self.changed:
            if headers.get("if-none-match") == "*" and place in self.objects:
                return error(412, "PreconditionFailed")
            self.objects[place] = unwrapped(asked.body, headers)
            self.changed.notify_all()
        return 200, {"ETag": f'"{md5(asked.body).hexdigest()}"'}, b""

    def _get(self, place):
        if place not in self.objects:
            return error(404, "NoSuchKey")
        return 200, {"Content-Type": "application/json"}, self.objects[place]

    def stored(self, answer):
        """The content of a result, once it is there."""
        place = (answer["s3_bucket"], answer["result_key"])
        with self.changed:
            assert self.changed.wait_for(lambda: place in self.objects, LIMIT)
            return json.loads(self.objects[place])


def error(status, code):
    body = f"<Error><Code>{code}</Code></Error>".encode()
    return status, {"Content-Type": "application/xml"}, body


def unwrapped(body, headers):
    """A body without the chunks of `aws-chunked` (boto3 adds a checksum as a trailer)."""
    if "aws-chunked" not in headers.get("content-encoding", ""):
        return body
    whole = b""
    while True:
        size, _, rest = body.partition(b"\r\n")
        length = int(size.partition(b";")[0], 16)
        if not length:
            return whole
        whole, body = whole + rest[:length], rest[length + 2 :]
