"""The common part of engines of clusters: what reaches workers, and what one that dies leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.extras import require
from reward_functions.scoring.rewards import is_path
from reward_functions.scoring.shards import Done

if TYPE_CHECKING:
    from reward_functions.scoring.folder import Run
    from reward_functions.scoring.shards import Shard


def require_reachable(run: Run, address: str | None, package: str, *, by: str) -> None:
    """Refuse a reward that stands in a file of this machine, where others score.

    Raises:
        MissingExtra: the package of the cluster is not installed.
        ConfigurationError: there is such a file.
    """
    require(package, by=by)
    if address and is_path(run.asked.reward) and not run.asked.function:
        raise ConfigurationError(
            f"the workers at {address} do not have {run.asked.reward}: install a package that "
            "registers the reward on them, and give its name"
        )


def failed(shard: Shard, error: BaseException) -> Done:
    """The outcome of a shard that a worker could not do."""
    message = next(iter(str(error).strip().splitlines()), "")
    return Done(shard.part, error=f"{type(error).__name__}: {message}" if message else repr(error))
