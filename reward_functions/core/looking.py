"""Looks at something that may be slow, broken or absent, for a few seconds in all.

The caller goes on in any case: with what it saw, or with what it takes for granted.
"""

from __future__ import annotations

from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable

Seen = TypeVar("Seen")


class Looks:
    """Looks that share one time.

    Args:
        seconds: for all of them together.
    """

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    def at(self, look: Callable[[], Seen], otherwise: Seen) -> Seen:
        """The result of a look; `otherwise` where it fails, or where the time is over.

        Raises:
            ConfigurationError: the look itself says what somebody has to do.
        """
        answers: SimpleQueue[tuple[Seen, ConfigurationError | None]] = SimpleQueue()

        def looks() -> None:
            try:
                answers.put((look(), None))
            except ConfigurationError as refusal:
                answers.put((otherwise, refusal))
            except Exception:  # noqa: BLE001 - nothing that is wrong there is wrong here
                answers.put((otherwise, None))

        began = monotonic()
        # Nothing ends a call that waits for a name server or for another program, but our own end.
        Thread(target=looks, daemon=True).start()
        try:
            seen, refusal = answers.get(timeout=max(0.0, self._left))
        except Empty:
            return otherwise
        finally:
            self._left -= monotonic() - began
        if refusal is not None:
            raise refusal
        return seen
