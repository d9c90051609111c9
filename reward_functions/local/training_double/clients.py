"""boto3 clients of the emulator, kept.

A session reads its services' models anew, and is not for several threads; a client is.

How a job of the double fails, other than by a refusal of its service.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from boto3.session import Session

    from reward_functions.local.emulator import LocalAws


class Clients:
    """Clients of one emulator.

    Args:
        aws: the emulator.
    """

    def __init__(self, aws: LocalAws) -> None:
        self.aws = aws
        self._lock = Lock()
        self._session: Session | None = None
        self._made: dict[tuple[str, str], Any] = {}

    def root(self, service: str, region: str = "us-east-1") -> Any:
        """A client with all rights of the account."""
        with self._lock:
            if (service, region) not in self._made:
                self._session = self._session or self.aws.session()
                made = self._session.client(service, region_name=region)
                self._made[service, region] = made
            return self._made[service, region]

    def session(self, **credentials: str) -> Session:
        """A session with other credentials."""
        with self._lock:
            return self.aws.session(**credentials)


class JobFailed(ConfigurationError):
    """A job cannot go on. The message is what its owner reads as the reason."""
