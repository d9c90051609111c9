"""The policy that agents sample: the simulated one of the other jobs, through a conversation.

For each rollout it draws a strategy once, by the shares that its job's policy has at that step, and
writes the final answer by it. Where the agent offers a calculator and the prompt holds a sum, it
calls that first, as `runtime_double.CalculatorPolicy` does. What it writes is right because it is
given the reference: of the cell, where that is JSON, or else the value of the prompt's own sum. A
prompt with neither is answered by a sentence that teaches nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from reward_functions.local.loopback_service.server import missing
from reward_functions.local.runtime_double.chat import Answer, text_of
from reward_functions.local.runtime_double.policies import (
    CalculatorPolicy,
    evaluated,
    expression_in,
    written,
)
from reward_functions.local.training_double.strategies import NoTask, task_of
from reward_functions.rollouts.episode.scoring.samples import sample_of

if TYPE_CHECKING:
    from reward_functions.local.runtime_double.chat import ChatRequest
    from reward_functions.local.training_double.policy import Policy
    from reward_functions.local.training_double.strategies import Task

NOTHING: Final = (
    "Simulation: this prompt has neither a sum nor a reference to write an answer from."
)


@dataclass(slots=True)
class Drawn:
    """What a rollout's answers are made of.

    Args:
        policy: as it was when the rollout began.
        cell: what the agent was sent as its prompt.
        seed: of what is drawn.
        temperature: of the softmax.
        kind: of the answer, once one was written; "" before, and where nothing could be.
        strategy: its place among the strategies, likewise; -1 before.
    """

    policy: Policy
    cell: str
    seed: str
    temperature: float = 1.0
    kind: str = field(default="", init=False)
    strategy: int = field(default=-1, init=False)


class AgentPolicy:
    """Answers the agents of all jobs; called from many threads at once."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._drawn: dict[str, Drawn] = {}

    def begin(self, rollout: str, drawn: Drawn) -> None:
        """Know a rollout from now on."""
        with self._lock:
            self._drawn[rollout] = drawn

    def end(self, rollout: str) -> None:
        """Forget it."""
        with self._lock:
            self._drawn.pop(rollout, None)

    def answer(self, request: ChatRequest, trajectory_id: str) -> Answer:
        """The next turn of a conversation: a call of the calculator, or the answer.

        Raises:
            Refused: the rollout has ended.
        """
        with self._lock:
            drawn = self._drawn.get(trajectory_id)
        if drawn is None:
            raise missing("The trajectory has ended")
        sums = CalculatorPolicy().answer(request, trajectory_id)
        if sums.tool_calls:
            return sums
        task = _task(drawn.cell, request)
        if task is None:
            return Answer(NOTHING)
        random = Random(f"{drawn.seed} {trajectory_id}")  # noqa: S311 - the same in every run
        (taken,) = drawn.policy.sample_group(task, 1, random, drawn.temperature)
        drawn.kind, drawn.strategy = task.kind, taken.strategy
        return Answer(taken.text)


def _task(cell: str, request: ChatRequest) -> Task | None:
    """What is asked, and the right answer; None where nothing says one."""
    turns = [
        {"role": each["role"], "content": text_of(each)}
        for each in request.messages
        if each["role"] in {"system", "user"}
    ]
    try:
        return task_of(turns, reference_in(cell, request))
    except NoTask:
        return None


def reference_in(cell: str, request: ChatRequest) -> Any:
    """The reference of a cell that is JSON, or the value of the last question's sum."""
    reference = sample_of({"prompt": cell}, "").reference
    if reference is not None:
        return reference
    expression = expression_in(request.questions[-1]) if request.questions else ""
    value = evaluated(expression) if expression else None
    return None if value is None else written(value)
