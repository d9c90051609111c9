"""What runs behind a double: a function whose result is stored, or an app on this machine.

FunctionAgent(lambda payload: {"rewards": 1.0})     replies at once and stores, as AgentCoreRLApp
AppAgent("http://127.0.0.1:8080")                    POST /invocations with the session's header
"""

from __future__ import annotations

import json
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.loopback import is_loopback
from reward_functions.local.agentcore_double.bucket import Bucket  # noqa: TC001 - docs name it

if TYPE_CHECKING:
    from collections.abc import Callable

SESSION_HEADER: Final = "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id"

SECONDS: Final = 900.0


class Agent(Protocol):
    """What a double hands an invocation to."""

    def __call__(self, body: bytes, session: str, bucket: Bucket) -> tuple[int, bytes]:
        """Status and body of the reply."""


class FunctionAgent:
    """A function of the payload; its result is stored where `_rollout` says.

    Args:
        function: returns the result, bytes that are stored as they are, or None for nothing; what
            it raises is stored as a failure. It runs on a thread of its own.
    """

    def __init__(self, function: Callable[[dict[str, Any]], Any]) -> None:
        self._function = function

    def __call__(self, body: bytes, session: str, bucket: Bucket) -> tuple[int, bytes]:
        """Reply at once; the function runs behind the reply."""
        payload = json.loads(body)
        rollout = payload["_rollout"]
        key = f"{rollout['exp_id']}/{rollout['input_id']}/{session}.json"
        where = {"s3_bucket": rollout["s3_bucket"], "result_key": key}
        Thread(target=self._run, args=(payload, where, bucket), daemon=True).start()
        return 200, json.dumps({"status": "processing", **where}).encode()

    def _run(self, payload: dict[str, Any], where: dict[str, str], bucket: Bucket) -> None:
        try:
            result = self._function(payload)
        except (ValueError, RuntimeError, LookupError, TypeError) as error:
            result = {"status_code": 500, "stop_reason": f"{type(error).__name__}: {error}"}
        if result is None:
            return
        if not isinstance(result, bytes):
            named = {"input_id": payload["_rollout"]["input_id"], **where}
            full = {"status_code": 200, "stop_reason": "end_turn", **named, **result}
            result = json.dumps(full).encode()
        bucket.put(where["s3_bucket"], where["result_key"], result)


class AppAgent:
    """An agent's app on this machine.

    Args:
        url: of the app, without a path.

    Raises:
        ConfigurationError: it leads to another machine.
    """

    def __init__(self, url: str) -> None:
        if not is_loopback(url) or not url.startswith("http://"):
            raise ConfigurationError("an app behind the double runs on this machine: http://…")
        self._url = url.rstrip("/") + "/invocations"

    def __call__(self, body: bytes, session: str, bucket: Bucket) -> tuple[int, bytes]:  # noqa: ARG002 - the app has S3's endpoint
        """The app's own reply."""
        headers = {"Content-Type": "application/json", SESSION_HEADER: session}
        request = Request(self._url, data=body, headers=headers)  # noqa: S310 - this machine's
        try:
            with urlopen(request, timeout=SECONDS) as reply:  # noqa: S310
                return reply.status, reply.read()
        except HTTPError as error:
            with error:
                return error.code, error.read()
