"""A response that is cut off says so, in its reason and in a metric."""

import pytest

from reward_functions import get, sample
from reward_functions.extraction.reasoning import without_reasoning
from reward_functions.extraction.truncation import in_reasoning

CUT = ["<think>so 5", "```python\nx=5\n", "#### 5\n\\boxed{5} <think>more", "\\boxed{5}\n~~~py\nx",
       "<|channel|>analysis<|message|>5"]  # fmt: skip
WHOLE = ["#### 5", "<think>a</think> \\boxed{5}", "```\nx\n```\n#### 5", "", "x < 5"]


@pytest.mark.parametrize("reward", ["math", "gsm8k", "multiple_choice"])
@pytest.mark.parametrize("response", CUT + WHOLE)
def test_what_is_never_closed_is_counted(reward, response):
    reference = "B" if reward == "multiple_choice" else "5"
    score = get(reward)(sample(response, reference, prompt="Which? (A) 4 (B) 5"))
    metrics = {metric.name: metric.value for metric in score.metrics}
    assert metrics["truncated"] == (response in CUT)
    assert ("cut off" in score.reason) == (response in CUT)


def test_an_unclosed_box_is_cut_off():
    score = get("math")(sample("\\boxed{5", "5"))
    assert {metric.name: metric.value for metric in score.metrics}["truncated"] == 1.0


# What is looked at closely must hold all that the close look finds.
OPENS = ["<think>", "[think]", "◁think▷", "<|begin_of_thought|>", "<reasoning>", "<THINK>",
         "analysis", "analysisWe", "<s>analysis", "[BOS]analysis", "<s><think>",
         "<|im_start|>analysis", "</think>", "x </thinking>"]  # fmt: skip
NONE = ["", "5", "x < 5", "[1, 2]", "<<6*7=42>>42", "#### 5\n", "a < t", "[tan x]", "(think)"]


@pytest.mark.parametrize("text", OPENS + NONE)
@pytest.mark.parametrize("before", ["", "\n", "so 5 "])
@pytest.mark.parametrize("after", ["", " 5", "Then 5", "\n#### 5"])
def test_reasoning_is_found_where_it_may_stand_and_nowhere_else(text, before, after):
    response = before + text + after
    probe = "\nprobe"
    assert in_reasoning(response) == (
        "<|channel|>" not in response and not without_reasoning(response + probe).endswith(probe)
    )
