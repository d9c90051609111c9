"""The table of cases: rows for each notation and each rule, in both directions where it has two."""

import json
from pathlib import Path

import pytest

from reward_functions.symbolic import equal

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent.parent / "cases" / "symbolic.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


@pytest.mark.parametrize(
    "case", CASES, ids=[f"{case['reference']} ~ {case['candidate']}" for case in CASES]
)
def test_the_verdict_is_the_one_of_the_table(case):
    verdict = equal(case["reference"], case["candidate"])
    assert verdict.outcome.value == case["outcome"], verdict.reason
    assert verdict.rule == case.get("rule", verdict.rule)


@pytest.mark.parametrize("reference", sorted({case["reference"] for case in CASES}))
def test_a_reference_is_equal_to_itself(reference):
    assert equal(reference, reference).equal
    assert equal(reference, f"${reference}$" if "$" not in reference else reference).equal
    assert equal(reference, f" {reference} ").equal
