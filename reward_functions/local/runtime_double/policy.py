"""What a policy of the double is: an answer to a chat request, or what stands in for one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from reward_functions.local.runtime_double.chat import ChatRequest


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that the agent offered.

    Args:
        name: of the tool.
        arguments: as the model wrote them: JSON, or what a model behind the double takes for it.
    """

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a call."""

    prompt: int
    completion: int


@dataclass(frozen=True, slots=True)
class Answer:
    """One turn of the policy.

    Args:
        content: its text; "" beside tool calls.
        tool_calls: in their order.
        finish_reason: "stop", "length" or "tool_calls".
        usage: as a model behind the double counts; None for an estimate.
    """

    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = "stop"
    usage: Usage | None = None


class Policy(Protocol):
    """Answers chat requests; called from many threads at once."""

    def answer(self, request: ChatRequest, trajectory_id: str) -> Answer:
        """The next turn of a conversation.

        Args:
            request: the whole conversation so far, as OpenAI's clients send it.
            trajectory_id: whose it is. A policy that varies does so by it, not by the moment:
                a call that is sent again gets the same answer.

        Raises:
            Refused: the policy has no answer.
        """
