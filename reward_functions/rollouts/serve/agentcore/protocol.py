"""The messages of the start/get protocol: a request of its own beside the agent's payload.

    {"prompt": …, "_agentcore_runtime": {"version": 1, "operation": "start", "invocation_id": "a-1",
                                         "background": true}}

| operation | answer |
| --- | --- |
| start, a new id | the agent runs; foreground: its end, background: `in_progress` |
| start, an id that is known | its state, foreground: at its end; no second run |
| get | its state |

A state is `{"version": 1, "invocation_id": …, "status": …}` and, of `completed`, exactly one of
`result` and `error`, a string. `store` says what each status means.

Source: `agentcore_rl_toolkit.runtime.protocol` 0.2.0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, Literal

from reward_functions.core.jsons import json_kind
from reward_functions.rollouts.request.errors import BadRequest

ENVELOPE: Final = "_agentcore_runtime"

VERSION: Final = 1

FIELDS: Final = frozenset({"version", "operation", "invocation_id", "background"})

INVOCATION_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")

Status = Literal["in_progress", "completed", "interrupted", "not_found"]

State = dict[str, Any]
"""What is answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """A request of the protocol.

    Args:
        operation: "start" or "get".
        invocation_id: 1 to 128 letters, digits, underscores and hyphens; the first is no mark.
        background: whether a start is answered before the agent ends.
    """

    operation: str
    invocation_id: str
    background: bool = False


def read_invocation(given: Any) -> Invocation:
    """The envelope of a payload.

    Raises:
        BadRequest: it is none. The message names the field.
    """
    if not isinstance(given, dict):
        raise BadRequest(f"{ENVELOPE} is {json_kind(given)}, not an object")
    if not given.keys() <= FIELDS:
        raise BadRequest(f"{ENVELOPE} has a field that is none of {', '.join(sorted(FIELDS))}")
    version, operation = given.get("version"), given.get("operation")
    if type(version) is not int or version != VERSION:
        raise BadRequest(f"{ENVELOPE}.version is not {VERSION}")
    if not isinstance(operation, str) or operation not in {"start", "get"}:
        raise BadRequest(f"{ENVELOPE}.operation is neither 'start' nor 'get'")
    invocation_id = given.get("invocation_id")
    if not isinstance(invocation_id, str) or INVOCATION_ID.fullmatch(invocation_id) is None:
        raise BadRequest(
            f"{ENVELOPE}.invocation_id does not have 1 to 128 letters, digits, underscores and "
            "hyphens, or begins with a mark"
        )
    background = given.get("background", False)
    if not isinstance(background, bool):
        raise BadRequest(f"{ENVELOPE}.background is {json_kind(background)}, not a boolean")
    if operation == "get" and "background" in given:
        raise BadRequest(f"{ENVELOPE}.background is for start alone")
    return Invocation(operation=operation, invocation_id=invocation_id, background=background)


def state(invocation_id: str, status: Status, **more: Any) -> State:
    """A state, and of `completed` its `result` or `error`."""
    return {"version": VERSION, "invocation_id": invocation_id, "status": status, **more}
