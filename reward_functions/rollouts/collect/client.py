"""`RolloutClient`: an agent's rollouts on AgentCore, started and collected.

    client = RolloutClient(agent_runtime_arn=ARN, s3_bucket="my-results", exp_id="run-7")
    future = client.invoke({"prompt": "What is 6 × 7?", "answer": "42"})
    future.result(timeout=60)["rewards"]

Every session is written into the ledger before it is invoked, and forgotten once it is stopped.
Threads may share a client.
"""

from __future__ import annotations

import uuid
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import boto3
from botocore.config import Config

from reward_functions.core.jsons import json_kind
from reward_functions.rollouts.collect.batches import AsyncBatchResult, BatchResult, require_whole
from reward_functions.rollouts.collect.calls import AgentRuntime
from reward_functions.rollouts.collect.futures import RolloutFuture
from reward_functions.rollouts.collect.ledger import Ledger, ledger_folder
from reward_functions.rollouts.collect.payloads import region_of, rollout_payload, session_of
from reward_functions.rollouts.collect.rate_limit import RateLimiter
from reward_functions.rollouts.request.errors import BadResult
from reward_functions.rollouts.request.threads import in_thread
from reward_functions.rollouts.serve.agentcore.results import key_part, result_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from reward_functions.rollouts.collect.batches import Progress

INVOKING: Final[dict[str, Any]] = {
    "connect_timeout": 10,
    "read_timeout": 60,
    "retries": {"total_max_attempts": 1},
}
"""Seconds: an agent replies at once, but for the start of its container."""

READING: Final[dict[str, Any]] = {
    "connect_timeout": 5,
    "read_timeout": 20,
    "retries": {"mode": "standard", "total_max_attempts": 2},
}


