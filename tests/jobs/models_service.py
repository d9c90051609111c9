"""Models on the loopback interface: Bedrock's Converse, and OpenAI-compatible chat completions.

A model is a function from the text of a prompt to an answer, or to a refusal. Protocols: the
Converse operation of botocore's model of Bedrock's runtime; "Chat Completions" in OpenAI's API
reference.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from tests.loopback import Service

KEY = "bedrock-api-key-c2VjcmV0"


@dataclass
class Text:
    """An answer; `reason` is Converse's word, or that of chat completions."""

    text: str
    reason: str = ""
    reasoning: str = ""


@dataclass
class Refusal:
    """An error in the place of an answer."""

    status: int
    code: str = ""
    message: str = "no"
    headers: dict = field(default_factory=dict)
    body: bytes | None = None


@dataclass
class Models(Service):
    """What is served.

    Args:
        model: from the prompt's text to `Text`, a string or a `Refusal`.
        keys: that are known to chat completions.
        sent: the bodies of the requests, each with its path.
        bearers: the keys that were sent.
    """

    model: object = lambda prompt: "#### 1"
    keys: set = field(default_factory=lambda: {KEY})
    sent: list = field(default_factory=list)
    bearers: list = field(default_factory=list)

    def operation(self, asked):
        chat = asked.path[-1] == "completions"
        return "Chat" if chat else "Converse", lambda: self.answered(asked, chat=chat)

    def answered(self, asked, *, chat):
        body = json.loads(asked.body)
        self.sent.append(body | {"path": asked.path})
        self.bearers.append(asked.headers.get("authorization", "").removeprefix("Bearer "))
        if chat and self.bearers[-1] not in self.keys:
            return refused(Refusal(401, message="invalid key"), chat=chat)
        content = body["messages"][-1]["content"]
        made = self.model(content if chat else "".join(block["text"] for block in content))
        if isinstance(made, Refusal):
            return refused(made, chat=chat)
        made = Text(made) if isinstance(made, str) else made
        return 200, JSON, json.dumps((completion if chat else conversed)(made)).encode()


JSON = {"Content-Type": "application/json"}


def refused(refusal, *, chat):
    error = {"message": refusal.message, "code": refusal.code}
    body = refusal.body or json.dumps({"error": error} if chat else error).encode()
    code = {"x-amzn-errortype": refusal.code} if refusal.code else {}
    return refusal.status, {**JSON, **code, **refusal.headers}, body


def conversed(made):
    blocks = [{"text": made.text}]
    if made.reasoning:
        blocks.insert(0, {"reasoningContent": {"reasoningText": {"text": made.reasoning}}})
    return {
        "output": {"message": {"role": "assistant", "content": blocks}},
        "stopReason": made.reason or "end_turn",
        "usage": {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15},
        "metrics": {"latencyMs": 1},
    }


def completion(made):
    message = {"role": "assistant", "content": made.text, "reasoning": made.reasoning}
    choice = {"index": 0, "message": message, "finish_reason": made.reason or "stop"}
    return {"choices": [choice], "usage": {"prompt_tokens": 10, "completion_tokens": 5}}
