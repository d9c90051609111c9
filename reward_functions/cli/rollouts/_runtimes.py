"""The runtime of a run: a double of this process, or one that runs already.

An agent gives a credential to an endpoint that its operator named alone. An agent of this process
is pointed at the double; one elsewhere was started with `RFT_RUNTIME_ENDPOINT`, so that the double
listens where `reward local runtime` does.
"""

from __future__ import annotations

from contextlib import contextmanager
from errno import EADDRINUSE
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.local.runtime_double.settings import RuntimeSettings
    from reward_functions.rollouts.drive.runtimes import Runtime

TEXT_BYTES: Final = 1024 * 1024 * 1024
"""Of the latest turns: the last one of a rollout that runs is its response."""


@contextmanager
def runtime_of(
    url: str | None, settings: RuntimeSettings, port: int, concurrency: int
) -> Iterator[Runtime]:
    """A runtime for a block.

    Args:
        url: of one that runs; None for one of this process.
        settings: of the latter.
        port: likewise; 0 for a free one.
        concurrency: rollouts at once.

    Raises:
        ConfigurationError: nobody answers there, or the port is taken.
    """
    from reward_functions.local.runtime_double import RuntimeDouble
    from reward_functions.local.runtime_double.own_runtime import OwnRuntime
    from reward_functions.rollouts.drive.runtimes import RuntimeElsewhere

    if url is not None:
        yield RuntimeElsewhere(url, concurrency=concurrency)
        return
    try:
        double = RuntimeDouble(settings, port=port)
    except OSError as error:
        if error.errno != EADDRINUSE:
            raise
        raise ConfigurationError(
            f"port {port} is taken: give another with --port, or the address of the runtime that "
            f"runs there with --runtime http://127.0.0.1:{port}"
        ) from None
    with double.in_background():
        yield OwnRuntime(double)
