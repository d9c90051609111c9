"""A real `GRPOTrainer` on a tiny model of random weights, whose tokenizer is made here.

A model without training says nothing worth a reward, so a reward that reads the references scores
what the test needs; what is tested is what TRL makes of it.
"""

import math
from time import perf_counter

import pytest

from helpers.tiny_trainer import trained
from reward_functions import Metric, Sample, Score, reward_function
from reward_functions.adapters.trl import reward_func
from reward_functions.core.errors import BadReference


def logged(trainer):
    return [entry for entry in trainer.state.log_history if "reward" in entry]


PLAIN = [{"prompt": f"{n} + 1 = ", "answer": str(n + 1), "topic": "sums"} for n in range(8)]
CHATS = [
    {"prompt": [{"role": "user", "content": row["prompt"]}], "answer": row["answer"]}
    for row in PLAIN
]


@reward_function(version=1, metrics=("length",))
def odd_references(sample: Sample) -> Score:
    """Scores the rows of odd references by the length of the response, and no other.

    Reference: a number.
    """
    if int(sample.reference) % 2 == 0:
        raise BadReference("this reference is even")
    length = len(sample.response)
    return Score(min(length, 64) / 64, (Metric("length", length),), reason="by length")


@pytest.mark.parametrize("rows", [PLAIN, CHATS], ids=["strings", "messages"])
def test_math_in_a_real_trainer(tmp_path, rows):
    done = logged(trained(tmp_path, [reward_func("math", reference="answer")], rows))
    assert len(done) == 2
    assert {"rewards/math/mean", "rewards/math/std", "math/unscored", "math/answered"} <= set(
        done[0]
    )
    assert all(entry["math/unscored"] == 0 for entry in done)


def test_tokens_are_counted_as_trl_counts_them(tmp_path):
    for entry in logged(trained(tmp_path, [reward_func("overlong")], PLAIN)):
        assert entry["overlong/unscored"] == 0
        assert entry["overlong/length"] == entry["completions/mean_length"]


def test_a_row_that_cannot_be_scored_is_left_out(tmp_path):
    """The even references have NaN there, and `math` alone counts."""
    rewards = [reward_func(odd_references), reward_func("math")]
    trainer = trained(tmp_path, rewards, PLAIN, per_device_train_batch_size=16)
    table = trainer._logs["extra"]
    held = trainer._logs["rewards"]["odd_references"]
    even = [int(reference) % 2 == 0 for reference in table["odd_references/reference"]]
    assert [math.isnan(value) for value in held] == even
    assert {True, False} == set(even)
    assert all(0 < entry["odd_references/unscored"] < 1 for entry in logged(trainer))
    assert set(table) == {
        f"{name}/{column}" for name in ("odd_references", "math")
        for column in ("answer", "reason", "reference")
    }  # fmt: skip
    assert len({len(column) for column in table.values()}) == 1


@reward_function(version=1)
def some(sample: Sample) -> Score:
    """Scores what begins with a letter or a digit of ASCII, about one response in four."""
    first = sample.response[:1]
    if not (first.isascii() and first.isalnum()):
        raise BadReference("it begins with another character")
    return Score(ord(first) / 128)


def test_what_no_reward_scores_has_no_advantage_and_is_no_part_of_its_group(tmp_path):
    trainer = trained(
        tmp_path, [reward_func(some)], PLAIN, per_device_train_batch_size=16, num_generations=16
    )
    held, advantages = trainer._logs["rewards"]["some"], trainer._logs["advantages"]
    groups = [range(at, at + 16) for at in range(0, len(held), 16)]
    scored = [[at for at in group if not math.isnan(held[at])] for group in groups]
    assert any(0 < len(group) < 16 for group in scored)
    assert all(advantages[at] == 0 for at in range(len(held)) if math.isnan(held[at]))
    assert [sum(advantages[at] for at in group) for group in scored] == pytest.approx(
        [0.0] * len(groups), abs=1e-3
    )


def test_beside_another_reward_a_none_adds_nothing_to_the_sum(tmp_path):
    """Which is a zero in it: one reward of both parts leaves the row out, two functions do not."""
    trainer = trained(
        tmp_path,
        [reward_func(some), reward_func(always)],
        PLAIN,
        per_device_train_batch_size=16,
        num_generations=16,
    )
    held, advantages = trainer._logs["rewards"]["some"], trainer._logs["advantages"]
    without = [at for at, value in enumerate(held) if math.isnan(value)]
    assert any(advantages[at] < 0 for at in without)


@reward_function(version=1)
def always(sample: Sample) -> Score:
    """Half."""
    return Score(0.5)


def test_a_trainer_whose_rewards_are_all_none_goes_on(tmp_path):
    rows = [{"prompt": row["prompt"], "answer": "2"} for row in PLAIN]
    with pytest.warns(RuntimeWarning, match="odd_references could score none of 4 completions"):
        trainer = trained(tmp_path, [reward_func(odd_references)], rows)
    assert trainer.state.global_step == 2


def test_a_missing_column_ends_the_run_by_one_sentence(tmp_path):
    with pytest.raises(Exception, match=r"no column is called 'anwser'\. Did you mean 'answer'"):
        trained(tmp_path, [reward_func("math", reference="anwser")], PLAIN)


def test_the_time_of_a_large_batch(measured):
    rows = 1024
    call = {
        "prompts": [f"what is {n} + 1?" for n in range(rows)],
        "completions": [f"It is {n} + 1, so \\boxed{{{n + 1}}}." for n in range(rows)],
        "answer": [str(n + 1) for n in range(rows)],
    }
    reward = reward_func("math")
    begun = perf_counter()
    assert sum(reward(**call)) == rows
    measured(f"trl: {rows} completions of math in {perf_counter() - begun:.2f} s")
