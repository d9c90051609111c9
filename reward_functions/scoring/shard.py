"""One shard counted or scored, wherever that happens: a thread, a worker of a cluster, a Lambda.

    done = work(run, "score", shard, scorer)

All that a worker needs is the run's folder, the shard, and somebody to score. It writes its part
under a name of its own, so that a shard that is done twice is done once.

Where its time is too short, what is scored stands in `part-000003.begun.jsonl`, with its facts in
`part-000003.begun.json`; who is asked for the shard again goes on after it. Rows that are paid for
stand there after each batch.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from functools import lru_cache
from hashlib import sha256
from itertools import islice
from math import inf
from shutil import copyfileobj
from tempfile import TemporaryFile
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, Final, cast

from reward_functions.aws.deployed.function import DeployedFunction
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.spec import Scale
from reward_functions.core.types import Sample
from reward_functions.data.json_rows import BadInput, Room, scan_lines
from reward_functions.data.rows.formats import rows_of_groups, scan_groups, scan_opened
from reward_functions.data.rows.reading import canonical_rows
from reward_functions.scoring.facts import PART, Facts
from reward_functions.scoring.folder import Asked, Run
from reward_functions.scoring.interpreters import Interpreters
from reward_functions.scoring.places import place_of
from reward_functions.scoring.ranges import Counted, counted, lines_of
from reward_functions.scoring.rewards import ready
from reward_functions.scoring.rows import unread
from reward_functions.scoring.scorers import BATCH_BYTES, BATCH_ROWS, Here, Invoked
from reward_functions.scoring.shards import Done, Shard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from io import BufferedReader

    from reward_functions.data.json_rows import Row
    from reward_functions.judge_runtime.verdict_store import VerdictStore
    from reward_functions.scoring.folder import Groups
    from reward_functions.scoring.results import RowResult
    from reward_functions.scoring.rows import Unread
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
        left: seconds that this process has, whenever it is called. Where they are short, what is
            scored is written with the row to go on with.
    """
    began = monotonic()
    try:
        if task == "count":
            found = _counted(run, shard)
            return Done(shard.part, found.lines, found.rows, seconds=monotonic() - began)
        return _scored(run, shard, scorer or scorer_of(run), left, began)
    except BadInput as error:
        run.mark_unusable(str(error))
        return Done(shard.part, unusable=str(error))
    except (ConfigurationError, OSError) as error:
        with suppress(ConfigurationError, OSError):  # the folder itself may be what fails
            run.place.write(shard.failed, json.dumps({"error": str(error)}).encode())
        return Done(shard.part, error=str(error))


def worked(order: Mapping[str, Any], *, left: Callable[[], float] = forever) -> dict[str, Any]:
    """The same where everything crosses a wire: for a worker of a cluster, and for a Lambda.

    Args:
        order: `{"run": address, "task": task, "shard": item}`, as `order_of` writes it; with
            `"apart": true`, a row that ends its interpreter does not end this process.
        left: as of `work`.

    Returns:
        `Done.item`.

    Raises:
        AwsFailed, OSError: the run's folder cannot be read.
        ConfigurationError: it holds no run, or its reward is not here.
    """
    run = Run.opened(_place(order["run"]))
    task, shard = order["task"], Shard.of(order["shard"])
    elsewhere = run.asked.function or run.asked.judge
    if order.get("apart") and task == "score" and not elsewhere:
        scorer = Apart.of(run)
        with scorer.interpreters:
            return work(run, task, shard, scorer, left=left).item()
    asked = json.dumps(asdict(run.asked), sort_keys=True)
    here = _scorer(order["run"], asked) if task == "score" else None
    return work(run, task, shard, here, left=left).item()


def order_of(run: Run, task: Task, shard: Shard) -> dict[str, Any]:
    """The order that `worked` takes: JSON, and below 1 kB beside names."""
    return {"run": run.place.address, "task": task, "shard": shard.item()}


_place: Final = lru_cache(maxsize=4)(place_of)


