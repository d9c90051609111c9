"""Where `math` departs from math-verify, and from labels, with the verdict on each.

Two tables, both checked in and both shown in docs/math.md:

    tests/cases/verdicts.jsonl   kinds of disagreement with math-verify over our own cases
    tests/cases/misses.jsonl     labels of other projects' suites that `math` does not follow

A verdict is "rule" (we do what a rule of docs/math.md says), "gap" (we do not, yet) or "label" (the
label asks for something else than mathematics). `python -m tests.oracle` prints what they lack.
"""

import json
import os
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from tests.oracle import rival, suites
from tests.oracle.ours import RIGHT, UNDECIDED, WRONG, agrees, answered

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


QUICK = 2.0
"""Seconds of a case that no time-out of math-verify's has ended."""


def of_math_verify(cases):
    """What it says to each case. Asked once by a checkout for these versions and cases."""
    versions = [version(name) for name in ("math-verify", "latex2sympy2-extended", "sympy")]
    asked = [versions, Path(rival.__file__).read_text(), [[e.gold, e.response] for e in cases]]
    name = sha256(json.dumps(asked).encode()).hexdigest()[:32]
    kept = CASES.parents[1] / "build" / "oracle" / f"{name}.json"
    if kept.is_file():
        return json.loads(kept.read_text())
    judged = [rival.judge(case.gold, case.response) for case in cases]
    said = [SAYS[each.right] for each in judged]
    if max(each.seconds for each in judged) < QUICK:
        kept.parent.mkdir(parents=True, exist_ok=True)
        scratch = kept.with_name(f"{name}-{os.getpid()}")
        scratch.write_text(json.dumps(said))
        scratch.replace(kept)
    return said


def departures():
    """Every departure over our own cases. Calls math-verify: in the main thread only."""
    cases = list(suites.differential())
    said = zip(cases, rows_of(suites.OWN), of_math_verify(cases), strict=True)
    for case, row, theirs in said:
        says = ours(case)
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
