"""InvokeAgentRuntime and StopRuntimeSession, sent again where that is safe.

| what became of a call | what is done |
| --- | --- |
| throttled, in conflict, an error of the service, no connection | sent again, within the limit |
| the reply to a stop is lost, or its connection broke | sent again |
| the reply to an invocation is lost | taken as started: the result's key is known beforehand |
| it cannot be sent: no credentials, a certificate that is not trusted | `ServiceFailed` |
| a session to be stopped is not there | it is stopped |
| an error that AWS answers | `ServiceFailed`, with AWS's code |
| anything else that a client raises | raised by an invocation; a stop logs its type |

An invocation that the service answered with an error of its own may have begun: the agent then runs
twice, and its store keeps the first result. Every attempt waits for the rate limit.

The result of an agent, read whole or refused: half a result is no result.

| what is found | becomes |
| --- | --- |
| strict JSON, an object, of this bucket, key and input | the result |
| a `status_code` other than 200 | `AgentFailed`, with its `stop_reason` |
| no JSON, NaN, another key or input, rewards that are no numbers | `BadResult` |

A result without `rewards` is whole: an agent need not score itself. One without a `status_code` was
stored by an agent's own code, and counts as 200.

The result of one row's call, or its exception: an exception of one row ends no batch.

A caller's own client, a proxy or the network may raise anything: `OSError`, urllib3's errors, which
botocore lets through while it reads a body, or a `RuntimeError`. An exception that ends a process
or a task (`KeyboardInterrupt`, `SystemExit`, `asyncio.CancelledError`) is no `Exception` and
passes.
"""

from __future__ import annotations

import json
import logging
import time
from contextlib import closing
from http.client import HTTPException
from random import uniform
from typing import TYPE_CHECKING, Any, Final, TypeVar

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
)
from urllib3.exceptions import HTTPError

from reward_functions.core.jsons import json_kind, no_constant
from reward_functions.rollouts.request.errors import (
    AgentFailed,
    BadResult,
    InvalidReward,
    ServiceFailed,
)
from reward_functions.rollouts.request.rewards import rewards_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.rollouts.collect.rate_limit import RateLimiter


T = TypeVar("T")


def attempted(call: Callable[[], T]) -> T | Exception:
    """The result of a call, or the exception that it raises."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - one row's accident is its own
        return error


def code_of(error: Exception) -> str:
    """AWS's code of an error, and the type of any other; a text may quote a request."""
    if isinstance(error, ClientError) and (code := error.response.get("Error", {}).get("Code")):
        return str(code)[:64]
    return type(error).__name__


SUCCESS: Final = 200

REASON: Final = 500
"""Characters of an agent's own reason that are kept."""


def strict_json(body: bytes, what: str) -> Any:
    """A value of strict JSON.

    Raises:
        BadResult: it is no JSON, or is nested too deeply.
    """
    try:
        return json.loads(body, parse_constant=no_constant)
    except (ValueError, RecursionError):
        raise BadResult(f"{what} is not whole JSON ({len(body):,} bytes)") from None


def read_result(body: bytes, *, bucket: str, key: str, input_id: str | None) -> dict[str, Any]:
    """The result of one rollout.

    Args:
        body: what S3 has.
        bucket: where it was looked for.
        key: its name there, which ends in the session's id.
        input_id: of the payload; None where nobody knows it.

    Raises:
        BadResult: it is not whole, or belongs to another rollout.
        AgentFailed: the agent reports a failure.
    """
    found = strict_json(body, "the stored result")
    if not isinstance(found, dict):
        raise BadResult(f"the stored result is {json_kind(found)}, not an object")
    expected = {"s3_bucket": bucket, "result_key": key, "input_id": input_id}
    for name, value in expected.items():
        if value is not None and found.get(name, value) != value:
            raise BadResult(f"the stored result is another rollout's: its {name} differs")
    status = found.get("status_code", SUCCESS)
    if isinstance(status, bool) or not isinstance(status, int):
        raise BadResult(f"the stored result has a status_code that is {json_kind(status)}")
    if status != SUCCESS:
        raise AgentFailed(f"the agent failed with status {status}{_reason(found)}", found)
    if "rewards" in found:
        try:
            rewards_of(found["rewards"])
        except InvalidReward as error:
            raise BadResult(f"the stored result's rewards: {error}") from None
    return found


def _reason(found: dict[str, Any]) -> str:
    """The agent's own words, on one line."""
    reason = found.get("stop_reason")
    if not isinstance(reason, str) or not reason.strip():
        return ""
    shown = "".join(each if each.isprintable() else " " for each in reason[:REASON])
    return f": {shown.strip()}"


log = logging.getLogger("reward_functions.rollouts")

