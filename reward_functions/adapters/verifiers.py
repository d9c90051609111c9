"""Prime Intellect's verifiers 0.4 (v1): a reward is an async function of `task` and `trace`.

    [env.taskset.task.rewards]
    correct = { fn = "reward_functions.adapters.verifiers:math", weight = 1.0 }

Every registered reward is an attribute of this module. With parameters, or for a composite, make
one in a file of your own and name that: `correct = reward_func("math", rounded=2)`.

**Prompt and response** are the trace's: its last reply, and the messages before it. **The
reference** is a field of the task's data. **Unscored** raises: verifiers records the key as None
and the rollout as failed with a `TaskError`, never as a zero (verifiers 0.4.0, `v1/task.py`,
`Task.score`, and `v1/errors.py`, `boundary`). Versions before 0.4 turn an exception into 0.0 and
are not supported.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from reward_functions.adapters._single import (
    MISSING,
    at,
    before_the_response,
    by_name,
    fields_of,
    last_calls,
    messages_of,
    outcome,
    reference_in,
    reported,
    sampled,
    score_of,
    single,
    threads_of,
)
from reward_functions.core.types import TOKENS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from reward_functions.adapters._scoring import Bound, Judges
    from reward_functions.core.spec import RewardFunction
    from reward_functions.core.types import Score

NOTES = "reward_functions"
"""The key of `trace.info` under which each reward writes the answer it found and its reason."""


def reward_func(
    reward: str | RewardFunction,
    *,
    reference: str | None = None,
    judge: Judges | None = None,
    name: str | None = None,
    **parameters: Any,
) -> Callable[..., Awaitable[float]]:
    """A reward as verifiers calls it: `await f(task, trace)`, a float on the reward's own scale.

    Its metrics are recorded on the trace as `REWARD/METRIC`, the answer found and the reason under
    `trace.info["reward_functions"]`. It runs in threads of its own, so that a judge's call or a
    long computation never stops the event loop.

    Args:
        reward: a registered name, the path of a composite (.toml or .json), or a spec.
        reference: the field of the task's data, dotted for a field within, such as `info.answer`;
            the first of `reference_answer`, `answer`, `solution`, `ground_truth` where not given.
        judge: the models that a judge asks: a `JudgePool`, opened for each response anew, so that
            its `max_usd` is a limit of one response.
        name: in the place of the reward's own.
        parameters: of the reward.

    Raises:
        ConfigurationError: the reward cannot be had, or compares the responses of a group.
    """
    scored = single("verifiers", reward, parameters, name, judge)
    threads = ThreadPoolExecutor(threads_of(scored), scored.name)

    async def score(task: Any, trace: Any) -> float:
        import asyncio  # noqa: PLC0415 - whoever calls it has it already

        loop = asyncio.get_running_loop()
        result = await loop.run_in_executor(threads, _scored, scored, task, trace, reference)
        trace.record_metrics(reported(scored, result))
        notes = trace.info.setdefault(NOTES, {})
        notes[scored.name] = {"answer": result.answer, "reason": result.reason}
        return result.value

    score.__name__ = score.__qualname__ = scored.name
    return score


def _scored(reward: Bound, task: Any, trace: Any, path: str | None) -> Score:
    """The score of a trace; raises where there is none."""
    reference, looked = reference_in(task, path)
    turns = messages_of(trace.messages) or messages_of(task.prompt)
    metadata = fields_of(task)
    if (tokens := at(trace, "num_output_tokens")) is not MISSING and tokens:
        metadata[TOKENS] = tokens
    context = before_the_response(turns)
    calls = last_calls(turns)
    sample = sampled(str(trace.id), context, trace.last_reply, reference, metadata, calls=calls)
    return score_of(outcome(reward, sample, looked))


def __getattr__(name: str) -> Any:
    return by_name(__name__, name, reward_func)
