"""Rewards for verl: one by one as its reward loop calls, and a batch at a time.

    reward.custom_reward_function.path=pkg://reward_functions.adapters.verl
    reward.custom_reward_function.name=compute_score
    +reward.custom_reward_function.reward_kwargs.reward=math

verl 0.9 merges `reward_kwargs` into each call (`verl/trainer/ppo/reward.py`), by keyword:

| function | caller | arguments |
| --- | --- | --- |
| `compute_score` | the reward loop's managers | `data_source`, `solution_str`, … |
| `compute_score_async` | the same, `remote` apart: for judges, whose calls wait | the same |
| `compute_scores` | the legacy `BatchRewardManager` | the same in the plural |

Each answer is a dict of numbers under the same keys for every sample: `score`, `unscored` and the
reward's metrics. verl has no word for "not applicable". A sample that cannot be scored therefore
raises `CannotScore`, which ends the run. (`rate_limited` alone catches it, and gives 0.0.) With
`on_unscored: minimum` it earns the minimum of the scale, beside `unscored: 1`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from reward_functions.adapters._scoring import Bound, bound, check_column, plain, values
from reward_functions.core.errors import BadParameter, RewardError, ScoringError
from reward_functions.core.spec import JUDGE_WORKERS
from reward_functions.core.suggest import did_you_mean
from reward_functions.core.types import Scored

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor

    from reward_functions.adapters._scoring import Judges
    from reward_functions.core.spec import RewardFunction
    from reward_functions.core.types import RewardResult

PROMPTS: Final = ("prompt", "question", "problem")
"""Keys of `extra_info` that hold the question, the first that is there; `prompt:` names another."""

NOT_PARAMETERS: Final = frozenset({"reward_router_address", "reward_model_tokenizer"})
"""What verl passes where a reward model is served beside the reward."""

ON_UNSCORED: Final = ("raise", "minimum")


class CannotScore(ScoringError):
    """A sample that cannot be scored, where verl wants a number. The message says why."""


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    reward: str | RewardFunction | None = None,
    on_unscored: str = "raise",
    prompt: str | None = None,
    judge: Judges | None = None,
    **parameters: Any,
) -> dict[str, float]:
    """The reward of one response.

    Args:
        data_source: not read.
        solution_str: the response.
        ground_truth: the reference.
        extra_info: further fields of the row, copied; verl writes into it.
        reward: its name, or the path of its file (.py) or of a composite's (.toml or .json). In
            Python also a spec.
        on_unscored: "raise", or "minimum" for the minimum of the scale.
        prompt: the key of `extra_info` that holds the question, "" for none; the first of
            `PROMPTS` that is there where not given. verl passes the prompt to no reward function.
        judge: the models that a judge asks, in Python: a `JudgePool`.
        parameters: of the reward.

    Returns:
        `score` on the reward's own scale, `unscored` 0 or 1, and each metric.

    Raises:
        CannotScore: the sample cannot be scored, and `on_unscored` is "raise".
        ConfigurationError: no such reward, parameter or key.
    """
    (score,) = compute_scores(
        [data_source],
        [solution_str],
        [ground_truth],
        [extra_info],
        reward=reward,
        on_unscored=on_unscored,
        prompt=prompt,
        judge=judge,
        **parameters,
    )
    return score


async def compute_score_async(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, float]:
    """The same for a reward that waits, such as a judge: up to 256 at once in a process.

    verl runs a plain function in the event loop's own executor, which has a few threads.

    Args:
        data_source: as of `compute_score`, like all others.
        solution_str: the response.
        ground_truth: the reference.
        extra_info: further fields.
        options: of `compute_score`.

    Raises:
        CannotScore: as `compute_score`.
        ConfigurationError: as `compute_score`.
    """
    call = partial(compute_score, data_source, solution_str, ground_truth, extra_info, **options)
    import asyncio  # noqa: PLC0415 - whoever calls it has it already

    return await asyncio.get_running_loop().run_in_executor(_threads(), call)


def compute_scores(
    data_sources: Sequence[str],  # noqa: ARG001 - as of `compute_score`
    solution_strs: Sequence[str],
    ground_truths: Sequence[Any],
    extra_infos: Sequence[Mapping[str, Any] | None] | None = None,
    *,
    reward: str | RewardFunction | None = None,
    on_unscored: str = "raise",
    prompt: str | None = None,
    judge: Judges | None = None,
    **parameters: Any,
) -> list[dict[str, float]]:
    """The rewards of a batch, in order; a prompt's responses are a group.

    Args:
        data_sources: not read.
        solution_strs: the responses.
        ground_truths: the references.
        extra_infos: further fields of each row, copied.
        reward: as of `compute_score`, like all others.
        on_unscored: "raise" or "minimum".
        prompt: the key of the question.
        judge: the models.
        parameters: of the reward.

    Raises:
        CannotScore: a sample cannot be scored, and `on_unscored` is "raise".
        BadSample: the columns are of different lengths.
        ConfigurationError: no such reward, parameter or key.
    """
    if on_unscored not in ON_UNSCORED:
        raise BadParameter(f"on_unscored takes 'raise' or 'minimum', not {on_unscored!r}")
    held = _held(reward, parameters, judge)
    check_column("solution_strs", solution_strs)
    given = [None] * len(solution_strs) if extra_infos is None else extra_infos
    check_column("extra_infos", given, len(solution_strs))
    check_column("ground_truths", ground_truths, len(solution_strs))
    rows = [dict(row) if isinstance(row, Mapping) else {} for row in given]
    results = values(
        held.for_batch(),
        list(solution_strs),
        [plain(each) for each in ground_truths],
        [_prompt_of(row, prompt, held) for row in rows],
        rows,
    )
    return [_numbers(held, result, on_unscored) for result in results]


def _held(
    reward: str | RewardFunction | None, parameters: Mapping[str, Any], judge: Judges | None
) -> Bound:
    """The reward of a configuration, bound once: a reward loop calls for every sample.

    Raises:
        BadParameter: no reward is named.
    """
    if reward is None or reward == "":
        raise BadParameter(
            "no reward is named: add +reward.custom_reward_function.reward_kwargs.reward=NAME, "
            "one of those that `reward list` shows"
        )
    own = {name: plain(each) for name, each in parameters.items() if name not in NOT_PARAMETERS}
    if isinstance(reward, str) and judge is None:
        return _bound_once(reward, json.dumps(own, sort_keys=True, default=str))
    return bound(reward, own, judge=judge, unnamed="this reward")


@cache
def _bound_once(reward: str, parameters: str) -> Bound:
    return bound(reward, json.loads(parameters))


def _prompt_of(row: Mapping[str, Any], key: str | None, held: Bound) -> Any:
    """The question of a row: a string or turns; None where it holds none.

    Raises:
        BadParameter: the key that the configuration names is missing, or a judge has no question.
    """
    if key is None:
        found = next((row[each] for each in PROMPTS if isinstance(row.get(each), str | list)), None)
        if found is None and held.spec is not None and held.spec.needs.judge:
            raise BadParameter(
                f"{held.name} judges an answer to a question, and extra_info has no key "
                f"{', '.join(PROMPTS[:-1])} or {PROMPTS[-1]}: pass prompt='KEY', or '' for none"
            )
        return found
    if key == "":
        return None
    if not isinstance(key, str) or key not in row:
        near = did_you_mean(str(key), map(str, row))
        raise BadParameter(f"extra_info has no key {key!r} for the prompt{near}")
    return row[key]


def _numbers(held: Bound, result: RewardResult, on_unscored: str) -> dict[str, float]:
    """A result as verl's dict; all samples of a reward have the same keys."""
    if isinstance(result, Scored):
        metrics = {metric.name: float(metric.value) for metric in result.score.metrics}
        return {**metrics, "score": float(result.score.value), "unscored": 0.0}
    error = result.error
    why = f": {error}" if isinstance(error, RewardError) else ""
    if on_unscored == "raise":
        raise CannotScore(
            f"{held.name} could not score a sample ({type(error).__name__}{why}): mend the row, "
            "or pass on_unscored='minimum' to give it the minimum"
        ) from error
    if held.spec is None:
        raise BadParameter(f"{held.name} declares no scale, so it has no minimum to give")
    metrics = dict.fromkeys(held.spec.metrics, 0.0)
    return {**metrics, "score": float(held.spec.scale.minimum), "unscored": 1.0}


@cache
def _threads() -> Executor:
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - judges alone need it

    return ThreadPoolExecutor(JUDGE_WORKERS, thread_name_prefix="reward")
