"""An engine that does sums, with tokens: a byte of the rendered conversation is one.

A prompt begins with the prompt and the answer of the turn before, as it does where a template
renders what the policy wrote as it wrote it. Every other answer to a question is wrong by one.
"""

from __future__ import annotations

import json
from itertools import count

from tests.rollouts.record.relay.engines import Engine, logprob_items, usage


def rendered(messages):
    """A conversation, up to where the policy writes."""
    return "".join(map(_message, messages)) + "<assistant>"


def _message(message):
    content = _written(message) if message["role"] == "assistant" else message["content"] + "\n"
    return f"<{message['role']}>{content}"


def _written(message):
    functions = [each["function"] for each in message.get("tool_calls") or ()]
    calls = [(each["name"], each["arguments"]) for each in functions]
    return (json.dumps(calls) if calls else message["content"]) + "\n"


def logprobs_of(ids):
    """A number for each token that no other token has by chance."""
    return [-(each + at / 1000) / 7 for at, each in enumerate(ids, 1)]


def sums():
    """An engine; its answers to a question are right and wrong in turn."""
    answers = {}

    def script(body):
        last = body["messages"][-1]
        if last["role"] == "tool":
            number = next(answers.setdefault(last["content"], count()))
            value = int(last["content"]) + number % 2
            message = {"role": "assistant", "content": rf"The answer is \boxed{{{value}}}."}
        else:
            asked = last["content"].removeprefix("What is ").rstrip("?")
            function = {"name": "calculator", "arguments": json.dumps({"expression": asked})}
            call = {"id": "call-0", "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        prompt, ids = (
            list(each.encode()) for each in (rendered(body["messages"]), _written(message))
        )
        choice = {
            "index": 0,
            "message": message,
            "finish_reason": "tool_calls" if "tool_calls" in message else "stop",
            "logprobs": {"content": logprob_items(logprobs_of(ids))},
            "token_ids": ids,
        }
        whole = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "sums",
            "choices": [choice],
            "usage": usage(prompt, ids),
            "prompt_token_ids": prompt,
        }
        return 200, {"Content-Type": "application/json"}, [json.dumps(whole).encode()]

    return Engine(script).serving()
