"""One shard counted or scored, wherever that happens: a thread, a worker of a cluster, a Lambda.

    done = work(run, "score", shard, scorer)

All that a worker needs is the run's folder, the shard, and somebody to score. It writes its part
under a name of its own, so that a shard that is done twice is done once.
"""

from __future__ import annotations

import json
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict
from functools import lru_cache
from math import inf
from tempfile import TemporaryFile
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, Final, cast

from reward_functions.aws.failures import AwsFailed
from reward_functions.aws.shell import aws_session
from reward_functions.core.errors import ConfigurationError
from reward_functions.data.json_rows import BadInput
from reward_functions.scoring.asked import Asked
from reward_functions.scoring.folder import Run, RunIncomplete, RunNotUsable
from reward_functions.scoring.interpreters import RowInterpreters
from reward_functions.scoring.invoked import BATCH_ROWS
from reward_functions.scoring.part import Part
from reward_functions.scoring.places import place_of
from reward_functions.scoring.scorers import batches, scorer_of
from reward_functions.scoring.shard_rows import rows_counted, rows_of_shard
from reward_functions.scoring.shards import Done, Shard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from boto3.session import Session

    from reward_functions.scoring.places import Place
    from reward_functions.scoring.scorers import Scorer
    from reward_functions.scoring.shards import Task

PAID_ROWS: Final = 100
"""Rows of a batch of a judge: what is paid for, and lost, where somebody ends the process."""

RESERVE: Final = 5.0
"""Seconds that writing takes, at most."""


def forever() -> float:
    """Seconds that are left where nothing ends: all of them."""
    return inf


def work(
    run: Run,
    task: Task,
    shard: Shard,
    scorer: Scorer | None = None,
    *,
    apart: bool = False,
    left: Callable[[], float] = forever,
) -> Done:
    """Count or score one shard, and write its part.

    Nothing is raised but a bug: what keeps a shard from being done stands in `Done.error`, and a
    line that is no row in `Done.unusable` and in the folder. A part that is done already is not
    done again, and a run that is cancelled begins none.

    Args:
        run: the run.
        task: "count" looks at lines alone, and writes nothing.
        shard: of the run; counted before it is scored.
        scorer: who scores; `scorer_of(run)` where not given.
        apart: score in an interpreter of its own, where no other process does.
        left: seconds that this process has, whenever it is called. Where they are short, what is
            scored is written with the row to go on with.
    """
    began = monotonic()
    try:
        if task == "count":
            found = rows_counted(run, shard)
            return Done(shard.part, found.lines, found.rows, seconds=monotonic() - began)
        with nullcontext(scorer) if scorer else _scorer(run, apart=apart) as scores:
            return _scored(run, shard, scores, left, began)
    except RunNotUsable as error:
        return Done(shard.part, unusable=str(error))
    except BadInput as error:
        run.mark_unusable(str(error))
        return Done(shard.part, unusable=str(error))
    except RunIncomplete as error:  # it is stopped
        return Done(shard.part, error=str(error))
    except (ConfigurationError, OSError) as error:
        with suppress(ConfigurationError, OSError):  # the folder itself may be what fails
            run.place.write(shard.failed, json.dumps({"error": str(error)}).encode())
            if error.lasts if isinstance(error, AwsFailed) else not isinstance(error, OSError):
                run.stop(str(error))
        return Done(shard.part, error=str(error))


def worked(order: Mapping[str, Any], *, left: Callable[[], float] = forever) -> dict[str, Any]:
    """The same where everything crosses a wire: for a process, a worker of a cluster, a Lambda.

    Args:
        order: `{"run": address, "task": task, "shard": item}`, as `order_of` writes it; with
            `"apart": true`, a row that ends its interpreter does not end this process.
        left: as of `work`.

    Returns:
        `Done.item`.
    """
    shard = Shard.of(order["shard"])
    try:
        run = run_at(order["run"])
    except (ConfigurationError, OSError) as error:
        return Done(shard.part, error=str(error)).item()
    return work(run, order["task"], shard, apart=bool(order.get("apart")), left=left).item()


def order_of(run: Run, task: Task, shard: Shard) -> dict[str, Any]:
    """The order that `worked` takes: JSON, and below 1 kB beside names."""
    return {"run": run.place.address, "task": task, "shard": shard.item()}


def order_apart(order: Mapping[str, Any]) -> dict[str, Any] | None:
    """An order whose worker died, given once more with the rows apart; None where they were."""
    return None if order.get("apart") else {**order, "apart": True}


@lru_cache(maxsize=4)
def _place(address: str) -> tuple[Place, Session | None]:
    """A folder and the session of all that is asked for its runs: each reads the SDK's models."""
    session = aws_session() if address.startswith("s3://") else None
    return place_of(address, session), session


def run_at(address: str) -> Run:
    """The run of a folder as it is now, for a process that lives on.

    Raises:
        ConfigurationError: the run does not exist. AwsFailed, OSError: the folder cannot be read.
    """
    return Run.opened(*_place(address))


@lru_cache(maxsize=4)
def _kept(address: str, asked: str) -> Scorer:
    """Who scores a run; a worker that lives on is told of another run in the same folder."""
    place, session = _place(address)
    return scorer_of(Run(place, Asked(**json.loads(asked)), session))


@contextmanager
def _scorer(run: Run, *, apart: bool) -> Iterator[Scorer]:
    """Who scores here, where nobody is given."""
    asked = run.asked
    kept = _kept(run.place.address, json.dumps(asdict(asked), sort_keys=True))
    if not apart or asked.function or asked.judge:
        yield kept
        return
    with RowInterpreters(asked.spec, asked.reward, asked.parameters, 1, explain=False) as found:
        yield found


def _scored(
    run: Run, shard: Shard, scorer: Scorer, left: Callable[[], float], began: float
) -> Done:
    place = run.place
    run.require_open()
    if place.found(shard.facts) and place.found(shard.results):
        part = json.loads(place.read(shard.facts))
        return Done(shard.part, rows=part["rows"], unscored=part["unscored"])
    paid = run.asked.usd != 0

    def done(*, complete: bool) -> Done:
        return Done(
            shard.part,
            rows=part.facts.rows,
            unscored=part.facts.unscored,
            seconds=round(monotonic() - began, 3),
            next_row=None if complete else part.facts.rows,
        )

    with TemporaryFile() as spool, run.source.opened(shard.name, shard.etag) as stream:
        part = Part(run, shard, cast("IO[bytes]", spool))
        part.take_begun()
        rows = part.rest(rows_of_shard(run, stream, shard))
        longest, complete = 0.0, True
        most = PAID_ROWS if paid else BATCH_ROWS
        for batch in batches(rows, most, groups=run.asked.groups):
            if left() < RESERVE + 2 * longest:
                complete = False
                break
            start = monotonic()
            part.add(batch, scorer(batch))
            longest = max(longest, monotonic() - start)
            if paid:
                part.write(done(complete=False))
        found = done(complete=complete)
        part.write(found)
    return found
