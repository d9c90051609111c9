"""The reward of what an agent returned: its own, a scorer's, or one left to the feedback path."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from reward_functions.rollouts.episode.results import (
    Result,
    defers,
    has_reward,
    response_of,
    reward_of,
    stated,
)
from reward_functions.rollouts.episode.scoring.samples import sample_of
from reward_functions.rollouts.record.spans import span
from reward_functions.rollouts.report.deferred import DeferredRecord
from reward_functions.rollouts.request.clock import wall
from reward_functions.rollouts.request.errors import InvalidReward

if TYPE_CHECKING:
    from reward_functions.rollouts.episode.episode import RolloutContext
    from reward_functions.rollouts.episode.options import Reporting


def rewarded(
    returned: Any, episode: RolloutContext, reporting: Reporting, *, began: float
) -> Result:
    """What is reported of an episode that came to its end.

    Args:
        returned: by the agent: see `results`.
        episode: that it ran in.
        reporting: how it is reported.
        began: when its request came, in seconds since the epoch.

    Raises:
        InvalidReward: it is no reward, or there are two.
        RewardError: the reward cannot score the response.
    """
    if (status := stated(returned)) is not None:
        return status
    if reporting.defers_all or defers(returned):
        return _deferred(returned, episode, reporting, began)
    if reporting.scorer is None:
        return reward_of(returned, episode)
    if has_reward(returned):
        raise InvalidReward("the handler has reward=, and its agent returned one too: use one")
    with span("reward.compute", {}) as scoring:
        score = reporting.scorer.score(episode.request or {}, response_of(returned))
        scoring.set({"rollout.reward": score.value})
    return Result(status="ready", rewards=episode.rewards(score.value))


def _deferred(returned: Any, episode: RolloutContext, reporting: Reporting, began: float) -> Result:
    """What the feedback path scores, in place of a reward."""
    folder = reporting.deferred
    if folder is None:
        raise InvalidReward(
            "the agent deferred its reward, and nobody says where to: set "
            "REWARD_ROLLOUTS_RESULTS and REWARD_ROLLOUTS_SCORER"
        )
    if reporting.scorer is not None:
        raise InvalidReward("the handler has reward=, and its agent deferred it: use one")
    if (not defers(returned) and has_reward(returned)) or episode.rewards() is not None:
        raise InvalidReward("the reward is deferred, and the agent gave one too: use one")
    record = DeferredRecord(
        scorer=folder.scorer,
        metadata=episode.metadata,
        sample=sample_of(episode.request or {}, response_of(returned)),
        created=wall(began),
        expires=wall(episode.expires or inf),
    )
    return Result(status="deferred", record=record)
