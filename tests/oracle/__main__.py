"""What the two tables of verdicts lack, in their own format, and which of their rows are stale.

    python -m tests.oracle            prints the rows to add and to take out
    python -m tests.oracle --prune    takes the stale ones out

A person writes the reason of a row into `why`, and settles the verdict: rule, gap or label.
"""

import json
import logging
import sys
from dataclasses import asdict

from tests.oracle import suites, verdicts


def main(*, prune):
    """Compare both tables with what is found now."""
    logging.disable()  # math-verify warns of everything it cannot parse
    found = {departure.family: departure for departure in reversed(list(verdicts.departures()))}
    rows = [{**asdict(departure), "why": ""} for departure in found.values()]
    settle(verdicts.VERDICTS, rows, verdicts.family_of, prune=prune)
    if not suites.FOLDER.is_dir():
        print("misses: the labelled suites are not at hand")
        return
    missed = [
        {"suite": suite, "id": case, "ours": ours, "verdict": "gap", "source": "", "why": ""}
        for suite, case, ours in verdicts.misses()
    ]
    settle(verdicts.MISSES, missed, verdicts.miss_of, prune=prune)


def settle(path, rows, key, *, prune):
    """Print what a table lacks and what it has too much; write it without the latter if asked."""
    table = verdicts.rows_of(path)
    listed, found = {key(row) for row in table}, {key(row) for row in rows}
    for row in rows:
        if key(row) not in listed:
            print(f"add to {path.name}: {json.dumps(row, ensure_ascii=False)}")
    for stale in sorted(listed - found):
        print(f"take out of {path.name}: {json.dumps(stale, ensure_ascii=False)}")
    if prune:
        kept = [row for row in table if key(row) in found]
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept))


if __name__ == "__main__":
    main(prune="--prune" in sys.argv[1:])
