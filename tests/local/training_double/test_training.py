"""Runs: sound rewards make the right strategies win, an exploitable one the gaming strategy."""

import re
from dataclasses import replace

import pytest

from reward_functions import Score, get
from reward_functions.aws.failures import AwsFailed
from reward_functions.cdk.policies.iam import Place
from reward_functions.jobs.hyperparameters import TABLE
from reward_functions.jobs.models import models
from reward_functions.jobs.plan import GROUP
from reward_functions.local.training_double import bedrock, openai_api
from reward_functions.local.training_double.policy import BASE_SHARES, LEFT_OUT, Policy
from reward_functions.local.training_double.training import JobFailed, Responses, TrainingJob
from tests.rehearsals import REHEARSAL, exploitable, generated_rows, rehearse, scored_by

SMALL = {"epochCount": 2, "batchSize": 8, "trainingSamplePerPrompt": 4, "learningRate": 1e-4}


def rehearsed(dataset, seed, **given):
    """The whole curve of 52 steps, on half the prompts; `make bench` has all of them."""
    data = generated_rows(dataset, 100, 30)
    return rehearse(dataset, seed, data=data, hyperparameters=REHEARSAL | {"batchSize": 8}, **given)


@pytest.mark.parametrize(("dataset", "seed"), [("gsm8k", 1), ("math", 2), ("finqa", 3)])
def test_with_a_sound_reward_the_right_strategies_win(dataset, seed):
    done = rehearsed(dataset, seed)
    assert done.outcome.status == "succeeded"
    assert done.sound, (done.least_correct, done.greatest_incorrect)
    assert done.steps[0].metrics["reward_mean"] == pytest.approx(0.34, abs=0.12)
    assert done.steps[-1].validation["reward_mean"] > 0.9


def test_with_an_exploitable_reward_the_gaming_strategy_wins():
    done = rehearsed("gsm8k", 1, reward=exploitable())
    assert done.steps[-1].shares["whole number"]["list of guesses"] > 0.9
    assert done.least_correct[0] < 0.05
    assert done.steps[-1].metrics["reward_mean"] > 0.9  # and the curve looks as good as ever


@pytest.fixture(scope="module")
def data():
    return generated_rows("gsm8k", 20, 10)


def job(data, **given):
    training, held_out = data
    fields = {"rows": training, "validation": held_out, "hyperparameters": SMALL, "seed": 1}
    return TrainingJob(**fields | given)


def ran(given, answer=None, **more):
    steps = []
    outcome = Responses(given, answer or scored_by(get("gsm8k")), **more).run(steps.append)
    return outcome, steps


def test_equal_seeds_make_equal_runs_and_others_do_not(data):
    first, second, other = (ran(job(data, seed=seed)) for seed in (1, 1, 2))
    assert first == second
    assert first != other


def test_the_order_of_the_results_changes_nothing(data):
    forward = scored_by(get("gsm8k"))
    assert ran(job(data)) == ran(job(data), lambda rows: forward(rows)[::-1])


def test_a_job_has_the_steps_that_its_hyperparameters_say(data):
    _, steps = ran(job(data, hyperparameters=SMALL | {"evalInterval": 4}))
    assert [step.number for step in steps] == [1, 2, 3, 4, 5, 6]  # 20 rows by 8, twice
    assert [step.epoch for step in steps] == [1, 1, 1, 2, 2, 2]
    assert {step.total for step in steps} == {6}
    assert [bool(step.validation) for step in steps] == [False, False, False, True, False, True]


def test_all_rollouts_of_all_steps_are_sent_and_every_prompt_in_each_epoch(data):
    sent = []

    def counted(rows):
        sent.extend(rows)
        return scored_by(get("gsm8k"))(rows)

    ran(job(data, validation=()), counted)
    assert len(sent) == 20 * 4 * 2
    assert len({row["id"] for row in sent}) == len(sent)


def test_without_validation_data_there_is_no_evaluation(data):
    _, steps = ran(job(data, validation=()))
    assert not any(step.validation for step in steps)


def test_a_constant_reward_teaches_nothing(data):
    outcome, steps = ran(job(data), scored_by(lambda _: Score(0.5)))
    assert outcome.policy == Policy.base()
    assert {step.metrics["frac_reward_zero_std"] for step in steps} == {1.0}
    assert {step.metrics["grad_norm"] for step in steps} == {0.0}


def test_the_learning_rate_is_the_size_of_the_step(data):
    def moved(rate):
        outcome, _ = ran(job(data, hyperparameters=SMALL | {"learningRate": rate}))
        return abs(outcome.policy.named_shares("whole number")["correct"] - BASE_SHARES["correct"])

    assert moved(1e-7) < 0.001
    assert moved(1e-4) > 0.01


def test_responses_over_the_limit_of_tokens_are_cut_and_earn_nothing(data):
    short, _ = (ran(job(data, hyperparameters=SMALL | {"inferenceMaxTokens": n})) for n in (8, 900))
    assert max(step.metrics["response_length_max"] for step in short[1]) == 8
    assert max(step.metrics["reward_max"] for step in short[1]) == 0.0


def test_the_given_policy_is_where_it_begins_and_stays_as_it_was(data):
    tuned, _ = ran(job(data))
    before = tuned.policy.to_json()
    again, steps = ran(job(data, policy=tuned.policy))
    assert tuned.policy.to_json() == before
    assert again.policy != tuned.policy
    assert steps[0].metrics["reward_mean"] > 0.34


