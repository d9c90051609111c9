"""verl's call expressions, recorded: one sample, one that waits, a batch."""

import asyncio
import copy
import inspect
from collections import UserDict, UserList
from functools import partial

import pytest

from reward_functions import get
from reward_functions.adapters.verl import (
    CannotScore,
    compute_score,
    compute_score_async,
    compute_scores,
)
from reward_functions.core.asking import ScriptedAsk
from reward_functions.core.errors import BadParameter, BadSample, NoJudge, UnknownReward
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from reward_functions.judge_runtime.panel import JudgePool
from reward_functions.testing import FakeAsk
from tests.adapters.calls import VERL, VERL_BATCH, VERL_ROUTER

KEYS = {"score", "unscored", *get("math").metrics}


def single(reward="math", /, **changes):
    return compute_score(**VERL | {"reward": reward} | changes)


def waited(reward="math", /, **changes):
    return asyncio.run(compute_score_async(**VERL | {"reward": reward} | changes))


def batched(reward="math", /, **changes):
    return compute_scores(**VERL_BATCH | {"reward": reward} | changes)


@pytest.mark.parametrize("call", [single, waited])
@pytest.mark.parametrize("more", [{}, VERL_ROUTER], ids=["alone", "with a router"])
def test_the_recorded_call_is_scored(call, more):
    answer = call(**more)
    assert answer.keys() == KEYS
    assert (answer["score"], answer["unscored"]) == (1.0, 0.0)
    assert {type(value) for value in answer.values()} == {float}


def test_the_recorded_batch_is_scored():
    assert [answer["score"] for answer in batched()] == [1.0, 0.0]


SAMPLES = [
    # (what differs in the call, its score)
    ({"solution_str": ""}, 0.0),
    ({"solution_str": "It is \\boxed{41}."}, 0.0),
    ({"extra_info": None}, 1.0),
    ({"extra_info": {}}, 1.0),
    ({"extra_info": {"prompt": [{"role": "user", "content": "6 × 7?"}]}}, 1.0),
    ({"extra_info": {"text": "6 × 7?"}, "prompt": "text"}, 1.0),
    ({"ground_truth": 42}, 1.0),
    ({"ground_truth": "\\frac{84}{2}"}, 1.0),
    ({"solution_str": "\\boxed{0.33}", "ground_truth": "\\frac{1}{3}"}, 0.0),
    ({"solution_str": "\\boxed{0.33}", "ground_truth": "\\frac{1}{3}", "rounded": 2}, 1.0),
]


@pytest.mark.parametrize(("changes", "score"), SAMPLES)
def test_every_sample_has_the_same_keys(changes, score):
    answer = single(**changes)
    assert (answer["score"], answer.keys()) == (score, KEYS)


@pytest.mark.parametrize("call", [single, waited])
def test_a_sample_that_cannot_be_scored_raises_and_says_what_to_do(call):
    with pytest.raises(CannotScore, match=r"BadReference: .*on_unscored='minimum'"):
        call(ground_truth=None)


@pytest.mark.parametrize("call", [single, waited])
def test_the_minimum_is_given_by_name_alone_and_is_flagged(call):
    answer = call(ground_truth=None, on_unscored="minimum")
    assert answer.keys() == KEYS
    assert (answer["score"], answer["unscored"]) == (0.0, 1.0)


def test_one_bad_row_of_a_batch_leaves_its_neighbours():
    answers = batched(ground_truths=[None, "41"], on_unscored="minimum")
    assert [(each["score"], each["unscored"]) for each in answers] == [(0.0, 1.0), (1.0, 0.0)]


def test_extra_info_is_read_and_never_changed():
    given = copy.deepcopy(VERL["extra_info"])
    single()
    assert VERL["extra_info"] == given


def test_parameters_may_be_of_a_configuration_library():
    """OmegaConf's lists and dicts are neither lists nor dicts."""
    with pytest.raises(BadParameter, match="takes int, not"):
        single(rounded=UserList([2]))
    with pytest.raises(BadParameter, match="takes int, not"):
        single(rounded=UserDict({"a": UserList([1])}))


def test_a_judge_asks_with_the_question_and_never_without_one():
    judge = partial(get("reference"), ask=ScriptedAsk(({"same": "yes"},)))
    assert single(judge)["unscored"] == 0.0
    with pytest.raises(BadParameter, match="no key prompt, question or problem"):
        single(judge, extra_info={"index": 1})
    assert single(judge, extra_info={"index": 1}, prompt="")["unscored"] == 0.0


@pytest.mark.parametrize("call", [single, waited])
def test_a_judge_comes_with_its_models(call):
    model = JudgeModel(model="m", region="us-east-1")
    pool = JudgePool(JudgeConfig(models=(model,)), asks={"m": FakeAsk({"same": "yes"})})
    answer = call("reference", judge=pool, solution_str="It is 6 times 7.", ground_truth="42")
    assert answer.keys() == {"score", "unscored", *get("reference").metrics}
    assert answer["score"] == 1.0


def test_verl_awaits_it_bound_or_not():
    assert inspect.iscoroutinefunction(compute_score_async)
    assert inspect.iscoroutinefunction(partial(compute_score_async, reward="math"))
    assert not inspect.iscoroutinefunction(compute_score)


REFUSED = [
    ({"reward": None}, BadParameter, "no reward is named"),
    ({"prompt": ["question"]}, BadParameter, "extra_info has no key"),
    ({"reward": ""}, BadParameter, "reward_kwargs.reward=NAME"),
    ({"reward": "maths"}, UnknownReward, "Did you mean 'math'"),
    ({"rounde": 2}, BadParameter, "Did you mean 'rounded'"),
    ({"reward": "reference"}, NoJudge, "asks a judge model"),
    ({"on_unscored": "zero"}, BadParameter, "takes 'raise' or 'minimum', not 'zero'"),
    ({"prompt": "questoin"}, BadParameter, "Did you mean 'question'"),
]


@pytest.mark.parametrize(("changes", "error", "sentence"), REFUSED)
def test_what_cannot_be_used_is_refused_in_one_sentence(changes, error, sentence):
    with pytest.raises(error, match=sentence):
        compute_score(**VERL | {"reward": "math"} | changes)


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(BadSample, match="ground_truths is of length 1, and the responses are 2"):
        batched(ground_truths=["42"])
    with pytest.raises(BadSample, match="extra_infos is of length 1, and the responses are 2"):
        batched(extra_infos=[{}])
