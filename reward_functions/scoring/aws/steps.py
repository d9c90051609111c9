"""The next step of a run on AWS: count, number, score, finish; decided from its folder alone.

The state machine asks `next_step`, hands each line of `todo.jsonl` to a Lambda, and asks again. A
shard whose time was short, or that failed, is missing then, and is done again. Where nothing has
changed for `IDLE` rounds, the machine fails, and says which part is missing.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from reward_functions.scoring.folder import CANCELLED, Run, RunIncomplete
from reward_functions.scoring.ranges import Counted
from reward_functions.scoring.shard import run_at

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.scoring.places import Place
    from reward_functions.scoring.shards import Done, Shard

TODO: Final = "todo.jsonl"
"""The shards of this round, which the Distributed Map reads."""

OVER: Final = "over"
"""In place of a task: nothing is left to do."""

IDLE: Final = 3
"""Rounds without any change, after which a run fails."""

READERS: Final = 16


def counted_name(part: int) -> str:
    """The object that holds what was counted of a part."""
    return f"part-{part:06}.count.json"


def keep_count(place: Place, done: Done) -> None:
    """Write what was counted into a run's folder; nothing of a count that failed."""
    if done.complete:
        content = json.dumps({"lines": done.lines, "rows": done.rows}).encode()
        place.write(counted_name(done.part), content)


def count_of(place: Place, part: int) -> Counted:
    """The count of a part.

    Raises:
        NoSuchObject: nothing yet.
    """
    item = json.loads(place.read(counted_name(part)))
    return Counted(int(item["lines"]), int(item["rows"]))


def next_step(state: Mapping[str, Any]) -> dict[str, Any]:
    """The next step of the machine, as its new state.

    Args:
        state: of the machine: `run`, `concurrency`, and what this returned before.

    Returns:
        `task`: "count", "score" or `OVER`; with `bucket` and `list`, where its shards stand.

    Raises:
        RunNotUsable: a line is no row.
        RunIncomplete: parts stay missing, or too many rows are without a score.
        ConfigurationError: there is no run.
        AwsFailed, OSError: its folder cannot be read or written.
    """
    run = run_at(state["run"])
    run.require_usable()
    if (why := run.state().stopped) == CANCELLED:
        return {**state, "task": OVER}
    if why:
        raise RunIncomplete(f"{run.place.address}: {why}")
    try:
        return _next(run, state)
    except RunIncomplete as error:  # who watches the folder is told
        run.stop(str(error))
        raise


def _next(run: Run, state: Mapping[str, Any]) -> dict[str, Any]:
    sizes = {each.name: each.size for each in run.place.objects()}
    task, missing = _missing(run, sizes)
    if not missing:
        run.finish()
        return {**state, "task": OVER}
    begun = sum(sizes.get(shard.begun, 0) for shard in missing)
    mark = f"{task} {len(missing)} {begun}"
    idle = int(state.get("idle", 0)) + 1 if mark == state.get("mark") else 0
    if idle >= IDLE:
        raise RunIncomplete(
            f"{run.place.address}: {len(missing):,} parts stay missing, the first is part "
            f"{missing[0].part}; the function's log says why"
        )
    lines = [json.dumps(shard.item()) for shard in missing]
    run.place.write(TODO, "".join(f"{line}\n" for line in lines).encode())
    bucket, _, prefix = run.place.address.removeprefix("s3://").partition("/")
    listed = {"bucket": bucket, "list": f"{prefix}/{TODO}"}
    return {**state, **listed, "task": task, "mark": mark, "idle": idle}


def _missing(run: Run, names: Mapping[str, int]) -> tuple[str, list[Shard]]:
    """What is to be done, and the shards of which it is not."""
    shards: Sequence[Shard] = run.shards()
    if any(shard.row is None for shard in shards):
        left = [shard for shard in shards if counted_name(shard.part) not in names]
        if left:
            return "count", left
        with ThreadPoolExecutor(READERS) as pool:
            counts = pool.map(lambda shard: count_of(run.place, shard.part), shards)
            found = {shard.part: count for shard, count in zip(shards, counts, strict=True)}
        shards = run.number(found)
    return "score", [each for each in shards if not each.is_done(names)]
