"""`AgentCoreRLApp` and `AgentCoreRuntimeApp`: one behaviour, on whichever host is installed.

    app = AgentCoreRLApp()                             app = AgentCoreRuntimeApp(background=True)

    @app.rollout_entrypoint                            @app.entrypoint
    def agent(payload, context):                       @sagemaker_rft_handler
        return {"rewards": 1.0}                        def agent(payload): ...

    app.run()                                          app.run()

The host is `BedrockAgentCoreApp` where AgentCore's SDK is installed (the extra `agentcore`), so
that its entrypoints, middleware and ASGI servers go on as they are; else it is `own_host`.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from reward_functions.core.extras import MissingExtra
from reward_functions.rollouts.request.errors import BadRequest
from reward_functions.rollouts.serve.agentcore.agents import Agent, done
from reward_functions.rollouts.serve.agentcore.destinations import (
    ROLLOUT,
    destination_of,
    trusted_buckets,
    write_result,
)
from reward_functions.rollouts.serve.agentcore.envelopes import STORED, stored
from reward_functions.rollouts.serve.agentcore.invocations import Invocations
from reward_functions.rollouts.serve.agentcore.own_host import OwnHost
from reward_functions.rollouts.serve.agentcore.runs import DEADLINE_SECONDS, PAUSES, RolloutRuns
from reward_functions.rollouts.serve.agentcore.store import InvocationStore

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path
    from threading import Event

    Base = OwnHost
    Host = OwnHost
else:
    try:
        from reward_functions.rollouts.serve.agentcore.bedrock_host import BedrockHost as Host
    except MissingExtra:
        Host = OwnHost
    Base = object


class RolloutEntrypoints(Base):
    """The part of `AgentCoreRLApp` that is the same on each host."""

    def __init__(
        self,
        *,
        result_buckets: Iterable[str] | None = None,
        deadline: float = DEADLINE_SECONDS,
        minimum: float = 0.0,
        stored: Collection[str] = STORED,
        s3_client: Any = None,
        pauses: Sequence[float] = PAUSES,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.s3_client = s3_client
        self._buckets = trusted_buckets(result_buckets)
        self._options: dict[str, Any] = {"deadline": deadline, "minimum": minimum, "pauses": pauses}
        self._stored = tuple(stored)
        self._runs: RolloutRuns | None = None

    def rollout_entrypoint(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Answer requests at once, run the agent behind the answer, and store what it returns.

        Args:
            func: the agent, of a payload, or of a payload and a context; sync, async or a
                generator, whose last item counts. Its payload is what the request has: check it
                before it reaches a framework, which may take blocks of its own kind for a prompt.

        Returns:
            The same function.

        Raises:
            ConfigurationError: it is no function.
        """
        self._runs = RolloutRuns(
            Agent(func),
            app=self,
            background=self.executor,
            buckets=self._buckets,
            client=lambda: self.s3_client,
            names=self._stored,
            **self._options,
        )
        begin = self._runs.begin
        return self.register(lambda payload, context: done(begin(payload, context)), func)

    @property
    def counts(self) -> Counter[str]:
        """How rollouts ended: stored, failed, late, conflict, lost."""
        return Counter() if self._runs is None else self._runs.counts

    def save_result(
        self,
        result: dict[str, Any],
        rollout_config: Mapping[str, Any],
        result_key: str,
        payload: Mapping[str, Any] | None = None,
    ) -> None:
        """Store a result, as a rollout's end does.

        Args:
            result: JSON data; it is not changed.
            rollout_config: `_rollout` of a request.
            result_key: the key of the answer to it.
            payload: the request.

        Raises:
            BadRequest: a configuration that is none, or another key.
            UntrustedBucket: it names a bucket that may not be written to.
            RefusedResult: the result cannot be stored.
            ConflictingReport: another result is there: the first one counts.
            ResultNotKept: S3 did not take it.
        """
        session = result_key.rpartition("/")[2].removesuffix(".json")
        destination = destination_of({ROLLOUT: rollout_config}, session, self._buckets)
        if destination is None or destination.key != result_key:
            raise BadRequest(f"the key of the result is not that of its {ROLLOUT}")
        body = stored(result, destination, payload or {}, self._stored)
        write_result(destination, body, self.s3_client)

    def drain(self, grace: float, hurried: Event | None = None) -> None:
        """Wait for rollouts that run, and store a failure of those that outlast the grace."""
        if self._runs is not None:
            self._runs.drain(grace, hurried)


class AgentCoreRLApp(RolloutEntrypoints, Host):
    """An agent whose rollouts are answered at once and stored in S3.

    Args:
        result_buckets: that requests may name; those of REWARD_ROLLOUTS_RESULT_BUCKETS where None,
            and none where that is not set either.
        deadline: seconds of a rollout, after which a failure is stored.
        minimum: what `PolicyFailure` without a reward earns.
        stored: fields of a request that are stored with its result, beside `_rollout`.
        s3_client: boto3's; the process's own where None.
        pauses: seconds before further attempts at a write.
        options: of the host: `executor`, `grace`; `api_key` of ours; `debug`, `lifespan` and
            `middleware` of AgentCore's.

    Raises:
        ConfigurationError: a bucket that is none.
    """


class RuntimeInvocations(Base):
    """The part of `AgentCoreRuntimeApp` that is the same on each host."""

    def __init__(
        self,
        *,
        background: bool = False,
        state_dir: str | Path | None = None,
        **options: Any,
    ) -> None:
        self._every = background
        self._store = InvocationStore(state_dir)
        self._invocations: Invocations | None = None
        super().__init__(**options)

    def entrypoint(self, func: Callable[..., Any], /) -> Callable[..., Any]:
        """Answer requests by an agent: by the protocol those that have its envelope.

        Raises:
            ConfigurationError: it is no function.
        """
        self._invocations = Invocations(
            Agent(func),
            app=self,
            store=self._store,
            background=self.executor,
            every=self._every,
        )
        return self.register(self._invocations.begin, func)

    def drain(self, grace: float, hurried: Event | None = None) -> None:
        """Wait for invocations that run, and mark those that outlast the grace."""
        if self._invocations is not None:
            self._invocations.drain(grace, hurried)


class AgentCoreRuntimeApp(RuntimeInvocations, Host):
    """An agent whose invocations can be started once, left, and asked for again.

    Args:
        background: whether a request without the protocol's envelope is answered at once too,
            under an id of the server's making.
        state_dir: where starts and ends are durable; a folder of the temporary one where None. A
            mount, where they are to outlive the machine.
        options: of the host, as `AgentCoreRLApp` takes them.

    Raises:
        StateUnavailable: the folder cannot be written to.
    """
