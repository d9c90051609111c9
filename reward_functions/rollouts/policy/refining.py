"""An answer whose text holds tool calls becomes one that calls those tools.

A policy that is trained writes a call into its text now and then, `<tool_call>{…}</tool_call>`
where its engine does not parse it, and the framework takes that text for the end of the episode.
Only an answer to a request with tools, whose first choice calls none, is looked at.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.policy.answers import UnreadableAnswer, as_events, completion_of
from reward_functions.rollouts.record import spans
from reward_functions.rollouts.record.text_tool_calls import recovered

if TYPE_CHECKING:
    from collections.abc import Mapping

FIGURE: Final = "rollout.text_tool_calls"


def with_tool_calls(body: bytes, request: Mapping[str, Any] | None, *, streamed: bool) -> bytes:
    """An answer's body with the tool calls of its text; the same bytes where it has none.

    Args:
        body: all of the answer.
        request: that it answers.
        streamed: whether the answer is a stream of events.
    """
    tools = (request or {}).get("tools")
    if not isinstance(tools, list) or not tools:
        return body
    try:
        completion = completion_of(body, streamed=streamed)
    except UnreadableAnswer:
        return body
    first, *others = completion["choices"]
    message = None if first["message"].get("tool_calls") else recovered(first["message"], tools)
    if message is None:
        return body
    spans.add(FIGURE, len(message["tool_calls"]), {})
    changed = first | {"message": message, "finish_reason": "tool_calls"}
    completion["choices"] = [changed, *others]
    return as_events(completion) if streamed else json.dumps(completion).encode()
