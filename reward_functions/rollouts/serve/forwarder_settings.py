"""Where the forwarder sends requests: an agent's URL or its queue, and its key."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final, NamedTuple
from urllib.parse import urlsplit

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.loopback import AMBIGUOUS, is_loopback
from reward_functions.core.settings import EnvSettings
from reward_functions.rollouts.request.api_key import API_KEY, require_key

ROUTE: Final = "/rollout"
"""Of an agent whose URL has no path."""


class Address(NamedTuple):
    """Where an agent is.

    Args:
        secure: whether it is reached over TLS.
        host: its name.
        port: None for the usual one.
        target: path and query.
    """

    secure: bool
    host: str
    port: int | None
    target: str


@dataclass(frozen=True, kw_only=True)
class ForwarderSettings(EnvSettings):
    """Where requests go."""

    PREFIX: ClassVar = "AGENT_"
    NAMED: ClassVar = {"queue": "AGENT_QUEUE_URL", "secret": f"{API_KEY}_SECRET"}
    SHARED: ClassVar = True

    endpoint: str = ""
    """URL of the agent, or:."""

    queue: str = ""
    """URL of a queue that it reads."""

    api_key: str = field(default="", repr=False)
    """The agent's key, or:."""

    secret: str = ""
    """Name or ARN of one that holds it."""

    def __post_init__(self) -> None:
        """Check them.

        Raises:
            ConfigurationError: they do not fit together. The message names the variable.
        """
        if bool(self.endpoint) == bool(self.queue):
            raise ConfigurationError("set one of AGENT_ENDPOINT and AGENT_QUEUE_URL")
        if self.api_key and self.secret:
            raise ConfigurationError("set one of AGENT_API_KEY and AGENT_API_KEY_SECRET")
        require_key(self.api_key)
        if self.endpoint:
            address_of(self.endpoint)


def address_of(endpoint: str) -> Address:
    """Where a URL leads.

    Raises:
        ConfigurationError: not https, and not this machine; or no URL that has one reading.
    """
    problem = "AGENT_ENDPOINT is not a URL such as https://agent.example.com"
    try:
        parts = urlsplit(endpoint)
        host, port = parts.hostname, parts.port
        (host or "").encode("idna")  # as a connection does: an empty label has no address
    except ValueError:
        raise ConfigurationError(problem) from None
    if AMBIGUOUS.search(endpoint) or "@" in parts.netloc or not host or parts.fragment:
        raise ConfigurationError(problem)
    # A zone is this machine's own, and a request's first line is ASCII.
    if "%" in host or port == 0 or not f"{parts.path}{parts.query}".isascii():
        raise ConfigurationError(problem)
    if parts.scheme not in {"http", "https"}:
        raise ConfigurationError(problem)
    if parts.scheme == "http" and not is_loopback(endpoint):
        raise ConfigurationError("AGENT_ENDPOINT is not https: the agent's key would be readable")
    path = ROUTE if parts.path in {"", "/"} else parts.path
    return Address(
        parts.scheme == "https", host, port, f"{path}{'?' * bool(parts.query)}{parts.query}"
    )
