"""What an agent returns, as a reward or as the response that is scored.

| an agent returns | read as |
| --- | --- |
| a number, of numpy too | the episode's reward |
| `Score`, `Scored` | its value |
| `Unscored` | an error: it could not be scored |
| an array, a list or tuple that holds a number or a score | a reward for each turn |
| a mapping or an object with `status` "skipped" | nothing is reported |
| the same with "error" | an error, whatever its reward |
| the same with `reward` "deferred" | its response is scored by a deployed reward: see `deferred` |
| the same with `reward` or `rewards` | any of the rows above but this one |
| anything else, None too | no reward: the rollout is complete, and has what the episode recorded |

sagemaker.train.rft reports nothing for a number, an object or None, and the rollout waits for ever:
there this table differs on purpose. A boolean is no reward; as a `reward` it is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Number
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.core.jsons import json_kind
from reward_functions.core.types import Score, Scored, Unscored
from reward_functions.rollouts.report.deferred import DEFERRED
from reward_functions.rollouts.request.errors import EnvironmentFailure, InvalidReward
from reward_functions.rollouts.request.rewards import rewards_of

if TYPE_CHECKING:
    from reward_functions.rollouts.episode.episode import RolloutContext
    from reward_functions.rollouts.report.deferred import DeferredRecord

NAMES: Final = ("reward", "rewards")
"""sagemaker.train.rft's, and agentcore-rl-toolkit's."""

RESPONSES: Final = (
    *("response", "final_output", "message", "messages", "choices"),
    *("content", "text"),
)
"""Where a response is, in this order: ours, the OpenAI Agents SDK's, Strands', LangGraph's, a chat
completion's; then in a message, and in a block of its content."""

DEEPEST: Final = 6
"""Levels of a result that are looked into for a response."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What an agent's result says.

    Args:
        status: "ready" where the agent came to its end, "error" where it says that it did not,
            "skipped" where nothing is to be reported, "deferred" where somebody else scores it.
        rewards: None where there is none.
        error: what is wrong, where it is; never the agent's own text.
        record: of a deferred episode.
    """

    status: Literal["ready", "error", "skipped", "deferred"]
    rewards: tuple[float, ...] | None = None
    error: Exception | None = None
    record: DeferredRecord | None = None


def reward_of(result: Any, episode: RolloutContext) -> Result:
    """The reward of an episode, from what its agent returned and what the episode recorded.

    Raises:
        InvalidReward: a reward that is not finite numbers, has another length than the turns, or
            is given twice with different values.
    """
    if (status := stated(result)) is not None:
        return status
    found = _returned(result)
    if isinstance(found, Unscored):
        return Result(status="error", error=found.error)
    return Result(status="ready", rewards=episode.rewards(found))


def stated(result: Any) -> Result | None:
    """What the agent says of its episode by a `status`; None where it says nothing."""
    status = _field(result, "status")
    if isinstance(status, str) and status == "skipped":
        return Result(status="skipped")
    if isinstance(status, str) and status == "error":
        return Result(
            status="error", error=EnvironmentFailure("the agent returned the status error")
        )
    return None


def defers(result: Any) -> bool:
    """Whether an agent says that somebody else scores its response.

    Raises:
        InvalidReward: it gives rewards beside.
    """
    named = _field(result, "reward")
    if not isinstance(named, str) or named != DEFERRED:
        return False
    if _field(result, "rewards") is not None:
        raise InvalidReward("the agent deferred its reward, and returned others: use one")
    return True


def has_reward(result: Any) -> bool:
    """Whether an agent returned a reward."""
    return _returned(result) is not None


def response_of(result: Any) -> str:
    """The response that is scored, from what an agent returned.

    A string; or the first of `RESPONSES` of a mapping or an object, such as Strands' AgentResult;
    of a list of messages the last, of a list of content blocks the text of all.

    Raises:
        InvalidReward: it has no response. An empty one is the policy's, and is scored.
    """
    found = _text(result, DEEPEST)
    if found is None:
        raise InvalidReward(
            f"the agent returned {json_kind(result)}, which holds no response to score: return the "
            "response as a string, or as the response of an object"
        )
    return found


def _returned(result: Any) -> Any:
    """The reward in a result, an `Unscored`, or None."""
    for holds, read in READINGS:
        if holds(result):
            return read(result)
    given = [_value(value) for name in NAMES if (value := _field(result, name)) is not None]
    for each in given:
        if isinstance(each, Unscored):
            return each
    different = {rewards_of(each) for each in given}
    if len(different) > 1:
        raise InvalidReward("the agent returned a reward and other rewards: use one name")
    return next(iter(different), None)


def _value(value: Any) -> Any:
    """A reward under its name, where everything is meant as one."""
    return next((read(value) for holds, read in READINGS if holds(value)), value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Number) and not isinstance(value, bool)


def _is_array(value: Any) -> bool:
    """Of numpy, torch or jax: their scalars too."""
    return callable(getattr(value, "item", None)) and hasattr(value, "ndim")


def _is_list(value: Any) -> bool:
    if not isinstance(value, list | tuple):
        return False
    return any(_is_number(each) or isinstance(each, Score | Scored | Unscored) for each in value)


def _listed(values: list[Any] | tuple[Any, ...]) -> Any:
    """The rewards of the turns; the first that is `Unscored` stands for all."""
    rewards = [_value(each) for each in values]
    return next((each for each in rewards if isinstance(each, Unscored)), rewards)


READINGS: Final[tuple[tuple[Callable[[Any], bool], Callable[[Any], Any]], ...]] = (
    (_is_number, lambda number: number),
    (lambda value: isinstance(value, Score), lambda score: score.value),
    (lambda value: isinstance(value, Scored), lambda scored: scored.score.value),
    (lambda value: isinstance(value, Unscored), lambda unscored: unscored),
    (_is_array, lambda array: array),
    (_is_list, _listed),
)


def _field(result: Any, name: str) -> Any:
    """A field of a mapping or an attribute of an object; no method, and nothing of a type."""
    if isinstance(result, Mapping):
        return result.get(name)
    value = None if isinstance(result, str | type) else getattr(result, name, None)
    return None if callable(value) else value


def _text(value: Any, deepest: int) -> str | None:
    if isinstance(value, str) or value is None or not deepest:
        return value if isinstance(value, str) else None
    if isinstance(value, list | tuple):
        return _of_list(value, deepest)
    found = (_text(_field(value, name), deepest - 1) for name in RESPONSES)
    silent = "" if _field(value, "role") else None  # a message that only calls a tool
    return next((text for text in found if text is not None), silent)


def _of_list(values: list[Any] | tuple[Any, ...], deepest: int) -> str | None:
    """The last of messages, or the text of all blocks; a block of a tool has none."""
    if any(_field(each, "role") or _field(each, "type") in {"human", "ai"} for each in values):
        return _text(values[-1], deepest - 1)
    texts = [text for each in values if (text := _text(each, deepest - 1)) is not None]
    return "\n".join(texts) if texts else None
