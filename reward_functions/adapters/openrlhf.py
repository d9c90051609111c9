"""OpenRLHF: a reward is the function `reward_func` of the file that `--reward.remote_url` names.

    # my_reward.py
    from reward_functions.adapters.openrlhf import reward_function
    reward_func = reward_function("math")

**The prompt** is the prompt, **the reference** the label, **the response** what follows the prompt
in the query, without the special tokens it ends with: OpenRLHF decodes prompt and response together
and keeps those tokens. **Unscored** raises. OpenRLHF logs the exception at level INFO and leaves
that reward out, after which training stops: `reward_model_group is required when rewards are not
precomputed`, or an attribute of None (openrlhf 0.11.2, `utils/agent.py`, `SingleTurnAgentExecutor`,
and `trainer/ppo_utils/experience_maker.py`). So the reason is logged here as a warning first. There
is no "not applicable": who would rather go on names the number to use, as `unscored=0.0`, and the
log column `REWARD/unscored` counts it.
"""

from __future__ import annotations

import re
from logging import getLogger
from typing import TYPE_CHECKING, Any, Final

from reward_functions.adapters._single import (
    messages_of,
    outcome,
    reported,
    sampled,
    score_of,
    single,
)
from reward_functions.core.errors import BadSample, ConfigurationError
from reward_functions.core.turn_markers import MARKER
from reward_functions.core.types import Unscored

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from reward_functions.adapters._scoring import Bound, Judges
    from reward_functions.core.spec import RewardFunction
    from reward_functions.core.types import RewardResult

END: Final = re.compile(rf"{MARKER}|</?s>", re.IGNORECASE)
"""Tokens that end a turn or fill a batch."""

LOG: Final = getLogger(__name__)


def reward_function(
    reward: str | RewardFunction,
    *,
    unscored: float | None = None,
    judge: Judges | None = None,
    name: str | None = None,
    **parameters: Any,
) -> Callable[..., dict[str, Any]]:
    """A reward as OpenRLHF calls it: `f(queries, prompts, labels)`, three lists of one length.

    It returns tensors of that length: `rewards` and `scores`, and as `extra_logs` the metrics and
    the flag `unscored`, each named `REWARD/METRIC`, the same names at every call.

    Args:
        reward: a registered name, the path of a composite (.toml or .json), or a spec.
        unscored: the reward of a response that could not be scored; None raises.
        judge: the models that a judge asks: a `JudgePool`, opened for each response anew, so that
            its `max_usd` is a limit of one response.
        name: in the place of the reward's own.
        parameters: of the reward.

    Raises:
        ConfigurationError: the reward cannot be had, or compares the responses of a group.
    """
    scored = single("OpenRLHF", reward, parameters, name, judge)

    def reward_func(
        queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **_: Any
    ) -> dict[str, Any]:
        if not len(queries) == len(prompts) == len(labels):
            raise ConfigurationError(
                f"there are {len(queries)} queries, {len(prompts)} prompts and {len(labels)} labels"
            )
        rows = zip(queries, prompts, labels, strict=True)
        results = [_result(scored, *row, at) for at, row in enumerate(rows)]
        return _tensors(scored, results, unscored)

    reward_func.__qualname__ = scored.name
    return reward_func


def last_step(
    reward: str | RewardFunction,
    *,
    unscored: float | None = None,
    judge: Judges | None = None,
    name: str | None = None,
    **parameters: Any,
) -> Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]:
    """The value that `AgentInstanceBase.step` returns for the last action of an episode.

        async def step(self, states, **_):
            return await finished(states)     # finished = last_step("math")

    The prompt is `observation_text`, the response `action_text`, the reference `label`.

    Args:
        reward: see `reward_function`.
        unscored: see `reward_function`.
        judge: the models that a judge asks: a `JudgePool`, opened for each response anew, so that
            its `max_usd` is a limit of one response.
        name: in the place of the reward's own.
        parameters: of the reward.

    Raises:
        ConfigurationError: the reward cannot be had, or compares the responses of a group.
    """
    scored = single("OpenRLHF", reward, parameters, name, judge)

    async def finished(states: Mapping[str, Any]) -> dict[str, Any]:
        import asyncio  # noqa: PLC0415 - the function of a file runs without it

        turn = states["observation_text"], states["action_text"], states["label"]
        result = await asyncio.to_thread(_scored, scored, *turn, 0)
        tensors = _tensors(scored, [result], unscored)
        one = {key: tensors[key][0] for key in ("rewards", "scores")}
        return {
            **one,
            "extra_logs": tensors["extra_logs"],
            "environment_feedback": "",
            "done": True,
        }

    finished.__qualname__ = scored.name
    return finished


def _result(reward: Bound, query: str, prompt: str, label: Any, at: int) -> RewardResult:
    try:
        response = response_of(query, prompt)
    except BadSample as error:
        return Unscored(str(at), error)
    return _scored(reward, prompt, response, label, at)


def _scored(reward: Bound, prompt: str, response: str, label: Any, at: int) -> RewardResult:
    """OpenRLHF's label is an empty string where the data set has none."""
    reference = None if label == "" else label
    sample = sampled(str(at), messages_of(prompt), without_end(response), reference, {})
    return outcome(reward, sample)


def response_of(query: str, prompt: str) -> str:
    """The response after the prompt. Tokenizers lose and add spaces, so that none counts.

    Raises:
        BadSample: the query does not begin with the prompt: OpenRLHF cuts one that is too long.
    """
    if query.startswith(prompt):
        return query[len(prompt) :]
    at = 0
    for letter in prompt:
        if letter.isspace():
            continue
        while at < len(query) and query[at].isspace():
            at += 1
        if not query.startswith(letter, at):
            raise BadSample("the query does not begin with its prompt: was the prompt cut?")
        at += 1
    return query[at:]


def without_end(response: str) -> str:
    """A response without the special tokens it ends with."""
    end = len(response)
    for token in reversed([*END.finditer(response)]):
        if response[token.end() : end].strip():
            break
        end = token.start()
    return response[:end]


def _tensors(
    reward: Bound, results: Sequence[RewardResult], unscored: float | None
) -> dict[str, Any]:
    from torch import float32, tensor  # noqa: PLC0415 - what the host computes with

    name = reward.name
    declared = reward.spec.metrics if reward.spec else ()
    rewards: list[float] = []
    logs: dict[str, list[float]] = {f"{name}/{metric}": [] for metric in declared}
    flags: list[float] = []
    for result in results:
        failed = isinstance(result, Unscored)
        if isinstance(result, Unscored):
            LOG.warning("%s: %s: %s", name, type(result.error).__name__, result.error)
        score = None if failed and unscored is not None else score_of(result)
        logged = reported(reward, score) if score else {}
        rewards.append(score.value if score else float(unscored or 0.0))
        flags.append(float(failed))
        for key, column in logs.items():
            column.append(logged.get(key, 0.0))
    values = tensor(rewards, dtype=float32)
    columns = {**logs, f"{name}/unscored": flags}
    return {
        "rewards": values,
        "scores": values,
        "extra_logs": {key: tensor(column, dtype=float32) for key, column in columns.items()},
    }
