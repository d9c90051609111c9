"""Many calls through a relay at a time, each checked against what its engine is known to give."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from typing import NamedTuple
from urllib.parse import urlsplit

from tests.rollouts.record.relay.engines import message_of, tokens_of


class Found(NamedTuple):
    """What calls came to: how many were answered, and sentences of what is wrong."""

    answered: int
    wrong: list[str]


class Caller:
    """A client of one session over one connection.

    Args:
        url: of the API, such as `session.base_url`.
        key: of the session.
    """

    def __init__(self, url, key):
        parts = urlsplit(url)
        self._path = parts.path
        self._connection = HTTPConnection(parts.hostname, parts.port, timeout=60)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def post(self, path, body, headers=None):
        """(status, bytes of the answer)."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self._connection.request("POST", self._path + path, content, headers or self._headers)
        reply = self._connection.getresponse()
        return reply.status, reply.read()

    def chat(self, text, *, stream):
        """The status and the text of one chat completion."""
        body = {"model": "m", "messages": [{"role": "user", "content": text}], "stream": stream}
        status, content = self.post("/chat/completions", body)
        if status != 200:
            return status, ""
        if not stream:
            return status, json.loads(content)["choices"][0]["message"]["content"]
        lines = content.decode().split("\n\n")
        assert lines[-2:] == ["data: [DONE]", ""]
        events = [json.loads(line.removeprefix("data: ")) for line in lines[:-2]]
        deltas = (choice["delta"] for each in events for choice in each["choices"])
        return status, "".join(delta.get("content") or "" for delta in deltas)

    def close(self):
        self._connection.close()


def episode(relay, name, calls):
    """One session's calls, one after the other, every other one streamed."""
    wrong = []
    with relay.session(name) as session:
        caller = Caller(session.base_url, session.key)
        for number in range(calls):
            text = f"{name} {number}"
            status, answer = caller.chat(text, stream=bool(number % 2))
            if (status, answer) != (200, message_of(text)[0]["content"]):
                wrong.append(f"{text}: answered {status} {answer!r}")
        caller.close()
    turns = session.trajectory().turns
    for number in range(calls):
        text = f"{name} {number}"
        prompt, ids, logprobs = tokens_of(text)
        kept = turns[number].tokens
        given = json.dumps([prompt, ids, logprobs])
        if json.dumps([kept.prompt_ids, kept.completion_ids, kept.logprobs]) != given:
            wrong.append(f"{text}: other tokens than the engine's")
    if len(turns) != calls:
        wrong.append(f"{name}: {len(turns)} turns of {calls} calls")
    return wrong


def load(relay, sessions, calls, at_once=64):
    """So many sessions of so many calls, so many at a time."""
    with ThreadPoolExecutor(at_once) as pool:
        found = pool.map(lambda at: episode(relay, f"s{at}", calls), range(sessions))
        wrong = [sentence for each in found for sentence in each]
    return Found(sessions * calls, wrong)
