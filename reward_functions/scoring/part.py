"""The part of a shard: its results until they are written, and what is gone on with.

Where its time is too short, what is scored stands in `part-000003.begun.jsonl` after a line with
its facts; who is asked for the shard again goes on with it. Rows that are paid for stand there
after each batch. A part that is done is begun once more where our failure left rows without a
score: these alone are asked again.
"""

from __future__ import annotations

import json
from contextlib import suppress
from hashlib import sha256
from shutil import copyfileobj
from typing import IO, TYPE_CHECKING, Any

from reward_functions.core.spec import Scale
from reward_functions.scoring.facts import PART, Facts
from reward_functions.scoring.folder import SUMMARY, Unreadable
from reward_functions.scoring.places import NoSuchObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reward_functions.scoring.folder import Run
    from reward_functions.scoring.places import Place
    from reward_functions.scoring.results import RowResult
    from reward_functions.scoring.rows import Unread
    from reward_functions.scoring.shards import Done, Shard


class Part:
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
        self._first = 0
        self._again: set[int] = set()
        self._mended: dict[int, bytes] = {}

    def take_begun(self) -> None:
        """Take over what was done before."""
        with suppress(NoSuchObject, ValueError):  # the usual, or it was cut off
            item, content = _begun(self._place, self._shard)
            self.facts = Facts.of(item["facts"], PART)
            self._spool.write(content)
            self._digest.update(content)
            self._again = set(item["again"])
            self._first = self.facts.rows

    def rest(self, rows: Iterable[Unread]) -> Iterator[Unread]:
        """The rows that are to be scored."""
        for at, row in enumerate(rows):
            if at >= self._first or at in self._again:
                yield row

    def add(self, batch: Iterable[Unread], results: Iterable[RowResult]) -> None:
        """Keep the results of a batch."""
        before = self._shard.row or 0
        fresh = []
        for row, result in zip(batch, results, strict=True):
            at = row.position - before
            if at >= self._first:
                fresh.append(result)
            else:
                self._again.discard(at)
                self._mended[at] = f"{result.line}\n".encode()
                self.facts.add([result], again=True)
        text = "".join(f"{each.line}\n" for each in fresh).encode()
        self._spool.write(text)
        self._digest.update(text)
        self.facts.add(fresh)

    def _mend(self) -> None:
        """Write the results of rows that were asked again in their places."""
        self._spool.seek(0)
        lines = self._spool.readlines()
        self._spool.truncate(0)
        self._spool.seek(0)
        self._digest = sha256()
        for at, line in enumerate(lines):
            text = self._mended.get(at, line)
            self._spool.write(text)
            self._digest.update(text)
        self._mended.clear()

    def write(self, done: Done) -> None:
        """Write the results: of a part that is done its facts after them, of a begun one before."""
        shard, place = self._shard, self._place
        if self._mended:
            self._mend()
        facts = self.facts.item()
        size, digest = self._spool.tell(), self._digest.hexdigest()
        self._spool.seek(0)
        if not done.complete:
            with place.writing(shard.begun) as out:
                out.write(_line(facts, self._again))
                copyfileobj(self._spool, out)
            return
        with place.writing(shard.results) as out:
            copyfileobj(self._spool, out)
        item = {**done._asdict(), "size": size, "sha256": digest, "facts": facts}
        place.write(shard.facts, json.dumps(item).encode())
        place.delete(shard.begun)


def begin_again(run: Run) -> int:
    """Begin the parts once more in which our failure left rows without a score.

    Rows that a reward compares stay as they are: a row alone has nothing to be compared with.

    Returns:
        how many rows will be asked again.
    """
    names, count = run.names(), 0
    for shard in run.shards():
        if shard.is_done(names) or shard.begun in names:
            count += _begin_again(run, shard, names)
    if count:
        run.place.delete(SUMMARY)
    return count


def _begin_again(run: Run, shard: Shard, names: Mapping[str, int]) -> int:
    place, done, content = run.place, shard.is_done(names), None
    whole = False
    with suppress(Unreadable, ValueError, LookupError):
        item, content = (run.part(shard), None) if done else _begun(place, shard)
        facts, again = Facts.of(item["facts"], PART), set(item.get("again", ()))
        whole = not done or item["size"] == names[shard.results]
    if not whole:  # it was cut off, and is done once more
        place.delete(shard.facts if done else shard.begun)
        return 0
    if (ours := facts.forget_ours()) and not run.asked.groups:
        content = place.read(shard.results) if content is None else content
        results = enumerate(map(json.loads, content.splitlines()))
        again |= {at for at, row in results if row.get("error", {}).get("type") in ours}
        place.write(shard.begun, _line(facts.item(), again) + content)
        place.delete(shard.facts)  # last: until then the part is done
    return len(again)


def done_of(run: Run, shards: Sequence[Shard]) -> int:
    """How many rows of shards that are missing have their result."""
    names = run.names()
    items = [_begun(run.place, each)[0] for each in shards if each.begun in names]
    return sum(item["facts"]["rows"] - len(item["again"]) for item in items)


def _line(facts: Mapping[str, Any], again: Iterable[int]) -> bytes:
    """The first line of a begun part: its facts, and which of its rows are asked again."""
    return json.dumps({"facts": facts, "again": sorted(again)}).encode() + b"\n"


def _begun(place: Place, shard: Shard) -> tuple[dict[str, Any], bytes]:
    """The first line of a begun part, and its results.

    Raises:
        NoSuchObject: nothing is begun.
    """
    line, _, content = place.read(shard.begun).partition(b"\n")
    item: dict[str, Any] = json.loads(line)
    return item, content
