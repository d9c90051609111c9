"""A cluster of Ray: a task a shard, so that any size of cluster does them, in any order.

There is no pool of actors, which would wait for ever on a cluster of its own size: a task waits for
a processor, and gives it back. A worker that dies leaves a part that is missing; its shard is done
once more, with an interpreter of its own for the rows, so that a row that ends it harms no other.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.scoring.engines import Engine
from reward_functions.scoring.engines.clusters import failed, require_reachable
from reward_functions.scoring.shard import order_apart, order_of, worked
from reward_functions.scoring.shards import Done

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reward_functions.scoring.folder import Run
    from reward_functions.scoring.shards import Shard, Task

TASK: Final = {"num_cpus": 1, "max_retries": 0}
"""Of a task; what died is tried again by us."""


class Ray(Engine):
    """Tasks of a cluster.

    Args:
        address: `ray://host:10001`, or as `ray.init` takes it; what RAY_ADDRESS says where not
            given, and else a cluster on this machine that ends with the run.
        concurrency: shards at once, at most; as many as the cluster does where not given.
    """

    name = "ray"
    remote = True

    def __init__(self, address: str | None = None, concurrency: int | None = None) -> None:
        self.address = address or os.environ.get("RAY_ADDRESS")
        self.concurrency = concurrency or 0  # as many as the cluster does
        self._mine = False

    def require(self, run: Run, shards: Sequence[Shard]) -> None:  # noqa: ARG002 - of any
        """As `Engine.require` says."""
        require_reachable(run, self.address, "ray", by="--on ray")

    def run(self, run: Run, task: Task, shards: Sequence[Shard]) -> Iterator[Done]:
        """As `Engine.run` says.

        Raises:
            ConfigurationError: no cluster answers.
        """
        import ray  # noqa: PLC0415 - seconds, for this engine alone

        if not ray.is_initialized():
            self._connect(ray)
        begin = ray.remote(**TASK)(worked).remote
        waiting = deque((shard, order_of(run, task, shard)) for shard in shards)
        begun: dict[Any, tuple[Shard, dict[str, Any]]] = {}
        try:
            while waiting or begun:
                while waiting and len(begun) < (self.concurrency or len(shards)):
                    shard, order = waiting.popleft()
                    begun[begin(order)] = shard, order
                ready, _ = ray.wait(list(begun), num_returns=1)
                shard, order = begun.pop(ready[0])
                try:
                    done = Done.of(ray.get(ready[0]))
                except ray.exceptions.RayError as error:
                    died = not isinstance(error, ray.exceptions.RayTaskError)
                    if died and (again := order_apart(order)):
                        waiting.appendleft((shard, again))
                        continue
                    done = failed(shard, getattr(error, "cause", None) or error)
                yield done
        finally:
            for each in begun:
                ray.cancel(each, force=True)

    def close(self) -> None:
        """As `Engine.close` says."""
        if self._mine:
            self._mine = False
            sys.modules["ray"].shutdown()

    def _connect(self, ray: Any) -> None:
        # A cluster that is there has its own dashboard, and refuses to be told.
        own = {} if self.address else {"include_dashboard": False}
        try:
            ray.init(address=self.address, log_to_driver=False, logging_level="error", **own)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise ConfigurationError(f"no cluster of Ray at {self.address}: {error}") from error
        self._mine = True
