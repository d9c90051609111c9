"""rLLM's names: `from reward_functions.rollouts.compat import rllm`.

types.py         Task, AgentConfig, Step, Trajectory, Episode, TrajectoryGroup, EvalOutput, Signal
strands/         RLLMTrajectoryHookProvider; RLLMModel and StrandsAgent of 2025

`rollout` and `evaluator` make functions rLLM's agents and evaluators. `reward_evaluator` asks a
reward of ours.

| rLLM | here |
| --- | --- |
| `None` of a rollout: the episode is what its gateway saw | what the current rollout recorded |
| `register=` writes a file in the user's home | the name is an attribute, `registered_as` |
| a reward of NaN is a reward | `InvalidReward` |
| an evaluator that fails in `[verifier] module` earns 0.0 | what it raises is raised |

| bug of rLLM | here |
| --- | --- |
| R1 a model knows its agent: a shared one records into another's trajectory | it knows none |
| R2 tool use and results become prose | tool calls and `role: tool` messages |
| R3 an answer is empty, `done` false at the limit of tokens | the message's text; done |
| R4 OpenAI's finish reason for Strands' stop reason | translated |
| R5 usage is always 0 | that of the call's own message |
| R6 state on the hooks; results by position, cut; attempts twice | by agent, by id, whole; once |
| R10, R13 logprobs filtered, failures 0.0 | `MisalignedTokens`, no number |

R7 to R9, R11, R12 and R14 are of its gateway and its remote engine, which `rollouts.relay` and
`rollouts.collect` replace. rLLM is not on PyPI: its own code did not run here.
"""

from __future__ import annotations

import asyncio
import inspect
from functools import partial, update_wrapper
from importlib import import_module
from typing import TYPE_CHECKING, Any, overload

from reward_functions.rollouts.compat.rllm.types import (
    AgentConfig,
    Episode,
    EvalOutput,
    Signal,
    Step,
    Task,
    Trajectory,
    TrajectoryGroup,
)
from reward_functions.rollouts.episode.episode import current_rollout
from reward_functions.rollouts.episode.scoring import Scorer
from reward_functions.rollouts.record.exchange.rllm import rllm_trajectory
from reward_functions.rollouts.request.rewards import rewards_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reward_functions.core.asking import Ask
    from reward_functions.core.spec import RewardFunction
    from reward_functions.rollouts.compat.rllm.strands import (
        RLLMModel,
        RLLMTrajectoryHookProvider,
        StrandsAgent,
    )

__all__ = [
    "AgentConfig",
    "AgentFlowFn",
    "Episode",
    "EvalOutput",
    "EvaluatorFn",
    "RLLMModel",
    "RLLMTrajectoryHookProvider",
    "Signal",
    "Step",
    "StrandsAgent",
    "Task",
    "Trajectory",
    "TrajectoryGroup",
    "evaluator",
    "reward_evaluator",
    "rollout",
]

OF_STRANDS = frozenset({"RLLMModel", "RLLMTrajectoryHookProvider", "StrandsAgent"})
"""Names that import Strands when they are first used."""

WITH_ENVIRONMENT = 3
"""Parameters of a rollout that takes an environment as well."""


