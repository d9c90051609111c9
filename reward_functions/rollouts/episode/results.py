"""Turn an agent's result or exception into a report of its episode.

| an agent returns | read as |
| --- | --- |
| a number, of numpy too | the episode's reward |
| `Score`, `Scored` | its value |
| `Unscored` | an error: it could not be scored |
| an array, a list or tuple that holds a number or a score | a reward for each turn |
| a mapping or an object with `status` "skipped" | nothing is reported |
| the same with "error" | an error, with any reward |
| the same with `reward` "deferred" | its response is scored by a deployed reward: see `deferred` |
| the same with `reward` or `rewards` | any of the rows above but this one |
| anything else, None too | no reward: the rollout is complete, and has what the episode recorded |

sagemaker.train.rft reports nothing for a number, an object or None, and the rollout waits for ever:
there this table differs on purpose. A boolean is no reward; as a `reward` it is an error.

The table of failure attribution stands with its reasons in `errors`; `FAILURES` has its rows. An
ending that is ours is reported as failed, or, where the operator asked for it, as the minimum. Then
it is counted under a name of its own, because such an outage of ours is a lesson for the policy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf
from numbers import Number
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from reward_functions.core.jsons import json_kind
from reward_functions.core.types import Score, Scored, Unscored
from reward_functions.rollouts.episode.samples import sample_of
from reward_functions.rollouts.record.spans import span
from reward_functions.rollouts.report.deferred import DEFERRED, DeferredRecord
from reward_functions.rollouts.request.clock import wall
from reward_functions.rollouts.request.errors import (
    ContractViolation,
    EnvironmentFailure,
    EpisodeFailure,
    InvalidReward,
    PolicyFailure,
)
from reward_functions.rollouts.request.rewards import rewards_of

if TYPE_CHECKING:
    from reward_functions.rollouts.episode.episode import RolloutContext
    from reward_functions.rollouts.episode.options import Reporting
    from reward_functions.rollouts.report.intents import OnFailure


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The report of an episode.

    Args:
        event: what happened, by the name that it is counted under.
        status: None where nothing is reported.
        rewards: None without one.
        error: what is reported as failed; its type is logged.
        record: what is written in place of a report.
    """

    event: str
    status: Literal["ready", "failed"] | None
    rewards: tuple[float, ...] | None = None
    error: BaseException | None = None
    record: DeferredRecord | None = None


class Failure(NamedTuple):
    """A row: what an agent raises, the name to count, and whether it may be a minimum."""

    raised: type[BaseException]
    event: str
    may_be_minimum: bool = True


FAILURES: Final = (
    Failure(ContractViolation, "contract_violation", may_be_minimum=False),
    Failure(EnvironmentFailure, "environment_failure"),
    Failure(Exception, "agent_failed"),
    Failure(BaseException, "interrupted"),  # KeyboardInterrupt, SystemExit, a cancelled task
)
"""What is ours, by the first row that holds."""

DEEPEST: Final = 16
"""Exceptions, each raised from the next, that are looked through."""

AS_MINIMUM: Final = "_as_minimum"
"""What the name of a failure ends with that is reported as the scale's minimum."""

NAMES: Final = ("reward", "rewards")
"""sagemaker.train.rft's, and agentcore-rl-toolkit's."""

RESPONSES: Final = (
    *("response", "final_output", "message", "messages", "choices"),
    *("content", "text"),
)
"""Where a response is, in this order: ours, the OpenAI Agents SDK's, Strands', LangGraph's, a chat
completion's; then in a message, and in a block of its content."""

LEVELS: Final = 6
"""Levels of a result that are looked into for a response."""


# How an episode ended.


def ending_of_failure(error: BaseException, *, minimum: float, on_failure: OnFailure) -> Ending:
    """The ending of an agent that raised.

    Args:
        error: what it raised; see `cause_of`.
        minimum: of the reward's scale.
        on_failure: what is reported where the failure is ours.

    Raises:
        InvalidReward: a `PolicyFailure` whose reward is not a finite number.
    """
    error = cause_of(error)
    if isinstance(error, PolicyFailure):
        reward = minimum if error.reward is None else error.reward
        return Ending(event="policy_failure", status="ready", rewards=rewards_of(reward, turns=1))
    row = FAILURES[_rank(error)]
    failed = Ending(event=row.event, status="failed", rewards=(minimum,), error=error)
    return _by_policy(failed, on_failure) if row.may_be_minimum else failed


