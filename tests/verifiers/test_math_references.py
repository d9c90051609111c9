"""What `math` takes as a reference: truths, lists, names in an order, and stray notation."""

import json
from pathlib import Path

import pytest

from reward_functions import BadReference, Scored, Unscored, get, sample, score_batch
from reward_functions.testing import hostile_responses

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "references.jsonl").read_text().splitlines()
]
math = get("math")


def scored(row):
    reward = math.bind(row.get("parameters", {}))
    asked = sample(row["response"], row["reference"], prompt=row.get("prompt", ""))
    (result,) = score_batch(reward, [asked])
    return result


@pytest.mark.parametrize(
    "row", ROWS, ids=[f"{row['reference']} ~ {row['response']}" for row in ROWS]
)
def test_the_score_is_the_one_of_the_table(row):
    result = scored(row)
    if row["score"] is None:
        assert isinstance(result, Unscored)
        assert isinstance(result.error, BadReference)
    else:
        assert isinstance(result, Scored), result
        assert result.score.value == row["score"], result.score.reason


SUGGESTED = {
    "a command glued to letters": (r"x\leqy", r"write \leq y if that is meant"),
    "a unit as a command": (r"5\inch", r"write \text{inch}"),
    "an ellipsis without one pattern": (r"1+2+\ldots+8", r"write the value, or a \sum"),
    "two numbers side by side": ("5 46", "write one number, or a comma between two"),
    "two forms of two values": ("2 ## 3", "they are not one value"),
    "a remark without bounds": ("3 (满足整数皆可)", "not by bounds of one letter"),
}


@pytest.mark.parametrize(("reference", "suggestion"), SUGGESTED.values(), ids=SUGGESTED)
def test_what_cannot_be_read_comes_with_a_suggestion(reference, suggestion):
    result = scored({"reference": reference, "response": r"\boxed{9}"})
    assert isinstance(result, Unscored)
    assert suggestion in str(result.error)


SIGNS = {
    # reference, answer, whether the score hangs on a percent sign
    "dropped in the reference": ("16", r"16\%", 1.0),
    "dropped in the answer": (r"16\%", "16", 1.0),
    "in words": ("16", "16 percent", 1.0),
    "on both sides": (r"16\%", r"16\%", 0.0),
    "on neither": ("16", "16", 0.0),
    "of an equal value": ("0.16", r"16\%", 0.0),
    "of a wrong value": ("17", r"16\%", 0.0),
}


@pytest.mark.parametrize(("reference", "answer", "counted"), SIGNS.values(), ids=SIGNS)
def test_a_metric_counts_what_hangs_on_a_percent_sign(reference, answer, counted):
    score = math(rf"\boxed{{{answer}}}", reference)
    metrics = {metric.name: metric.value for metric in score.metrics}
    assert metrics["percent_sign"] == counted


@pytest.mark.parametrize("reference", [True, [1, -1]])
def test_no_response_makes_such_a_reference_unscored_or_is_paid_for_nothing(reference):
    rows = [sample(text, reference, prompt="Is it so?") for _, text in hostile_responses()]
    results = score_batch(math, rows)
    assert all(isinstance(result, Scored) and not result.score.value for result in results)


@pytest.mark.parametrize(
    "reference", [True, False, [1, -1], [True, False], [7], "[2, 1]", r"x\leS"]
)
def test_the_gold_response_is_right(reference):
    asked = sample("", reference, prompt="Is $x$ at most the sum $S$?")
    assert math(asked.answered(math.gold_response(asked))).value == 1.0


def test_other_rewards_take_any_of_a_list_of_numbers():
    assert get("gsm8k")("#### 2", [1, 2]).value == 1.0
    assert get("exact_match")("2", [1, 2]).value == 1.0
