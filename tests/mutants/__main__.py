"""Change one thing in the package, run the tests that should see it, and count those that do.

    python -m tests.mutants --since main~5            the lines changed since a commit
    python -m tests.mutants --rooms jobs reports      any line of these rooms
    python -m tests.mutants --only core/means.py:20:  what it prints of these places

A mutant that no test sees is printed with its line, and whether a test ran the line at all. One
that changes nothing that anybody can see is not run: `equivalent.toml` says why.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path
from random import Random
from time import monotonic

from tests.architecture.rooms import PACKAGE, ROOT, row_of
from tests.mutants.changing import mutants
from tests.mutants.judged import judged, name_of
from tests.mutants.trees import Tree

FATES = ("killed", "survived", "not run", "equivalent")


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


def candidates(rooms, lines, only=()):
    """Every mutant of the rooms, of the lines where there are any, of what was printed so."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if lines is not None and path not in lines:
            continue
        for mutant in mutants(path):
            if rooms and room(mutant, rooms) not in rooms:
                break
            if only and not any(text in str(mutant) for text in only):
                continue
            if lines is None or mutant.line in lines[path]:
                yield mutant


def room(mutant, rooms):
    """The room that a mutant was drawn for: the one asked for, else the row of the walls."""
    name = name_of(mutant)
    return next((each for each in rooms if f"{name}.".startswith(f"{each}.")), row_of(name))


def drawn_of(found, rooms, count, seed):
    """So many mutants, as many of each room as of another, in turns."""
    by_room = {}
    for mutant in Random(seed).sample(found, len(found)):
        by_room.setdefault(room(mutant, rooms), []).append(mutant)
    turns = zip_longest(*(by_room[name] for name in sorted(by_room)))
    return [mutant for turn in turns for mutant in turn if mutant][:count]


def main():
    """Run the mutants.

    Returns:
        1 where fewer than `--least` percent were killed.
    """
    parser = argparse.ArgumentParser("python -m tests.mutants", description=__doc__)
    parser.add_argument("--since", help="only lines changed since this commit")
    parser.add_argument("--rooms", nargs="*", default=[], help="such as jobs or rollouts.drive")
    parser.add_argument("--only", nargs="*", default=[], help="such as core/means.py:20:")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=10, help="no mutant begins after these")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=int, default=200, help="of a processor, then tests hang")
    parser.add_argument(
        "--whole", action="store_true", help="ask tests of other rooms where those see nothing"
    )
    parser.add_argument("--least", type=float, default=0, help="percent that must be killed")
    parser.add_argument("--out", type=Path, help="a line of JSON for each mutant")
    asked = parser.parse_args()

    lines = changed_lines(asked.since) if asked.since else None
    found = list(candidates(asked.rooms, lines, asked.only))
    drawn = drawn_of(found, asked.rooms, asked.count, asked.seed)
    print(f"{len(found)} mutants are possible, {len(drawn)} are drawn", flush=True)
    end = monotonic() + 60 * asked.minutes
    equivalent = judged(found)
    fates = []

    def run(number):
        share = drawn[number :: asked.workers]
        files = {mutant.path for mutant in share if mutant not in equivalent}
        with Tree(files, asked.whole, asked.seconds) as tree:
            for mutant in share:
                if monotonic() > end:
                    return
                reason = equivalent.get(mutant)
                fate, by, seconds = ("equivalent", reason, 0) if reason else tree.fate(mutant)
                fates.append((mutant, fate))
                print(f"{fate:9} {seconds:5.0f} s  {mutant}  {by}", flush=True)
                if asked.out:
                    row = {
                        "mutant": str(mutant),
                        "fate": fate,
                        "by": by,
                        "room": room(mutant, asked.rooms),
                    }
                    with asked.out.open("a", encoding="utf-8") as out:
                        print(json.dumps(row), file=out)

    with ThreadPoolExecutor(asked.workers) as pool:
        list(pool.map(run, range(asked.workers)))
    if not fates:
        print("No mutant was run: nothing is shown by that.")
        return 1
    table = {}
    for mutant, fate in fates:
        table.setdefault(room(mutant, asked.rooms), Counter())[fate] += 1
    for name in sorted(table):
        print(f"{name:16}", *(f"{table[name][fate]:4} {fate}" for fate in FATES))
    counted = Counter(fate for _, fate in fates)
    killable = len(fates) - counted["equivalent"]
    share = 100 * counted["killed"] / killable if killable else 100
    print(f"killed {share:.0f} % of {killable}; {len(drawn) - len(fates)} had no time")
    return int(share < asked.least)


if __name__ == "__main__":
    sys.exit(main())
