"""JSON with a bearer token, as sagemaker.train.rft sends it, and the idempotency token with it.

The job's ARN goes into the body, where sagemaker.train.rft puts it, and into the header, where
botocore's model has it: a server of either kind understands.
"""

from __future__ import annotations

import json
from threading import local
from typing import TYPE_CHECKING, Final

from reward_functions.rollouts.report.intents import Operation, canonical, client_token
from reward_functions.rollouts.report.transports.bearer_tokens import BearerTokens
from reward_functions.rollouts.report.transports.http import Http
from reward_functions.rollouts.report.transports.limits import require_sendable
from reward_functions.rollouts.report.transports.replies import read_reply
from reward_functions.rollouts.request.endpoints import require_trusted
from reward_functions.rollouts.request.headers import JOB_HEADER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reward_functions.rollouts.report.intents import Intent, Target
    from reward_functions.rollouts.report.transports import Reply
    from reward_functions.rollouts.report.transports.account import Account

PATHS: Final[dict[Operation, str]] = {"complete": "/complete-rollout", "reward": "/update-reward"}
OPERATIONS: Final = {path: operation for operation, path in PATHS.items()}


class Bearer:
    """A transport of JSON and bearer tokens.

    Args:
        account: whose tokens.
        trusted: endpoints that may be given one, beside AWS's.
    """

    kind: Final = "bearer"

    def __init__(self, account: Account, trusted: Iterable[str] = ()) -> None:
        self._account = account
        self._tokens = BearerTokens(account)
        self._http = Http(account.ca_bundle)
        self._trusted = set(trusted)
        self._last = local()

    def send(self, intent: Intent, *, timeout: float) -> Reply:
        """Send an intent once; see `Transport`."""
        require_sendable(intent)
        path = PATHS[intent.operation]
        return self.post(intent.target, path, published_body(intent), timeout=timeout)

    def post(self, target: Target, path: str, body: str, *, timeout: float) -> Reply:
        """Send a body of sagemaker.train.rft's once, with the idempotency token of its bytes."""
        require_trusted(target.endpoint, trusted=self._trusted)
        token = self._last.token = self._tokens.get(target.region)
        headers = {
            "Content-Type": "application/json",
            "Authorization": f"Bearer {token}",
            "User-Agent": "reward-functions",
            JOB_HEADER: target.job_arn,
        }
        url = f"{target.endpoint}{path}"
        return read_reply(self._http.post(url, headers, with_token(path, body), timeout=timeout))

    def trust(self, endpoints: Iterable[str]) -> None:
        """Allow these endpoints too."""
        self._trusted |= set(endpoints)

    def renew(self) -> None:
        """Forget the token that this thread sent last, and look for credentials anew."""
        self._tokens.forget(getattr(self._last, "token", None))
        self._account.renew()


def published_body(intent: Intent) -> str:
    """The body of sagemaker.train.rft: `{"JobArn", "TrajectoryId", "Status" | "Rewards"}`."""
    ids = {"JobArn": intent.target.job_arn, "TrajectoryId": intent.target.trajectory_id}
    return json.dumps(ids | intent.payload)


def with_token(path: str, body: str) -> str:
    """A published body with the idempotency token that follows from it.

    Raises:
        ValueError: it is not such a body.
    """
    fields = json.loads(body)
    payload = dict(fields)
    ids = payload.pop("JobArn"), payload.pop("TrajectoryId")
    token = client_token(*ids, OPERATIONS[path], canonical(payload))
    return json.dumps(fields | {"ClientToken": token})