@lru_cache(maxsize=4)
def _scorer(address: str, asked: str) -> Scorer:
    """Who scores a run; a worker that lives on is told of another run in the same folder."""
    return scorer_of(Run(_place(address), Asked(**json.loads(asked))))


class Apart:
    """A reward in interpreters of its own: a row that ends one harms no other.

    Args:
        interpreters: that score.
    """

    calls = 0

    def __init__(self, interpreters: Interpreters) -> None:
        self.interpreters = interpreters

    @classmethod
    def of(cls, run: Run, count: int = 1) -> Apart:
        """So many for a run.

        Raises:
            ConfigurationError: as of `scorer_of`.
        """
        scorer_of(run)
        asked = run.asked
        return cls(Interpreters(asked.spec, asked.reward, asked.parameters, count, explain=False))

    def __call__(self, rows: Sequence[Unread]) -> list[RowResult]:
        """As `Scorer` says."""
        return self.interpreters.scored(rows)


def scorer_of(run: Run, store: VerdictStore | None = None) -> Scorer:
    """Who scores a run: the version of a function that it pins, or the reward in this process.

    Args:
        run: the run.
        store: verdicts of a judge in this process that are kept on this machine.

    Raises:
        ConfigurationError: the reward is not here, or another version of it is.
    """
    asked = run.asked
    spec = asked.spec
    if asked.function:
        function = DeployedFunction(asked.function, session=run.session)
        return Invoked(spec, lambda event: function.invoke(event).body, ours=bool(asked.digest))
    if spec.version != asked.version:
        raise ConfigurationError(
            f"the run is of version {asked.version} of {spec.name}, and version {spec.version} is "
            "here: install the release that began it, or start a new run"
        )
    judge = None if asked.judge is None else json.dumps(asked.judge)
    return Here(spec, ready(spec, asked.parameters, judge, store=store))


def _objects(stream: BufferedReader, shard: Shard) -> Iterator[Row | BadInput]:
    """The objects of a shard."""
    if shard.kind == "groups":
        return scan_groups(
            stream, shard.name, range(shard.start, shard.end), before=shard.line or 0
        )
    if shard.kind == "whole":
        return scan_opened(stream, shard.name, shard.name)
    before = shard.line or 0
    lines = lines_of(stream, shard.start, shard.end, shard.name, before)
    return scan_lines(shard.name, enumerate(lines, before + 1))


def _rows(run: Run, stream: BufferedReader, shard: Shard) -> Iterator[Unread]:
    """The rows of a shard, which are as many as were counted.

    Raises:
        BadInput: a line is no row.
    """
    room = Room(shard.name, whole=False)
    room.read(shard.size)
    found = 0
    rows = room.held(canonical_rows(_objects(stream, shard), run.how))
    for found, row in enumerate(unread(rows, shard.row or 0), 1):  # noqa: B007 - counted
        yield row
    if shard.rows is not None and found != shard.rows:
        raise BadInput(
            f"{shard.name}: a line becomes several rows, and none of the first rows does: plan a "
            "new run and say that rows may hold several responses"
        )


def _counted(run: Run, shard: Shard) -> Counted:
    """How many lines and rows a shard has."""
    with run.source.opened(shard.name, shard.etag) as stream:
        if shard.kind == "lines" and not run.asked.several:
            return counted(lines_of(stream, shard.start, shard.end, shard.name))
        if shard.kind == "groups":
            lines = sum(rows_of_groups(stream, shard.name)[shard.start : shard.end])
            if not run.asked.several:
                return Counted(lines, lines)
        elif shard.kind == "lines":
            lines = counted(lines_of(stream, shard.start, shard.end, shard.name)).lines
        else:
            lines = 0
        return Counted(lines, sum(1 for _ in _rows(run, stream, shard)))


