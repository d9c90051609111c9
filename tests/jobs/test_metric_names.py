"""What figures of trainers are read as: by signs, by order and by charts."""

from __future__ import annotations

import pytest

from reward_functions.jobs.figures import NAMES, charts, read_as, series, signs
from reward_functions.jobs.job import MetricPoint

READ = {
    "critic/rewards/mean": "reward_mean",
    "Critic/Rewards/Mean": "reward_mean",
    "critic/rewards/max": "reward_max_min_std",
    "critic/score/mean": "score_max_min_std",
    "val-score/rewards/mean@1": "reward_mean",
    "val-core/gsm8k/reward/mean@8": "reward_mean",
    "val/reward/mean": "reward_mean",
    "val/reward/pass_at_k": "reward_pass",
    "rollout/reward/mean": "reward_mean",
    "actor/entropy": "entropy",
    "actor/entropy_loss": "entropy",
    "response_length/mean": "response_length_mean",
    "response_length/clip_ratio": "share_cut_off",
    "prompt_length/mean": "prompt",
    "timing_s/reward": "seconds",
    "timing_per_token_ms/gen": "seconds",
    "perf/max_memory_allocated_gb": "load",
    "system/network_length": "load",
    "train/completions/mean_length": "completion_length_mean",
    # Without a row, a name is read as it is.
    "reward": "reward",
    "frac_reward_zero_std": "frac_reward_zero_std",
    "training/total_tokens": "training/total_tokens",
    "rollout/turns/mean": "rollout/turns/mean",
    "x/critic/rewards/mean": "x/critic/rewards/mean",
}


@pytest.mark.parametrize(("name", "words"), READ.items(), ids=READ)
def test_a_name_is_read_as_its_row_says(name, words):
    assert read_as(name) == words


def test_every_row_has_a_name_here_and_a_source():
    read = {read_as(name) for name in READ}
    assert {row.read_as for row in NAMES} - read <= {"value", "grad_norm", "loss", *SELDOM}
    assert all(row.source for row in NAMES)


SELDOM = {"response_max_min", "frac_reward_zero_std"}


def course(name, *values):
    split = "validation" if name.startswith("val") else "training"
    return [MetricPoint(step, name, value, split) for step, value in enumerate(values)]


def job():
    """A verl-like run: entropy collapses, answers grow; prompts and seconds say nothing."""
    steady = (0.5, 0.5, 0.6, 0.6, 0.7, 0.7)
    return series(
        [
            *course("prompt_length/mean", 9, 9, 9, 99, 99, 99),
            *course("response_length/clip_ratio", *steady),
            *course("response_length/mean", 10, 11, 12, 20, 30, 40),
            *course("timing_s/reward", 30, 20, 10, 9, 8, 7),
            *course("critic/rewards/mean", *steady),
            *course("actor/entropy", 1.0, 0.9, 0.5, 0.3, 0.1, 0.05),
            *course("val-score/rewards/mean@1", 0.3, 0.8, 0.8, 0.7, 0.6, 0.5),
        ]
    )


def test_signs_are_read_from_the_figures_that_are_meant():
    seen = {each.sign.name: each.figure for each in signs(job()) if each.state == "seen"}
    assert seen == {
        "the entropy collapses": "actor/entropy",
        "responses grow": "response_length/mean",
        "the validation falls": "val-score/rewards/mean@1",
    }
    falls = next(each for each in signs(job()) if each.sign.name == "the reward falls")
    assert (falls.state, falls.figure) == ("not seen", "critic/rewards/mean")


def test_rewards_come_first_and_seconds_are_on_no_scale_of_rewards():
    names = [each.name for each in job()]
    assert names[:4] == [
        *("critic/rewards/mean", "val-score/rewards/mean@1"),
        *("actor/entropy", "response_length/mean"),
    ]
    assert names[-1] in {"prompt_length/mean", "timing_s/reward"}
    assert len(charts(job())) == 7
