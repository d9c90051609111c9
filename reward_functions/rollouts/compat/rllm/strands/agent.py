"""`StrandsAgent`: an agent of Strands that keeps one Step of rLLM for each invocation.

The tool calls of a step are read from the messages that the invocation added: the model knows no
agent, and a model that agents share records nothing into the wrong one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from strands import Agent

from reward_functions.rollouts.compat.rllm.strands.messages import openai_messages, text_of
from reward_functions.rollouts.compat.rllm.types import Step, Trajectory

if TYPE_CHECKING:
    from strands.agent.agent_result import AgentResult

DONE: Final = frozenset({"end_turn", "stop_sequence", "max_tokens"})
"""Stop reasons after which the agent does not go on. rLLM counts the last one as not done."""


class StrandsAgent(Agent):
    """An agent with a trajectory.

    Args:
        model: of Strands, such as an `RLLMModel`.
        kwargs: of `strands.Agent`.
    """

    def __init__(self, model: Any, **kwargs: Any) -> None:
        super().__init__(model=model, **kwargs)
        self._trajectory = Trajectory(reward=0.0)

    @property
    def trajectory(self) -> Trajectory:
        """A step for each invocation."""
        return self._trajectory

    @property
    def chat_completions(self) -> list[dict[str, Any]]:
        """The conversation in OpenAI's form."""
        return openai_messages(self.messages, self.system_prompt)

    def reset(self) -> None:
        """Forget trajectory and conversation, for another episode."""
        self.reset_trajectory()
        self.messages.clear()

    def reset_trajectory(self, task: Any = None) -> None:
        """Begin another trajectory."""
        self._trajectory = Trajectory(task=task, reward=0.0)

    async def invoke_async(self, prompt: Any = None, **kwargs: Any) -> AgentResult:
        """Run; a call of the agent comes here, too. The step is kept where it ends well."""
        before = len(self.messages)
        result = await super().invoke_async(prompt, **kwargs)
        calls = [
            {"id": used["toolUseId"], "name": used["name"], "input": used["input"]}
            for message in self.messages[before:]
            for block in message["content"]
            if (used := block.get("toolUse"))
        ]
        answer = text_of(result.message)
        action: Any = result.message
        if calls:
            action = {"type": "tool_calls", "tool_calls": calls, "final_response": action}
        self._trajectory.steps.append(
            Step(
                observation=prompt,
                chat_completions=self.chat_completions,
                action=action,
                model_response=answer,
                done=result.stop_reason in DONE,
                metadata={},
            )
        )
        return result

    def get_current_state(self) -> Step | None:
        """The last step; None before the first."""
        return self._trajectory.steps[-1] if self._trajectory.steps else None

    def update_step_reward(self, reward: float) -> None:
        """Give the last step a reward; the trajectory has the sum."""
        if step := self.get_current_state():
            step.reward = reward
            self._trajectory.reward = sum(each.reward for each in self._trajectory.steps)

    def update_step_info(self, info: dict[str, Any]) -> None:
        """Add to the metadata of the last step."""
        if step := self.get_current_state():
            step.info.update(info)

    def get_tool_call_summary(self) -> list[dict[str, Any]]:
        """The tool calls of all steps; rLLM's is always empty."""
        actions = (step.action for step in self._trajectory.steps)
        return [
            call
            for action in actions
            if isinstance(action, dict)
            for call in action.get("tool_calls", ())
        ]
