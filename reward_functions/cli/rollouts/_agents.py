"""The agent an AGENT on the command line means.

| AGENT | it is asked |
| --- | --- |
| `http://…`, `https://…` | by HTTP |
| `arn:…:lambda:…`, or a name without a colon | as a Lambda forwarder |
| `arn:…:bedrock-agentcore:…` | as an AgentCore runtime |
| `module:attribute`, `file.py:attribute` | in this process |
"""

from __future__ import annotations

from typing import Any, Final, Literal

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.importing import named

Via = Literal["http", "forwarder", "agentcore", "python"]

FORMS: Final = (
    "http://127.0.0.1:8080, the ARN of a Lambda or of an AgentCore runtime, or module:attribute"
)


def way_to(agent: str) -> Via:
    """How an agent is asked.

    Raises:
        ConfigurationError: it is none of these.
    """
    if agent.startswith(("http://", "https://")):
        return "http"
    if agent.startswith("arn:"):
        service = agent.split(":", 3)[2]
        ways: dict[str, Via] = {"lambda": "forwarder", "bedrock-agentcore": "agentcore"}
        if service not in ways:
            raise ConfigurationError(f"{agent!r} is no agent: give {FORMS}")
        return ways[service]
    if ":" in agent:
        return "python"
    if agent.endswith(".py") or not agent:
        raise ConfigurationError(f"{agent!r} names no function: write {agent or 'FILE.py'}:NAME")
    return "forwarder"


def callable_named(agent: str) -> Any:
    """The callable of `module:attribute` or `file.py:attribute`.

    Raises:
        ConfigurationError: it cannot be imported, is not there, or cannot be called.
        OSError: the file cannot be read.
    """
    found = named(agent)
    if not callable(found):
        raise ConfigurationError(f"{agent} is {type(found).__name__}, which cannot be called")
    return found
