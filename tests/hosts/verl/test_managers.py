"""verl's real reward managers over a `DataProto`, with the function that a configuration names."""

import asyncio
from time import perf_counter

import numpy as np
import pytest
import torch
from omegaconf import OmegaConf
from verl import DataProto
from verl.experimental.reward_loop.reward_manager import get_reward_manager_cls
from verl.trainer.ppo.reward import get_custom_reward_fn, load_reward_manager
from verl.workers.reward_manager import get_reward_manager_cls as legacy_manager

from helpers import tiny_trainer
from reward_functions.adapters.verl import CannotScore

ROWS = [
    ("The sum is \\boxed{4}.", "4", 1.0),
    ("I think it is \\boxed{5}.", "4", 0.0),
    ("\\boxed{0.5}", "\\frac{1}{2}", 1.0),
    ("", "4", 0.0),
]
"""(response, ground truth, reward)."""

LOOP = ["naive", "dapo", "rate_limited"]
"""Managers of the reward loop that need neither ray nor a GPU."""


@pytest.fixture(scope="module")
def tokenizer():
    return tiny_trainer.tokenizer()


def batch_of(tokenizer, rows):
    """As verl holds a batch: prompts padded on the left, responses on the right."""
    asked = tokenizer(
        ["2 + 2 = "] * len(rows), padding=True, padding_side="left", return_tensors="pt"
    )
    said = tokenizer(
        [response + "<end>" for response, *_ in rows], padding=True, padding_side="right",
        return_tensors="pt",
    )  # fmt: skip
    each = {
        "data_source": ["sums"] * len(rows),
        "reward_model": [{"ground_truth": truth} for _, truth, *_ in rows],
        "extra_info": [{"question": "2 + 2 = "} for _ in rows],
    }
    return DataProto.from_dict(
        tensors={
            "prompts": asked["input_ids"],
            "responses": said["input_ids"],
            "attention_mask": torch.cat([asked["attention_mask"], said["attention_mask"]], dim=1),
        },
        non_tensors={key: np.array(values, dtype=object) for key, values in each.items()},
    )


def config_of(manager, name="compute_score", **reward_kwargs):
    """The part of verl's configuration that rewards have."""
    return OmegaConf.create(
        {
            "reward": {
                "num_workers": 1,
                "custom_reward_function": {
                    "path": "pkg://reward_functions.adapters.verl",
                    "name": name,
                    "reward_kwargs": reward_kwargs,
                },
                "reward_manager": {"source": "register", "name": manager},
                "reward_kwargs": {"overlong_buffer_cfg": None, "max_resp_len": None},
                "max_concurrent": 8,
            }
        }
    )


def looped(manager, batch):
    """What a manager of the reward loop answers, one sample a call, as its worker calls it."""

    async def scored():
        return await asyncio.gather(
            *(manager.run_single(batch[at : at + 1]) for at in range(len(batch)))
        )

    return manager.loop.run_until_complete(scored())


def managed(name, tokenizer, function="compute_score", **reward_kwargs):
    """A manager; its class keeps limits that belong to an event loop."""
    get_reward_manager_cls(name)._class_initialized = False
    return load_reward_manager(config_of(name, function, **reward_kwargs), tokenizer)


@pytest.fixture(autouse=True)
def _loop():
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.close()
    asyncio.set_event_loop(None)


@pytest.mark.parametrize("function", ["compute_score", "compute_score_async"])
@pytest.mark.parametrize("name", LOOP)
def test_the_reward_loop(tokenizer, name, function):
    manager = managed(name, tokenizer, function, reward="math")
    answers = looped(manager, batch_of(tokenizer, ROWS))
    assert [answer["reward_score"] for answer in answers] == [reward for *_, reward in ROWS]
    (keys,) = {tuple(answer["reward_extra_info"]) for answer in answers}
    assert {"score", "unscored", "answered", "truncated"} <= set(keys)


def legacy(name, tokenizer, function="compute_scores", **reward_kwargs):
    """A manager of the older kind, with the function that the configuration names."""
    function = get_custom_reward_fn(config_of("naive", function, **reward_kwargs))
    return legacy_manager(name)(tokenizer, 0, function)


@pytest.mark.parametrize(
    ("name", "function"), [("batch", "compute_scores"), ("naive", "compute_score")]
)
def test_the_legacy_managers(tokenizer, name, function):
    batch = batch_of(tokenizer, ROWS)
    answer = legacy(name, tokenizer, function, reward="math")(batch, return_dict=True)
    assert answer["reward_tensor"].sum(dim=1).tolist() == [reward for *_, reward in ROWS]
    assert answer["reward_extra_info"]["score"] == [reward for *_, reward in ROWS]
    assert {len(column) for column in answer["reward_extra_info"].values()} == {len(ROWS)}


UNREADABLE = [*ROWS, ("\\boxed{4}", None)]


def test_a_sample_without_a_reference_ends_the_run(tokenizer):
    batch = batch_of(tokenizer, UNREADABLE)
    with pytest.raises(CannotScore, match=r"math could not score a sample \(BadReference"):
        looped(managed("naive", tokenizer, reward="math"), batch)
    with pytest.raises(CannotScore, match="mend the row"):
        legacy("batch", tokenizer, reward="math")(batch)


def test_rate_limited_turns_it_into_a_zero_without_a_flag_of_ours(tokenizer):
    answers = looped(
        managed("rate_limited", tokenizer, reward="math"), batch_of(tokenizer, UNREADABLE)
    )
    assert answers[-1]["reward_score"] == 0.0
    assert "BadReference" in answers[-1]["reward_extra_info"]["error"]


def test_the_minimum_is_given_where_it_is_asked_for(tokenizer):
    batch = batch_of(tokenizer, UNREADABLE)
    asked = {"reward": "math", "on_unscored": "minimum"}
    answers = [
        each["reward_extra_info"] for each in looped(managed("naive", tokenizer, **asked), batch)
    ]
    assert [answer["unscored"] for answer in answers] == [0.0] * len(ROWS) + [1.0]
    assert len({tuple(sorted(answer)) for answer in answers}) == 1
    assert legacy("batch", tokenizer, **asked)(batch, return_dict=True)["reward_extra_info"][
        "unscored"
    ] == [0.0] * len(ROWS) + [1.0]


def test_parameters_come_from_the_configuration(tokenizer):
    rows = [("It is \\boxed{0.33}.", "\\frac{1}{3}", None)]
    plain = looped(managed("naive", tokenizer, reward="math"), batch_of(tokenizer, rows))
    loose = looped(managed("naive", tokenizer, reward="math", rounded=2), batch_of(tokenizer, rows))
    assert [plain[0]["reward_score"], loose[0]["reward_score"]] == [0.0, 1.0]


def test_the_time_of_a_large_batch(tokenizer, measured):
    rows = [(f"It is \\boxed{{{n}}}.", str(n), 1.0) for n in range(1024)]
    batch = batch_of(tokenizer, rows)
    manager = legacy("batch", tokenizer, reward="math")
    begun = perf_counter()
    assert manager(batch).sum().item() == len(rows)
    measured(f"verl: batch manager, 1024 completions of math in {perf_counter() - begun:.2f} s")
    manager = managed("naive", tokenizer, reward="math")
    begun = perf_counter()
    assert sum(answer["reward_score"] for answer in looped(manager, batch)) == len(rows)
    measured(f"verl: reward loop, 1024 completions of math in {perf_counter() - begun:.2f} s")
