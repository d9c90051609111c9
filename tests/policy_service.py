"""An OpenAI-compatible policy on the loopback interface: it uses a tool once, and then answers.

What it is asked it keeps: whose a call is can be read from its messages, and so compared with what
its headers and its parameters say.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.loopback import Service

TOOL = "calculator"
IDENTITY = ("x-amzn-sagemaker-job-arn", "x-amzn-sagemaker-trajectory-id")
USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


class Call(NamedTuple):
    """One request that arrived."""

    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def prompt(self):
        """The user's first message."""
        content = next(each for each in self.body["messages"] if each["role"] == "user")["content"]
        return content if isinstance(content, str) else content[0]["text"]

    @property
    def identity(self):
        return tuple(self.headers.get(name) for name in IDENTITY)

    @property
    def parameters(self):
        return {name: self.body[name] for name in NUMBERS if name in self.body}


NUMBERS = ("temperature", "top_p", "max_tokens")


@dataclass
class Policy(Service):
    """What it holds.

    Args:
        calls: every request, in their order.
        tool: that it calls first, where a request offers any.
        answer_text: what it says in the end.
        arguments: of the tool.
    """

    calls: list[Call] = field(default_factory=list)
    tool: str = TOOL
    answer_text: str = "The answer is 42."
    arguments: dict[str, Any] = field(default_factory=lambda: {"expression": "6*7"})

    def operation(self, asked):
        return "/".join(asked.path), lambda: self.complete(asked)

    def complete(self, asked):
        body = json.loads(asked.body)
        self.calls.append(Call(asked.headers, body))
        acted = any(each["role"] == "tool" for each in body["messages"])
        if body.get("tools") and not acted:
            function = {"name": self.tool, "arguments": json.dumps(self.arguments)}
            call = {"index": 0, "id": "call_1", "type": "function", "function": function}
            return completion(body, {"tool_calls": [call]}, "tool_calls")
        return completion(body, {"content": self.answer_text}, "stop")


def completion(body, message, reason):
    """A completion, or the two events and the usage of a streamed one."""
    frame = {"id": "c", "created": 0, "model": body["model"]}
    message = {"role": "assistant", "content": None} | message
    if not body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": reason}
        whole = frame | {"object": "chat.completion", "choices": [choice], "usage": USAGE}
        return 200, {"Content-Type": "application/json"}, json.dumps(whole).encode()
    frame["object"] = "chat.completion.chunk"
    events = (
        {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        {"choices": [], "usage": USAGE},
    )
    lines = [f"data: {json.dumps(frame | event)}\n\n" for event in events]
    return (
        200,
        {"Content-Type": "text/event-stream"},
        "".join([*lines, "data: [DONE]\n\n"]).encode(),
    )
