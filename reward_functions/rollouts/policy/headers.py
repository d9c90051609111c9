"""What a policy call says of its rollout: headers with a span id of its own, and how to sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from reward_functions.rollouts.episode.episode import SPAN_HEADER
from reward_functions.rollouts.request.context import get_rollout_context
from reward_functions.rollouts.request.headers import InferenceHeaders, LiveParams

if TYPE_CHECKING:
    from collections.abc import Mapping


class CallHeaders(InferenceHeaders):
    """The headers of one policy call, for a client that reads them once a call.

    Those of `InferenceHeaders`, and `X-Span-Id`: another one each time they are read.
    """

    def _now(self) -> Mapping[str, Any]:
        headers = super()._now()
        if get_rollout_context() is None:
            return headers
        kept = {name: headers[name] for name in headers if name.lower() != SPAN_HEADER.lower()}
        return kept | {SPAN_HEADER: str(uuid4())}


def with_parameters(request: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a chat completion with the sampling parameters of its rollout over its own."""
    given = dict(LiveParams())
    sent = dict(request) | given
    if "max_tokens" in given:
        sent.pop("max_completion_tokens", None)  # the service refuses both
    return sent
