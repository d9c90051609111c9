"""An agent that a deployed forwarder leads to: it answers as a test says, and keeps what it got.

The forwarder's address is deployed once; what really runs an agent stands behind this one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from urllib.request import Request, urlopen

from tests.loopback import Service


@dataclass
class AgentsEnd(Service):
    """Takes its key alone.

    Args:
        key: what a request has to carry.
        status: of its answers to who carries it.
        payloads: of the requests that it took.
        behind: where they are handed on to; "" for nowhere.
    """

    key: str = "the-agents-key"
    status: int = 200
    payloads: list = field(default_factory=list)
    behind: str = ""

    def operation(self, asked):
        def do():
            if asked.headers.get("authorization") != f"Bearer {self.key}":
                return 401, {}, b"{}"
            self.payloads.append((asked.path, json.loads(asked.body)))
            if self.behind:
                sent = Request(f"{self.behind}/rollout", asked.body, method="POST")
                with urlopen(sent, timeout=30) as answer:
                    return answer.status, {}, answer.read()
            return self.status, {"Location": f"{self.address}/elsewhere"}, b"{}"

        return "rollout", do
