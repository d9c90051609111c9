"""Where `math` departs from math-verify, and from labels, with the verdict on each.

Two tables, both checked in and both shown in docs/math.md:

    tests/cases/verdicts.jsonl   kinds of disagreement with math-verify over our own cases
    tests/cases/misses.jsonl     labels of other projects' suites that `math` does not follow

A verdict is "rule" (we do what a rule of docs/math.md says), "gap" (we do not, yet) or "label" (the
label asks for something else than mathematics). `python -m tests.oracle` prints what they lack.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.oracle import suites
from tests.oracle.ours import RIGHT, UNDECIDED, WRONG, agrees, answered
from tests.oracle.rival import judge

CASES = Path(__file__).parents[1] / "cases"
VERDICTS = CASES / "verdicts.jsonl"
MISSES = CASES / "misses.jsonl"

EXPLAINED = ("mathverify_tests", "other_repo_tests", "human_solutions")
"""Suites whose labels are their projects' own conventions, so that a miss wants a reason."""

SAYS = {True: RIGHT, False: WRONG}


@dataclass(frozen=True)
class Departure:
    """A case of ours on which we and math-verify, or we and its label, do not agree."""

    kind: str
    reference: str
    response: str
    ours: str
    theirs: str
    verdict: str
    source: str

    @property
    def family(self):
        """What one row of the table speaks for; see `family_of`."""
        return family_of(asdict(self))


def family_of(row):
    """What one row of the table speaks for: a kind of disagreement, but each gap for itself."""
    example = (row["reference"], row["response"]) if row["verdict"] == "gap" else ("", "")
    return (row["kind"], row["ours"], row["theirs"], *example)


def miss_of(row):
    """What identifies a row of the other table."""
    return row["suite"], row["id"], row["ours"]


def rows_of(path):
    """The rows of a table."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def ours(case):
    """What we say to a case: what is undecided is not paid for, which makes it wrong."""
    answer = answered(case.sample)
    return WRONG if answer == UNDECIDED else answer


def departures():
    """Every departure over our own cases. Calls math-verify: in the main thread only."""
    for case, row in zip(suites.differential(), rows_of(suites.OWN), strict=True):
        says, theirs = ours(case), SAYS[judge(case.gold, case.response).right]
        if says != theirs or not agrees(case, says):
            yield Departure(
                kind=case.kind,
                reference=case.gold,
                response=case.response,
                ours=says,
                theirs=theirs,
                verdict="rule" if agrees(case, says) else "gap",
                source=row["source"],
            )


def misses():
    """(suite, id, what we say) of every case of the explained suites that we miss."""
    for name in EXPLAINED:
        for case in suites.suite(name):
            if not agrees(case, says := ours(case)):
                yield name, case.id, says
