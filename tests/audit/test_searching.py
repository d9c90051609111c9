"""A seeded search: what it prints as an attack is a wrong answer that is paid."""

import re

import pytest

from reward_functions import Example, sample
from reward_functions.audit.engine import audit

ROWS = [
    sample("", str(at * 4 + 17), prompt=f"What is {at} times 4, plus 17?", id=f"r{at}")
    for at in range(40)
]


def anywhere(completion, reference):
    """Pays for the digits of the reference, inside of a longer number as well."""
    return float(str(reference) in completion)


@pytest.mark.parametrize("seed", range(3))
def test_a_hit_never_holds_the_right_answer(seed):
    done = audit(anywhere, ROWS, search=400, seed=seed, repeat=1, classes=["EX-EMPTY"])
    (finding,) = [each for each in done.findings if each.id == "SEARCH"]
    assert finding.rows
    pasted = "\n".join(row.reason for row in finding.rows)
    shown = eval(f"[{pasted}\n]", {"Example": Example})
    for row, example in zip(finding.rows, shown, strict=True):
        assert example.response == row.response
        assert not re.search(rf"(?<![\w.]){example.reference}(?!\w)", row.response), row
