"""A request as it came, and the JSON in it."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from reward_functions.core.jsons import no_constant
from reward_functions.local.loopback_service.refusals import invalid


class Request(NamedTuple):
    """An HTTP request as it came.

    Args:
        method: such as "POST".
        path: percent-encoded, without the query.
        query: without its question mark.
        headers: in their order, their names as they were sent.
        body: whole.
    """

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str:
        """The first header of this name, in whatever case; "" where there is none."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), "")


def read_json(body: bytes) -> Any:
    """The JSON value of a request.

    Raises:
        Refused: it is not JSON, holds what JSON or UTF-8 does not have, or is nested too deeply.
    """
    try:
        value = json.loads(body, parse_constant=no_constant)
        # Half a surrogate pair has no UTF-8: whatever is to be sent or hashed would fail.
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise invalid("the request body is not JSON") from None
    return value
