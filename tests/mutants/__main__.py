"""Change one thing in the package, run the tests that should see it, and count those that do.

    python -m tests.mutants --since main~5            the lines changed since a commit
    python -m tests.mutants --rooms jobs reports      any line of these rooms

A mutant that no test sees is printed with its line, and whether a test ran the line at all.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from time import monotonic

from tests.architecture.rooms import PACKAGE, ROOT, row_of
from tests.mutants.changing import mutants
from tests.mutants.trees import Tree

FATES = ("killed", "survived", "not run")


def changed_lines(since):
    """The lines of each file of the package that differ from a commit's.

    Returns:
        the set of line numbers by path.
    """
    command = ["git", "diff", "--unified=0", "--no-color", since, "--", "reward_functions"]
    lines, path = {}, None
    for line in subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines():
        if line.startswith("+++ "):
            path = ROOT / line[6:] if line.startswith("+++ b/") else None
        elif line.startswith("@@") and path:
            start, _, count = line.split()[2][1:].partition(",")
            lines.setdefault(path, set()).update(range(int(start), int(start) + int(count or 1)))
    return lines


def candidates(rooms, lines):
    """Every mutant of the rooms, or of the lines where there are any."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        if lines is not None and path not in lines:
            continue
        if rooms and not any(f"{name}.".startswith(f"{room}.") for room in rooms):
            continue
        for mutant in mutants(path):
            if lines is None or mutant.line in lines[path]:
                yield mutant


def room(mutant):
    """The row of the walls that a mutant lies in."""
    return row_of(".".join(mutant.path.relative_to(PACKAGE).with_suffix("").parts))


def main():
    """Run the mutants.

    Returns:
        1 where fewer than `--least` percent were killed.
    """
    parser = argparse.ArgumentParser("python -m tests.mutants", description=__doc__)
    parser.add_argument("--since", help="only lines changed since this commit")
    parser.add_argument("--rooms", nargs="*", default=[], help="such as jobs or rollouts.drive")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=10, help="no mutant begins after these")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--least", type=float, default=0, help="percent that must be killed")
    parser.add_argument("--out", type=Path, help="a line of JSON for each mutant")
    asked = parser.parse_args()

    found = list(candidates(asked.rooms, changed_lines(asked.since) if asked.since else None))
    drawn = Random(asked.seed).sample(found, min(asked.count, len(found)))
    print(f"{len(found)} mutants are possible, {len(drawn)} are drawn", flush=True)
    end = monotonic() + 60 * asked.minutes
    fates = []

    def run(number):
        with Tree() as tree:
            for mutant in drawn[number :: asked.workers]:
                if monotonic() > end:
                    return
                fate, by, seconds = tree.fate(mutant)
                fates.append((mutant, fate))
                print(f"{fate:9} {seconds:5.0f} s  {mutant}  {by}", flush=True)
                if asked.out:
                    row = {"mutant": str(mutant), "fate": fate, "by": by, "room": room(mutant)}
                    with asked.out.open("a", encoding="utf-8") as out:
                        print(json.dumps(row), file=out)

    with ThreadPoolExecutor(asked.workers) as pool:
        list(pool.map(run, range(asked.workers)))
    if not fates:
        print("No mutant was run: nothing is shown by that.")
        return 1
    for name in sorted({room(mutant) for mutant, _ in fates}):
        of_room = Counter(fate for mutant, fate in fates if room(mutant) == name)
        print(f"{name:16}", *(f"{of_room[fate]:4} {fate}" for fate in FATES))
    share = 100 * sum(fate == "killed" for _, fate in fates) / len(fates)
    print(f"killed {share:.0f} % of {len(fates)}; {len(drawn) - len(fates)} had no time")
    return int(share < asked.least)


sys.exit(main())
