"""`RewardFunction`, agentcore-rl-toolkit's interface of a reward, with what it returns validated.

    class Exact(RewardFunction):
        def __call__(self, *, response_text="", ground_truth="", **_):
            return float(response_text == ground_truth)

    Exact().rewards(response_text="42", ground_truth="42")     # (1.0,)
    rollout_handler(agent, reward=Exact().of_sample)           # as `reward=` of a handler
    reward_function("math")(response_text="…", ground_truth="4", user_input="2 + 2?")   # 1.0

| keyword | of a sample |
| --- | --- |
| `response_text` | its response |
| `ground_truth` | its reference |
| `user_input` | its prompt |
| `metadata` | its metadata |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from reward_functions.rollouts.episode.scoring import Scorer
from reward_functions.rollouts.request.errors import InvalidReward
from reward_functions.rollouts.request.rewards import rewards_of

if TYPE_CHECKING:
    from reward_functions.core.types import Sample


class RewardFunction(ABC):
    """A reward of keywords: one number, or one for each turn."""

    @abstractmethod
    def __call__(self, **kwargs: Any) -> float | list[float]:
        """The reward of a rollout: a finite number, or a list of them."""

    def rewards(self, *, turns: int | None = None, **kwargs: Any) -> tuple[float, ...]:
        """The validated result of a call.

        Args:
            turns: how many there were; None where nobody counted.
            kwargs: of the call.

        Raises:
            InvalidReward: no finite number, a boolean, a string, or of another length.
        """
        return rewards_of(self(**kwargs), turns=turns)

    def of_sample(self, sample: Sample, /) -> float:
        """The one reward of a sample, as `rollout_handler(reward=…)` takes it.

        Raises:
            InvalidReward: as `rewards`, or one for each turn, of which a sample has none.
        """
        found = self.rewards(
            response_text=sample.response,
            ground_truth=sample.reference,
            user_input=sample.prompt,
            metadata=dict(sample.metadata),
        )
        if len(found) > 1:
            raise InvalidReward(
                f"{type(self).__name__} gives {len(found)} rewards for one response: return them "
                "from the agent instead"
            )
        return found[0]


class _Scored(RewardFunction):
    """A reward of this project as a `RewardFunction`."""

    def __init__(self, scorer: Scorer) -> None:
        self.scorer = scorer

    def __call__(self, **kwargs: Any) -> float:
        row = {
            "prompt": kwargs.get("user_input", ""),
            "reference_answer": kwargs.get("ground_truth"),
            "metadata": kwargs.get("metadata") or {},
        }
        return self.scorer.score(row, kwargs["response_text"]).value


def reward_function(reward: Any, **parameters: Any) -> RewardFunction:
    """A reward of this project as a `RewardFunction`.

    Args:
        reward: what `Scorer.of` takes: a name, a declaration, a function of a sample.
        parameters: of the reward.

    Returns:
        A function of `response_text`, and `ground_truth`, `user_input`, `metadata` where it needs
        them. It raises what `Scorer.score` does where it cannot score.

    Raises:
        UnknownReward, BadParameter, NoJudge: as `Scorer.of` does.
    """
    return _Scored(Scorer.of(reward, parameters=parameters))
