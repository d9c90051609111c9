"""Agents on AWS: a Lambda forwarder, invoked as the trainer does, and an AgentCore runtime.

A call is made once: the SDK's own retries would run a rollout twice. A session of AgentCore is
stopped when its rollout has ended, since an idle one is paid for.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.failures import in_words
from reward_functions.aws.shell import aws_session
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.loopback import is_loopback
from reward_functions.rollouts.drive.agents import LARGEST, AgentAnswer, answer_of, word
from reward_functions.rollouts.request.endpoints import REGION

if TYPE_CHECKING:
    from reward_functions.rollouts.request.contract import RolloutRequest

SHORTEST_SESSION: Final = 33
"""Characters of a session's id, at least (botocore's model of bedrock-agentcore)."""

CONNECT: Final = 10.0
THROTTLED: Final = frozenset(
    {"TooManyRequestsException", "ThrottlingException", "RetryableConflictException"}
)


class LambdaAgent:
    """A forwarder by its name or ARN.

    Args:
        name: of the function, or its ARN, with a qualifier or without.
        seconds: for one answer: the window of a rollout.
        concurrency: calls at once.

    Raises:
        AwsFailed: no client can be made.
    """

    def __init__(self, name: str, *, seconds: float, concurrency: int = 64) -> None:
        self.name = name
        self._client = _client("lambda", name, seconds, concurrency)
        self.local = is_loopback(self._client.meta.endpoint_url)

    def send(self, request: RolloutRequest, *, timeout: float) -> AgentAnswer:  # noqa: ARG002 - the client has it
        """Invoke it, and wait for its answer."""
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - 0.2 s

        from reward_functions.rollouts.collect.calls import BROKEN  # noqa: PLC0415 - the same

        try:
            reply = self._client.invoke(FunctionName=self.name, Payload=request.json().encode())
            body = reply["Payload"].read(LARGEST)
        except ClientError as error:
            return _refused(error)
        except (BotoCoreError, *BROKEN) as error:
            return AgentAnswer("silent", type(error).__name__)
        if reply.get("FunctionError"):
            return AgentAnswer("error", word(reply["FunctionError"]))
        return answer_of(200, body, forwarder=True)

    def reporting(self, request: RolloutRequest) -> bool:  # noqa: ARG002
        """It may: nobody sees its outbox."""
        return True

    def release(self, request: RolloutRequest) -> None:
        """Nothing is held."""


class AgentCoreAgent:
    """An AgentCore runtime by its ARN; a session for each rollout.

    Args:
        arn: of the runtime.
        qualifier: of its endpoint; "" for the default one.
        seconds: for one answer: the window of a rollout.
        concurrency: calls at once.

    Raises:
        AwsFailed: no client can be made.
    """

    def __init__(
        self, arn: str, *, seconds: float, qualifier: str = "", concurrency: int = 64
    ) -> None:
        self.name = arn
        self._named = {"agentRuntimeArn": arn} | ({"qualifier": qualifier} if qualifier else {})
        self._client = _client("bedrock-agentcore", arn, seconds, concurrency)
        self.local = is_loopback(self._client.meta.endpoint_url)

    def send(self, request: RolloutRequest, *, timeout: float) -> AgentAnswer:  # noqa: ARG002 - the client has it
        """Invoke it in a session of its own."""
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - 0.2 s

        from reward_functions.rollouts.collect.calls import BROKEN  # noqa: PLC0415 - the same

        try:
            reply = self._client.invoke_agent_runtime(
                **self._named,
                runtimeSessionId=session_of(request),
                contentType="application/json",
                accept="application/json",
                payload=request.json().encode(),
            )
            body = reply["response"].read(LARGEST)
        except ClientError as error:
            return _refused(error)
        except (BotoCoreError, *BROKEN) as error:
            return AgentAnswer("silent", type(error).__name__)
        return answer_of(reply.get("statusCode", 200), body)

    def reporting(self, request: RolloutRequest) -> bool:  # noqa: ARG002
        """It may: nobody sees its outbox."""
        return True

    def release(self, request: RolloutRequest) -> None:
        """Stop the session; one that has ended by itself is no failure."""
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - 0.2 s

        from reward_functions.rollouts.collect.calls import BROKEN  # noqa: PLC0415 - the same

        with suppress(BotoCoreError, ClientError, *BROKEN):
            self._client.stop_runtime_session(**self._named, runtimeSessionId=session_of(request))


def session_of(request: RolloutRequest) -> str:
    """A session's id for a rollout: its own, as long as AgentCore demands."""
    return request.metadata.trajectory_id.ljust(SHORTEST_SESSION, "0")


def _refused(error: Any) -> AgentAnswer:
    code = word(error.response.get("Error", {}).get("Code"))
    return AgentAnswer("busy" if code in THROTTLED else "error", code)


def _client(service: str, name: str, seconds: float, concurrency: int) -> Any:
    from botocore.config import Config  # noqa: PLC0415 - 0.2 s

    region = name.split(":")[3] if name.startswith("arn:") and name.count(":") >= 5 else None  # noqa: PLR2004 - parts of an ARN
    if region is not None and not REGION.fullmatch(region):
        raise ConfigurationError(f"{name!r}: {region!r} is not the name of a region")
    config = Config(
        connect_timeout=CONNECT,
        read_timeout=seconds,
        max_pool_connections=concurrency,
        retries={"total_max_attempts": 1},
    )
    with in_words(f"making a client of {service}"):
        return aws_session().client(service, region_name=region, config=config)
