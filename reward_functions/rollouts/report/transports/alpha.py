"""The older API of aws-rft-sdk: SigV4, `CompleteTrajectory` and `UpdateReward`.

It names the trajectory alone, and has neither idempotency tokens nor failed rollouts: a report that
is sent again after a lost reply is told apart by the conflict that it meets.

Source: the public copies of aws-rft-sdk; the pull request 5596 of sagemaker-python-sdk.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from reward_functions.rollouts.report.transports.http import Http
from reward_functions.rollouts.report.transports.limits import require_sendable
from reward_functions.rollouts.report.transports.replies import read_reply
from reward_functions.rollouts.request.endpoints import require_trusted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reward_functions.rollouts.report.intents import Intent
    from reward_functions.rollouts.report.transports import Reply
    from reward_functions.rollouts.report.transports.account import Account

ENDPOINT: Final = "https://finetuning-job-runtime.alpha.sagemaker.us-west-2.api.aws"
"""Where nobody names another."""

PATHS: Final = {"complete": "/CompleteTrajectory", "reward": "/UpdateReward"}


class Alpha:
    """A transport of the older API.

    Args:
        account: who signs.
        trusted: endpoints that may be sent a signature, beside AWS's.
    """

    kind: Final = "alpha"

    def __init__(self, account: Account, trusted: Iterable[str] = ()) -> None:
        self._account = account
        self._http = Http(account.ca_bundle)
        self._trusted = set(trusted)

    def send(self, intent: Intent, *, timeout: float) -> Reply:
        """Send an intent once; see `Transport`."""
        from botocore.auth import SigV4Auth  # noqa: PLC0415 - takes 0.1 seconds
        from botocore.awsrequest import AWSRequest  # noqa: PLC0415

        target = intent.target
        require_sendable(intent)
        require_trusted(target.endpoint, trusted=self._trusted)
        request = AWSRequest(
            method="POST",
            url=f"{target.endpoint}{PATHS[intent.operation]}",
            data=body(intent).encode(),
            headers={"Content-Type": "application/json", "User-Agent": "reward-functions"},
        )
        SigV4Auth(self._account.credentials(), "sagemaker", target.region).add_auth(request)
        return read_reply(self._http.send(request.prepare(), timeout=timeout))

    def trust(self, endpoints: Iterable[str]) -> None:
        """Allow these endpoints too."""
        self._trusted |= set(endpoints)

    def renew(self) -> None:
        """Look for credentials anew."""
        self._account.renew()


def body(intent: Intent) -> str:
    """`{"TrajectoryId"}`, with the rewards where there are any."""
    rewards = {name: value for name, value in intent.payload.items() if name == "Rewards"}
    return json.dumps({"TrajectoryId": intent.target.trajectory_id} | rewards)
