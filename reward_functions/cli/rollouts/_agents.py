"""The agent an AGENT on the command line means.

| AGENT | it is asked |
| --- | --- |
| `http://…`, `https://…` | by HTTP |
| `arn:…:lambda:…`, or a name without a colon | as a Lambda forwarder |
| `arn:…:bedrock-agentcore:…` | as an AgentCore runtime |
| `module:attribute`, `file.py:attribute` | in this process |

The runtime of a run: a double of this process, or one that runs already.

An agent gives a credential to an endpoint that its operator named alone. An agent of this process
is pointed at the double; one elsewhere was started with `RFT_RUNTIME_ENDPOINT`, so that the double
listens where `reward local runtime` does.
"""

from __future__ import annotations

from contextlib import contextmanager
from errno import EADDRINUSE
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.importing import named
from reward_functions.local.runtime_double import OwnRuntime, RuntimeDouble
from reward_functions.rollouts.drive.agents import Runtime, RuntimeElsewhere

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.local.runtime_double.state import RuntimeSettings


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


TEXT_BYTES: Final = 1024 * 1024 * 1024
"""Of the latest turns: the last one of a rollout that runs is its response."""


@contextmanager
def runtime_of(
    url: str | None, settings: RuntimeSettings, port: int, concurrency: int
) -> Iterator[Runtime]:
    """A runtime for a block.

    Args:
        url: of one that runs; None for one of this process.
        settings: of the latter.
        port: likewise; 0 for a free one.
        concurrency: rollouts at once.

    Raises:
        ConfigurationError: nobody answers there, or the port is taken.
    """
    if url is not None:
        yield RuntimeElsewhere(url, concurrency=concurrency)
        return
    try:
        double = RuntimeDouble(settings, port=port)
    except OSError as error:
        if error.errno != EADDRINUSE:
            raise
        raise ConfigurationError(
            f"port {port} is taken: give another with --port, or the address of the runtime that "
            f"runs there with --runtime http://127.0.0.1:{port}"
        ) from None
    with double.in_background():
        yield OwnRuntime(double)
