"""What tests of trajectories share: requests and answers in OpenAI's form."""

import json

import pytest

TOOLS = [{"type": "function", "function": {"name": name}} for name in ("calc", "search")]


def call(id_, name="calc", arguments="{}"):
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def answer(content="", calls=(), **more):
    message = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = list(calls)
    return {"choices": [{"message": message, "finish_reason": "stop"}], **more}


class Agent:
    """An agent that sends its whole history each time, as JSON, so that nothing is shared."""

    def __init__(self, recording, *messages, tools=TOOLS):
        self.recording, self.tools = recording, tools
        self.messages = list(messages) or [{"role": "user", "content": "6 × 7?"}]

    def asks(self, response, **more):
        sent = json.loads(json.dumps({"messages": self.messages, "tools": self.tools, **more}))
        handle = self.recording.began(sent)
        self.recording.answered(handle, json.loads(json.dumps(response)))
        self.messages.append(response["choices"][0]["message"])
        return handle

    def shows(self, id_, content):
        self.messages.append({"role": "tool", "tool_call_id": id_, "content": content})


@pytest.fixture
def agent():
    return Agent
