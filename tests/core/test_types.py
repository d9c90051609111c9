"""Samples know their prompt and response; scores refuse what a trainer cannot learn from."""

import pytest

from reward_functions import Message, Metric, Sample, Score, sample
from reward_functions.core.types import Usage


def conversation(*turns: tuple[str, str]) -> Sample:
    messages = tuple(Message(role=role, content=content) for role, content in turns)
    return Sample(id="s", messages=messages)


@pytest.mark.parametrize("role", ["assistant", "nova_assistant"])
def test_the_response_is_the_last_message_when_the_policy_wrote_it(role):
    sample = conversation(("user", "q"), ("assistant", "draft"), ("user", "again"), (role, "final"))
    assert sample.response == "final"
    assert sample.prompt == "again"


@pytest.mark.parametrize("turns", [[], [("user", "q")], [("assistant", "a"), ("user", "q")]])
def test_without_a_generated_turn_the_response_is_empty(turns):
    assert conversation(*turns).response == ""


def test_without_a_user_turn_the_prompt_is_empty():
    assert conversation(("system", "s"), ("assistant", "a")).prompt == ""


def test_messages_may_be_given_as_a_list():
    sample = Sample(id="s", messages=[Message(role="assistant", content="a")])
    assert sample.messages == (Message(role="assistant", content="a"),)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_scores_and_metrics_are_finite(value):
    with pytest.raises(ValueError, match="finite"):
        Score(value)
    with pytest.raises(ValueError, match="finite"):
        Metric("m", value)


def test_a_metric_has_one_of_two_types():
    with pytest.raises(ValueError, match="Metric or Reward"):
        Metric("m", 1.0, "metric")


def test_samples_are_frozen():
    with pytest.raises(AttributeError):
        conversation().id = "other"


def test_a_message_is_written_in_either_way():
    assert Message("user", "x") == Message(role="user", content="x")


@pytest.mark.parametrize(
    ("response", "prompt", "name"), [(5, "", "response"), ("", None, "prompt")]
)
def test_a_sample_is_of_strings(response, prompt, name):
    with pytest.raises(TypeError, match=f"a {name} is a string, not "):
        sample(response, prompt=prompt)


def test_usages_are_added_each_to_its_own():
    both = Usage(1, 20, 300, 4_000) + Usage(50_000, 600_000, 7_000_000, 80_000_000)
    assert both == Usage(50_001, 600_020, 7_000_300, 80_004_000)
    assert both.total == 87_654_321
    assert Usage().total == 0