def _scored(
    run: Run, shard: Shard, scorer: Scorer, left: Callable[[], float], began: float
) -> Done:
    place = run.place
    if run.is_over:
        return Done(shard.part, error="the run is over: somebody cancelled it, or a line is no row")
    if place.found(shard.facts) and place.found(shard.results):
        part = json.loads(place.read(shard.facts))
        return Done(shard.part, rows=part["rows"], unscored=part["unscored"])
    calls, paid = scorer.calls, run.asked.usd != 0

    def done(*, complete: bool) -> Done:
        return Done(
            shard.part,
            rows=part.facts.rows,
            unscored=part.facts.unscored,
            calls=scorer.calls - calls,
            seconds=round(monotonic() - began, 3),
            next_row=None if complete else part.facts.rows,
        )

    with TemporaryFile() as spool, run.source.opened(shard.name, shard.etag) as stream:
        part = _Part(run, shard, cast("IO[bytes]", spool))
        part.take_begun()
        rows = islice(_rows(run, stream, shard), part.facts.rows, None)
        longest, complete = 0.0, True
        most = PAID_ROWS if paid else BATCH_ROWS
        for batch in _batches(rows, most, groups=run.asked.groups):
            if left() < RESERVE + 2 * longest:
                complete = False
                break
            start = monotonic()
            part.add(scorer(batch))
            longest = max(longest, monotonic() - start)
            if paid:
                part.write(done(complete=False))
        found = done(complete=complete)
        part.write(found)
    return found


class _Part:
    """The results of a shard until they are written.

    Args:
        run: whose it is.
        shard: of the run.
        spool: where they wait.
    """

    def __init__(self, run: Run, shard: Shard, spool: IO[bytes]) -> None:
        asked = run.asked
        self.facts = Facts(asked.reward_name, Scale(*asked.scale), most=PART)
        self._place, self._shard, self._spool = run.place, shard, spool
        self._digest = sha256()

    def take_begun(self) -> None:
        """Take over what was done before; nothing where it is not what its facts say."""
        begun = self._shard.begun
        if not (self._place.found(f"{begun}.json") and self._place.found(f"{begun}.jsonl")):
            return
        item = json.loads(self._place.read(f"{begun}.json"))
        content = self._place.read(f"{begun}.jsonl")[: item["size"]]  # more was added, perhaps
        if sha256(content).hexdigest() == item["sha256"]:
            self._spool.write(content)
            self._digest.update(content)
            self.facts = Facts.of(item["facts"], PART)

    def add(self, results: Iterable[RowResult]) -> None:
        """Keep the results of a batch."""
        results = list(results)
        text = "".join(f"{each.line}\n" for each in results).encode()
        self._spool.write(text)
        self._digest.update(text)
        self.facts.add(results)

    def write(self, done: Done) -> None:
        """Write the results, and then their facts."""
        begun, shard, complete = self._shard.begun, self._shard, done.complete
        item = {
            **done._asdict(),
            "size": self._spool.tell(),
            "sha256": self._digest.hexdigest(),
            "facts": self.facts.item(),
        }
        self._spool.seek(0)
        with self._place.writing(shard.results if complete else f"{begun}.jsonl") as out:
            copyfileobj(self._spool, out)
        text = json.dumps(item).encode()
        self._place.write(shard.facts if complete else f"{begun}.json", text)
        if complete:
            for name in (f"{begun}.json", f"{begun}.jsonl"):
                self._place.delete(name)


def _batches(rows: Iterable[Unread], most: int, *, groups: Groups) -> Iterator[list[Unread]]:
    """Rows in batches of so many, which do not cut what the reward compares."""
    batch: list[Unread] = []
    size = 0
    for row in rows:
        full = len(batch) >= most or size + row.size > BATCH_BYTES
        ends = full and (groups != "adjacent" or _differ(batch[-1], row))
        if batch and ends and groups != "anywhere":
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += row.size
    if batch:
        yield batch


def _differ(one: Unread, other: Unread) -> bool:
    samples = [row.read().sample for row in (one, other)]
    contexts = [each.context if isinstance(each, Sample) else None for each in samples]
    return contexts[0] != contexts[1]
