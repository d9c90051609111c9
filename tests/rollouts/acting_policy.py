"""A policy that acts as its prompt says, and a record of what an episode's calls were.

"solve N" has tools called with N as their expression: each rollout's calls are its own.
"""

import json
from dataclasses import dataclass, field

from reward_functions.rollouts.record.recording import Recording
from tests.policy_service import USAGE, Call, Policy


@dataclass
class ActingPolicy(Policy):
    """What it does first.

    Args:
        names: of the tools that its first answer calls.
        arguments: of each call, in place of JSON.
        written: the text of its first answer, in place of calls.
        thought: reasoning before its answers.
    """

    names: tuple[str, ...] = ("calculator",)
    arguments: str | None = None
    written: str | None = None
    thought: str = ""
    bodies: list[dict] = field(default_factory=list)

    def complete(self, asked):
        body = json.loads(asked.body)
        call = Call(asked.headers, body)
        self.calls.append(call)
        acted = any(each["role"] == "tool" for each in body["messages"])
        if acted or not body.get("tools"):
            message, reason = {"content": self.answer_text}, "stop"
        elif self.written is not None:
            message, reason = {"content": self.written}, "stop"
        else:
            message, reason = {"content": None, "tool_calls": self.tool_calls(call)}, "tool_calls"
        if self.thought:
            message["reasoning_content"] = self.thought
        return completion(body, message, reason)

    def tool_calls(self, call):
        number = call.prompt.removeprefix("solve ")
        arguments = json.dumps({"expression": number})
        return [
            {
                "id": f"call_{number}_{index}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": arguments if self.arguments is None else self.arguments,
                },
            }
            for index, name in enumerate(self.names)
        ]


def completion(body, message, reason):
    """A completion; streamed with every string of it in two pieces."""
    frame = {"id": "c", "created": 0, "model": "the-policy"}
    message = {"role": "assistant"} | message
    if not body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": reason}
        whole = frame | {"object": "chat.completion", "choices": [choice], "usage": USAGE}
        return 200, {"Content-Type": "application/json"}, json.dumps(whole).encode()
    frame["object"] = "chat.completion.chunk"
    deltas = [{"role": "assistant"}]
    for name in ("reasoning_content", "content"):
        deltas += [{name: piece} for piece in halves(message.get(name) or "")]
    for index, call in enumerate(message.get("tool_calls") or ()):
        first, second = halves(call["function"]["arguments"])
        function = {"name": call["function"]["name"], "arguments": first}
        deltas.append({"tool_calls": [call | {"index": index, "function": function}]})
        deltas.append({"tool_calls": [{"index": index, "function": {"arguments": second}}]})
    events = [
        *({"choices": [{"index": 0, "delta": each, "finish_reason": None}]} for each in deltas),
        {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        {"choices": [], "usage": USAGE},
    ]
    lines = [f"data: {json.dumps(frame | event)}\n\n" for event in events]
    sent = "".join([*lines, "data: [DONE]\n\n"]).encode()
    return 200, {"Content-Type": "text/event-stream"}, sent


def halves(text):
    middle = len(text) // 2
    return text[:middle], text[middle:]


class Record(Recording):
    """What was reported of an episode, as it was reported."""

    def __init__(self):
        super().__init__()
        self.requests, self.replies, self.errors = [], {}, {}
        self.thrown_away, self.tools = [], {}

    def began(self, request):
        self.requests.append(request)
        return len(self.requests) - 1

    def answered(self, handle, response):
        self.replies[handle] = response

    def failed(self, handle, error):
        self.errors[handle] = type(error).__name__

    def discarded(self, handle):
        self.thrown_away.append(handle)

    def tool(self, result):
        self.tools[result.call_id] = result

    @property
    def messages(self):
        """That the policy wrote, in the order of its calls."""
        return [self.replies[each]["choices"][0]["message"] for each in sorted(self.replies)]

    @property
    def called(self):
        """(id, name, arguments) of all tool calls."""
        return [
            (call["id"], call["function"]["name"], call["function"]["arguments"])
            for message in self.messages
            for call in message.get("tool_calls") or ()
        ]
