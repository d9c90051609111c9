"""Anthropic's Messages API, over chat completions: requests there, answers back.

| Anthropic's request | OpenAI |
| --- | --- |
| `system`, text or blocks | a message of the role `system` before the others |
| `text` | `content`; several are joined by a line's end |
| `image` | `image_url`, as a data URL where it is base64 |
| `tool_use` of the assistant | `tool_calls`; `input` is written as JSON |
| `tool_result` of the user | a message of the role `tool`, before the user's own text |
| `thinking` of the assistant | `reasoning_content`; `redacted_thinking` is left out |
| `tools` of one's own | functions; `input_schema` is `parameters` |
| `tool_choice` auto, any, tool, none | auto, required, the function, none |
| `max_tokens`, `temperature`, `top_p`, `top_k`, `stream` | the same |
| `stop_sequences` | `stop` |
| `metadata`, `cache_control`, `thinking` and others | left out |

A block or a tool that the engine cannot have, such as a document or Anthropic's own web search, is
refused: an agent should not believe that the policy saw it.

| OpenAI | Anthropic's answer |
| --- | --- |
| `reasoning_content` or `reasoning`, where the agent asked for it | `thinking`, not signed |
| `content` | `text` |
| `tool_calls` | `tool_use`; arguments that are no object stand under `__arguments__` |
| finish `stop`, `length` | `end_turn`, `max_tokens` |
| finish `tool_calls`, `content_filter` | `tool_use`, `refusal` |
| a `stop_reason` that is a text | `stop_sequence` |
| `prompt_tokens`, `completion_tokens` | `input_tokens`, `output_tokens`; 0 where not counted |

In a stream texts come as they are written; a tool call comes when it is whole, as its blocks stand
after each other and a client reads its input as JSON.

Source: "Messages" and "Streaming messages" of Anthropic's API reference, version 2023-06-01.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.record.completion import Malformed, finish_of, message_of, usage_of
from reward_functions.rollouts.record.relay.wire import event, read_object, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


SAME: Final = ("model", "max_tokens", "temperature", "top_p", "top_k", "stream")
ROLES: Final = ("user", "assistant", "system")
OWN: Final = (None, "custom")
CHOICES: Final = {"auto": "auto", "any": "required", "none": "none"}

UNPARSED: Final = "__arguments__"
"""The name in a tool's input under which arguments stand that are not a JSON object."""


def to_openai(body: Mapping[str, Any]) -> dict[str, Any]:
    """The same request in OpenAI's form.

    Args:
        body: it is not changed.

    Raises:
        Malformed: it is no request, or asks for what only Anthropic has.
    """
    found = {name: body[name] for name in SAME if body.get(name) is not None}
    if body.get("stop_sequences"):
        found["stop"] = body["stop_sequences"]
    found["messages"] = [*_system(body.get("system")), *_messages(body.get("messages"))]
    if body.get("tools"):
        found["tools"] = [_tool(each) for each in _list(body["tools"], "`tools`")]
    if body.get("tool_choice"):
        found |= _choice(_object(body["tool_choice"], "`tool_choice`"))
    return found


def tool_input(arguments: str) -> dict[str, Any]:
    """A tool's arguments as an object of strict JSON, for any text of the policy."""
    try:
        value = read_object(arguments or "{}")
    except Malformed:
        return {UNPARSED: arguments}
    return {UNPARSED: arguments} if UNPARSED in value else value


def tool_arguments(given: Mapping[str, Any]) -> str:
    """An input as the policy wrote it."""
    if given.keys() == {UNPARSED} and isinstance(given[UNPARSED], str):
        return str(given[UNPARSED])
    return written(given).decode("utf-8", "replace")


def _system(given: Any) -> Iterator[dict[str, Any]]:
    if given:
        yield {"role": "system", "content": _text_of(given, "`system`")}


def _messages(given: Any) -> Iterator[dict[str, Any]]:
    for each in _list(given, "`messages`"):
        message = _object(each, "a message")
        role, content = message.get("role"), message.get("content")
        if role not in ROLES:
            raise Malformed("the role of a message is user, assistant or system")
        if isinstance(content, str):
            yield {"role": role, "content": content}
            continue
        blocks = [_object(block, "a block") for block in _list(content, "`content`")]
        if role == "assistant":
            yield _assistant(blocks)
        else:
            yield from _user(role, blocks)


