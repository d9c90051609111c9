"""What is asked of Bedrock in one region, and looked at until it is done."""

from __future__ import annotations

from functools import cached_property
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from reward_functions.jobs.clients import client

if TYPE_CHECKING:
    from collections.abc import Callable

    from boto3.session import Session


class InRegion:
    """Something of one account and region.

    Args:
        region: of what is asked for.
        session: boto3's; the caller's own where not given.
        pause: waits some seconds.
        clock: seconds that pass.
    """

    def __init__(
        self,
        region: str,
        session: Session | None = None,
        *,
        pause: Callable[[float], object] = sleep,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.region = region
        self._session, self._pause, self._clock = session, pause, clock

    @cached_property
    def _bedrock(self) -> Any:
        return client("bedrock", self.region, self._session)
