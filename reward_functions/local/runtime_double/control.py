"""What only a double has: `/_runtime/…`, for whoever wants to know what it was sent.

    GET  /_runtime/                 one page of HTML
    GET  /_runtime/counts           how many there are of what
    GET  /_runtime/trajectories     [?job=ARN][&state=STATE][&limit=N], without the texts
    GET  /_runtime/trajectories/ID  [?job=ARN][&texts=last] with turns and reports
    POST /_runtime/trajectories     {"job": ARN, "trajectory": ID}: it exists from now on
    POST /_runtime/faults           {"plan": "throttle=0.1,…", "seed": N}: from the next call on
    POST /_runtime/reset            everything that was made is forgotten

Programs of this machine may do all of that; pages of other sites may not.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, unquote

from reward_functions.aws.request_validation import problems
from reward_functions.core.errors import ConfigurationError
from reward_functions.local.loopback_service import wire
from reward_functions.local.loopback_service.requests import invalid, missing, read_json
from reward_functions.local.runtime_double.faults import FaultPlan
from reward_functions.local.runtime_double.page import page_of
from reward_functions.local.runtime_double.reports import SERVICE
from reward_functions.local.runtime_double.trajectory import STATES

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.local.loopback_service.requests import Request
    from reward_functions.local.loopback_service.server import Reply
    from reward_functions.local.runtime_double.state import Trajectories
    from reward_functions.local.runtime_double.trajectory import Trajectory

PREFIX: Final = "/_runtime"
ONE: Final = f"{PREFIX}/trajectories/"

LISTED: Final = 1_000
"""Trajectories of a list, where it names no other limit."""

HTML: Final = {"Content-Type": "text/html; charset=utf-8"}


def controlled(trajectories: Trajectories, request: Request) -> Reply:
    """What a control answers.

    Raises:
        Refused: there is no such thing, or it cannot be done.
    """
    if request.method == "GET" and request.path in {PREFIX, f"{PREFIX}/"}:
        return HTTPStatus.OK, HTML, page_of(trajectories).encode()
    query = {name: values[0] for name, values in parse_qs(request.query).items()}
    if request.method == "GET" and request.path.startswith(ONE):
        found = _one(trajectories, unquote(request.path.removeprefix(ONE)), query)
        return HTTPStatus.OK, {}, _json(found.json(last=query.get("texts") == "last"))
    wanted = f"{request.method} {request.path.removeprefix(PREFIX)}"
    if wanted not in ACTIONS:
        known = ", ".join(action.replace("/", f"{PREFIX}/") for action in ACTIONS)
        raise missing(f"{request.method} {request.path[:128]} is none of {known}")
    given = read_json(request.body) if request.body else {}
    if not isinstance(given, dict):
        raise invalid("the request body is not a JSON object")
    return HTTPStatus.OK, {}, _json(ACTIONS[wanted](trajectories, query | given))


def _one(trajectories: Trajectories, wanted: str, query: dict[str, str]) -> Trajectory:
    found = trajectories.named(wanted, query.get("job"))
    if not found:
        raise missing("no trajectory has this id")
    if len(found) > 1:
        raise invalid("trajectories of several jobs have this id: add ?job=ARN")
    return found[0]


def _counts(trajectories: Trajectories, _: dict[str, Any]) -> dict[str, Any]:
    return trajectories.counts() | {"plan": str(trajectories.faults)}


def _list(trajectories: Trajectories, query: dict[str, Any]) -> list[dict[str, Any]]:
    state, limit = query.get("state"), str(query.get("limit", LISTED))
    if state is not None and state not in STATES:
        raise invalid(f"state: one of {', '.join(STATES)}")
    if not (limit.isascii() and limit.isdigit() and len(limit) < 10):  # noqa: PLR2004
        raise invalid("limit: a whole number")
    found = (
        each.summary()
        for each in trajectories.list()
        if query.get("job", each.job_arn) == each.job_arn and state in {None, each.state}
    )
    return [summary for summary, _ in zip(found, range(int(limit)), strict=False)]


def _register(trajectories: Trajectories, given: dict[str, Any]) -> dict[str, Any]:
    named = {"JobArn": given.get("job"), "TrajectoryId": given.get("trajectory")}
    (route,) = wire.routes(SERVICE, ["CompleteRollout"])
    if wrong := [*problems(route.operation.input_shape, named)]:
        raise invalid("; ".join(wrong))
    key = (str(named["JobArn"]), str(named["TrajectoryId"]))
    trajectories.register(key)
    return trajectories.get(key).summary()


def _faults(trajectories: Trajectories, given: dict[str, Any]) -> dict[str, Any]:
    plan, seed = given.get("plan"), given.get("seed", 0)
    if not isinstance(plan, str):
        raise invalid('plan: a string, such as "throttle=0.1"')
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise invalid("seed: a whole number")
    try:
        trajectories.faults = FaultPlan.parse(plan, seed=seed)
    except ConfigurationError as error:
        raise invalid(str(error)) from None
    return {"plan": str(trajectories.faults), "seed": seed}


def _reset(trajectories: Trajectories, _: dict[str, Any]) -> dict[str, Any]:
    trajectories.clear()
    return {}


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


ACTIONS: Final[dict[str, Callable[[Trajectories, dict[str, Any]], Any]]] = {
    "GET /counts": _counts,
    "GET /trajectories": _list,
    "POST /trajectories": _register,
    "POST /faults": _faults,
    "POST /reset": _reset,
}
