"""Who is asked for rollouts, and what the answer to a request means.

| answer | the episode |
| --- | --- |
| HTTP 202; an object whose `status` is one of `WORKING`; `{}` of a forwarder | goes on behind it |
| any other answer without an error | is over |
| HTTP 429 or 503 | has not begun: asked again while the window is open |
| another status outside 200 to 299; `errorType` of a forwarder | ends in an error |
| none before the window closes, or no connection | nobody knows |

An answer is bounded in size, and nothing in it but its status decides anything: rewards reach a
trainer through its runtime alone. No agent holds up a run for longer than the window: one that is
still answering then, byte by byte or not at all, is left behind.
"""

from __future__ import annotations

import json
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

from reward_functions.core.errors import RewardError

if TYPE_CHECKING:
    from reward_functions.rollouts.request.contract import RolloutRequest

LARGEST: Final = 1_000_000
"""Bytes of an answer that are read."""

WORKING: Final = frozenset({"accepted", "processing", "started", "queued", "in_progress"})
"""Of agentcore-rl-toolkit, the platform's guide, and our own servers."""

BUSY: Final = frozenset({429, 503})
SUCCESS: Final = range(200, 300)
ACCEPTED: Final = 202

SPARE: Final = 0.5
"""Seconds beside its window in which an agent's own timeout says what is wrong."""

Kind = Literal["working", "over", "busy", "error", "silent"]


class AgentAnswer(NamedTuple):
    """What an agent answered.

    Args:
        kind: see the table.
        error: a type, such as "HTTP 500" or "ValidationError"; never a text of the agent's.
        wait: seconds that a busy agent asks for; 0.0 where it does not.
    """

    kind: Kind
    error: str = ""
    wait: float = 0.0


class Agent(Protocol):
    """An agent; used from many threads."""

    name: str
    """As it was named on the command line."""

    local: bool
    """Whether it can reach an address of this machine."""

    def send(self, request: RolloutRequest, *, timeout: float) -> AgentAnswer:
        """Ask for a rollout.

        Args:
            request: as a trainer writes it.
            timeout: seconds to the last byte of the answer.
        """

    def reporting(self, request: RolloutRequest) -> bool:
        """Whether a report may still come of an episode that is over."""

    def release(self, request: RolloutRequest) -> None:
        """Let go of what a rollout that has ended holds, such as a session that is paid for."""


def answered(agent: Agent, request: RolloutRequest, seconds: float) -> AgentAnswer:
    """The answer of an agent, or that it was silent for so long.

    Raises:
        RewardError, OSError: nothing can be asked of it at all.
    """
    answers: SimpleQueue[AgentAnswer | RewardError | OSError] = SimpleQueue()

    def ask() -> None:
        try:
            answers.put(agent.send(request, timeout=seconds))
        except (RewardError, OSError) as error:
            answers.put(error)

    # A timeout of a socket begins anew with each byte that an agent sends.
    Thread(target=copy_context().run, args=(ask,), name="rollout", daemon=True).start()
    try:
        found = answers.get(timeout=seconds + SPARE)
    except Empty:
        return AgentAnswer("silent")
    if isinstance(found, Exception):
        raise found
    return found


def answer_of(
    status: int, body: bytes, *, wait: float = 0.0, forwarder: bool = False
) -> AgentAnswer:
    """What an answer over HTTP means.

    Args:
        status: of HTTP.
        body: JSON, or anything else, which means nothing.
        wait: seconds of its Retry-After.
        forwarder: whether a Lambda forwarder answers, whose `{}` says that the agent has begun.
    """
    if status in BUSY:
        return AgentAnswer("busy", f"HTTP {status}", wait)
    if status not in SUCCESS:
        return AgentAnswer("error", f"HTTP {status}")
    content = _object(body)
    if forwarder and "errorType" in content:
        return AgentAnswer("error", word(content["errorType"]))
    return AgentAnswer("working") if forwarder or status == ACCEPTED else result_of(content)


def result_of(content: Any) -> AgentAnswer:
    """What an agent that did not fail says: that it works, or anything else."""
    status = content.get("status") if isinstance(content, dict) else None
    working = isinstance(status, str) and status in WORKING
    return AgentAnswer("working" if working else "over")


def word(given: Any, most: int = 64) -> str:
    """The name of an error's type, which an agent may have made up."""
    text = given if isinstance(given, str) else ""
    return "".join(char for char in text[:most] if char.isalnum() or char in "._-") or "an error"


def _object(body: bytes) -> dict[str, Any]:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
