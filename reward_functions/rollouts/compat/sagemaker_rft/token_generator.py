"""Bearer tokens: the names of `sagemaker.core.token_generator` 2.27, whose bytes these are."""

from __future__ import annotations

from typing import Any

from reward_functions.rollouts.report.credentials import LONGEST, generate_token, mint

__all__ = ["SageMakerTokenGenerator", "generate_token"]


class SageMakerTokenGenerator:
    """Makes tokens that live for 12 hours, or as long as the credentials that sign them."""

    def get_token(self, credentials: Any, region: str) -> str:
        """A token.

        Args:
            credentials: of botocore.
            region: of the runtime.

        Raises:
            ValueError: no credentials, or no region.
        """
        if not credentials:
            raise ValueError("no credentials: pass botocore's")
        if not region or not isinstance(region, str):
            raise ValueError("no region: pass its name, such as us-east-1")
        freeze = getattr(credentials, "get_frozen_credentials", None)
        return mint(freeze() if callable(freeze) else credentials, region, LONGEST)
