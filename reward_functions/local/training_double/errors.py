"""How a job of the double fails, other than by a refusal of its service."""

from __future__ import annotations

from reward_functions.core.errors import ConfigurationError


class JobFailed(ConfigurationError):
    """A job cannot go on. The message is what its owner reads as the reason."""
