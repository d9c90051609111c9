"""The double on the loopback interface: one port for agents, for reports, and for its controls."""

from __future__ import annotations

from contextlib import contextmanager
from time import time
from typing import TYPE_CHECKING, ClassVar

from reward_functions.local.loopback_service.server import LoopbackServer
from reward_functions.local.runtime_double.runtime import Runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reward_functions.local.runtime_double.settings import RuntimeSettings
    from reward_functions.local.runtime_double.trajectory import Trajectory


class RuntimeDouble(Runtime, LoopbackServer):
    """A server of one double; `serving` runs one for a block.

    Args:
        settings: of the double.
        port: where it listens; a free one where 0.
        finished: called with each trajectory that has finished, in the thread of its last report.
        clock: seconds since the epoch.

    Raises:
        OSError: something else listens there.
    """

    connections: ClassVar[int] = 512
    """Agents open one for each client that they make, and leave many of them open."""

    def __init__(
        self,
        settings: RuntimeSettings | None = None,
        *,
        port: int = 0,
        finished: Callable[[Trajectory], None] | None = None,
        clock: Callable[[], float] = time,
    ) -> None:
        LoopbackServer.__init__(self, port=port)
        Runtime.__init__(self, settings, finished, clock)

    def shutdown(self) -> None:
        """End; calls that are slow by a fault are answered at once."""
        self.end()
        super().shutdown()


@contextmanager
def serving(settings: RuntimeSettings | None = None) -> Iterator[RuntimeDouble]:
    """A double for a block, on a free port."""
    double = RuntimeDouble(settings)
    with double.in_background():
        yield double
