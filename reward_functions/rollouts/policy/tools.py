"""A tool that ran in an episode: into its record, and a span of what it took."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from reward_functions.rollouts.episode.episode import current_rollout
from reward_functions.rollouts.policy.calls import rollout_attributes
from reward_functions.rollouts.record import spans

if TYPE_CHECKING:
    from reward_functions.rollouts.record.types import ToolResult

LONGEST: Final = 128
"""Characters of an id that are shown: a policy may write it."""


def tool_ended(result: ToolResult, name: str) -> None:
    """Record a tool's result in the current episode; nothing happens outside any.

    Args:
        result: that the policy is shown.
        name: of a tool that exists: what a policy invents is no name of a span.
    """
    episode = current_rollout()
    if episode is None:
        return
    if episode.recording is not None:
        episode.recording.tool(result)
    if not spans.tracing():
        return
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": result.call_id[:LONGEST],
        "rollout.status": result.status,
    }
    began = time.time() - (result.seconds or 0.0)
    spans.begin("tool", attributes | rollout_attributes(episode), began=began).end()
