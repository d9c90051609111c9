"""Policy calls: `/v1/chat/completions`, `/sample` and `/sample-with-response-stream`.

Their job and trajectory stand in headers, of the current API or of the alpha's. Each answer is
recorded as a turn, before it is sent.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from reward_functions.local.loopback_service import wire
from reward_functions.local.runtime_double.chat import read_chat
from reward_functions.local.runtime_double.completions import completed
from reward_functions.local.runtime_double.reports import (
    ALPHA_JOB,
    ALPHA_SPAN,
    ALPHA_TRAJECTORY,
    SERVICE,
)
from reward_functions.local.runtime_double.trajectory import Turn
from reward_functions.rollouts.request.headers import JOB_HEADER, TRAJECTORY_HEADER

if TYPE_CHECKING:
    from reward_functions.local.loopback_service.requests import Request
    from reward_functions.local.loopback_service.server import Reply
    from reward_functions.local.runtime_double.chat import Policy
    from reward_functions.local.runtime_double.state import Trajectories
    from reward_functions.local.runtime_double.trajectory import Key

OPENAI: Final = "/v1/chat/completions"

STREAMED: Final = {OPENAI: False, "/sample": False, "/sample-with-response-stream": True}
"""The paths, and whether an answer comes in pieces whatever the request says."""

HEADERS: Final = {ALPHA_JOB.lower(): JOB_HEADER, ALPHA_TRAJECTORY.lower(): TRAJECTORY_HEADER}

EVENTS: Final = {"Content-Type": "text/event-stream"}


def key_of(request: Request) -> Key:
    """The job and the trajectory of a policy call.

    Raises:
        Refused: a header is missing, or holds what no job or trajectory is called.
    """
    headers = tuple((HEADERS.get(name.lower(), name), value) for name, value in request.headers)
    (route,) = wire.routes(SERVICE, ["Sample"])
    given = wire.parameters(route.operation, {}, request._replace(headers=headers))
    return given["JobArn"], given["TrajectoryId"]


def sampled(
    trajectories: Trajectories, policy: Policy, key: Key, request: Request, now: float
) -> Reply:
    """The answer to a policy call, which is a turn from now on.

    Args:
        trajectories: of the double.
        policy: that answers.
        key: of the call.
        request: whole.
        now: seconds since the epoch.

    Raises:
        Refused: it is no chat request, its trajectory is complete, or the policy has no answer.
    """
    chat = read_chat(request.body)
    trajectories.require_pending(key)
    answer = policy.answer(chat, key[1])
    streamed = chat.stream or STREAMED[request.path]
    made = completed(f"chatcmpl-{key[1][:64]}-{len(chat.messages)}", now, chat, answer)
    turn = Turn(
        request=request.body,
        response=json.dumps(made.message).encode(),
        prompt_tokens=made.usage.prompt,
        completion_tokens=made.usage.completion,
        tool_calls=len(answer.tool_calls),
        span_id=request.header(ALPHA_SPAN)[:256],
        streamed=streamed,
    )
    trajectories.add_turn(key, turn)
    if streamed:
        return HTTPStatus.OK, EVENTS, made.events()
    return HTTPStatus.OK, {}, made.whole
