"""math-verify over many rows: one process a core, and five seconds a row.

A row that it does not answer in time is one that it does not read. What it said is kept, by a
checksum of the rows and its version, since no change of ours changes it.
"""

import hashlib
import json
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import astuple
from importlib.metadata import version
from pathlib import Path
from queue import SimpleQueue

from tests.oracle.rival import Judgement, Rival

CAP_SECONDS = 5.0
"""Of a row. Its own time-outs are 5 s for each of three steps."""

EVERY = 500
"""Rows between two reports of progress."""


KEPT = Path(__file__).parents[2] / "build" / "math-verify"
"""Where its verdicts are kept; without the folder it is asked again."""


class Rivals:
    """As many math-verifys as there are cores; `report` gets how many rows of how many are done."""

    def __init__(self, report, workers=None):
        self._report = report
        self._workers = workers or os.cpu_count() or 1
        self._held = ExitStack()
        self._idle = SimpleQueue()

    def __enter__(self):
        for _ in range(self._workers):
            self._idle.put(self._held.enter_context(Rival(CAP_SECONDS)))
        return self

    def __exit__(self, *_):
        self._held.close()

    def judgements(self, rows):
        """What each row is judged, in their order."""
        asked = json.dumps([version("math-verify"), *map(_question, rows)])
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