def __getattr__(name: str) -> Any:
    if name in OF_STRANDS:
        return getattr(import_module(f"{__name__}.strands"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class AgentFlowFn:
    """A function as an agent: `run`, `arun`, and a call of it.

    Args:
        fn: `fn(task, config)` or `fn(task, config, env)`, or a coroutine function; it returns an
            Episode, a Trajectory, or None.
        name: of its trajectory.
        registered_as: kept, and written nowhere.
    """

    def __init__(
        self, fn: Callable[..., Any], *, name: str = "solver", registered_as: str | None = None
    ) -> None:
        self._fn = fn
        self.name = name
        self.registered_as = registered_as
        self._is_async = inspect.iscoroutinefunction(fn)
        self._takes_env = len(inspect.signature(fn).parameters) >= WITH_ENVIRONMENT
        update_wrapper(self, fn)

    def run(self, task: Any, config: AgentConfig, env: Any = None) -> Episode:
        """Run it; a coroutine function in a loop of its own.

        Raises:
            TypeError: it returned something else.
            RuntimeError: it is a coroutine function, and a loop runs here: await `arun`.
        """
        if self._is_async:
            return asyncio.run(self.arun(task, config, env))
        return self._episode(self._fn(*self._arguments(task, config, env)), task, config)

    async def arun(self, task: Any, config: AgentConfig, env: Any = None) -> Episode:
        """The same, awaited; a plain function runs in a thread, in the caller's context."""
        arguments = self._arguments(task, config, env)
        if self._is_async:
            return self._episode(await self._fn(*arguments), task, config)
        return self._episode(await asyncio.to_thread(self._fn, *arguments), task, config)

    __call__ = run

    def _arguments(self, task: Any, config: AgentConfig, env: Any) -> tuple[Any, ...]:
        return (task, config, env) if self._takes_env else (task, config)

    def _episode(self, result: Any, task: Any, config: AgentConfig) -> Episode:
        if isinstance(result, Episode):
            result.task = task if result.task is None else result.task
            return result
        if not (result is None or isinstance(result, Trajectory)):
            raise TypeError(
                f"a rollout returns an Episode, a Trajectory or None, not {type(result).__name__}: "
                "an answer alone is Episode(artifacts={'answer': ...})"
            )
        found = self._recorded() if result is None else [result]
        return Episode(
            id=f"{_id_of(task)}:0", task=task, session_id=config.session_uid, trajectories=found
        )

    def _recorded(self) -> list[Trajectory]:
        """What the current rollout recorded, if there is one that records."""
        episode = current_rollout()
        if episode is None or episode.recording is None:
            return []
        whole = episode.recording.trajectory(id=episode.metadata.trajectory_id)
        return [Trajectory.from_dict(rllm_trajectory(whole, name=self.name))]


class EvaluatorFn:
    """A function as an evaluator: `evaluate`, and a call of it.

    Args:
        fn: `fn(task, episode)`, which returns an EvalOutput, a number, a boolean, or both.
        registered_as: kept, and written nowhere.
    """

    def __init__(self, fn: Callable[..., Any], *, registered_as: str | None = None) -> None:
        self._fn = fn
        self.registered_as = registered_as
        update_wrapper(self, fn)

    def evaluate(self, task: Any, episode: Episode) -> EvalOutput:
        """Score an episode.

        Raises:
            TypeError: the function returned something else.
            InvalidReward: its reward is not a finite number.
        """
        result = self._fn(task, episode)
        if isinstance(result, EvalOutput):
            return result
        if isinstance(result, bool):
            return EvalOutput(reward=float(result), is_correct=result)
        if isinstance(result, tuple) and len(result) == len(("reward", "is_correct")):
            return EvalOutput(reward=_number(result[0]), is_correct=bool(result[1]))
        if isinstance(result, int | float):
            reward = _number(result)
            return EvalOutput(reward=reward, is_correct=reward > 0)
        raise TypeError(
            "an evaluator returns an EvalOutput, a number, a boolean or (reward, is_correct), not "
            f"{type(result).__name__}"
        )

    __call__ = evaluate


def _number(given: Any) -> float:
    return rewards_of(given, turns=1)[0]


def _id_of(task: Any) -> str:
    given = task.get("id") if isinstance(task, dict) else getattr(task, "id", None)
    return str(given or "task").replace(":", "_")


@overload
def rollout(fn: Callable[..., Any]) -> AgentFlowFn: ...
@overload
def rollout(
    *, name: str = "solver", register: str | None = None
) -> Callable[[Callable[..., Any]], AgentFlowFn]: ...
def rollout(
    fn: Callable[..., Any] | None = None, *, name: str = "solver", register: str | None = None
) -> AgentFlowFn | Callable[[Callable[..., Any]], AgentFlowFn]:
    """A function as an agent, with or without parentheses."""
    made = partial(AgentFlowFn, name=name, registered_as=register)
    return made if fn is None else made(fn)


@overload
def evaluator(fn: Callable[..., Any]) -> EvaluatorFn: ...
@overload
def evaluator(*, register: str | None = None) -> Callable[[Callable[..., Any]], EvaluatorFn]: ...
def evaluator(
    fn: Callable[..., Any] | None = None, *, register: str | None = None
) -> EvaluatorFn | Callable[[Callable[..., Any]], EvaluatorFn]:
    """A function as an evaluator, with or without parentheses."""
    made = partial(EvaluatorFn, registered_as=register)
    return made if fn is None else made(fn)


def reward_evaluator(
    reward: str | RewardFunction,
    *,
    ask: Ask | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> EvaluatorFn:
    """An evaluator that asks a reward of this project, pinned by its `Scorer`.

    The response is the artifact "answer", else the output of the last trajectory, else the last
    answer of its steps. The reference is where data sets have it: see `episode.samples`.

    Raises:
        ConfigurationError: the reward cannot be had, or is of a group; when it scores, that of
            `Scorer.score`, so that nothing that was not scored has a number.
    """
    scorer = Scorer.of(reward, parameters=parameters, ask=ask)

    def scored(task: Any, episode: Episode) -> EvalOutput:
        row = _row(task)
        score = scorer.score(row, response_of(episode))
        return EvalOutput(
            reward=score.value,
            is_correct=score.value >= scorer.scale.maximum,
            signals=[Signal(each.name, each.value) for each in score.metrics],
            metadata={"answer": score.answer, "reason": score.reason},
        )

    scored.__name__ = scored.__qualname__ = scorer.name
    return EvaluatorFn(scored)


def _row(task: Any) -> dict[str, Any]:
    if not isinstance(task, Task):
        return dict(task)
    instruction = task.instruction if isinstance(task.instruction, str) else None
    return {"prompt": instruction, "id": task.id} | task.metadata


def response_of(episode: Episode) -> str:
    """The agent's final answer, "" where it has none."""
    if "answer" in episode.artifacts:
        return _text(episode.artifacts["answer"])
    if not episode.trajectories:
        return ""
    last = episode.trajectories[-1]
    outputs = (last.output, *(step.output or step.model_response for step in reversed(last.steps)))
    return next((_text(each) for each in outputs if each), "")


def _text(value: Any) -> str:
    return "" if value is None else str(value)
