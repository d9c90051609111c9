"""A flow of rLLM and its evaluator: a trajectory of one step, rewarded."""

from reward_functions.rollouts.compat import rllm
from reward_functions.rollouts.compat.rllm.types import AgentConfig, Episode, Step, Task, Trajectory


@rllm.rollout(name="solver")
def solve(task: Task, config: AgentConfig) -> Episode:
    """One rollout. An agent of yours calls `config.base_url` here; this one knows its answer."""
    response = "2 + 2 = 4"
    step = Step(input=task.instruction, output=response, model_response=response, done=True)
    trajectory = Trajectory(name="solver", steps=[step], output=response)
    return Episode(trajectories=[trajectory], metadata={"policy": config.model})


@rllm.evaluator
def score(task: Task, episode: Episode) -> float:
    """1.0 where the response holds the answer."""
    return float(task.metadata["answer"] in episode.trajectories[0].output)