def ending_of_result(
    returned: Any, episode: RolloutContext, reporting: Reporting, *, began: float
) -> Ending:
    """The ending of an agent that returned.

    Args:
        returned: by the agent.
        episode: that it ran in.
        reporting: how it is reported.
        began: when its request came, in seconds since the epoch.

    Raises:
        InvalidReward: it is no reward, or there are two.
        RewardError: the reward cannot score the response.
    """
    ending = _rewarded(returned, episode, reporting, began)
    if ending.status != "failed":
        return ending
    return _by_policy(replace(ending, rewards=(reporting.minimum,)), reporting.on_failure)


def ending_at_deadline(minimum: float) -> Ending:
    """The ending of an agent whose time is over: the policy took too long."""
    return Ending(event="deadline", status="ready", rewards=(minimum,))


def cause_of(error: BaseException) -> BaseException:
    """The cause of an error that an agent raised.

    Of a group, as of `asyncio.TaskGroup`, what is ours before what is the policy's, and then the
    row of `FAILURES` that comes first. Of an exception that was raised `from` an `EpisodeFailure`,
    as a framework does it, that failure: Strands' `EventLoopException`, the Agents SDK's
    `UserError`, OpenAI's `APIConnectionError`.
    """
    if isinstance(error, BaseExceptionGroup):
        causes = map(cause_of, error.exceptions)
        return min(causes, key=lambda each: (isinstance(each, PolicyFailure), _rank(each)))
    cause: BaseException | None = error
    for _ in range(DEEPEST):
        if isinstance(cause, EpisodeFailure):
            return cause
        if not isinstance(cause, Exception):
            break  # what interrupts an agent is not explained away
        cause = cause.__cause__
    return error


def _rank(error: BaseException) -> int:
    """The first row of `FAILURES` that holds."""
    return next(at for at, row in enumerate(FAILURES) if isinstance(error, row.raised))


def _by_policy(failed: Ending, on_failure: OnFailure) -> Ending:
    if on_failure == "failed":
        return failed
    return replace(failed, event=failed.event + AS_MINIMUM, status="ready")


# What an agent returned.


def reward_of(result: Any, episode: RolloutContext) -> Ending:
    """The agent's result and its episode's record; an error has no rewards yet.

    Raises:
        InvalidReward: a reward that is not finite numbers, has another length than the turns, or
            is given twice with different values.
    """
    if (ending := _stated(result)) is not None:
        return ending
    found = _returned(result)
    if isinstance(found, Unscored):
        return Ending(event="returned_error", status="failed", error=found.error)
    return _ready(episode.rewards(found))


def _rewarded(returned: Any, episode: RolloutContext, reporting: Reporting, began: float) -> Ending:
    """Its own reward, a scorer's, or one that is left to the feedback path."""
    if (ending := _stated(returned)) is not None:
        return ending
    if reporting.own.deferred is not None or defers(returned):
        return _deferred(returned, episode, reporting, began)
    scorer = reporting.own.scorer
    if scorer is None:
        return reward_of(returned, episode)
    if has_reward(returned):
        raise InvalidReward("the handler has reward=, and its agent returned one too: use one")
    with span("reward.compute", {}) as scoring:
        score = scorer.score(episode.request or {}, response_of(returned))
        scoring.set({"rollout.reward": score.value})
    return _ready(episode.rewards(score.value))


def _deferred(returned: Any, episode: RolloutContext, reporting: Reporting, began: float) -> Ending:
    """What the feedback path scores, in place of a reward."""
    folder = reporting.deferred
    if folder is None:
        raise InvalidReward(
            "the agent deferred its reward, and nobody says where to: set "
            "REWARD_ROLLOUTS_RESULTS and REWARD_ROLLOUTS_SCORER"
        )
    if reporting.own.scorer is not None:
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
    return Ending(event="deferred", status=None, record=record)


def _ready(rewards: tuple[float, ...] | None) -> Ending:
    event = "unrewarded" if rewards is None else "rewarded"
    return Ending(event=event, status="ready", rewards=rewards)


def _stated(result: Any) -> Ending | None:
    """What the agent says of its episode by a `status`; None where it says nothing."""
    status = _field(result, "status")
    if isinstance(status, str) and status == "skipped":
        return Ending(event="skipped", status=None)
    if isinstance(status, str) and status == "error":
        error = EnvironmentFailure("the agent returned the status error")
        return Ending(event="returned_error", status="failed", error=error)
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
    found = _text(result, LEVELS)
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
