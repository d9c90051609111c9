"""A scripted judge model: a server on loopback that speaks chat completions.

It takes the place of Bedrock in the demo, in the notebooks and in the tests of the deployment,
where the local AWS emulator has none. It answers two questions, each by a rule of form:

| asked by | yes, where |
| --- | --- |
| `reference` | the answer contains all words of the reference, in any order |
| `pandalm` | the reasons have five words or more (specific); all that they quote stands in the prompt (true); they do not name the other response alone (support) |

A request of another form is 400, and one that a web page can cause is refused.
A judge that names its address speaks to it. The script shows the path of a question and its
verdict, and nothing about the quality of a judge.

    python -m reward_functions.local.scripted_judge    # prints its URL, answers until interrupted
"""  # noqa: E501 - a table

from __future__ import annotations

import json
import re
from contextlib import contextmanager, suppress
from http import HTTPStatus
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

import typer

from reward_functions.aws.emulator_record import LOOPBACK
from reward_functions.core.http_server.messages import Refused, Reply
from reward_functions.core.http_server.server import Server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

DATA: Final = re.compile(r'<data name="(\w+)" mark="\w+">\n(.*)\n</data')

CHECKSUM: Final = re.compile(r"Checksum: (\w+)")

LARGEST: Final = 16 * 1024 * 1024
"""Bytes of a request."""

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
        ValueError: the data are no JSON.
    """
    read = {name: json.loads(quoted) for name, quoted in DATA.findall(text)}
    data = {name: value for name, value in read.items() if isinstance(value, str)}
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
        answer: from the text of a request to every field of its verdict, the checksum with them;
            a LookupError or a ValueError is a request that it has no answer to, 400.
    """
    server = Server(
        (LOOPBACK, 0),
        lambda request: Reply(HTTPStatus.OK, _completion(request.body, answer)),
        lambda _: None,
        largest=LARGEST,
    )
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.url
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _with_checksum(text: str) -> dict[str, str]:
    checksum = CHECKSUM.findall(text)
    return verdict(text) | {"checksum": checksum[-1] if checksum else ""}


def _completion(body: bytes, answer: Callable[[str], Mapping[str, str]]) -> dict[str, Any]:
    """The response to a request, its verdict as the call of the tool that is offered, if any.

    Raises:
        Refused: it is no chat completion, or no question that the script answers.
    """
    request = _read(body)
    texts = [message["content"] for message in request["messages"]]
    text = "\n".join(each for each in texts if each)
    try:
        content = json.dumps(answer(text))
    except (LookupError, ValueError):
        sentence = "the script has no answer to this question"
        raise Refused(HTTPStatus.BAD_REQUEST, sentence) from None
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


def _read(body: bytes) -> Any:
    """A request for a chat completion.

    Raises:
        Refused: the body is something else.
    """
    try:
        request = json.loads(body)
        contents = [message["content"] for message in request["messages"]]
        tools = [request["tools"][0]["function"]["name"]] if "tools" in request else []
        texts = [request["model"], *tools, *(each for each in contents if each is not None)]
    except (ValueError, LookupError, TypeError, RecursionError):
        texts = [None]
    if not all(isinstance(each, str) for each in texts):
        sentence = "the request is no chat completion: a model, and messages whose content is text"
        raise Refused(HTTPStatus.BAD_REQUEST, sentence)
    return request


def main() -> None:
    """Print an address, and answer chat completions there until interrupted.

    It is asked by the judges reference and pandalm: an `endpoint` is the address and /v1. Any other
    question is refused with a 400.
    """
    with scripted_judge() as url, suppress(KeyboardInterrupt):
        typer.echo(url)
        Event().wait()


if __name__ == "__main__":
    typer.run(main)
