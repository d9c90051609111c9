"""`AgentCoreHttpClient`: invocations that are started and looked up by an id of their own.

    {**payload, "_agentcore_runtime": {version: 1, operation: "start", invocation_id, background}}
    → {version: 1, invocation_id, status, result or error}

| status | what |
| --- | --- |
| `in_progress` | it runs |
| `completed` | with either its result or its error |
| `interrupted` | the process that ran it is gone |
| `not_found` | nobody started it, or its record has expired |

An agent that does not know the protocol replies with its own JSON: that is a completed invocation.
The methods are agentcore-rl-toolkit's coroutines; those that end in `_sync` do the work, on threads
of the client's own. The messages are those of `agentcore.invocations`.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from random import uniform
from typing import TYPE_CHECKING, Any, Self, TypeVar, get_args

import boto3
from botocore.config import Config

from reward_functions.core.jsons import json_kind
from reward_functions.rollouts.collect.calls import AgentRuntime
from reward_functions.rollouts.collect.payloads import encoded, region_of, session_of
from reward_functions.rollouts.request.errors import (
    BadRequest,
    BadResult,
    RolloutError,
    ServiceFailed,
)
from reward_functions.rollouts.serve.agentcore.invocations import (
    ENVELOPE,
    INVOCATION_ID,
    VERSION,
    Status,
    state,
)
from reward_functions.rollouts.serve.agentcore.results import LARGEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from reward_functions.rollouts.collect.rate_limit import RateLimiter

T = TypeVar("T")

FIRST_WAIT, LONGEST_WAIT, FACTOR = 0.5, 10.0, 1.5
"""Seconds between two looks at an invocation."""


class InvocationError(RolloutError, RuntimeError):
    """An invocation failed, was interrupted, or is not known.

    Args:
        session_id: of its session.
        snapshot: the last state that was replied.
    """

    def __init__(self, session_id: str, snapshot: Mapping[str, Any]) -> None:
        self.session_id, self.snapshot = session_id, snapshot
        self.invocation_id = snapshot["invocation_id"]
        detail = str(snapshot.get("error", snapshot["status"]))[:500]
        super().__init__(f"Invocation {self.invocation_id}: {detail}")


class AgentCoreHttpClient:
    """Invocations of one runtime.

    Args:
        runtime_arn: of the runtime; its region is the client's.
        max_pool_connections: calls at a time.
        read_timeout: seconds for one reply.
        request_rate_limiter: of invocations, looks and stops.
        aws_client: boto3's for bedrock-agentcore, or a function that returns it; it is not closed
            here. agentcore-rl-toolkit wants one of aiobotocore.

    Raises:
        ValueError: the ARN names no region.
    """

    def __init__(
        self,
        runtime_arn: str,
        *,
        max_pool_connections: int = 100,
        read_timeout: float = 900,
        request_rate_limiter: RateLimiter | None = None,
        aws_client: Any = None,
    ) -> None:
        self.runtime_arn = runtime_arn
        region = region_of(runtime_arn)
        self._owned = aws_client is None
        if aws_client is None:
            config = Config(
                retries={"total_max_attempts": 1},
                max_pool_connections=max_pool_connections,
                read_timeout=read_timeout,
            )
            aws_client = boto3.client("bedrock-agentcore", region_name=region, config=config)
        elif not hasattr(aws_client, "invoke_agent_runtime"):
            aws_client = aws_client()
        self._client = aws_client
        self._runtime = AgentRuntime(aws_client, runtime_arn, request_rate_limiter)
        self._threads = ThreadPoolExecutor(max_pool_connections, thread_name_prefix="invocations")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections and let the threads end."""
        self.close()

    def close(self) -> None:
        """Close the connections and let the threads end."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._owned:
            self._client.close()

    async def invoke(
        self,
        payload: Mapping[str, Any],
        *,
        session_id: str,
        invocation_id: str | None = None,
        background: bool = False,
    ) -> Any:
        """`invoke_sync`, on a thread."""
        handle = await self.threaded(
            partial(
                self.start_sync,
                payload,
                session_id=session_id,
                invocation_id=invocation_id,
                background=background,
            )
        )
        return handle if background else await handle.result()

    def invoke_sync(
        self,
        payload: Mapping[str, Any],
        *,
        session_id: str,
        invocation_id: str | None = None,
        background: bool = False,
    ) -> Any:
        """Start an invocation; one of the same id never runs twice.

        Args:
            payload: for the agent.
            session_id: of its session, which the caller stops.
            invocation_id: up to 128 letters, digits, "-" and "_"; keep it to look for the
                invocation again after a lost reply.
            background: return a handle at once.

        Returns:
            The agent's result, or an `InvocationHandle` in the background.

        Raises:
            BadRequest: the payload or an id cannot be sent.
            ServiceFailed: AgentCore did not take it.
            BadResult: the reply is none of the protocol.
            InvocationError: it failed, or was interrupted.
        """
        handle = self.start_sync(
            payload, session_id=session_id, invocation_id=invocation_id, background=background
        )
        return handle if background else handle.result_sync()

    def start_sync(
        self,
        payload: Mapping[str, Any],
        *,
        session_id: str,
        invocation_id: str | None = None,
        background: bool = False,
    ) -> InvocationHandle:
        """A handle of an invocation that is started; a foreground one has ended by then."""
        invocation = _checked(uuid.uuid4().hex if invocation_id is None else invocation_id)
        if not isinstance(payload, dict):
            raise BadRequest(f"a payload is an object, not {json_kind(payload)}")
        if ENVELOPE in payload:
            raise BadRequest(f"{ENVELOPE} is reserved for the HTTP client")
        if not isinstance(background, bool):
            raise BadRequest("background must be a boolean")
        asked = {"operation": "start", "background": background}
        reply = self.request(session_id, invocation, asked, payload)
        if _is_state(reply, invocation):
            snapshot = _state(reply, invocation)
        else:
            snapshot = state(invocation, "completed", result=reply)
        return InvocationHandle(self, session_id, invocation, snapshot)

    def get_invocation(self, *, session_id: str, invocation_id: str) -> InvocationHandle:
        """A handle of an invocation that somebody started; no call is made.

        Raises:
            BadRequest: an id is malformed.
        """
        return InvocationHandle(self, session_of(session_id), _checked(invocation_id))

    async def stop_session(self, session_id: str) -> None:
        """`stop_session_sync`, on a thread."""
        await self.threaded(partial(self.stop_session_sync, session_id))

    def stop_session_sync(self, session_id: str) -> None:
        """Stop a session; one that has ended is stopped.

        Raises:
            ServiceFailed: it may still run.
        """
        if not self._runtime.stop(session_of(session_id)):
            raise ServiceFailed("a session was not stopped: the log says why")

    def request(
        self,
        session_id: str,
        invocation: str,
        asked: Mapping[str, Any],
        payload: Mapping[str, Any] | None = None,
    ) -> Any:
        """The reply to a start or a look."""
        envelope = {"version": VERSION, "invocation_id": invocation, **asked}
        body = encoded({**(payload or {}), ENVELOPE: envelope})
        reply = self._runtime.invoke(body, session_of(session_id), most=LARGEST)
        if reply is None:
            raise ServiceFailed(
                f"the reply to invocation {invocation} is lost: look for it by get_invocation"
            )
        return reply

    async def threaded(self, function: Callable[[], T]) -> T:
        """The result of a function, on a thread of this client."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, function)


