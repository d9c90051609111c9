"""OpenEnv: a reward is a `Rubric`, called with an action and the observation after it.

    from reward_functions.adapters.openenv import rubric
    super().__init__(rubric=rubric("math", response="message", reference="metadata.answer"))

**The response** is a field of the action, **the reference** of the observation; either may be a
function of both instead, for what only the environment knows. **Unscored** raises, out of the step:
openenv-core 0.3.0 and openenv 0.10.0 catch nothing (`core/rubrics/base.py`, `Rubric.__call__`;
`core/env_server/interfaces.py`, `_apply_rubric`). A step without a reward is an error of the
environment, never an observation that says 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reward_functions.adapters._single import (
    MISSING,
    at,
    fields_of,
    messages_of,
    outcome,
    reference_in,
    sampled,
    score_of,
    single,
)
from reward_functions.core.errors import BadSample

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.adapters._scoring import Judges
    from reward_functions.core.spec import RewardFunction
    from reward_functions.core.types import Score

    Where = str | Callable[[Any, Any], Any] | None

RESPONSES: Final = ("response", "answer", "message", "content", "text")
"""Where a response is looked for in an action when nobody names its field, first match first."""


def rubric(
    reward: str | RewardFunction,
    *,
    response: Where = None,
    reference: Where = None,
    prompt: Where = None,
    judge: Judges | None = None,
    name: str | None = None,
    **parameters: Any,
) -> Any:
    """A reward as an OpenEnv rubric, to be used alone or inside `WeightedSum`, `Gate` and the like.

    Its `last_result` is the whole `Score`, beside OpenEnv's own `last_score`.

    Args:
        reward: a registered name, the path of a composite (.toml or .json), or a spec.
        response: a dotted path in the action, or a function of action and observation; the first
            of `response`, `answer`, `message`, `content`, `text` where not given.
        reference: a dotted path in the observation, or a function; the first of
            `reference_answer`, `answer`, `solution`, `ground_truth` where not given, in the
            observation and then in its metadata.
        prompt: a dotted path in the observation, or a function; none where not given.
        judge: the models that a judge asks: a `JudgePool`, opened for each response anew, so that
            its `max_usd` is a limit of one response.
        name: in the place of the reward's own.
        parameters: of the reward.

    Raises:
        ConfigurationError: the reward cannot be had, or compares the responses of a group.
        ImportError: OpenEnv is not installed.
    """
    from openenv.core.rubrics import Rubric  # noqa: PLC0415 - the host, which a user of it has

    scored = single("OpenEnv", reward, parameters, name, judge)

    class Reward(Rubric):  # type: ignore[misc]  # the host is not installed here
        """Scores the last action; raises what kept it from being scored."""

        def __init__(self) -> None:
            super().__init__()
            self.last_result: Score | None = None

        def forward(self, action: Any, observation: Any) -> float:
            gold, looked = _reference(action, observation, reference)
            asked = None if prompt is None else _found(action, observation, observation, prompt)
            answered = _response(action, observation, response)
            metadata = fields_of(at(observation, "metadata"))
            sample = sampled("step", messages_of(asked), answered, gold, metadata)
            score = score_of(outcome(scored, sample, looked))
            self.last_result = score
            return score.value

    Reward.__name__ = Reward.__qualname__ = scored.name
    return Reward()


def _found(action: Any, observation: Any, source: Any, where: Where) -> Any:
    """What a path in the source or a function of both leads to.

    Raises:
        BadSample: the path leads nowhere.
    """
    if callable(where):
        return where(action, observation)
    found = at(source, where or "")
    if found is MISSING:
        known = ", ".join(sorted(fields_of(source))) or "none"
        raise BadSample(f"there is no field {where!r}; the fields are {known}")
    return found


def _response(action: Any, observation: Any, where: Where) -> Any:
    known = fields_of(action)
    found = where or next((name for name in RESPONSES if name in known), None)
    if found is None:
        names = ", ".join(sorted(known)) or "none"
        raise BadSample(f"the action's fields are {names}: name the response by response=…")
    return _found(action, observation, action, found)


def _reference(action: Any, observation: Any, where: Where) -> tuple[Any, tuple[str, ...] | None]:
    if callable(where):
        return where(action, observation), None
    gold, looked = reference_in(observation, where)
    if where is None and gold is None:
        gold, within = reference_in(at(observation, "metadata"), None)
        looked = None if within is None else (*(looked or ()), *within)
    return gold, looked
