"""One shard counted or scored, wherever that happens: a thread, a worker of a cluster, a Lambda.

    done = work(run, "score", shard, scorer)

All that a worker needs is the run's folder, the shard, and somebody to score. It writes its part
under a name of its own, so that a shard that is done twice is done once.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from boto3.session import Session

    from reward_functions.scoring.folder import Run
    from reward_functions.scoring.scorers import Scorer
    from reward_functions.scoring.shards import Done, Shard, Task


def forever() -> float:
    """Seconds that are left where nothing ends: all of them."""
    return inf


def work(
    run: Run,
    task: Task,
    shard: Shard,
    scorer: Scorer | None = None,
    *,
    left: Callable[[], float] = forever,
) -> Done:
    """Count or score one shard, and write its part.

    Nothing is raised: what keeps a shard from being done stands in `Done.error`, and a line that is
    no row in `Done.unusable` and in the folder. A part that is done already is not done again, and
    a run that is cancelled begins none.

    Args:
        run: the run.
        task: "count" looks at lines alone, and writes nothing.
        shard: of the run; counted before it is scored.
        scorer: who scores; `scorer_of(run)` where not given.
        left: seconds that this process has, whenever it is called. Where they are short, what is
            scored is written with the row to go on with.
    """
    raise NotImplementedError


def worked(order: Mapping[str, Any], *, left: Callable[[], float] = forever) -> dict[str, Any]:
    """The same where everything crosses a wire: for a worker of a cluster, and for a Lambda.

    Args:
        order: `{"run": address, "task": task, "shard": item}`, as `order_of` writes it.
        left: as of `work`.

    Returns:
        `Done.item`.
    """
    raise NotImplementedError


def order_of(run: Run, task: Task, shard: Shard) -> dict[str, Any]:
    """The order that `worked` takes: JSON, and below 1 kB beside names."""
    raise NotImplementedError


def scorer_of(run: Run, session: Session | None = None) -> Scorer:
    """Who scores a run: the version of a function that it pins, or the reward in this process.

    Raises:
        ConfigurationError: the reward is not here, or another version of it is.
    """
    raise NotImplementedError
