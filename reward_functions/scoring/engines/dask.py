"""A cluster of Dask: a future a shard.

A worker that dies leaves a part that is missing; its shard is done once more, with an interpreter
of its own for the rows, so that a row that ends it harms no other. An interrupt lets shards under
way end with their batch, as Dask cannot end a task.
"""

from __future__ import annotations

import os
from math import inf
from typing import TYPE_CHECKING, Any

from reward_functions.core.errors import ConfigurationError
from reward_functions.scoring.engines import Engine
from reward_functions.scoring.engines.clusters import failed, require_reachable
from reward_functions.scoring.shard import order_apart, order_of, worked
from reward_functions.scoring.shards import Done, Shard

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reward_functions.scoring.folder import Run
    from reward_functions.scoring.shards import Task


class Dask(Engine):
    """Futures of a cluster.

    Args:
        address: of the scheduler, `tcp://host:8786`; what DASK_SCHEDULER_ADDRESS says where not
            given, and else a cluster on this machine that ends with the run.
        concurrency: workers of a cluster on this machine; one a processor where not given.
    """

    name = "dask"
    remote = True

    def __init__(self, address: str | None = None, concurrency: int | None = None) -> None:
        self.address = address or os.environ.get("DASK_SCHEDULER_ADDRESS")
        self.concurrency = concurrency or os.cpu_count() or 1
        self._client: Any = None

    def require(self, run: Run, shards: Sequence[Shard]) -> None:  # noqa: ARG002 - of any
        """As `Engine.require` says."""
        require_reachable(run, self.address, "distributed", by="--on dask")

    def run(self, run: Run, task: Task, shards: Sequence[Shard]) -> Iterator[Done]:
        """As `Engine.run` says.

        Raises:
            ConfigurationError: no cluster answers.
        """
        import distributed  # noqa: PLC0415 - for this engine alone

        client = self._client = self._client or self._connected(distributed)
        stop = distributed.Event(client=client)
        orders: dict[str, dict[str, Any]] = {}

        def begun(order: dict[str, Any]) -> Any:
            future = client.submit(_worked, order, stop.name, pure=False)
            orders[future.key] = order
            return future

        ready = distributed.as_completed([begun(order_of(run, task, each)) for each in shards])
        try:
            for future in ready:
                order = orders.pop(future.key)
                error = future.exception()
                if isinstance(error, distributed.KilledWorker) and (again := order_apart(order)):
                    ready.add(begun(again))
                    continue
                yield failed(Shard.of(order["shard"]), error) if error else Done.of(future.result())
        finally:
            stop.set()

    def close(self) -> None:
        """As `Engine.close` says."""
        if self._client:
            client, self._client = self._client, None
            client.close()

    def _connected(self, distributed: Any) -> Any:
        own = {"n_workers": self.concurrency, "threads_per_worker": 1, "dashboard_address": None}
        try:
            return distributed.Client(self.address, **({} if self.address else own))
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"no cluster of Dask at {self.address}: {error}") from error


def _worked(order: Mapping[str, Any], name: str) -> dict[str, Any]:
    """`worked` on a worker, until the client says that nobody waits any more."""
    from distributed import Event  # noqa: PLC0415 - a worker has it

    stop = Event(name)
    return worked(order, left=lambda: 0.0 if stop.is_set() else inf)
