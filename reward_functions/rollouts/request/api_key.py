"""The key between a forwarder and its agent, as both of them read it.

A key stands in a header. One with the end of a line, as a file often gives it, would be refused by
every request, and http.client quotes it in the error.
"""

from __future__ import annotations

import re
from typing import Final

from reward_functions.core.errors import ConfigurationError

API_KEY: Final = "AGENT_API_KEY"
"""The variable of the developer guide's forwarder."""

_KEY: Final = re.compile(r"[!-~]+")


def is_key(value: object) -> bool:
    """Whether something can be a key: printable ASCII without spaces."""
    return isinstance(value, str) and bool(_KEY.fullmatch(value))


def require_key(key: str) -> str:
    """The same key; "" is no key.

    Raises:
        ConfigurationError: it cannot stand in a header. The message does not hold it.
    """
    if key and not is_key(key):
        raise ConfigurationError(
            f"{API_KEY} has a space, an end of a line or a letter that is not ASCII: "
            "a key is printable ASCII"
        )
    return key
