"""Engines that do the shards of a run: one file each, with one protocol.

processes.py   interpreters on this machine
direct.py      a pool of calls of the pinned version, from this machine
aws.py         Step Functions and a Lambda of the stage
ray.py         a cluster of Ray
dask.py        a cluster of Dask
clusters.py    what both of these do
"""

from __future__ import annotations

from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.extras import Extra, require
from reward_functions.core.suggest import did_you_mean

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

    concurrency: int
    """Shards at once."""

    remote: bool
    """Whether its workers reach the run's folder by its address alone: it must be in S3, or on a
    disk that all of them share."""

    def require(self, run: Run, shards: Sequence[Shard]) -> None:  # noqa: ARG002 - of most
        """Refuse a run that it cannot do, before anything is written.

        Raises:
            ConfigurationError: it cannot.
        """
        return

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

    def close(self) -> None:
        """End what it holds between tasks, such as a cluster of its own."""
        return


class Detachable(Engine, Protocol):
    """An engine that goes on when this process has ended."""

    def detach(self, run: Run) -> object:
        """Begin all of a run that is not done, and wait for nothing.

        Raises:
            AwsFailed, ConfigurationError: as of `run`.
        """


class EngineRow(NamedTuple):
    """An engine by its name.

    Args:
        home: MODULE:NAME in this package, which makes it.
        takes: what that takes by name, beside `concurrency`.
        has: of `stage`, whose deployment scores, and `detach`.
        needs: the extra, of the same name as the module that it brings.
        calls: of functions that each of its shards has under way.
    """

    home: str
    takes: tuple[str, ...] = ()
    has: tuple[str, ...] = ()
    needs: Extra | None = None
    calls: int = 0


ENGINES: Final = {
    "aws": EngineRow("aws:Aws.of", ("stage", "session"), ("stage", "detach"), calls=2),
    "ray": EngineRow("ray:Ray", ("address",), needs=Extra("ray", "Ray Data")),
    "dask": EngineRow("dask:Dask", ("address",), needs=Extra("dask", "Dask")),
    "processes": EngineRow("processes:Processes", ("store",)),
    "direct": EngineRow("direct:Direct", (), ("stage",), calls=1),
}


def engine_row(text: str) -> tuple[str, EngineRow, str]:
    """The name, the row and the address of an engine as it is typed.

    Args:
        text: a name; or `ray://ADDRESS`, or `NAME=ADDRESS`.

    Raises:
        ConfigurationError: there is no such engine, or it has no address.
    """
    name, _, address = text.partition("=")
    if "://" in name:
        name, address = name.partition("://")[0], text
    if name not in ENGINES:
        raise ConfigurationError(f"there is no engine {name!r}{did_you_mean(name, ENGINES)}")
    if address and "address" not in ENGINES[name].takes:
        raise ConfigurationError(f"the engine {name} has no address: write {name} alone")
    return name, ENGINES[name], address


def engine_of(text: str, **options: Any) -> Engine:
    """An engine as it is typed.

    Args:
        text: as of `engine_row`.
        options: for it; None, and what is nothing to it, is left out.

    Raises:
        MissingExtra: it needs a package that is not installed.
        ConfigurationError: as of `engine_row`.
    """
    name, row, address = engine_row(text)
    options["address"] = address or None
    takes = ("concurrency", *row.takes)
    given = {each: options[each] for each in takes if options.get(each) is not None}
    if row.needs:
        require(row.needs.name, by=f"the engine {name}", extra=row.needs)
    module, _, path = row.home.partition(":")
    found: Any = import_module(f"{__name__}.{module}")
    made: Engine = attrgetter(path)(found)(**given)
    return made