AGAIN: Final = frozenset(
    {
        *("ThrottlingException", "TooManyRequestsException", "RetryableConflictException"),
        *("InternalServerException", "ServiceUnavailableException", "ConflictException"),
    }
)
NOT_SENT: Final = (EndpointConnectionError, ConnectTimeoutError)
BROKEN: Final = (HTTPClientError, OSError, HTTPException, HTTPError)
"""A connection that broke: botocore lets errors of urllib3 and sockets through at a body."""

LOST: Final = (*NOT_SENT, *BROKEN)
"""A stop whose reply is lost is sent again as well."""

GONE: Final = "ResourceNotFoundException"

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
"""Seconds before the second attempt, doubled with each, of which a random part is waited."""

RETRIES: Final = 5
"""Of agentcore-rl-toolkit's client."""

REPLY: Final = 1_000_000
"""Bytes of the reply to a rollout: a status, a bucket and a key."""

OK: Final = 200


class AgentRuntime:
    """One runtime on AgentCore.

    Args:
        client: boto3's for bedrock-agentcore; its own retries should be off.
        arn: of the runtime.
        limiter: of all calls; None for no limit.
        retries: attempts after the first.
        pause: waits some seconds; a true result gives the call up.
    """

    def __init__(
        self,
        client: Any,
        arn: str,
        limiter: RateLimiter | None = None,
        *,
        retries: int = RETRIES,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self.client, self.arn, self.limiter = client, arn, limiter
        self._retries, self._pause = retries, pause

    def admit(self) -> None:
        """Wait for the rate limit."""
        if self.limiter is not None:
            self.limiter.wait_sync()

    def invoke(
        self,
        body: bytes,
        session: str,
        *,
        waited: bool = False,
        most: int = REPLY,
        abandoned: Callable[[], bool] = lambda: False,
    ) -> Any:
        """The JSON that the agent replies; None where the reply is lost on its way.

        Args:
            body: of the request.
            session: its id.
            waited: the caller has waited for the rate limit.
            most: bytes of the reply.
            abandoned: whether nobody wants it any more; it is not sent again then.

        Raises:
            ServiceFailed: AgentCore did not start it.
            BadResult: the reply is no JSON, or too large.
        """

        def call() -> Any:
            return self.client.invoke_agent_runtime(
                agentRuntimeArn=self.arn,
                runtimeSessionId=session,
                contentType="application/json",
                accept="application/json",
                payload=body,
            )

        try:
            reply = self._attempted(call, waited=waited, abandoned=abandoned)
        except HTTPClientError as error:
            return _lost(error)
        except BotoCoreError as error:  # no credentials, a certificate: it never left this machine
            raise _silent(error) from None
        try:
            with closing(reply["response"]) as stream:
                raw = stream.read(most + 1)
        except (BotoCoreError, *BROKEN) as error:
            return _lost(error)
        if len(raw) > most:
            raise BadResult(f"the agent's reply has more than {most:,} bytes")
        if (status := reply.get("statusCode", OK)) != OK:
            raise ServiceFailed(f"the agent answered its invocation with {status}", str(status))
        return strict_json(raw, "the agent's reply")

    def stop(self, session: str) -> bool:
        """Stop a session, and return True once it is stopped.

        Any failure is logged and returns False: a stop runs where an item, an error or an interrupt
        is on its way to the caller, and must not take its place.
        """
        found = attempted(
            lambda: self._attempted(
                lambda: self.client.stop_runtime_session(
                    agentRuntimeArn=self.arn, runtimeSessionId=session
                ),
                again=LOST,
            )
        )
        if not isinstance(found, Exception):
            return True
        if isinstance(found, ServiceFailed):
            if found.code == GONE:
                return True
            log.warning("a session was not stopped: %s", found)
        else:
            log.warning("a session was not stopped: %s", type(found).__name__)
        return False

    def _attempted(
        self,
        call: Callable[[], Any],
        *,
        again: tuple[type[Exception], ...] = NOT_SENT,
        waited: bool = False,
        abandoned: Callable[[], bool] = lambda: False,
    ) -> Any:
        """What a call returns, sent again while that is safe and the limit allows it."""
        for attempt in range(self._retries + 1):
            if not (waited and attempt == 0):
                self.admit()
            last = attempt == self._retries or abandoned()
            try:
                return call()
            except ClientError as error:
                code = code_of(error)
                if last or code not in AGAIN:
                    raise ServiceFailed(f"AgentCore refused a call: {code}", code) from None
            except again as error:
                if last:
                    raise _silent(error) from None
            longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt)
            if self._pause(uniform(0, longest)):  # noqa: S311 - no secret
                break
        raise ServiceFailed("the call was given up", "Abandoned")


def _lost(error: Exception) -> None:
    log.warning("the reply to an invocation is lost: %s", type(error).__name__)


def _silent(error: Exception) -> ServiceFailed:
    name = type(error).__name__
    return ServiceFailed(f"AgentCore could not be reached: {name}", name)
