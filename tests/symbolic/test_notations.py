"""Notations beside those of algebra: bases, units, money, dates and formulas of chemistry."""

import json
from pathlib import Path

import pytest

from reward_functions.symbolic import equal

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "notations.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


@pytest.mark.parametrize(
    "case", CASES, ids=[f"{case['reference']} ~ {case['candidate']}" for case in CASES]
)
def test_a_notation_is_read_and_its_near_miss_is_another_value(case):
    verdict = equal(case["reference"], case["candidate"])
    assert verdict.equal is case["right"], verdict.reason
