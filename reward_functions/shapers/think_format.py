"""Reasoning in one closed section, and an answer after it: the form R1-like training asks for."""

from __future__ import annotations

from reward_functions.core.spec import Example, reward_function
from reward_functions.core.types import Sample, Score
from reward_functions.shapers._sections import Fault, section_then_answer


@reward_function(
    version=1,
    partial_credit=1.0,
    examples=[
        Example("positive", response="<think>6 × 7 is 42.</think>\nThe answer is 42.", score=1.0),
        Example(
            "positive",
            response="6 × 7 is 42.</think>42",
            score=1.0,
            parameters={"opened": True},
            why="the chat template has opened the section",
        ),
        Example(
            "positive",
            response="<reason>6 × 7</reason>42",
            score=1.0,
            parameters={"tag": "reason"},
        ),
        Example("negative", response="The answer is 42.", score=0.0, why="no section"),
        Example("negative", response="<think>6 × 7 is", score=0.0, why="cut off"),
        Example("negative", response="<think>42</think>", score=0.0, why="no answer"),
        Example("attack", response="<think></think>42", score=0.0, why="an empty section"),
        Example(
            "attack",
            response="<think>a</think>1<think>b</think>2",
            score=0.0,
            why="a second section",
        ),
    ],
)
def think_format(sample: Sample, *, tag: str = "think", opened: bool = False) -> Score:
    """The response is one closed reasoning section, not empty, and after it an answer.

    Reference: none. Scale: 1.0 or 0.0. White space around the section and in front of the response
    does not count. It does not see a reasoning block that a trainer sends apart from the text.
    Source: TRL's `think_format_reward` (trl 1.16, rewards/format_rewards.py) asks for the same form
    and accepts an empty section.

    Args:
        sample: the response; a reference is ignored.
        tag: the name between the angle brackets.
        opened: whether the chat template writes the opening tag, so that a response has only the
            closing one.
    """
    found = section_then_answer(sample.response, tag, opened=opened)
    reason = found if isinstance(found, Fault) else "one closed section, and an answer after it"
    return Score(float(not isinstance(found, Fault)), reason=str(reason))