class RolloutClient:
    """Rollouts of one agent and one experiment.

    Args:
        agent_runtime_arn: of the runtime; its region is that of both clients.
        s3_bucket: where the agent stores results.
        exp_id: the first part of every result's key.
        max_retry_attempts: times that a throttled or refused call is sent again.
        tps_limit: invocations and stops a second, together.
        max_pool_connections: sessions that are started at a time, and results that are read.
        base_url: of the policy's server, for the agent.
        model_id: for the agent.
        agentcore_client: boto3's, in place of one of the environment, with retries of its own off.
        s3_client: the same for S3.
        rate_limiter: in place of one of `tps_limit`; clients that share one share the budget.
        ledger: of sessions that run; one of `REWARD_ROLLOUTS_SESSIONS` by default.
        **extra_config: for the agent, under `_rollout`.

    Raises:
        ValueError: the ARN names no region.
        BadRequest: `exp_id` cannot be a part of a key.
        ConfigurationError: a number is out of its range.
    """

    def __init__(  # noqa: PLR0917 - theirs
        self,
        agent_runtime_arn: str,
        s3_bucket: str,
        exp_id: str,
        max_retry_attempts: int = 5,
        tps_limit: float = 25,
        max_pool_connections: int = 10,
        base_url: str | None = None,
        model_id: str | None = None,
        *,
        agentcore_client: Any = None,
        s3_client: Any = None,
        rate_limiter: RateLimiter | None = None,
        ledger: Ledger | None = None,
        **extra_config: Any,
    ) -> None:
        require_whole("max_retry_attempts", max_retry_attempts, 0)
        require_whole("max_pool_connections", max_pool_connections, 1)
        self.agent_runtime_arn, self.s3_bucket = agent_runtime_arn, s3_bucket
        self.exp_id = key_part(exp_id, "exp_id")
        self.base_url, self.model_id, self.extra_config = base_url, model_id, extra_config
        self.tps_limit, self.max_pool_connections = tps_limit, max_pool_connections
        self.region = region_of(agent_runtime_arn)
        # Starts and stops are called at the same time; attempts are counted by `AgentRuntime`.
        invoking = Config(max_pool_connections=2 * max_pool_connections, **INVOKING)
        reading = Config(max_pool_connections=max_pool_connections, **READING)
        self.agentcore_client = agentcore_client or self._boto3_client(
            "bedrock-agentcore", invoking
        )
        self.s3_client = s3_client or self._boto3_client("s3", reading)
        self.ledger = Ledger(ledger_folder()) if ledger is None else ledger
        limiter = RateLimiter(tps_limit) if rate_limiter is None else rate_limiter
        self.runtime = AgentRuntime(
            self.agentcore_client, agent_runtime_arn, limiter, retries=max_retry_attempts
        )

    def invoke(
        self,
        payload: Mapping[str, Any],
        session_id: str | None = None,
        input_id: str | None = None,
        **rollout_overrides: Any,
    ) -> RolloutFuture:
        """Start one rollout.

        Args:
            payload: for the agent.
            session_id: 33 to 256 letters, digits, "-" and "_"; a new one by default.
            input_id: of the payload; a new one by default.
            **rollout_overrides: for the agent, under `_rollout`, in place of the client's own.

        Returns:
            The future of its result, whose session is to be stopped by `result` or `cancel`.

        Raises:
            BadRequest: the payload cannot be sent, or an id is malformed.
            ServiceFailed: AgentCore did not start it.
            BadResult: the agent's reply names another place for the result; it is stopped.
            Exception: what a client of the caller's own raises; the session is stopped.
        """
        self.runtime.admit()
        return self.begin(payload, session_of(session_id), input_id, rollout_overrides)

    async def invoke_async(
        self,
        payload: Mapping[str, Any],
        session_id: str | None = None,
        input_id: str | None = None,
        **rollout_overrides: Any,
    ) -> RolloutFuture:
        """`invoke`, on a thread; a task that is cancelled meanwhile has its session stopped."""
        return await in_thread(
            partial(self.invoke, payload, session_id, input_id, **rollout_overrides),
            abandoned=lambda future, _: future.cancel(),
        )

    def run_batch(  # noqa: PLR0917 - theirs
        self,
        payloads: Iterable[Mapping[str, Any]],
        max_concurrent_sessions: int,
        timeout: float = 900.0,
        initial_interval: float = 0.5,
        max_interval: float = 30.0,
        backoff_factor: float = 1.5,
        log_interval: float = 30.0,
        *,
        progress: Callable[[Progress], object] | None = None,
    ) -> BatchResult:
        """Run many rollouts, and yield each as it ends.

        Args:
            payloads: read one at a time, as sessions become free.
            max_concurrent_sessions: at once, within AgentCore's quota.
            timeout: seconds of each from its invocation on; 0 starts none.
            initial_interval: seconds between looks at a result, before the first.
            max_interval: seconds between two looks at most.
            backoff_factor: by which the interval grows.
            log_interval: seconds between two lines of the log, and calls of `progress`.
            progress: is called on a thread with how far the batch is; an exception ends the batch.

        Returns:
            An iterable of a `BatchItem` for each payload, in the order in which they end.

        Raises:
            ConfigurationError: a number is out of its range.
        """
        seconds = timeout, initial_interval, max_interval, backoff_factor, log_interval
        return BatchResult(self, payloads, max_concurrent_sessions, *seconds, progress=progress)

    def run_batch_async(  # noqa: PLR0917 - theirs
        self,
        payloads: Iterable[Mapping[str, Any]],
        max_concurrent_sessions: int,
        timeout: float = 900.0,
        initial_interval: float = 0.5,
        max_interval: float = 30.0,
        backoff_factor: float = 1.5,
        log_interval: float = 30.0,
        *,
        progress: Callable[[Progress], object] | None = None,
    ) -> AsyncBatchResult:
        """`run_batch` for `async for`."""
        seconds = timeout, initial_interval, max_interval, backoff_factor, log_interval
        return AsyncBatchResult(
            self, payloads, max_concurrent_sessions, *seconds, progress=progress
        )

    def _boto3_client(self, service: str, config: Config) -> Any:
        return boto3.client(service, region_name=self.region, config=config)

    def begin(
        self,
        payload: Mapping[str, Any],
        session_id: str,
        input_id: str | None = None,
        overrides: Mapping[str, Any] = MappingProxyType({}),
        *,
        intervals: tuple[float, float, float] = (0.5, 30.0, 1.5),
        abandoned: Callable[[], bool] = lambda: False,
    ) -> RolloutFuture:
        """Start a rollout, when the rate limit was waited for. `invoke` and batches do so.

        Args:
            payload: for the agent.
            session_id: of its session.
            input_id: of the payload; a new one where None.
            overrides: for the agent, under `_rollout`.
            intervals: of the looks at its result: the first, the longest, and the factor.
            abandoned: whether nobody wants it any more; it is not sent again then.
        """
        optional = {"base_url": self.base_url, "model_id": self.model_id}
        rollout = {
            "exp_id": self.exp_id,
            "input_id": str(uuid.uuid4()) if input_id is None else input_id,
            "s3_bucket": self.s3_bucket,
            **self.extra_config,
            **{name: value for name, value in optional.items() if value},
            **overrides,
        }
        key = result_key(rollout["exp_id"], rollout["input_id"], session_id)
        body = rollout_payload(payload, rollout)
        future = RolloutFuture(
            self.s3_client,
            rollout["s3_bucket"],
            key,
            *intervals,
            session_id=session_id,
            input_id=rollout["input_id"],
            runtime=self.runtime,
            ledger=self.ledger,
        )
        self.ledger.started(self.agent_runtime_arn, session_id)
        begun = False
        try:
            reply = self.runtime.invoke(body, session_id, waited=True, abandoned=abandoned)
            _require_ours(reply, rollout["s3_bucket"], key)
            begun = True
        finally:
            if not begun:
                future.cancel()
        return future


def _require_ours(reply: Any, bucket: str, key: str) -> None:
    """Nothing, where the agent stores its result where it was asked to; a lost reply is None.

    Raises:
        BadResult: it does not, or does not say.
    """
    if reply is None:
        return
    if not isinstance(reply, dict):
        raise BadResult(f"the agent's reply is {json_kind(reply)}, not an object")
    if reply.get("s3_bucket") != bucket or reply.get("result_key") != key:
        raise BadResult(
            "the agent's reply does not name the bucket and the key that were asked for: serve it "
            "by AgentCoreRLApp"
        )
