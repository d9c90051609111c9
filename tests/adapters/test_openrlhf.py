"""OpenRLHF's call expressions, recorded, with lists for tensors."""

import asyncio
import logging
import sys
from itertools import chain
from types import ModuleType

import pytest

from reward_functions import Score, get
from reward_functions.adapters.openrlhf import last_step, response_of, reward_function, without_end
from reward_functions.core.errors import BadReference, BadSample, ConfigurationError
from tests.adapters.recorded import RESPONSE, openrlhf, openrlhf_step

LOGGED = {*(f"math/{name}" for name in get("math").metrics), "math/unscored"}


@pytest.fixture(autouse=True)
def torch(monkeypatch):
    host = ModuleType("torch")
    host.float32, host.tensor = "float32", lambda values, dtype: list(values)
    monkeypatch.setitem(sys.modules, "torch", host)


def test_the_recorded_call_is_scored():
    found = reward_function("math")(*openrlhf())
    assert found["rewards"] == found["scores"] == [1.0]
    assert found["extra_logs"].keys() == LOGGED
    assert found["extra_logs"]["math/answered"] == [1.0]


def test_a_batch_keeps_its_order_and_its_length():
    columns = [openrlhf(), openrlhf(r"\boxed{41}"), openrlhf("")]
    queries, prompts, labels = ([*chain(*lists)] for lists in zip(*columns, strict=True))
    assert reward_function("math")(queries, prompts, labels)["rewards"] == [1.0, 0.0, 0.0]
    assert reward_function("math")([], [], [])["rewards"] == []


def test_the_response_is_what_follows_the_prompt():
    seen = []

    def spy(sample):
        seen.append(sample)
        return Score(1.0)

    reward_function(spy)(*openrlhf())
    assert seen[0].response == RESPONSE


def test_what_cannot_be_scored_raises_after_a_warning_that_says_why(caplog):
    with caplog.at_level(logging.WARNING), pytest.raises(BadReference, match="no reference"):
        reward_function("math")(*openrlhf(label=""))
    assert "math: BadReference: there is no reference" in caplog.text
    assert "6 × 7" not in caplog.text


def test_a_number_for_what_cannot_be_scored_is_the_users_and_is_counted():
    found = reward_function("math", unscored=-1.0)(*openrlhf(label=""))
    assert found["rewards"] == [-1.0]
    assert found["extra_logs"].keys() == LOGGED
    assert found["extra_logs"]["math/unscored"] == [1.0]


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ConfigurationError, match="1 queries, 1 prompts and 2 labels"):
        reward_function("math")(["q"], ["q"], ["1", "2"])


def test_the_last_step_of_an_agent():
    found = asyncio.run(last_step("math")(openrlhf_step()))
    assert (found["rewards"], found["scores"], found["done"]) == (1.0, 1.0, True)
    assert found["extra_logs"].keys() == LOGGED
    assert found["environment_feedback"] == ""


@pytest.mark.parametrize(
    ("query", "prompt", "response"),
    [
        ("<s> Hi there. Yes.", "<s>Hi there. ", " Yes."),
        ("Hi\n\nthere Yes.", "Hi there", " Yes."),
        ("Hi", "Hi", ""),
        ("Yes.", "", "Yes."),
        ("a b a b c", "a b ", "a b c"),
        (" " * 100_000 + "ab", "a" + " " * 100_000, "b"),
    ],
)
def test_a_tokenizer_may_lose_and_add_spaces(query, prompt, response):
    assert response_of(query, prompt) == response


@pytest.mark.parametrize(
    ("query", "prompt"), [("there. Yes.", "Hi there."), ("", "Hi"), ("H", "Hi")]
)
def test_a_prompt_that_was_cut_is_not_taken_for_a_response(query, prompt):
    with pytest.raises(BadSample, match="was the prompt cut"):
        response_of(query, prompt)


@pytest.mark.parametrize(
    ("text", "response"),
    [
        ("42<|im_end|>", "42"),
        ("42</s></s>", "42"),
        ("42<|eot_id|>\n<|endoftext|>", "42"),
        ("42<end_of_turn>\n", "42"),
        ("42<｜end▁of▁sentence｜>", "42"),
        ("42<|im_end|>\nmore", "42<|im_end|>\nmore"),
        ("a <|b|> c", "a <|b|> c"),
        ("|x| < 3 </sum>", "|x| < 3 </sum>"),
        ("<|im_end|>", ""),
        ("", ""),
        ("42\n", "42\n"),
        ("42" + "<|xy|>" * 20_000, "42"),
    ],
)
def test_special_tokens_at_the_end_are_no_part_of_a_response(text, response):
    assert without_end(text) == response
