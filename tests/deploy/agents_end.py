"""An agent that a deployed forwarder leads to: it answers as a test says, and keeps what it got."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from tests.loopback import Service


@dataclass
class AgentsEnd(Service):
    """Takes its key alone.

    Args:
        key: what a request has to carry.
        status: of its answers to who carries it.
        payloads: of the requests that it took.
    """

    key: str = "the-agents-key"
    status: int = 200
    payloads: list = field(default_factory=list)

    def operation(self, asked):
        def do():
            if asked.headers.get("authorization") != f"Bearer {self.key}":
                return 401, {}, b"{}"
            self.payloads.append((asked.path, json.loads(asked.body)))
            return self.status, {"Location": f"{self.address}/elsewhere"}, b"{}"

        return "rollout", do
