"""The table of cases: rows for each notation and each rule, in both directions where it has two."""

import json
from pathlib import Path

import pytest

from reward_functions.symbolic import equal
from reward_functions.symbolic.expr.nodes import Number, Power, Product, Root, Sum, Symbol
from reward_functions.symbolic.parsing.document import read

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "symbolic.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


@pytest.mark.parametrize(
    "case", CASES, ids=[f"{case['reference']} ~ {case['candidate']}" for case in CASES]
)
def test_the_verdict_is_the_one_of_the_table(case):
    verdict = equal(case["reference"], case["candidate"])
    assert verdict.outcome.value == case["outcome"], verdict.reason
    if "rule" in case:
        assert verdict.rule == case["rule"], verdict.reason


REFERENCES = sorted({case["reference"] for case in CASES})
DECIDED = {case["reference"] for case in CASES if case["outcome"] == "equal"}
VALUES = [
    reference
    for reference in REFERENCES
    if (tree := read(reference).tree) is not None
    and not read(reference).wordy
    and isinstance(tree, Sum | Product | Power | Root | Number | Symbol)
    and "," not in reference  # which separates between brackets
    and r"\infty" not in reference
    and reference in DECIDED  # the others may be too large for any arithmetic
    and "9^{9^" not in reference
]


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_reference_is_equal_to_itself_with_other_white_space(reference):
    verdict = equal(reference, f"  {reference}\\,")
    assert verdict.equal
    assert verdict.rule != "same-text"
    assert "$" in reference or equal(reference, f"${reference}$").equal


@pytest.mark.parametrize("reference", VALUES)
def test_a_value_is_equal_to_itself_in_a_sum(reference):
    verdict = equal(reference, rf"\left({reference}\right)+0")
    assert verdict.equal, verdict
    assert verdict.rule not in ("same-text", "normalised-text", "same-expression")
