"""`gsm8k` pays for the number behind the last marker, and for nothing else."""

import json
from pathlib import Path

import pytest

from reward_functions import BadReference, get, sample, score_batch
from reward_functions.serving.contract import decode

GSM8K = get("gsm8k")
TABLE = Path(__file__).parents[1] / "cases" / "gsm8k.jsonl"
CASES = [json.loads(line) for line in TABLE.read_text().splitlines()]


def value(response, reference="18", prompt="", **parameters):
    return GSM8K(sample(response, reference, prompt=prompt), **parameters).value


@pytest.mark.parametrize(
    "response",
    [
        "#### 18",
        "####18",
        "#### 18.",
        "#### 18.00",
        "#### $18",
        "#### 18 dollars per day",
        "#### **18**",
        "#### \\boxed{18}",
        "#### \\$18",
        "#### +18",
        "#### eighteen",
        "#### 36/2",
        "#### 18\n",
        "#### 18\r\n\r\n",
        "#### 5\n#### 18",
        "##### 18",
        "#### １８",
        "#### 18\nThe answer is 18.",
        "#### 1 8\n#### 18",
        "#### 18 .",
        "#### eighteen.",
        "#### 18</s>",
        "#### Answer: 18",
        "#### $18/day",
    ],
)
def test_right(response):
    assert value(response) == 1.0


@pytest.mark.parametrize(
    "response",
    [
        "",
        "18",
        "The answer is 18.",
        "\\boxed{18}",
        "####",
        "#### 19",
        "#### -18",
        "#### 18 or 19",
        "#### 17, 18, 19",
        "#### not 18",
        "#### 18 is wrong",
        "#### 18%0",
        "#### 6 * 3",
        "#### 1,8",
        "#### 0.18e2x",
        "#### 18\n#### 19",
        "#### 18\n####",
        "#### 18\nThe answer is 19.",
        "<think>#### 18</think>",
        "<think>#### 18",
        "~~#### 18~~",
        "#### 19 <!-- #### 18 -->",
    ],
)
def test_floor(response):
    assert value(response) == 0.0


@pytest.mark.parametrize("case", CASES, ids=[ascii(case["response"])[:60] for case in CASES])
def test_table(case):
    parameters = case.get("parameters", {})
    assert value(case["response"], case["reference"], **parameters) == case["right"]


@pytest.mark.parametrize(
    ("response", "right"),
    [
        ("\\boxed{18}", True),
        ("The answer is 18.", True),
        ("\\boxed{5} then \\boxed{18}", True),
        ("The answer is 5: \\boxed{18}", True),
        ("\\boxed{18}. The answer is 19.", False),
        ("\\boxed{18}\n#### 19", False),
        ("#### 18\n\\boxed{19}", False),
        ("The answer is not 18.", False),
        ("\\boxed{17}, \\boxed{18}", False),
        ("It is 18", False),
        ("\\boxed{18", False),
    ],
)
def test_flexible_also_reads_boxes_and_statements(response, right):
    assert value(response, flexible=True) == right


@pytest.mark.parametrize(
    "reference",
    ["18", 18, 18.0, "18.0", "$18", {"answer": "18"}, "so it is 18.\n#### 18", '{"text": "18"}'],
)
def test_reference_shapes(reference):
    assert value("#### 18", reference) == 1.0


@pytest.mark.parametrize("reference", [None, "", "some eggs", "18 or 19", {}, {"label": 1}, []])
def test_a_reference_that_is_no_number_is_the_data_sets_fault(reference):
    with pytest.raises(BadReference):
        value("#### 18", reference)


def test_large_numbers_are_exact():
    assert value("#### 9007199254740993", "9007199254740993") == 1.0
    assert value("#### 9007199254740992", "9007199254740993") == 0.0


def test_a_percent_sign_may_be_missing():
    assert value("#### 35%", "35") == value("#### 35", "35%") == value("#### 0.35", "35%") == 1.0
    assert value("#### 50", "0.5") == 0.0


def test_an_echo_of_the_prompt_earns_nothing():
    prompt = "How many eggs? Example: two boxes of nine make\n#### 18"
    assert value(prompt, prompt=prompt) == 0.0
    assert value(f"{prompt}\n#### 18", prompt=prompt) == 1.0


def test_the_score_says_why():
    score = GSM8K(sample("#### 18 or 19", "18"))
    assert (score.answer, score.reason) == (
        "18 or 19",
        "the last #### does not show one number",
    )


def test_real_rollouts_are_judged_as_their_labels_say(shared):
    rows = list(map(json.loads, (shared / "gsm8k/rollouts.jsonl").read_text().splitlines()))
    results = score_batch(GSM8K, decode(rows))
    judged = [result.score.value == 1.0 for result in results]
    assert judged == [row["metadata"]["is_correct"] for row in rows]
    assert len(rows) == 2672
