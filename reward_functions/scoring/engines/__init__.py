"""Engines that do the shards of a run: one file each, behind one protocol.

processes.py   interpreters on this machine
direct.py      a pool of calls of the pinned version, from this machine
aws.py         Step Functions and a Lambda of the stage
ray.py         a cluster of Ray
dask.py        a cluster of Dask
clusters.py    what both of these do
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reward_functions.scoring.folder import Run
    from reward_functions.scoring.shards import Done, Shard, Task


class Engine(Protocol):
    """Does shards side by side.

    An engine keeps no state: a run is gone on with by any other. `run` is a generator; closing it,
    as an interrupt does, ends what is under way. Shards that are done stay done.
    """

    name: str
    """As `--on` takes it."""

    remote: bool
    """Whether its workers reach the run's folder by its address alone: it must be in S3, or on a
    disk that all of them share."""

    def run(self, run: Run, task: Task, shards: Sequence[Shard]) -> Iterator[Done]:
        """Do each of the shards once, in any order.

        Args:
            run: whose they are; `shard.work`, or `shard.worked` across a wire, does one.
            task: "count" or "score".
            shards: to be done.

        Yields:
            what came of a shard, as soon as it is known; one for each. One that failed, or whose
            time was short, may be given again by the caller.

        Raises:
            AwsFailed, ConfigurationError: the engine cannot be used at all.
        """
