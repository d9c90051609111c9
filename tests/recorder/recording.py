"""A record: what every reward says today to every row there is, one line each, in a fixed order."""

import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from itertools import chain
from time import monotonic

from tests.recorder import judged, labelled, surface
from tests.recorder.mutations import Pool

PROGRESS = 5.0
"""Seconds between two words about how far it is."""

NO_DATA = "NO LABELLED DATA in {}: this record holds our own tables only, and lacks all other rows"


@dataclass
class Summary:
    """What a record holds.

    Args:
        files: lines by the file their rows come from.
        errors: lines without a score, by the type of the exception.
        versions: of the rewards.
        repeated: rows that say what another one says, in this file or in that.
        engine: lines whose outcome rests on the machine.
    """

    files: Counter = field(default_factory=Counter)
    errors: Counter = field(default_factory=Counter)
    versions: dict = field(default_factory=dict)
    repeated: int = 0
    engine: int = 0

    def add(self, line):
        """Count a line."""
        self.files[file_of(line)] += 1
        self.errors.update([line["error"]] if line["error"] else [])
        self.versions[line["reward"]] = line["version"]
        self.engine += surface.NAMES.rests_on_the_engine(line)


def record(path, *, mutations, seed):
    """Score everything, and write the record."""
    summary, progress, seen = Summary(), Progress(), set()
    with path.open("w", encoding="utf-8") as file:
        for trial in trials(mutations=mutations, seed=seed):
            for line in surface.outcomes(trial):
                if key(line) in seen:
                    summary.repeated += 1
                    continue
                seen.add(key(line))
                file.write(json.dumps(line) + "\n")
                summary.add(line)
                progress.show(len(seen), line["where"])
    return summary


def trials(*, mutations, seed):
    """Everything that is scored."""
    ours, others = list(labelled.own()), list(labelled.others())
    if not others:
        print(NO_DATA.format(labelled.SHARED), file=sys.stderr)
    pool = Pool(ours, others)
    return chain(
        surface.examples(),
        surface.hostile(),
        labelled.trials(chain(ours, others, labelled.demo())),
        judged.trials(),
        (pool.trial(seed, index) for index in range(mutations)),
    )


def key(line):
    """What a line is about, as far as one record can hold it once."""
    return (
        line["case"],
        line["reward"],
        json.dumps(line["parameters"], sort_keys=True),
        line["judge"],
    )


def file_of(line):
    """The file its row comes from."""
    return line["where"].partition(":")[0]


class Progress:
    """A line on stderr every few seconds."""

    def __init__(self):
        self.began = self.shown = monotonic()

    def show(self, count, where):
        now = monotonic()
        if now - self.shown >= PROGRESS:
            self.shown = now
            seconds = now - self.began
            print(f"{count:,} rows, {seconds:.0f} s: {where}", file=sys.stderr, flush=True)
