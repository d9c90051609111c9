"""Where the forwarder sends requests: an agent's URL or its queue, and its key."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.loopback import AMBIGUOUS, is_loopback
from reward_functions.rollouts.request.api_key import API_KEY, require_key

if TYPE_CHECKING:
    from collections.abc import Mapping

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwarderSettings:
    """Where requests go.

    Args:
        endpoint: of the agent; "" where a queue is given.
        queue: URL of a queue; "" where an endpoint is given.
        api_key: "" for none.
        secret: name or ARN of one that holds the key; "" for none.
    """

    endpoint: str = ""
    queue: str = ""
    api_key: str = field(default="", repr=False)
    secret: str = ""

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

    @classmethod
    def from_env(cls, environ: Mapping[str, str] = os.environ) -> ForwarderSettings:
        """The settings of the variables.

        Raises:
            ConfigurationError: they do not fit together.
        """
        return cls(
            endpoint=environ.get("AGENT_ENDPOINT", ""),
            queue=environ.get("AGENT_QUEUE_URL", ""),
            api_key=environ.get(API_KEY, ""),
            secret=environ.get("AGENT_API_KEY_SECRET", ""),
        )


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
