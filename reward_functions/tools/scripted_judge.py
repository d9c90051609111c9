"""A scripted judge model: a server on loopback that speaks chat completions.

It takes the place of Bedrock in the demo and in the tests of the deployment, behind the local AWS
emulator. Its rule: an answer says the same as the reference if it contains all its words, in any
order; and it speaks to the judge if it names one. It shows the path of a question and its verdict,
and nothing about the quality of a judge.

    python -m reward_functions.tools.scripted_judge    # prints its URL, answers until interrupted
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

import typer

from reward_functions.tools.local_aws.environment import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA: Final = re.compile(r'<data name="(\w+)" mark="\w+">\n(.*)\n</data')

CHECKSUM: Final = re.compile(r"Checksum: (\w+)")


def verdict(text: str) -> dict[str, str]:
    """The verdict on a question of the judge `reference`.

    Args:
        text: of the request.
    """
    data = {name: json.loads(quoted) for name, quoted in DATA.findall(text)}
    reference, answer = _words(data["reference"]), _words(data["answer"])
    same = reference <= answer
    return {
        "reason": "All words of the reference are there." if same else "Words are missing.",
        "same": "yes" if same else "no",
        "addressed_to_judge": "yes" if {"judge", "grader"} & answer else "no",
        "confidence": "high",
    }


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


@contextmanager
def scripted_judge() -> Iterator[str]:
    """Serve on a free port for a block; the URL, to which a client adds `/v1/…`."""
    server = _Server((LOOPBACK, 0), _Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://{LOOPBACK}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:  # http.server calls it so
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(_completion(request)).encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002 - the base's own name
        """Nothing: the texts of requests stay out of the terminal."""


def _completion(request: dict[str, Any]) -> dict[str, Any]:
    """The response to a request, its verdict as the call of the tool that is offered, if any."""
    text = "\n".join(message["content"] for message in request["messages"] if message["content"])
    checksum = CHECKSUM.findall(text)
    content = json.dumps(verdict(text) | {"checksum": checksum[-1] if checksum else ""})
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if "tools" in request:
        name = request["tools"][0]["function"]["name"]
        call = {"id": "1", "type": "function", "function": {"name": name, "arguments": content}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    usage = {"prompt_tokens": len(text) // 4, "completion_tokens": len(content) // 4}
    return {
        "object": "chat.completion",
        "model": request["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": usage | {"total_tokens": sum(usage.values())},
    }


def main() -> None:
    """Serve until interrupted."""
    with scripted_judge() as url, suppress(KeyboardInterrupt):
        typer.echo(url)
        Event().wait()


if __name__ == "__main__":
    main()
