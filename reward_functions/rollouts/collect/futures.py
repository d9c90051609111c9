"""One rollout that runs somewhere else: its result is looked for in S3, and its session stopped.

A look is a HEAD of the result's key. A missing key is looked for again, later each time. A look
that fails is repeated too, for any exception, and `FAILED_LOOKS` in a row end the rollout with
`ServiceFailed`. The session is stopped with the result, a failure, a timeout, a cancellation, or an
interrupt.

`_waits` is the one loop: it looks, and yields the seconds until the next look. `result` sleeps them
on this thread, `result_async` on the event loop.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import CancelledError
from contextlib import closing
from random import uniform
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.collect.calls import AgentRuntime, attempted, code_of, read_result
from reward_functions.rollouts.request.errors import BadResult, RolloutError, ServiceFailed
from reward_functions.rollouts.request.threads import in_thread
from reward_functions.rollouts.serve.agentcore.results import LARGEST

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from reward_functions.rollouts.collect.ledger import Ledger
    from reward_functions.rollouts.collect.rate_limit import RateLimiter


ABSENT: Final = frozenset({"404", "NoSuchKey", "NotFound"})

FAILED_LOOKS: Final = 5
"""In a row, over 6 seconds or more by default: an outage, or rights that are missing."""

JITTER: Final = 0.2
"""The share of an interval that is random, so that rollouts of a batch do not look together."""


class RolloutFuture:
    """The result of one rollout, when it is there.

    Args:
        s3_client: boto3's for S3.
        s3_bucket: where the agent stores its result.
        result_key: its name there.
        initial_interval: seconds between two looks, before the first, which is taken at once.
        max_interval: the longest.
        backoff_factor: by how much an interval is longer than the one before.
        session_id: of the agent's session; None where nothing is to be stopped.
        input_id: of the payload, which the result must name if it names one.
        agentcore_client: boto3's for bedrock-agentcore; None where nothing is to be stopped.
        agent_runtime_arn: of the runtime.
        rate_limiter: of invocations and stops.
        runtime: in place of the three above.
        ledger: forgets the session once it is stopped.
    """

    def __init__(  # noqa: PLR0917 - theirs
        self,
        s3_client: Any,
        s3_bucket: str,
        result_key: str,
        initial_interval: float = 0.5,
        max_interval: float = 30.0,
        backoff_factor: float = 1.5,
        session_id: str | None = None,
        input_id: str | None = None,
        agentcore_client: Any = None,
        agent_runtime_arn: str | None = None,
        rate_limiter: RateLimiter | None = None,
        *,
        runtime: AgentRuntime | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        self.s3_client, self.s3_bucket, self.result_key = s3_client, s3_bucket, result_key
        self.session_id, self.input_id = session_id, input_id
        if runtime is None and agentcore_client is not None:
            runtime = AgentRuntime(agentcore_client, agent_runtime_arn or "", rate_limiter)
        self._runtime, self._ledger = runtime, ledger
        self._poll_interval, self._max_interval = initial_interval, max_interval
        self._backoff_factor = backoff_factor
        self._lock, self._ended = Lock(), Event()
        self._result: dict[str, Any] | None = None
        self._error: RolloutError | None = None
        self._there = self._cancelled = self._stopping = False
        self._failed_looks = 0
        self._began = self._next_look = time.monotonic()

    def done(self) -> bool:
        """Whether it has ended: its result is in S3, it failed, or it was cancelled. One look."""
        if not self._over():
            self._look()
        return self._over()

    async def done_async(self) -> bool:
        """`done`, on a thread."""
        return await in_thread(self.done)

    def result(self, timeout: float | None = None) -> dict[str, Any]:
        """Wait for the result; the session is stopped in every case.

        Args:
            timeout: seconds from now; 0 looks once, and None waits for ever.

        Raises:
            CancelledError: it was cancelled before its result was there.
            TimeoutError: the result is not there in time.
            AgentFailed: the agent reports a failure; its envelope is the error's `result`.
            BadResult: what it stored is not whole.
            ServiceFailed: S3 did not answer, again and again.
        """
        ended = False
        try:
            for seconds in self._waits(timeout):
                self._ended.wait(seconds)
            ended = True
        finally:
            if not ended:
                self.cancel()
        return self.outcome()

    async def result_async(self, timeout: float | None = None) -> dict[str, Any]:
        """`result`; a task that is cancelled stops the session, too."""
        waits = self._waits(timeout)
        ended = False
        try:
            while (seconds := await in_thread(next, waits, None)) is not None:
                await asyncio.sleep(seconds)
            ended = True
        finally:
            if not ended:
                await asyncio.shield(in_thread(self.cancel))
        return self.outcome()

    def __await__(self) -> Generator[Any, None, dict[str, Any]]:
        return self.result_async().__await__()

    def cancel(self) -> bool:
        """Stop the session; whether this call did. A rollout that has not ended is cancelled."""
        if self._result is None and self._error is None:
            self._cancelled = True
        self._ended.set()
        return self._stop()

    async def cancel_async(self) -> bool:
        """`cancel`, on a thread."""
        return await in_thread(self.cancel)

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled, or timed out, before its result was there."""
        return self._cancelled

    @property
    def agentcore_client(self) -> Any:
        """The client that stops the session; None where nothing is to be stopped."""
        return None if self._runtime is None else self._runtime.client

    @property
    def agent_runtime_arn(self) -> str | None:
        """The runtime of the session; None where nothing is to be stopped."""
        return None if self._runtime is None else self._runtime.arn

    def elapsed(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._began

    def time_until_next_poll(self) -> float:
        """Seconds until it should be looked for again; infinite where it has ended."""
        if self._settled():
            return float("inf")
        return max(0.0, self._next_look - time.monotonic())

    def ready_to_poll(self) -> bool:
        """Whether it should be looked for now."""
        return self.time_until_next_poll() <= 0

    def advanced(self) -> bool:
        """Look, and read a result that is there; whether it has ended. The session goes on."""
        if not self._over():
            self._look()
        if self._there and not self._settled():
            self._fetch()
        return self._settled()

    def _settled(self) -> bool:
        return self._cancelled or self._result is not None or self._error is not None

    def _over(self) -> bool:
        """Whether there is nothing to look for; what is there may still have to be read."""
        return self._there or self._cancelled or self._error is not None

    def _waits(self, timeout: float | None) -> Iterator[float]:
        """Look until it has ended, and yield the seconds until the next look."""
        late = None if timeout is None else time.monotonic() + timeout
        while not self.advanced():
            seconds = max(0.0, self._next_look - time.monotonic())
            if late is not None:
                left = late - time.monotonic()
                if left <= 0:
                    raise TimeoutError(f"Result not ready after {timeout}s")
                seconds = min(seconds, left)
            yield seconds
        self._ended.set()
        if not self._cancelled:
            self._stop()

    def outcome(self) -> dict[str, Any]:
        """The result of a rollout that has ended; raises as `result` does."""
        if self._result is not None:
            return self._result
        if self._error is not None:
            raise self._error
        raise CancelledError("Future was cancelled")

    def _look(self) -> None:
        found = attempted(
            lambda: self.s3_client.head_object(Bucket=self.s3_bucket, Key=self.result_key)
        )
        if not isinstance(found, Exception):
            self._there, self._failed_looks = True, 0
            return
        if (code := code_of(found)) in ABSENT:
            self._failed_looks = 0
        else:
            self._failed(code)
        self._later()

    def _fetch(self) -> None:
        found = attempted(self._read)
        if isinstance(found, Exception):
            self._failed(code_of(found))
            self._later()
            return
        size, body = found
        try:
            if max(size, len(body)) > LARGEST:
                raise BadResult(f"the stored result has more than {LARGEST:,} bytes")
            self._result = read_result(
                body, bucket=self.s3_bucket, key=self.result_key, input_id=self.input_id
            )
        except RolloutError as error:
            self._error = error

    def _read(self) -> tuple[int, bytes]:
        """The size that S3 names and the body; of one that is too large nothing is read."""
        stored = self.s3_client.get_object(Bucket=self.s3_bucket, Key=self.result_key)
        size = stored.get("ContentLength") or 0
        with closing(stored["Body"]) as stream:
            return size, b"" if size > LARGEST else stream.read(LARGEST + 1)

    def _failed(self, code: str) -> None:
        """A look failed; so many in a row are an end."""
        self._failed_looks += 1
        if self._failed_looks >= FAILED_LOOKS:
            hint = "; the caller needs s3:GetObject and s3:ListBucket" if "403" in code else ""
            self._error = ServiceFailed(
                f"S3 failed {FAILED_LOOKS} looks at a result in a row: {code}{hint}", code
            )

    def _later(self) -> None:
        """The next look comes after a longer interval, a part of which is random."""
        self._poll_interval = min(self._poll_interval * self._backoff_factor, self._max_interval)
        wait = self._poll_interval * uniform(1 - JITTER, 1)  # noqa: S311 - no secret
        self._next_look = time.monotonic() + wait

    def _stop(self) -> bool:
        if self._runtime is None or self.session_id is None:
            return False
        with self._lock:
            if self._stopping:
                return False
            self._stopping = True
        stopped = self._runtime.stop(self.session_id)
        if stopped and self._ledger is not None:
            self._ledger.stopped(self.session_id)
        self._stopping = stopped  # one that failed may be tried again
        return stopped
