"""One response, one score: the assertion most tests of a reward are made of.

A sample as a trainer sends it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from reward_functions.core.spec import RewardSpec
from reward_functions.core.types import sample

if TYPE_CHECKING:
    from reward_functions.core.asking import Ask
    from reward_functions.core.spec import RewardFunction
    from reward_functions.core.types import Sample, Score


def assert_score(
    reward: RewardFunction,
    response: str,
    reference: Any,
    expected: float,
    *,
    prompt: str = "",
    ask: Ask | None = None,
    **parameters: Any,
) -> None:
    """The reward gives this response exactly this score.

    Args:
        reward: a spec, a partial of one, a combination.
        response: what the policy wrote.
        reference: the ground truth.
        expected: compared with `==`; a `pytest.approx` works.
        prompt: the user turn.
        ask: answers a judge's questions, such as a `FakeAsk`.
        parameters: settings of the reward.

    Raises:
        AssertionError: it does not; the message shows the answer, the reason and the rule.
        BadParameter: a parameter the reward does not have, or a value of the wrong type.
        DatasetError: the reference cannot be used, so there is no score.
    """
    whom: dict[str, Any] = {} if ask is None else {"ask": ask}
    if isinstance(reward, RewardSpec):
        reward = reward.bind(parameters)
        parameters = {}
    bound = partial(reward, **parameters, **whom)
    score = bound(sample(response, reference, prompt=prompt))
    if score.value != expected:
        raise AssertionError(f"the score is {score.value}, not {expected}\n{shown(score)}")


def shown(score: Score) -> str:
    """The answer, reason and rule of a score, for the message of a failed test."""
    lines = [f"  answer: {score.answer!r}", f"  reason: {score.reason}"]
    if evidence := score.evidence:
        lines.append(f"  rule:   {evidence.rule}: {evidence.answer} against {evidence.reference}")
    return "\n".join(lines)


def wire_row(sample: Sample) -> dict[str, Any]:
    """The sample as a trainer sends it: a row of a Lambda event, a line of a file of samples."""
    return {
        "id": sample.id,
        "messages": [{"role": turn.role, "content": turn.content} for turn in sample.messages],
        "reference_answer": sample.reference,
        "metadata": dict(sample.metadata),
    }
