"""References against other references of the same shape: every pair that is accepted.

    python -m tests.oracle.cross              a sample of the pairs of each shape
    python -m tests.oracle.cross 11 6000      another sample, four times as large

References of one shape look alike and mostly differ, so a pair that is accepted is either the same
answer in two spellings or a wrong payment. A person judges; what differs in layout alone is not
printed.
"""

import gzip
import json
import random
import re
import sys
from collections import defaultdict
from itertools import combinations

from reward_functions.symbolic import Unreadable, equal
from reward_functions.symbolic.parsing.document import read
from tests.oracle import suites

DATA = suites.FOLDER.parent
FIELDS = ("gold", "answer", "final_answer", "reference")
LONGEST = 200
SHAPES = frozenset("builtset given listing relation union piecewise bracket braces".split())
MANY = frozenset(("builtset", "given", "union", "sets"))
"""Shapes of which four times as many pairs are compared: there most rules meet."""

LETTER = re.compile(r"(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])")


def references():
    """The short references of all suites at hand, each once."""
    found = set()
    for folder in ("math", "public"):
        for path in sorted((DATA / folder).glob("*.jsonl*")):
            text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            for line in text.splitlines():
                row = json.loads(line)
                for field in FIELDS:
                    value = row.get(field)
                    value = value[0] if isinstance(value, list) and value else value
                    if isinstance(value, str) and 0 < len(value.strip()) < LONGEST:
                        found.add(value.strip().strip("$").strip())
    return sorted(found)


def shapes(reference):
    """The shapes that a reference has."""
    tree = read(reference).tree
    kind = type(tree).__name__.lower()
    if kind in SHAPES:
        yield kind
    if kind in ("sum", "product", "power", "apply") and LETTER.search(reference):
        yield "letters"
    if tree is not None and any(sign in reference for sign in ("∈", r"\in", "<", r"\le")):
        yield "sets"


def accepted(first, second):
    """Whether a reference accepts another one; one that cannot be read accepts nothing."""
    try:
        return equal(first, second, solver=False).equal
    except Unreadable:
        return False


def main(seed=7, most=1500):
    """Print the accepted pairs of each shape that differ in more than layout, and count them."""
    groups = defaultdict(list)
    for reference in references():
        for shape in shapes(reference):
            groups[shape].append(reference)
    chance = random.Random(seed)
    compared = 0
    for shape, members in sorted(groups.items()):
        pairs = list(combinations(members, 2))
        chance.shuffle(pairs)
        for first, second in pairs[: most * (4 if shape in MANY else 1)]:
            compared += 2
            for mine, theirs in ((first, second), (second, first)):
                if "".join(mine.split()) != "".join(theirs.split()) and accepted(mine, theirs):
                    print(json.dumps({"shape": shape, "reference": mine, "answer": theirs}))
    print(f"{compared} comparisons")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
