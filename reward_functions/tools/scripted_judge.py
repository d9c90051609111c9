"""A scripted judge model: a server on loopback that speaks chat completions.

It takes the place of Bedrock in the demo, in the notebooks and in the tests of the deployment,
behind the local AWS emulator. It answers two questions, each by a rule of form:

| asked by | yes, where |
| --- | --- |
| `reference` | the answer contains all words of the reference, in any order |
| `pandalm` | the reasons have five words or more (specific); all that they quote stands in the prompt (true); they do not name the other response alone (support) |

What names a judge speaks to it. The script shows the path of a question and its verdict, and
nothing about the quality of a judge.

    python -m reward_functions.tools.scripted_judge    # prints its URL, answers until interrupted
"""  # noqa: E501 - a table

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
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

DATA: Final = re.compile(r'<data name="(\w+)" mark="\w+">\n(.*)\n</data')

CHECKSUM: Final = re.compile(r"Checksum: (\w+)")


FEWEST: Final = 5
"""Words of reasons that count as specific."""

_QUOTED: Final = re.compile(r'"([^"\n]{1,200})"')

_RESPONSE: Final = re.compile(r"response (\d)")


def verdict(text: str) -> dict[str, str]:
    """The verdict on a question of the judges `reference` and `pandalm`.

    Args:
        text: of the request.

    Raises:
        KeyError: another judge asks.
    """
    data = {name: json.loads(quoted) for name, quoted in DATA.findall(text)}
    judged, fields = _of_reasons(data) if "reasons" in data else _of_answer(data)
    addressed = "yes" if {"judge", "grader"} & _words(judged) else "no"
    return fields | {"addressed_to_judge": addressed, "confidence": "high"}


def _of_answer(data: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """What `reference` asks about, and the verdict on it."""
    same = _words(data["reference"]) <= _words(data["answer"])
    reason = "All words of the reference are there." if same else "Words are missing."
    return data["answer"], {"reason": reason, "same": "yes" if same else "no"}


def _of_reasons(data: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """What `pandalm` asks about, and the verdict on it."""
    judgment, _, reasons = data["reasons"].casefold().partition("\nreasoning:")
    prompt = data["prompt"].casefold()
    named = set(_RESPONSE.findall(reasons))
    met = {
        "specific": len(reasons.split()) >= FEWEST,
        "true_to_responses": all(quoted in prompt for quoted in _QUOTED.findall(reasons)),
        "supports_verdict": len(named) != 1 or named == set(_RESPONSE.findall(judgment)),
    }
    why = {f"{name}_reason": "By its form." for name in met}
    return reasons, why | {name: "yes" if so else "no" for name, so in met.items()}


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def scripted_judge() -> AbstractContextManager[str]:
    """Serve on a free port for a block; the URL, to which a client adds `/v1/…`."""
    return serving_verdicts(_with_checksum)


@contextmanager
def serving_verdicts(answer: Callable[[str], Mapping[str, str]]) -> Iterator[str]:
    """Serve another rule in the same way.

    Args:
        answer: from the text of a request to every field of its verdict, the checksum with them.
    """
    server = _Server((LOOPBACK, 0), _Handler)
    server.answer = answer
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://{LOOPBACK}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _with_checksum(text: str) -> dict[str, str]:
    checksum = CHECKSUM.findall(text)
    return verdict(text) | {"checksum": checksum[-1] if checksum else ""}


class _Server(ThreadingHTTPServer):
    answer: Callable[[str], Mapping[str, str]]
    daemon_threads = True
    request_queue_size = 128


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:  # http.server calls it so
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(_completion(request, self.server.answer)).encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002 - the base's own name
        """Nothing: the texts of requests stay out of the terminal."""


def _completion(
    request: dict[str, Any], answer: Callable[[str], Mapping[str, str]]
) -> dict[str, Any]:
    """The response to a request, its verdict as the call of the tool that is offered, if any."""
    text = "\n".join(message["content"] for message in request["messages"] if message["content"])
    content = json.dumps(answer(text))
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
