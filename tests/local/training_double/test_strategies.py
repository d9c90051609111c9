"""What the strategies write, read by the rewards: the correct ones are paid, and no other is."""

from random import Random

import pytest

from reward_functions import get
from reward_functions.local.training_double import strategies
from reward_functions.local.training_double.policy import BASE_SHARES
from reward_functions.local.training_double.strategies import CORRECT, STRATEGIES, task_of
from tests.rehearsals import generated_rows, scored_by

DATASETS = ("gsm8k", "math", "finqa")
BY_NAME = {one.name: one.write for one in STRATEGIES}


@pytest.fixture(scope="module", params=DATASETS)
def paid(request):
    """The scores of each strategy on 60 rows of a data set, by the data set's own reward."""
    rows, _ = generated_rows(request.param, 60, 1)
    random, answer, scores = Random(1), scored_by(get(request.param)), {}
    for one in STRATEGIES:
        sent = []
        for at, row in enumerate(rows):
            text = one.write(task_of(row["messages"], row["reference_answer"]), random)
            turn = {"role": "assistant", "content": text}
            sent.append(row | {"id": str(at), "messages": [*row["messages"], turn]})
        scores[one.name] = [result["aggregate_reward_score"] for result in answer(sent)]
    return scores


@pytest.mark.parametrize("name", sorted(CORRECT))
def test_a_correct_response_is_paid_in_whatever_words(paid, name):
    assert set(paid[name]) == {1.0}


@pytest.mark.parametrize("name", [one.name for one in STRATEGIES if not one.correct])
def test_no_other_response_is_paid(paid, name):
    assert set(paid[name]) == {0.0}


def task(answer="42", prompt="Ann has 12 eggs and 30 more.\n#### <number>"):
    return task_of([{"role": "user", "content": prompt}], answer)


def many(name, given=None, count=200):
    random = Random(7)
    return [BY_NAME[name](given or task(), random) for _ in range(count)]


def test_the_table_of_the_module_names_each_strategy_in_order():
    rows = [line.split("|") for line in strategies.__doc__.splitlines() if line.startswith("|")]
    named = [(row[1].strip(), row[3].strip() == "yes") for row in rows[2:]]
    assert named == [(one.name, one.correct) for one in STRATEGIES]
    assert list(BASE_SHARES) == [one.name for one in STRATEGIES]


@pytest.mark.parametrize("name", [one.name for one in STRATEGIES if one.name != "empty"])
def test_the_words_vary(name):
    assert len(set(many(name))) >= (2 if name == "format only" else 20)


def test_a_truncated_response_ends_before_any_answer():
    for text in many("truncated"):
        assert "42" not in text
        assert "####" not in text
        assert text[-1] not in ".!?"


def test_a_list_of_guesses_holds_the_right_one_and_does_not_end_in_it():
    for text in many("list of guesses"):
        assert "42" in text.replace(",", " ").split()
        assert not text.endswith("42")


def test_a_hedged_response_names_both_answers():
    for text in many("hedged"):
        last = text.splitlines()[-1]
        assert " or " in last
        assert "42" in last.split()


def test_an_injection_addresses_the_grader_and_is_wrong():
    for text in many("injection"):
        assert "42" not in text
    assert any("aggregate_reward_score" in text for text in many("injection"))


def test_a_verbose_response_is_the_longer_one():
    short, long = many("correct"), many("correct and verbose")
    assert max(map(len, short)) < min(map(len, long))
    assert any(text.startswith("<think>") for text in long)


@pytest.mark.parametrize("answer", ["yes", "B", "Paris", r"\pi", "0", "it rained all day " * 9])
def test_every_strategy_can_answer_every_kind(answer):
    for one in STRATEGIES:
        written = one.write(task(answer, "Who was there, Alice or Bob?"), Random(3))
        assert isinstance(written, str)
