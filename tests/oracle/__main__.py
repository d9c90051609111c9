"""What the two tables of verdicts lack, in their own format, and which of their rows are stale.

    python -m tests.oracle

A person writes the reason into `why`, and settles the verdict of a miss: rule, gap or label.
"""

import json
import logging
from dataclasses import asdict

from tests.oracle import suites
from tests.oracle.verdicts import departures, explained_misses, misses, verdicts


def main():
    """Print the rows to add, then the rows to take out."""
    logging.disable()  # math-verify warns of everything it cannot parse
    listed = {departure.family for departure, _ in verdicts()}
    found = list(departures())
    for departure in found:
        if departure.family not in listed:
            listed.add(departure.family)
            show("add to verdicts.jsonl", {**asdict(departure), "why": ""})
    for stale in listed - {departure.family for departure in found}:
        show("take out of verdicts.jsonl", stale)
    if not suites.FOLDER.is_dir():
        print("misses: the labelled suites are not at hand")
        return
    told, missed = explained_misses(), set(misses())
    for suite, case, ours in sorted(missed - told.keys()):
        row = {"suite": suite, "id": case, "ours": ours, "verdict": "gap", "why": ""}
        show("add to misses.jsonl", row)
    for stale in sorted(told.keys() - missed):
        show("take out of misses.jsonl", stale)


def show(what, row):
    """One line for a reader and a table."""
    print(f"{what}: {json.dumps(row, ensure_ascii=False)}")


if __name__ == "__main__":
    main()
