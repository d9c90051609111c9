"""The headers and the sampling parameters of a policy call, read when the call is made.

A live mapping is handed to a shared client once. It answers for the rollout of its reader, so 64
rollouts over one client send 64 identities, and nothing is left in the client.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, Final

from reward_functions.rollouts.request.context import get_inference_params, get_rollout_context
from reward_functions.rollouts.request.contract import read_metadata, read_params

JOB_HEADER: Final = "X-Amzn-SageMaker-Job-Arn"
TRAJECTORY_HEADER: Final = "X-Amzn-SageMaker-Trajectory-Id"


def make_inference_headers(metadata: Any) -> dict[str, str]:
    """The headers of a rollout's policy calls; one whose value is missing is left out.

    Args:
        metadata: a mapping in any spelling, or a `RolloutMetadata`.

    Raises:
        BadRequest: it is neither, or an id is no string.
    """
    known = read_metadata(metadata)
    headers = {JOB_HEADER: known.job_arn, TRAJECTORY_HEADER: known.trajectory_id}
    return {name: value for name, value in headers.items() if value}


def get_inference_headers() -> dict[str, str]:
    """The headers of the current rollout; empty, with a warning, outside any."""
    metadata = get_rollout_context()
    if metadata is None:
        warnings.warn("no rollout here: the policy call carries no headers", stacklevel=2)
        return {}
    return make_inference_headers(metadata)


class Live(Mapping[str, Any]):
    """A mapping that is computed each time it is read; true even when it is empty.

    A client copies a mapping that is true and forgets one that is not.
    """

    def _now(self) -> Mapping[str, Any]:
        raise NotImplementedError

    def __getitem__(self, name: str) -> Any:
        return self._now()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class InferenceHeaders(Live):
    """The headers of whichever rollout reads it; empty outside any.

    Args:
        own: headers that every call carries; a rollout's replace those of their names, however
            they are spelled.
    """

    def __init__(self, own: Mapping[str, str] | None = None) -> None:
        self._own = dict(own or {})

    def _now(self) -> Mapping[str, Any]:
        metadata = get_rollout_context()
        if metadata is None:
            return self._own
        headers = make_inference_headers(metadata)
        named = {name.lower() for name in headers}
        return {name: self._own[name] for name in self._own if name.lower() not in named} | headers


class LiveParams(Live):
    """The sampling parameters of whichever rollout reads it, in OpenAI's names.

    Args:
        own: of a call that its rollout says nothing about, and of every call outside any.
    """

    def __init__(self, own: Mapping[str, Any] | None = None) -> None:
        self._own = dict(own or {})

    def _now(self) -> Mapping[str, Any]:
        return self._own | read_params(get_inference_params()).openai()
