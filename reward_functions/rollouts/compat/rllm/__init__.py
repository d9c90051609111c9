"""rLLM's names: `from reward_functions.rollouts.compat import rllm`.

types.py         Task, AgentConfig, Step, Trajectory, Episode, TrajectoryGroup, EvalOutput, Signal
decorators.py    `rollout`, `evaluator`; `reward_evaluator` asks a reward of ours
strands/         RLLMTrajectoryHookProvider; RLLMModel and StrandsAgent of 2025

| bug of rLLM (design page, 2.3) | here |
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

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reward_functions.rollouts.compat.rllm.decorators import (
    AgentFlowFn,
    EvaluatorFn,
    evaluator,
    reward_evaluator,
    rollout,
)
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

if TYPE_CHECKING:
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


def __getattr__(name: str) -> Any:
    if name in OF_STRANDS:
        return getattr(import_module(f"{__name__}.strands"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
