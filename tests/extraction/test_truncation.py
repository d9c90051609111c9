"""A response that is cut off says so, in its reason and in a metric."""

import pytest

from reward_functions import get, sample

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
