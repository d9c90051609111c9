"""The rollout of the running code: ContextVars, so that nothing is shared and nothing crosses.

A task or a thread that copies its context sees the rollout that it was started for, as
`asyncio.to_thread` and Strands do. A bare `threading.Thread` starts without one: hand it
`contextvars.copy_context().run`.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from reward_functions.rollouts.request.contract import read_metadata
from reward_functions.rollouts.request.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

_metadata: ContextVar[Any] = ContextVar("rollout_metadata", default=None)
_inference_params: ContextVar[Any] = ContextVar("inference_params", default=None)


def set_rollout_context(metadata: Any, inference_params: Any = None) -> None:
    """Say which rollout the code that follows runs for; kept as given.

    Args:
        metadata: a mapping in any spelling, or a `RolloutMetadata`.
        inference_params: likewise. None within the same rollout keeps those that were set: the
            platform's own template sets the metadata once more, inside its handler.
    """
    if inference_params is not None or _identity(metadata) != _identity(_metadata.get()):
        _inference_params.set(inference_params)
    _metadata.set(metadata)


def get_rollout_context() -> Any:
    """The metadata as they were set; None outside any rollout."""
    return _metadata.get()


def get_inference_params() -> Any:
    """The sampling parameters as they were set; None outside any rollout."""
    return _inference_params.get()


def clear_rollout_context() -> None:
    """Leave the rollout."""
    _metadata.set(None)
    _inference_params.set(None)


@contextmanager
def rollout(metadata: Any, inference_params: Any = None) -> Iterator[None]:
    """A rollout for a block; what was there before is there again after it."""
    tokens = (
        (_metadata, _metadata.set(metadata)),
        (_inference_params, _inference_params.set(inference_params)),
    )
    try:
        yield
    finally:
        for variable, token in tokens:
            variable.reset(token)


def _identity(metadata: Any) -> object:
    if metadata is None:
        return None
    try:
        known = read_metadata(metadata)
    except BadRequest:
        return metadata
    return known.job_arn, known.trajectory_id