class InvocationHandle:
    """One invocation; `AgentCoreHttpClient` makes it."""

    def __init__(
        self,
        client: AgentCoreHttpClient,
        session_id: str,
        invocation_id: str,
        snapshot: dict[str, Any] | None = None,
    ) -> None:
        self.client, self.session_id, self.invocation_id = client, session_id, invocation_id
        self._snapshot = snapshot

    async def status(self) -> dict[str, Any]:
        """`status_sync`, on a thread."""
        return await self.client.threaded(self.status_sync)

    def status_sync(self) -> dict[str, Any]:
        """Its state; one that is completed is not asked for again.

        A look at a session that was stopped starts it anew: stop it again.

        Raises:
            ServiceFailed: AgentCore did not answer.
            BadResult: the reply is none of the protocol.
        """
        if self._snapshot is None or self._snapshot["status"] != "completed":
            asked = {"operation": "get"}
            reply = self.client.request(self.session_id, self.invocation_id, asked)
            self._snapshot = _state(reply, self.invocation_id)
        return self._snapshot

    async def result(self, timeout: float | None = None) -> Any:
        """`result_sync`, whose pauses are the event loop's."""
        waits = self._waits()
        async with asyncio.timeout(timeout):
            while (seconds := await self.client.threaded(partial(next, waits, None))) is not None:
                await asyncio.sleep(seconds)
        return self._outcome()

    def result_sync(self, timeout: float | None = None) -> Any:
        """Wait for the agent's result. The session and the invocation go on after a timeout.

        Raises:
            TimeoutError: it is not there in time.
            InvocationError: it failed, was interrupted, or is not known.
        """
        late = None if timeout is None else time.monotonic() + timeout
        for seconds in self._waits():
            left = seconds if late is None else late - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"Invocation not ready after {timeout}s")
            time.sleep(min(left, seconds))
        return self._outcome()

    def _waits(self) -> Iterator[float]:
        """Look until it has ended, and yield the seconds until the next look."""
        snapshot, wait = self._snapshot or self.status_sync(), FIRST_WAIT
        while snapshot["status"] == "in_progress":
            yield uniform(wait / 2, wait)  # noqa: S311 - no secret
            wait = min(wait * FACTOR, LONGEST_WAIT)
            snapshot = self.status_sync()

    def _outcome(self) -> Any:
        """The result of an invocation that has ended; raises as `result` does."""
        snapshot = self.status_sync() if self._snapshot is None else self._snapshot
        if snapshot["status"] == "completed" and "result" in snapshot:
            return snapshot["result"]
        raise InvocationError(self.session_id, snapshot)


def _checked(invocation: Any) -> str:
    if not isinstance(invocation, str) or not INVOCATION_ID.fullmatch(invocation):
        raise BadRequest(
            "invocation_id is 1 to 128 letters, digits, '-' and '_', and begins with a letter or a "
            "digit"
        )
    return invocation


def _is_state(reply: Any, invocation: str) -> bool:
    """Whether a reply is of this protocol, and not an agent's own with a field named status."""
    named = isinstance(reply, dict) and {"version", "status", "invocation_id"} <= reply.keys()
    return named and reply["invocation_id"] == invocation


def _state(reply: Any, invocation: str) -> dict[str, Any]:
    """A state of the protocol.

    Raises:
        BadResult: it is none, or another invocation's.
    """
    known = _is_state(reply, invocation) and reply["version"] is not True
    if not known or reply["version"] != VERSION or reply["status"] not in get_args(Status):
        raise BadResult(f"the reply is no state of invocation {invocation}")
    ends = [name for name in ("result", "error") if name in reply]
    if len(ends) != (reply["status"] == "completed") or not isinstance(reply.get("error", ""), str):
        raise BadResult(f"the state of invocation {invocation} has no result of its own")
    found: dict[str, Any] = reply
    return found
