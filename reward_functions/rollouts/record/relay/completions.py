"""A chat completion of an engine: checked, or assembled from the chunks of a stream.

A delta of a tool call belongs to the call of its `index`; one without an index and with a new id
begins a call, and without either goes on with the last one. A name that is sent again is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.record.relay.wire import Malformed
from reward_functions.rollouts.record.types import TokenUsage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST_CALLS: Final = 256
"""Tool calls of one answer."""

LONGEST_NAME: Final = 1024
"""Characters of a tool's name: engines write 64 at most."""

MOST_TOKENS: Final = 10**9
"""Of a call; who counts more does not count."""

TEXTS: Final = ("content", "reasoning_content", "reasoning", "refusal")
"""Fields of a message that a stream brings in pieces."""


def require_completion(reply: Mapping[str, Any]) -> dict[str, Any]:
    """The one choice of a completion.

    Raises:
        Malformed: it is no chat completion, or has another number of choices.
    """
    choice = _only_choice(reply)
    if choice is None or not _is_message(choice.get("message")):
        raise _no_completion()
    return choice


def message_of(choice: Mapping[str, Any]) -> dict[str, Any]:
    """The message of a choice, without what is null or empty beside its content."""
    message = choice["message"]
    kept = {name: value for name, value in message.items() if value or value is False or value == 0}
    return {"role": "assistant", "content": message.get("content")} | kept


def finish_of(choice: Mapping[str, Any]) -> str:
    """Its finish reason; "" where it has none."""
    finish = choice.get("finish_reason")
    return finish if isinstance(finish, str) else ""


def usage_of(reply: Mapping[str, Any]) -> TokenUsage:
    """The engine's count of tokens."""
    given = reply.get("usage")
    usage = given if isinstance(given, dict) else {}
    prompt = usage.get("prompt_tokens_details")
    completion = usage.get("completion_tokens_details")
    return TokenUsage(
        input=_count(usage, "prompt_tokens"),
        output=_count(usage, "completion_tokens"),
        cached=_count(prompt, "cached_tokens"),
        reasoning=_count(completion, "reasoning_tokens"),
    )


class Assembly:
    """The completion that the chunks of a stream come to."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}
        self._calls: dict[int, dict[str, Any]] = {}
        self._last = -1
        self._head: dict[str, Any] = {}
        self._choice: dict[str, Any] = {}
        self._finish = ""
        self._usage: Any = None

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Take a chunk in.

        Raises:
            Malformed: it is no chunk of one choice.
        """
        if not isinstance(chunk.get("choices"), list):
            raise _no_completion()
        self._usage = chunk.get("usage") or self._usage
        for name in ("id", "created", "model", "system_fingerprint"):
            if chunk.get(name) is not None:
                self._head.setdefault(name, chunk[name])
        if not chunk["choices"]:
            return
        choice = _only_choice(chunk)
        if choice is None or not isinstance(choice.get("delta") or {}, dict):
            raise _no_completion()
        self._finish = finish_of(choice) or self._finish
        if choice.get("stop_reason") is not None:
            self._choice["stop_reason"] = choice["stop_reason"]
        self._merge(choice.get("delta") or {})

    def completion(self) -> dict[str, Any]:
        """The whole of it, in OpenAI's form; without its tokens.

        Raises:
            Malformed: the stream ended before the answer did.
        """
        if not self._finish:
            raise Malformed("the stream ended before the answer did")
        message: dict[str, Any] = {"role": "assistant", "content": None}
        message |= {name: "".join(pieces) for name, pieces in self._texts.items() if any(pieces)}
        if self._calls:
            message["tool_calls"] = list(self._tool_calls())
        choice = {"index": 0, "message": message, "finish_reason": self._finish, **self._choice}
        usage = {"usage": self._usage} if isinstance(self._usage, dict) else {}
        return self._head | {"object": "chat.completion", "choices": [choice]} | usage

    def _merge(self, delta: Mapping[str, Any]) -> None:
        for name in TEXTS:
            piece = delta.get(name)
            if piece is not None:
                self._texts.setdefault(name, []).append(_text(piece))
        calls = delta.get("tool_calls") or []
        if not isinstance(calls, list):
            raise _no_completion()
        for call in calls:
            self._merge_call(call)

    def _merge_call(self, call: Any) -> None:
        if not isinstance(call, dict) or not isinstance(call.get("function") or {}, dict):
            raise _no_completion()
        index = self._index(call)
        known = self._calls.setdefault(index, {"id": "", "name": "", "arguments": []})
        known["id"] = known["id"] or _text(call.get("id") or "")
        function = call.get("function") or {}
        name = _text(function.get("name") or "")
        if name != known["name"]:
            known["name"] = _name(known["name"] + name)
        known["arguments"].append(_text(function.get("arguments") or ""))

    def _index(self, call: Mapping[str, Any]) -> int:
        index = call.get("index")
        if index is None:
            known = {each["id"]: at for at, each in self._calls.items()}
            identity = call.get("id")
            new = bool(identity) or self._last < 0
            index = known.get(identity, len(self._calls)) if new else self._last
        if type(index) is not int or not 0 <= index < MOST_CALLS:
            raise Malformed("the index of a tool call is not a small number")
        self._last = index
        return index

    def _tool_calls(self) -> Iterator[dict[str, Any]]:
        for _, call in sorted(self._calls.items()):
            function = {"name": call["name"], "arguments": "".join(call["arguments"])}
            yield {"id": call["id"], "type": "function", "function": function}


def chunks_of(completion: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A whole completion as the chunks of a stream; the last one has its usage."""
    head = {name: value for name, value in completion.items() if name not in {"choices", "usage"}}
    head["object"] = "chat.completion.chunk"
    (choice,) = completion["choices"]
    message = message_of(choice)
    calls = [
        {"index": index} | call for index, call in enumerate(message.pop("tool_calls", None) or ())
    ]
    delta = message | ({"tool_calls": calls} if calls else {})
    rest = {name: value for name, value in choice.items() if name != "message"}
    yield head | {"choices": [rest | {"delta": delta, "finish_reason": None}]}
    last = {"index": 0, "delta": {}, "finish_reason": finish_of(choice) or "stop"}
    yield head | {"choices": [last]}
    if completion.get("usage"):
        yield head | {"choices": [], "usage": completion["usage"]}


def _no_completion() -> Malformed:
    return Malformed("what was sent is not a chat completion of one choice")


def _only_choice(reply: Mapping[str, Any]) -> dict[str, Any] | None:
    choices = reply.get("choices")
    if not isinstance(choices, list) or len(choices) != 1:
        return None
    (choice,) = choices
    known = isinstance(choice, dict) and choice.get("index", 0) == 0
    return choice if known else None


def _is_message(message: Any) -> bool:
    if not isinstance(message, dict):
        return False
    calls = message.get("tool_calls") or []
    texts = all(isinstance(message.get(name) or "", str) for name in TEXTS)
    few = isinstance(calls, list) and len(calls) <= MOST_CALLS
    return texts and few and all(map(_is_call, calls))


def _is_call(call: Any) -> bool:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return False
    name = function.get("name")
    if not isinstance(name, str) or len(name) > LONGEST_NAME:
        return False
    return all(isinstance(each or "", str) for each in (call.get("id"), function.get("arguments")))


def _name(name: str) -> str:
    if len(name) > LONGEST_NAME:
        raise Malformed(f"the name of a tool has more than {LONGEST_NAME} characters")
    return name


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _no_completion()
    return value


def _count(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None
