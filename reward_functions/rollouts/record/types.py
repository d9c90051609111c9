"""A trajectory: turns of the policy, the tools that they call, and what a trainer needs of them.

Messages are in OpenAI's chat-completions form. An unknown value is None and never a number: a
log-probability of 0.0 says that a token was certain.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.rollouts.request.errors import MisalignedTokens

if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST_NUMBER: Final = sys.float_info.max
"""In size, of a number that is kept: JSON may have whole numbers beyond, which no sum takes."""

MOST_TOKENS: Final = 2**63 - 1
"""Of a token's id, or of a count of tokens: trainers hold them in 64 bits."""

GAPS: Final = "token_gaps"
"""The field of a trajectory's metadata that says by turn why its tokens are missing."""

MISALIGNED: Final = "misaligned"
"""How the reason of a gap begins where ids and log-probabilities did not belong together."""

_NUMBER = (int, float)

Message = dict[str, Any]
"""A message in OpenAI's chat-completions form; shared between turns, and never changed."""

ToolStatus = Literal["success", "error", "missing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call of a tool, as the policy wrote it.

    Args:
        id: as the policy or its engine names it.
        name: of the tool; it may be invented.
        arguments: the text that the policy wrote; JSON, unless it is not.
        recovered: whether it was written into the text of the answer, and read from there.
    """

    id: str
    name: str
    arguments: str = field(default="{}", repr=False)
    recovered: bool = False

    @property
    def is_json(self) -> bool:
        """Whether its arguments are a JSON object; "" stands for the empty one."""
        try:
            return isinstance(json.loads(self.arguments or "{}"), dict)
        except (ValueError, RecursionError):
            return False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The answer of a tool.

    Args:
        call_id: the id of its `ToolCall`.
        content: what the policy is shown of it.
        status: "missing" where no result was seen.
        seconds: that it took; None where only the result was seen.
        discarded: how many attempts were thrown away before it.
    """

    call_id: str
    content: str = field(default="", repr=False)
    status: ToolStatus = "success"
    seconds: float | None = None
    discarded: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """Tokens of a call as its engine counts them; None where it does not say."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenTrace:
    """The tokens that the engine read and wrote, as it gave them.

    Args:
        prompt_ids: None where the engine did not say.
        completion_ids: likewise.
        logprobs: of the completion's tokens, each 0.0 or less; None where the engine did not say.

    Raises:
        MisalignedTokens: as many log-probabilities as tokens there are not, or a value is no
            log-probability or no token id.
    """

    prompt_ids: tuple[int, ...] | None = field(default=None, repr=False)
    completion_ids: tuple[int, ...] | None = field(default=None, repr=False)
    logprobs: tuple[float, ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for ids in (self.prompt_ids, self.completion_ids):
            if ids is not None and not all(
                type(each) is int and 0 <= each <= MOST_TOKENS for each in ids
            ):
                raise MisalignedTokens("a token id is a whole number from 0, of 64 bits")
        if self.logprobs is None:
            return
        if not all(
            type(each) in _NUMBER and -LARGEST_NUMBER <= each <= 0 for each in self.logprobs
        ):
            raise MisalignedTokens("a log-probability is a finite number, 0.0 or less")
        written = len(self.completion_ids or ())
        if self.completion_ids is None or len(self.logprobs) != written:
            raise MisalignedTokens(
                f"{len(self.logprobs)} log-probabilities for {written} tokens: a trainer would "
                "give one token the probability of another"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One call of the policy, and the tools that its answer called.

    Args:
        index: from 0, among all calls of the episode, in the order in which they began.
        messages: that the policy was shown.
        response: the message that it wrote; None where the call failed.
        tool_calls: of the response, in its order.
        tool_results: one for each call of a recording, in the order of the calls.
        tools: that it was offered, in OpenAI's form.
        parameters: sampling parameters of the request, such as temperature.
        model: as the engine calls itself; "" where it does not.
        finish_reason: in OpenAI's words, "stop", "tool_calls", "length"; "" where not said.
        usage: of the call.
        tokens: None where the engine gave none.
        began: seconds since the epoch.
        seconds: until the whole answer was there.
        discarded: whether its answer was thrown away and asked for again: it is no part of the
            episode, and a trainer learns nothing from it.
        error: the type of what the call raised; "" where it was answered.
        changed: whether the agent got another message than the policy wrote: tool calls that were
            recovered from its text. `response` is the message that was recorded; it may be either.
        unread: parts of the request or the response that were not of OpenAI's form and are left
            out, such as "response", "usage", "tool_calls".
    """

    index: int
    messages: tuple[Message, ...] = field(default=(), repr=False)
    response: Message | None = field(default=None, repr=False)
    tool_calls: tuple[ToolCall, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()
    tools: tuple[Message, ...] = field(default=(), repr=False)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    model: str = ""
    finish_reason: str = ""
    usage: TokenUsage = TokenUsage()
    tokens: TokenTrace | None = field(default=None, repr=False)
    began: float = 0.0
    seconds: float = 0.0
    discarded: bool = False
    error: str = ""
    changed: bool = False
    unread: tuple[str, ...] = ()

    @property
    def pairs(self) -> tuple[tuple[ToolCall, ToolResult], ...]:
        """Each tool call with its result, in the order of the calls; "missing" where none came."""
        given: dict[str, list[ToolResult]] = {}
        for result in self.tool_results:
            given.setdefault(result.call_id, []).append(result)
        return tuple(
            (call, given[call.id].pop(0))
            if given.get(call.id)
            else (call, ToolResult(call_id=call.id, status="missing"))
            for call in self.tool_calls
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """What an episode did.

    Args:
        id: of the rollout, or of the session where there is no rollout.
        job: ARN; "" outside a job.
        turns: in the order in which they began; also those discarded, and those that failed.
        rewards: one, or one for each turn; None without one.
        status: "ready", "failed", "deferred", "skipped" as it was reported; "running" before that;
            "unreported" where nobody asked for a report; "conflict" where another report of the
            rollout came first and counts, which has the rewards.
        truncated: whether something was left out, because the episode had more than is kept.
        metadata: what else its owner wants to keep, as JSON data.
    """

    id: str
    job: str = ""
    turns: tuple[Turn, ...] = ()
    rewards: tuple[float, ...] | None = None
    status: str = "running"
    truncated: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kept(self) -> tuple[Turn, ...]:
        """The turns that were answered and not discarded: what a trainer learns from."""
        return tuple(turn for turn in self.turns if not turn.discarded and not turn.error)

    @property
    def misaligned(self) -> tuple[str, ...]:
        """The numbers of the turns whose tokens were refused when they were recorded."""
        gaps = self.metadata.get(GAPS)
        reasons = gaps.items() if isinstance(gaps, dict) else ()
        return tuple(
            str(turn)
            for turn, reason in reasons
            if isinstance(reason, str) and reason.startswith(MISALIGNED)
        )
