"""The part of a shard: its results until they are written, and the begun part that is gone on with.

Where its time is too short, what is scored stands in `part-000003.begun.jsonl`, with its facts in
`part-000003.begun.json`; who is asked for the shard again goes on after it. Rows that are paid for
stand there after each batch.
"""

from __future__ import annotations

import json
from hashlib import sha256
from shutil import copyfileobj
from typing import IO, TYPE_CHECKING

from reward_functions.core.spec import Scale
from reward_functions.scoring.facts import PART, Facts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reward_functions.scoring.folder import Run
    from reward_functions.scoring.results import RowResult
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
