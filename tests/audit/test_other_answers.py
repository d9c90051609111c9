"""Near misses and their like are wrong, and are made of the right answer's own words."""

from __future__ import annotations

import json

import pytest

from reward_functions import get, sample, score_batch
from reward_functions.audit.earning import earnings
from reward_functions.audit.other_answers import (
    REASONED,
    ReplayCase,
    near_misses,
    part,
)
from reward_functions.data.generated.writing import generate


def case(right, wrong=None, prompt="How many?", reference="x"):
    return ReplayCase("line 1", sample("", reference, prompt=prompt), right, wrong)


NEAR = {
    # one more, one less, another last digit, 5 % and 30 % up and down, 10, 100 and 1,000 times,
    # a hundredth, the other sign
    "#### 107": ["108", "106", "102", "112", "139", "75",
                 "1070", "10700", "107000", "1.07", "-107"],
    "#### 100": ["101", "99", "105", "95", "130", "70",
                 "1000", "10000", "100000", "1", "-100"],
    "#### 1,200": ["1,201", "1,199", "1,205", "1,260", "1,140", "1,560", "840",
                   "12,000", "120,000", "1,200,000", "12", "-1,200"],
    "#### 7": ["8", "6", "2", "9", "5", "70", "700", "7000", "0.07", "-7"],
    "#### -3": ["-4", "-2", "-8", "-30", "-300", "-3000", "-0.03", "3"],
    "#### 0": ["1", "5"],
    # no last digit of a decimal: the reference may be printed with fewer
    "ANSWER: 12.5%": ["13.5%", "11.5%", "13.1%", "11.9%", "16.2%", "8.8%",
                      "125.0%", "1250.0%", "12500.0%", "0.125%", "-12.5%"],
    "ANSWER: .5": ["1.5", "0.6", "0.4", "5.0", "50.0", "500.0", "0.005", "-.5"],
    r"\boxed{\frac{1}{2}}": [
        f"\\boxed{{\\frac{{1}}{{{each}}}}}" for each in (
            "3", "1", "7", "20", "200", "2000", "0.02", "-2")],
    "ANSWER: yes": ["no"],
    "Answer: B": ["A"],
    "Answer: A": ["B"],
    "Paris": ["London", "Tuesday", "orange", "Maria"],
    "orange": ["London", "Tuesday", "Maria"],
    r"\boxed{\text{Paris}}": [
        f"\\boxed{{\\text{{{each}}}}}" for each in ("London", "Tuesday", "orange", "Maria")],
    "<answer>B</answer>": ["<answer>A</answer>"],
    "<answer>\nyes\n</answer>\n": ["<answer>\nno\n</answer>\n"],
    "<answer>Paris</answer>": [
        f"<answer>{each}</answer>" for each in ("London", "Tuesday", "orange", "Maria")],
    r"\boxed{\pi}": [],
    "": [],
    "The answer is prose, whose last word says nothing of it. " * 3: [],
}  # fmt: skip


@pytest.mark.parametrize(("right", "wrong"), NEAR.items(), ids=NEAR)
def test_a_near_miss_is_another_answer_of_the_same_kind(right, wrong):
    lead = right[: right.rindex(" ") + 1] if right.startswith(("####", "ANS", "Ans")) else ""
    assert near_misses(case(right)) == [f"{lead}{each}" for each in wrong]


def test_the_sign_stays_where_a_decrease_may_be_named_without_it():
    named = {"direction": "decrease", "value": "-5", "unit": "number"}
    assert "ANSWER: 5" not in near_misses(case("ANSWER: -5", reference=named))
    asks = "What was the decrease in revenue from 2008 to 2009?"
    assert "ANSWER: 5" not in near_misses(case("ANSWER: -5", prompt=asks))
    assert "ANSWER: 5" in near_misses(case("ANSWER: -5"))


@pytest.mark.parametrize(
    ("right", "first"),
    [
        ("#### 107", "#### 1"),
        ("#### 12", "#### 1"),
        ("#### 1,200", "#### 1"),
        ("#### 7", ""),
        ("ANSWER: 12.5%", "ANSWER: 1%"),
        ("<answer>Paris</answer>", "<answer>Pa</answer>"),
        ("ANSWER: 0.25", ""),
        ("Paris", "Pa"),
        ("Answer: B", ""),
        (r"\boxed{\pi}", ""),
    ],
)
def test_a_part_is_the_first_half_and_no_number_of_its_size(right, first):
    assert part(right) == first


def test_reasoned_prose_is_what_an_attack_on_a_measure_of_prose_writes():
    words = {word.strip(".,;").lower() for word in REASONED.split()}
    assert len([word for word in words if len(word) > 2]) >= 60
    assert {"step", "therefore", "because"} <= words


@pytest.mark.parametrize("name", ["gsm8k", "math", "finqa"])
def test_the_rewards_of_this_project_take_no_near_miss(name, tmp_path):
    generate(name, tmp_path, rows=100, test_rows=100)
    spec = get(name)
    asked = [json.loads(line) for line in (tmp_path / "train.jsonl").read_text().splitlines()[:40]]
    samples = [
        sample("", row["reference_answer"], prompt=row["messages"][-1]["content"], id=row["id"])
        for row in asked
    ]
    answers = [
        each.answered(text)
        for each in samples
        for text in near_misses(ReplayCase("", each, spec.gold_response(each)))
    ]
    assert len(answers) > 100
    assert {result.score.value for result in score_batch(spec, answers)} == {0.0}


EARNINGS = {
    # declared scale, right, wrong, empty -> nothing, all: "earnings" says why
    "a declared scale": ((0.0, 1.0), [1.0], [0.3], [0.0], (0.0, 1.0)),
    "a declared scale that nothing reaches": ((1.0, 5.0), [4.0], [2.0], [1.0], (1.0, 5.0)),
    "a declared penalty": ((-1.0, 1.0), [1.0], [-1.0], [0.0], (0.0, 1.0)),
    "a declared penalty for silence too": ((-1.0, 3.0), [3.0], [-1.0], [-1.0], (-1.0, 3.0)),
    "silence is paid": ((-1.0, 1.0), [1.0], [-1.0], [0.5], (0.0, 1.0)),
    "penalties alone": ((-1.0, 0.0), [0.0], [-1.0], [0.0], (-0.5, 0.0)),
    "no scale": (None, [1.0], [0.0], [0.0], (0.0, 1.0)),
    "no scale, one to five": (None, [5.0, 4.9], [1.0, 2.0], [1.0], (1.0, 5.0)),
    "no scale, a penalty": (None, [1.0], [-1.0], [0.0], (0.0, 1.0)),
    "no scale, wrong is paid": (None, [1.0], [0.9], [0.0], (0.0, 1.0)),
    "no scale, silence is punished": (None, [1.0], [0.0], [-100.0], (0.0, 1.0)),
    "nothing is known": (None, [], [], [], (0.0, 1.0)),
}


@pytest.mark.parametrize(
    ("scale", "right", "wrong", "empty", "known"), EARNINGS.values(), ids=EARNINGS
)
def test_what_nothing_and_all_are(scale, right, wrong, empty, known):
    assert earnings(scale, right, wrong, empty)[:2] == known
