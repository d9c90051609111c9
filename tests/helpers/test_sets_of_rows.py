"""What notebooks 03 and 04 stand on: golds with units, labelled pairs, splits, constants, costs."""

import json

import pytest

from helpers.faithfulness import REASONS, compared_pairs, labelled_reasons, prepared
from helpers.reading import constants_earn, number_anywhere, read_by, roughly_right
from helpers.rubric_judge import judge_costs
from helpers.sample_data import RECORDS, bound_by_script, golds, paid_by, questions
from helpers.training_rows import TrainingRows, generated, shared_by, split_by
from reward_functions import Scored, get, sample, score_batch
from reward_functions.core.errors import ConfigurationError
from reward_functions.serving.contract import decode_row
from reward_functions.testing import CONTRACT


def cells(shown):
    (sheet,) = shown.sheets
    return [list(row) for row in sheet.rows]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    return compared_pairs(tmp_path_factory.mktemp("pairs"))


@pytest.fixture(scope="module")
def filings(tmp_path_factory):
    return generated("finqa", tmp_path_factory.mktemp("filings"), rows=40, test_rows=10)


def test_every_record_is_kept_with_its_unit_or_dropped_with_its_reason():
    kept = [(row[4].rpartition(" ")[2], row[5]) for row in cells(golds())]
    assert kept == [
        ("percent", "a percentage, computed as a fraction"),
        ("percent", "a percentage, computed in points"),
        ("number", "they agree"),
        ("number", "cut off where it should be rounded"),
        ("percent", "the percent sign was forgotten"),
        ("yesno", "they agree"),
        ("dropped", "noise: the signs differ"),
        ("dropped", "noise: the values differ"),
    ]
    assert len(kept) == len(RECORDS)


def test_a_question_stands_without_its_page(filings):
    (first, *_) = cells(questions(filings, 1))
    assert first[1].endswith("?")
    assert "\n" not in first[1]
    assert first[4] == "percent"


def test_a_number_alone_refuses_the_percentage_that_a_person_wrote():
    record = {"answer": "12.5%", "exe_ans": 0.12497, "program": "divide(500, 4001)"}
    shown = paid_by({"unit": record, "alone": "0.12497", "none": None}, ["12.5%", "0.125", "$12.5"])
    assert cells(shown) == [
        ["12.5%", "1", "0", "unscored"],
        ["0.125", "1", "1", "unscored"],
        ["$12.5", "0", "0", "unscored"],
    ]


def test_what_a_constant_earns_is_a_mean_over_every_row(tmp_path):
    rows = [
        {
            "id": str(at),
            "messages": [{"role": "user", "content": "?"}],
            "reference_answer": {"value": value, "unit": "percent", "scale": 1},
        }
        for at, value in enumerate(("5.0", "12", "-1", "40"))
    ]
    path = tmp_path / "train.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    shown = constants_earn([roughly_right], TrainingRows(path), ["ANSWER: 0.05", "nothing"])
    assert cells(shown) == [["ANSWER: 0.05", "0.750"], ["nothing", "0.000"]]


GAMED = [
    # a reward, a response that games it, the reference
    (number_anywhere, "1, 2, 3 or 42", "42"),
    (roughly_right, "ANSWER: 0.05", {"value": "13.9", "unit": "percent"}),
]


@pytest.mark.parametrize(("reward", "gaming", "reference"), GAMED)
def test_what_can_be_gamed_pays_its_examples_and_the_gaming(reward, gaming, reference):
    for example in reward.examples:
        assert reward(example.sample()).value == example.score
    assert reward(sample(gaming, reference)).value == 1.0


@pytest.mark.parametrize(
    ("reward", "broken"),
    [
        (
            number_anywhere,
            [
                "examples_show_positive_negative_and_attack",
                "hostile_responses_earn_partial_credit_at_most",
            ],
        ),
        # Nothing but its missing attack speaks against it: the contract does not see what is gamed.
        (roughly_right, ["examples_show_positive_negative_and_attack"]),
    ],
)
def test_the_contract_says_what_it_sees_of_them(reward, broken):
    found = []
    for name, holds in CONTRACT.items():
        try:
            holds(reward)
        except AssertionError:
            found.append(name)
    assert found == broken


def test_three_that_disagree_have_no_label(pairs):
    assert ["dropped", "no two annotators agree", "7"] in cells(prepared(pairs))
    assert len(pairs.rows) == 137


def test_the_label_is_the_response_that_is_right(pairs):
    for row in pairs.rows:
        asked, label = row["messages"][-1]["content"], row["reference_answer"]["label"]
        if "## Input\nhot\n" in asked and label:
            assert "cold" in asked.partition(f"## Response {label}\n")[2].partition("\n")[0]


def test_the_script_misses_false_claims_alone(pairs, tmp_path):
    rows = TrainingRows(labelled_reasons(pairs, tmp_path / "cases.jsonl", 30)).rows
    samples = [decode_row(row, at) for at, row in enumerate(rows)]
    results = score_batch(bound_by_script(get("pandalm")), samples)
    assert all(isinstance(result, Scored) for result in results)
    missed = {
        row["id"].partition(", ")[2]
        for row, result in zip(rows, results, strict=True)
        if result.score.value != pytest.approx(row["label"])
    }
    assert missed == {"a false claim"}
    assert {row["id"].partition(", ")[2] for row in rows} == set(REASONS)


def test_a_judge_is_read_with_a_script_in_the_place_of_its_model():
    (row,) = cells(read_by("reference", [("It is Canberra.", "Canberra")], prompt="The capital?"))
    assert row[3] == "1"


@pytest.mark.parametrize("by", ["page", "prompt"])
def test_whole_groups_share_nothing_and_single_rows_do(by, pairs, filings, tmp_path):
    rows = pairs if by == "prompt" else filings
    split = split_by(by, rows, tmp_path)
    single, whole = cells(split.compared)
    assert whole[3] == "0 (0%)"
    assert single[3] != "0 (0%)"
    assert len(split.train.rows) + len(split.test.rows) == len(rows.rows)
    assert "share no page and no prompt" in shared_by(split.train, split.test).notes[0]
    assert "share no" not in shared_by(split.train, split.train).notes[0]


def test_a_row_without_a_page_cannot_be_split_by_it(pairs, tmp_path):
    with pytest.raises(ValueError, match="row 1 belongs to no page"):
        split_by("page", pairs, tmp_path)


def test_the_costs_of_a_judge_follow_its_run_and_its_price(pairs, tmp_path):
    cases = labelled_reasons(pairs, tmp_path / "cases.jsonl", 12)
    models = ["amazon.nova-lite-v1:0", "amazon.nova-pro-v1:0", "somebody.unknown-v1:0"]
    lite, pro, unknown = cells(judge_costs("pandalm", cases, models, prompts=100, epochs=2))
    assert {row[1] for row in (lite, pro, unknown)} == {"800"}
    assert float(pro[4]) > float(lite[4]) > 0
    assert unknown[4] == "unknown"
    with pytest.raises(ConfigurationError, match="gsm8k asks no judge model"):
        judge_costs("gsm8k", cases, models, prompts=100)
