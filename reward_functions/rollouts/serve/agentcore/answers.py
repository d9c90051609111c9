"""What both hosts do with a request: read its body strictly, and answer what is refused.

| refused | status |
| --- | --- |
| `BadRequest`, `UntrustedBucket`, `UntrustedEndpoint` | 400 |
| `TooBusy` | 503 |
| `StateUnavailable` | 500, as agentcore-rl-toolkit answers it |

Each is `{"error": …}`, one sentence. A body is an object of strict JSON, of 100 MB at most, in
which objects and lists nest 64 deep at most and no name stands twice.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any, Final

from reward_functions.core.jsons import json_kind, no_constant, unique_names
from reward_functions.rollouts.report.deferred import DEEPEST, deeper
from reward_functions.rollouts.request.errors import (
    BadRequest,
    StateUnavailable,
    TooBusy,
    UntrustedBucket,
    UntrustedEndpoint,
)
from reward_functions.rollouts.serve.agentcore.envelopes import LARGEST

STATUSES: Final = {
    BadRequest: HTTPStatus.BAD_REQUEST,
    UntrustedBucket: HTTPStatus.BAD_REQUEST,
    UntrustedEndpoint: HTTPStatus.BAD_REQUEST,
    TooBusy: HTTPStatus.SERVICE_UNAVAILABLE,
    StateUnavailable: HTTPStatus.INTERNAL_SERVER_ERROR,
}
"""Of what a request is refused by."""

REFUSALS: Final = tuple(STATUSES)


def status_of(error: BaseException) -> HTTPStatus:
    """The status of a refusal."""
    return next(status for kind, status in STATUSES.items() if isinstance(error, kind))


def read_body(body: bytes) -> dict[str, Any]:
    """The payload of a request.

    Raises:
        BadRequest: it is not an object of strict JSON, or too deep or large.
    """
    if len(body) > LARGEST:
        raise BadRequest(f"a payload has more than {LARGEST:,} bytes")
    try:
        payload = json.loads(body, object_pairs_hook=unique_names, parse_constant=no_constant)
    except (ValueError, RecursionError):
        raise BadRequest("the payload is not strict JSON, or names a field twice") from None
    if not isinstance(payload, dict):
        raise BadRequest(f"the payload is {json_kind(payload)}, not an object")
    if deeper(payload, DEEPEST):
        raise BadRequest(f"the payload nests more than {DEEPEST} levels")
    return payload