def _assistant(blocks: list[dict[str, Any]]) -> dict[str, Any]:
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[dict[str, Any]] = []
    for block in blocks:
        kind = block.get("type")
        if kind == "text":
            texts.append(_string(block, "text"))
        elif kind == "thinking":
            thoughts.append(_string(block, "thinking"))
        elif kind == "tool_use":
            calls.append(_tool_call(block))
        elif kind != "redacted_thinking":
            raise _unknown(kind)
    message: dict[str, Any] = {"role": "assistant", "content": "\n".join(texts) or None}
    if thoughts:
        message["reasoning_content"] = "\n".join(thoughts)
    if calls:
        message["tool_calls"] = calls
    return message


def _tool_call(block: dict[str, Any]) -> dict[str, Any]:
    arguments = tool_arguments(_object(block.get("input"), "the input of a tool"))
    function = {"name": _string(block, "name"), "arguments": arguments}
    return {"id": _string(block, "id"), "type": "function", "function": function}


def _user(role: str, blocks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    rest: list[dict[str, Any]] = []
    for block in blocks:
        if block.get("type") == "tool_result":
            content = block.get("content")
            shown = "" if content is None else _text_of(content, "the content of a tool result")
            yield {"role": "tool", "tool_call_id": _string(block, "tool_use_id"), "content": shown}
        else:
            kind = block.get("type")
            part = PARTS.get(kind) if isinstance(kind, str) else None
            if part is None:
                raise _unknown(kind)
            rest.append(part(block))
    if all(part["type"] == "text" for part in rest):
        texts = "\n".join(part["text"] for part in rest)
        yield from [{"role": role, "content": texts}] if rest else []
    else:
        yield {"role": role, "content": rest}


def _text(block: dict[str, Any]) -> dict[str, Any]:
    return {"type": "text", "text": _string(block, "text")}


def _image(block: dict[str, Any]) -> dict[str, Any]:
    source = _object(block.get("source"), "the source of an image")
    if source.get("type") == "url":
        url = _string(source, "url")
    elif source.get("type") == "base64":
        url = f"data:{_string(source, 'media_type')};base64,{_string(source, 'data')}"
    else:
        raise Malformed("the source of an image is a url or base64")
    return {"type": "image_url", "image_url": {"url": url}}


PARTS: Final[dict[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "text": _text,
    "image": _image,
}


def _tool(given: Any) -> dict[str, Any]:
    tool = _object(given, "a tool")
    if tool.get("type") not in OWN:
        raise Malformed("the engine has no tool of Anthropic's: only tools of one's own")
    function = {"name": _string(tool, "name"), "parameters": tool.get("input_schema") or {}}
    if isinstance(tool.get("description"), str):
        function["description"] = tool["description"]
    return {"type": "function", "function": function}


def _choice(given: dict[str, Any]) -> dict[str, Any]:
    kind = given.get("type")
    alone = {"parallel_tool_calls": False} if given.get("disable_parallel_tool_use") else {}
    if kind == "tool":
        function = {"type": "function", "function": {"name": _string(given, "name")}}
        return {"tool_choice": function} | alone
    if not isinstance(kind, str) or kind not in CHOICES:
        raise Malformed("`tool_choice` is auto, any, tool or none")
    return {"tool_choice": CHOICES[kind]} | alone


def _text_of(given: Any, what: str) -> str:
    """A text, or the texts of blocks."""
    if isinstance(given, str):
        return given
    blocks = [_object(block, "a block") for block in _list(given, what)]
    if any(block.get("type") != "text" for block in blocks):
        raise Malformed(f"{what} is text: the engine is shown no other blocks there")
    return "\n".join(_string(block, "text") for block in blocks)


def _string(given: Mapping[str, Any], name: str) -> str:
    if not isinstance(given.get(name), str):
        raise Malformed(f"`{name}` is not a string")
    return str(given[name])


def _list(given: Any, what: str) -> list[Any]:
    if not isinstance(given, list):
        raise Malformed(f"{what} is not a list")
    return given


def _object(given: Any, what: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise Malformed(f"{what} is not an object")
    return given


def _unknown(kind: Any) -> Malformed:
    shown = kind if isinstance(kind, str) and kind.isidentifier() and len(kind) < 40 else "such"  # noqa: PLR2004
    return Malformed(f"the engine is shown no {shown} blocks")


STOPS: Final = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}

THOUGHTS: Final = ("reasoning_content", "reasoning")


def to_anthropic(completion: Mapping[str, Any], *, thinking: bool) -> dict[str, Any]:
    """A whole completion as a message.

    Args:
        completion: of one choice.
        thinking: whether the agent asked to see the policy's reasoning.
    """
    (choice,) = completion["choices"]
    message = message_of(choice)
    blocks = [
        *({"type": "thinking", "thinking": text, "signature": ""} for text in _thoughts(message)),
        *({"type": "text", "text": text} for text in [message.get("content")] if text),
        *map(_tool_use, message.get("tool_calls") or ()),
    ]
    shown = [block for block in blocks if thinking or block["type"] != "thinking"]
    return _message(completion, shown) | _ending(choice) | {"usage": _usage(completion)}


class MessageEvents:
    """The events of a stream, from the chunks of a chat completion.

    Args:
        thinking: whether the agent asked to see the policy's reasoning.
    """

    def __init__(self, *, thinking: bool) -> None:
        self._thinking = thinking
        self._index = -1
        self._kind = ""
        self._begun = False

    def chunk(self, chunk: Mapping[str, Any]) -> bytes:
        """The events of a chunk."""
        parts = [] if self._begun else [self._begin(chunk)]
        for choice in chunk["choices"]:
            delta = choice.get("delta") or {}
            if self._thinking:
                parts += [self._text("thinking", text) for text in _thoughts(delta)]
            if delta.get("content"):
                parts.append(self._text("text", delta["content"]))
        return b"".join(parts)

    def end(self, completion: Mapping[str, Any]) -> bytes:
        """The events after the last chunk, of the whole completion."""
        (choice,) = completion["choices"]
        parts = [] if self._begun else [self._begin(completion)]
        parts.append(self._stop())
        for call in choice["message"].get("tool_calls") or ():
            parts += self._tool(_tool_use(call))
        ending = {"type": "message_delta", "delta": _ending(choice), "usage": _usage(completion)}
        parts += [_event(ending), _event({"type": "message_stop"})]
        return b"".join(parts)

    def _begin(self, head: Mapping[str, Any]) -> bytes:
        self._begun = True
        usage = {"input_tokens": usage_of(head).input or 0, "output_tokens": 0}
        stop = {"stop_reason": None, "stop_sequence": None}
        return _event(
            {"type": "message_start", "message": _message(head, []) | stop | {"usage": usage}}
        )

    def _text(self, kind: str, text: str) -> bytes:
        before = b""
        if self._kind != kind:
            empty = {"thinking": "", "signature": ""} if kind == "thinking" else {"text": ""}
            before = self._stop() + self._start({"type": kind} | empty)
            self._kind = kind
        return before + self._delta({"type": f"{kind}_delta", kind: text})

    def _tool(self, block: dict[str, Any]) -> Iterator[bytes]:
        yield self._start(block | {"input": {}})
        text = written(block["input"]).decode("utf-8", "replace")
        yield self._delta({"type": "input_json_delta", "partial_json": text})
        self._kind = "tool_use"
        yield self._stop()

    def _start(self, block: dict[str, Any]) -> bytes:
        self._index += 1
        return _event({"type": "content_block_start", "index": self._index, "content_block": block})

    def _delta(self, delta: dict[str, Any]) -> bytes:
        return _event({"type": "content_block_delta", "index": self._index, "delta": delta})

    def _stop(self) -> bytes:
        if not self._kind:
            return b""
        self._kind = ""
        return _event({"type": "content_block_stop", "index": self._index})


def _event(data: dict[str, Any]) -> bytes:
    return event(data, data["type"])


def _message(head: Mapping[str, Any], blocks: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"msg_{head.get('id') or 'relay'}",
        "type": "message",
        "role": "assistant",
        "model": head.get("model") or "",
        "content": blocks,
    }


def _ending(choice: Mapping[str, Any]) -> dict[str, Any]:
    matched = choice.get("stop_reason")
    if isinstance(matched, str) and finish_of(choice) == "stop":
        return {"stop_reason": "stop_sequence", "stop_sequence": matched}
    called = choice["message"].get("tool_calls")
    reason = "tool_use" if called else STOPS.get(finish_of(choice), "end_turn")
    if finish_of(choice) == "length":
        reason = "max_tokens"
    return {"stop_reason": reason, "stop_sequence": None}


def _usage(completion: Mapping[str, Any]) -> dict[str, int]:
    usage = usage_of(completion)
    found = {"input_tokens": usage.input or 0, "output_tokens": usage.output or 0}
    return found | ({"cache_read_input_tokens": usage.cached} if usage.cached else {})


def _thoughts(message: Mapping[str, Any]) -> list[str]:
    """The reasoning; once where an engine gives it under both names."""
    return [text for name in THOUGHTS if (text := message.get(name))][:1]


def _tool_use(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call["function"]
    found = tool_input(function.get("arguments") or "{}")
    return {
        "type": "tool_use",
        "id": call.get("id") or "",
        "name": function["name"],
        "input": found,
    }
