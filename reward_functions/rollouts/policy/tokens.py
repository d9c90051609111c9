"""Bearer tokens of policy calls: one account for all models, looked up anew when a call is refused.

A role's credentials rotate while its rollouts run. Sixty-four calls that are refused at once have
the account looked up once, as its provider may be one that many questions starve.
"""

from __future__ import annotations

import time
from threading import Lock
from typing import TYPE_CHECKING, Final

from reward_functions.rollouts.report.transports.account import Account
from reward_functions.rollouts.report.transports.bearer_tokens import BearerTokens

if TYPE_CHECKING:
    from collections.abc import Callable

REFUSED: Final = (401, 403)
"""Statuses of a call whose token is not taken: any more, where credentials have rotated."""


class PolicyTokens:
    """Tokens by region, shared by threads.

    Args:
        clock: seconds, of any origin.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._lock = Lock()
        self._renewed = -1.0
        self._open()

    def _open(self) -> None:
        self._tokens = BearerTokens(Account())

    def get(self, region: str) -> str:
        """A token for a region; it may ask the credentials' provider.

        Raises:
            CredentialsMissing: nothing to sign with.
        """
        return self._tokens.get(region)

    def renew(self, began: float) -> None:
        """Look the account up anew, unless that was done since a refused call began."""
        with self._lock:
            if self._renewed <= began:
                self._open()
                self._renewed = self.clock()


TOKENS: Final = PolicyTokens()
"""Of this process."""
