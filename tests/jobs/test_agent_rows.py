"""The cells of a multi-turn job's rows: what an agent is sent, and its reward reads again."""

import json

import pytest

from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.data import cell_of, has_reference
from reward_functions.jobs.hyperparameters import written
from reward_functions.rollouts.episode.samples import sample_of

USER = [{"role": "user", "content": "2 + 2?"}]

PLAIN = [
    ({"prompt": "2 + 2?"}, "2 + 2?"),
    ({"prompt": '{"prompt": "2 + 2?", "answer": 4}'}, '{"prompt": "2 + 2?", "answer": 4}'),
    ({"prompt": {"task": 1}}, '{"task": 1}'),
    ({"messages": USER}, "2 + 2?"),
    ({"prompt": "2 + 2?", "answer": None, "id": 7}, "2 + 2?"),
]


@pytest.mark.parametrize(("row", "cell"), PLAIN, ids=str)
def test_a_row_without_a_truth_is_its_prompt(row, cell):
    assert cell_of(row, "line 1") == cell
    assert not has_reference(row)


TRUTHS = [
    {"prompt": "2 + 2?", "answer": "4"},
    {"messages": USER, "reference_answer": {"final_answer": "4"}},
    {"question": "2 + 2?", "answer": "4"},
    {"prompt": USER, "reward_model": {"ground_truth": "4"}},
    {"prompt": "2 + 2?", "metadata": {"answer": 4}},
    {"prompt": "2 + 2?", "extra_info": {"answer": "vier \u2713"}},
    {"prompt": "2 + 2?", "ground_truth": False},
]


@pytest.mark.parametrize("row", TRUTHS, ids=str)
def test_a_reward_finds_the_truth_of_a_row_in_its_cell(row):
    cell = cell_of(row, "line 1")
    assert json.loads(cell) == row
    wanted = sample_of(row, "4")
    found = sample_of({"prompt": cell}, "4")
    assert (found.reference, found.messages) == (wanted.reference, wanted.messages)


BAD = [
    *({}, {"answer": "4"}, {"prompt": "  "}, {"messages": []}, {"prompt": float("nan")}),
    *({"prompt": "x", "answer": float("inf")}, {"prompt": "x" * 2_000_000}),
]


@pytest.mark.parametrize("row", BAD, ids=lambda row: str(row)[:40])
def test_a_row_without_a_prompt_is_refused_by_its_line(row):
    with pytest.raises(BadJob, match="line 3") as refused:
        cell_of(row, "line 3")
    assert len(str(refused.value)) < 300


# "Hyperparameters reference" of the SageMaker developer guide.
WRITTEN = {
    "global_batch_size": (64, "64"),
    "group_size": (8.0, "8"),
    "learning_rate": (4e-5, "4e-05"),
    "loss_fn": ("cispo", "cispo"),
    "val_every": (0, "0"),
    "newer_than_the_page": ("x", "x"),
}


def test_hyperparameters_go_out_as_strings():
    assert written({name: value for name, (value, _) in WRITTEN.items()}) == {
        name: text for name, (_, text) in WRITTEN.items()
    }


OUT_OF_RANGE = [
    *(("global_batch_size", 48), ("group_size", 1), ("group_size", 33), ("group_size", 2.5)),
    *(("clip_high_threshold", 0.5), ("sampling_max_tokens", 511), ("max_steps", "many")),
    *(("loss_fn", "dpo"), ("temperature", float("nan")), ("groupSize", 8), ("val_every", True)),
    *(("learning_rate", 0), ("learning_rate", -1), ("learning_rate", "1e999")),
    ("newer_than_the_page", "x" * 5_000),
]


@pytest.mark.parametrize(("name", "value"), OUT_OF_RANGE, ids=lambda each: str(each)[:20])
def test_a_value_that_the_service_would_refuse_is_refused(name, value):
    with pytest.raises(BadJob, match=name):
        written({name: value})