def test_the_shares_are_of_the_kinds_that_the_data_has(data):
    _, steps = ran(job(data))
    assert list(steps[-1].shares) == ["whole number"]
    assert sum(steps[-1].shares["whole number"].values()) == pytest.approx(1.0)


def test_a_stop_is_honoured_within_a_step_and_keeps_the_policy(data):
    asked = iter([False] * 3)
    outcome, steps = ran(job(data), stopping=lambda: next(asked, True))
    assert outcome.status == "stopped"
    assert outcome.failure == ""
    assert len(steps) == 1  # step 1 is one invocation, step 2 begins with 1 and 2 rows
    assert outcome.policy != Policy.base()


class Failing:
    """A deployed version that fails so many times, and then answers."""

    def __init__(self, times, error):
        self.times, self.error, self.calls = times, error, 0

    def __call__(self, rows):
        self.calls += 1
        if self.calls <= self.times:
            raise self.error
        return scored_by(get("gsm8k"))(rows)


ERRORS = [
    JobFailed("BatchFailed: 9 of 9 samples could not be scored"),
    AwsFailed("invoking x: throttled", "TooManyRequestsException"),
]


@pytest.mark.parametrize("error", ERRORS, ids=type)
def test_a_grader_that_fails_once_is_asked_again_and_the_run_is_the_same(data, error):
    waited = []
    outcome, steps = ran(job(data), Failing(2, error), wait=waited.append)
    assert outcome.status == "succeeded"
    assert waited == [1.0, 2.0]
    assert steps == ran(job(data))[1]


@pytest.mark.parametrize("error", ERRORS, ids=type)
def test_a_grader_that_goes_on_failing_ends_the_job_in_its_own_words(data, error):
    failing = Failing(99, error)
    outcome, steps = ran(job(data), failing, wait=lambda _: None)
    assert (outcome.status, outcome.failure, failing.calls) == ("failed", str(error), 3)
    assert steps == []
    assert outcome.policy == Policy.base()


def test_a_grader_that_fails_half_way_leaves_the_steps_before(data):
    answers = scored_by(get("gsm8k"))
    calls = []

    def half(rows):
        calls.append(rows)
        if len(calls) > 8:
            raise JobFailed("x" * 5000)
        return answers(rows)

    outcome, steps = ran(job(data), half, wait=lambda _: None)
    assert outcome.status == "failed"
    assert len(outcome.failure) == 2048
    assert 1 <= len(steps) < 6
    assert steps == ran(job(data))[1][: len(steps)]


def test_a_response_of_another_shape_is_not_asked_for_again(data):
    calls = []
    outcome, _ = ran(job(data), lambda rows: calls.append(rows) or {"statusCode": 200})
    assert "envelope" in outcome.failure
    assert len(calls) == 1


def test_an_error_of_another_kind_is_ours_and_is_not_hidden(data):
    with pytest.raises(ZeroDivisionError):
        ran(job(data), lambda _: 1 / 0)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"messages": [{"role": "user", "content": "?"}]}, "row 21: .*give every row a reference"),
        ({"reference_answer": "1"}, "row 21: messages is not a list of turns"),
        ({"messages": ["?"], "reference_answer": "1"}, "row 21: messages is not a list of turns"),
    ],
)
def test_a_row_that_cannot_be_answered_fails_the_job_and_is_named(data, row, words):
    training, _ = data
    outcome, steps = ran(job(([*training, row], ())))
    assert outcome.status == "failed"
    assert re.search(words, outcome.failure)
    assert steps == []


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"rows": []}, "the training file holds no rows"),
        ({"hyperparameters": {"batchSize": 0}}, "batchSize is 0: 1 or more"),
        ({"hyperparameters": {"evalInterval": -1}}, "evalInterval is -1: 1 or more"),
        ({"hyperparameters": {"learningRate": 0}}, "learningRate is 0: a finite number"),
        ({"hyperparameters": {"learningRate": float("nan")}}, "learningRate is nan: a finite"),
    ],
)
def test_a_job_that_cannot_run_fails_in_words(data, given, words):
    outcome, steps = ran(job(data, **given))
    assert outcome.status == "failed"
    assert outcome.failure.startswith(words)
    assert steps == []


def test_the_other_path_learns_from_its_own_rows(data):
    outcome, _ = ran(replace(job(data), path="openai"))
    assert outcome.policy.named_shares("whole number")["correct"] > BASE_SHARES["correct"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"learningRate": 1e-4}),
        ({"n_epochs": 2, "batch_size": 4}, {"epochCount": 2, "batchSize": 4, "learningRate": 1e-4}),
        ({"learning_rate_multiplier": 0.5}, {"learningRate": 5e-5}),
        ({"n_epochs": "auto", "learning_rate_multiplier": "auto"}, {"learningRate": 1e-4}),
    ],
)
def test_hyperparameters_of_the_other_path_have_bedrocks_names(given, expected):
    assert openai_api.bedrock_names(given) == expected


def test_what_a_job_leaves_out_is_what_a_plan_counts_with():
    """AWS states one default; the docs of `reward job plan` and of the double rest on it."""
    stated = TABLE["bedrock"]["trainingSamplePerPrompt"].service
    assert LEFT_OUT["trainingSamplePerPrompt"] == GROUP == stated


def test_the_models_are_those_of_the_table_of_jobs():
    tuned = {"bedrock": bedrock.BASES, "openai": openai_api.BASES}
    for model in models():
        assert {model.id, *model.aliases} <= {*tuned[model.driver]}
        place = Place("aws", model.regions[0], "000000000000")
        assert bedrock.asked(model.inference_id, place)[0] in bedrock.ASKED
