"""The refusals of models and clients that no rollout can speak through."""

from __future__ import annotations

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.request.errors import RolloutError


class UnsupportedModel(RolloutError, ConfigurationError, TypeError):
    """A model that does not speak to the runtime of a job. The message says which ones do."""


class UnsupportedClient(RolloutError, ConfigurationError, TypeError):
    """A client that cannot be wrapped, or calls no policy. The message says which ones can."""
