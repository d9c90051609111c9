"""rLLM: a reward is a verifier, `evaluate(task, episode) -> EvalOutput`.

    # dataset.toml
    [verifier]
    import_path = "reward_functions.adapters.rllm:math"

Every registered reward is an attribute of this module. With parameters, or for a composite, write
`evaluate = evaluator("math", rounded=2)` in a module of your own and name that.

**The prompt** is the task's instruction, **the reference** a field of `task.metadata`. **The
response** is the artifact `answer`, else the last trajectory's output, else the last step's, else
the last reply that is not empty. rLLM's own verifiers read the same
(`rllm/eval/reward_fns/_helpers.py`, commit 51cdc1ad). A trainer without hooks hands over the row
itself in the place of the task. **Unscored** raises, since an `EvalOutput` holds a number and
nothing else: the engine runs the rollout again, and after its last try stops or leaves it without
trajectories (`rllm/engine/agentflow_engine.py`, commit 0222ebb8). Name it by `import_path`. From
`[verifier] module`, or from a `tests/evaluate.py`, rLLM turns every exception into a reward of 0.0
(`rllm/eval/module_evaluator.py`, commit 02f0663d).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reward_functions.adapters._single import (
    by_name,
    messages_of,
    outcome,
    reference_in,
    sampled,
    scale_of,
    score_of,
    single,
    text_of,
)
from reward_functions.core.types import Message

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.adapters._scoring import Judges
    from reward_functions.core.spec import RewardFunction


def evaluator(
    reward: str | RewardFunction,
    *,
    reference: str | None = None,
    judge: Judges | None = None,
    name: str | None = None,
    **parameters: Any,
) -> Callable[[Any, Any], Any]:
    """A reward as rLLM calls it.

    The `EvalOutput` has the value, whether it is the highest of the scale, the reward and its
    metrics as signals, the answer found and the reason as metadata.

    Args:
        reward: a registered name, the path of a composite (.toml or .json), or a spec.
        reference: the field of `task.metadata`, dotted for a field within; the first of
            `reference_answer`, `answer`, `solution`, `ground_truth` where not given.
        judge: the models that a judge asks: a `JudgePool`, opened for each response anew, so that
            its `max_usd` is a limit of one response.
        name: in the place of the reward's own.
        parameters: of the reward.

    Raises:
        ConfigurationError: the reward cannot be had, or compares the responses of a group.
    """
    scored = single("rLLM", reward, parameters, name, judge)

    def evaluate(task: Any, episode: Any) -> Any:
        from rllm.eval.types import EvalOutput, Signal  # noqa: PLC0415 - the host

        row = task if isinstance(task, Mapping) else task.metadata
        gold, looked = reference_in(row, reference)
        context = _context(row.get("question") if row is task else task.instruction)
        sample = sampled(str(episode.id), context, response_of(episode), gold, row)
        score = score_of(outcome(scored, sample, looked))
        parts = {scored.name: score.value, **{m.name: m.value for m in score.metrics}}
        return EvalOutput(
            reward=score.value,
            is_correct=score.value >= scale_of(scored).maximum,
            signals=[Signal(name=name, value=value) for name, value in parts.items()],
            metadata={"answer": score.answer, "reason": score.reason},
        )

    evaluate.__qualname__ = scored.name
    return evaluate


def response_of(episode: Any) -> str:
    """The agent's final answer: where rLLM's own verifiers look for it, in their order."""
    if "answer" in episode.artifacts:
        return _text(episode.artifacts["answer"])
    if not episode.trajectories:
        return ""
    trajectory = episode.trajectories[-1]
    steps = trajectory.steps
    outputs = [trajectory.output, *([steps[-1].output] if steps else [])]
    replies = [getattr(step, "model_response", None) for step in reversed(steps)]
    return next((_text(found) for found in (*outputs, *replies) if found), "")


def _text(output: Any) -> str:
    return "" if output is None else str(output)


def _context(instruction: Any) -> tuple[Message, ...]:
    """An instruction is text or content blocks, both of which the user says."""
    if instruction is None or isinstance(instruction, str):
        return messages_of(instruction)
    return (Message(role="user", content=text_of(instruction)),)


def __getattr__(name: str) -> Any:
    return by_name(__name__, name, evaluator)
