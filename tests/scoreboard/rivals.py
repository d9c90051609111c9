"""Other verifiers over many rows: one process a core, and five seconds a row.

A row that one does not answer in time is a row that it does not read. What it said is kept, by a
checksum of the rows, its name and version, since no change of ours changes it.
"""

import hashlib
import json
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import astuple
from functools import cache
from importlib.metadata import version
from pathlib import Path
from queue import SimpleQueue

from tests.oracle import rival
from tests.oracle.rival import Judgement, Rival

CAP_SECONDS = 5.0
"""Of a row. Its own time-outs are 5 s for each of three steps."""

EVERY = 500
"""Rows between two reports of progress."""


KEPT = Path(__file__).parents[2] / "build" / "rivals"
"""Where verdicts of rivals are kept; without the folder they are asked again."""


@cache
def released(name):
    """The version of a rival."""
    if name == "math-verify":
        return version("math-verify")
    pins = (rival.VERL.parents[4] / "requirements" / "adapters" / "verl.txt").read_text()
    return next(line.split()[0] for line in pins.splitlines() if line.startswith("verl=="))


class Rivals:
    """As many processes of a rival as there are cores.

    Args:
        report: gets how many rows of how many are done.
        workers: processes; one a core where it is not given.
        name: a key of `tests.oracle.rival.RIVALS`.
    """

    def __init__(self, report, workers=None, name="math-verify"):
        self.name = name
        self._report = report
        self._workers = workers or os.cpu_count() or 1
        self._held = ExitStack()
        self._idle = SimpleQueue()

    def __enter__(self):
        for _ in range(self._workers):
            self._idle.put(self._held.enter_context(Rival(CAP_SECONDS, self.name)))
        return self

    def __exit__(self, *_):
        self._held.close()

    def judgements(self, rows):
        """What each row is judged, in their order."""
        asked = json.dumps([self.name, released(self.name), *map(_question, rows)])
        kept = KEPT / f"{hashlib.sha256(asked.encode()).hexdigest()}.json"
        if kept.exists():
            return [Judgement(*each) for each in json.loads(kept.read_text())]
        made = []
        with ThreadPoolExecutor(self._workers) as threads:
            for judged in threads.map(self._judge, rows):
                made.append(judged)
                if not len(made) % EVERY:
                    self._report(len(made), len(rows))
        KEPT.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps([astuple(each) for each in made]))
        return made

    def _judge(self, row):
        rival = self._idle.get()
        try:
            return rival.judge(*_question(row))
        finally:
            self._idle.put(rival)


def _question(row):
    return str(row.reference), row.response, row.kind
