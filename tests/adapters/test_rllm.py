"""rLLM's call expression, recorded, with doubles of its two result types."""

import sys
from types import ModuleType
from types import SimpleNamespace as Fields

import pytest

from reward_functions.adapters.rllm import evaluator, math, response_of
from reward_functions.core.errors import BadReference
from tests.adapters.recorded import RESPONSE, rllm


@pytest.fixture(autouse=True)
def host(monkeypatch):
    for name in ("rllm", "rllm.eval", "rllm.eval.types"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    types = sys.modules["rllm.eval.types"]
    types.EvalOutput, types.Signal = Fields, Fields


def test_the_recorded_call_is_scored():
    found = math(*rllm())
    assert (found.reward, found.is_correct) == (1.0, True)
    assert found.metadata == {"answer": "42", "reason": "the same number"}
    assert {signal.name: signal.value for signal in found.signals}["math"] == 1.0


def test_a_wrong_response_is_a_reward_of_zero():
    found = math(*rllm(r"\boxed{41}"))
    assert (found.reward, found.is_correct) == (0.0, False)


def test_what_cannot_be_scored_raises_and_names_the_fields():
    with pytest.raises(BadReference, match="the fields are data_source, ground_truth: name it"):
        math(*rllm(ground_truth=None, data_source="x"))


def test_a_trainer_without_hooks_hands_over_the_row():
    _, episode = rllm()
    assert math({"question": "?", "ground_truth": "42"}, episode).reward == 1.0


def test_a_field_within_the_metadata():
    assert evaluator("math", reference="info.gold")(*rllm(info={"gold": "42"})).reward == 1.0


def test_an_instruction_of_content_blocks():
    task, episode = rllm()
    task.instruction = [{"type": "text", "text": "?"}, {"type": "image", "image": b""}]
    assert math(task, episode).reward == 1.0


@pytest.mark.parametrize(
    ("artifacts", "output", "steps", "response"),
    [
        ({"answer": "a"}, "b", ["c"], "a"),
        ({"answer": 7}, "b", [], "7"),
        ({"answer": None}, "b", [], ""),
        ({}, "b", ["c"], "b"),
        ({}, None, ["c", "d"], "d"),
        ({}, "", [], ""),
        ({"other": "x"}, None, [None], "reply"),
    ],
)
def test_the_response_is_where_rllms_own_verifiers_look(artifacts, output, steps, response):
    made = [Fields(output=each, model_response="reply") for each in steps]
    episode = Fields(artifacts=artifacts, trajectories=[Fields(output=output, steps=made)])
    assert response_of(episode) == response


def test_an_episode_without_trajectories_has_an_empty_response():
    assert response_of(Fields(artifacts={}, trajectories=[])) == ""
    assert response_of(rllm()[1]) == RESPONSE
