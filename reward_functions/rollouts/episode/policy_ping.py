"""One tiny policy call for an episode that made none: an empty trajectory can end a job.

    "sample" → boto3's `Sample`          "chat" → POST ENDPOINT/v1/chat/completions
    "" → none: its route for policy calls is not public

The row of a transport, in `report/transports.py`, says which.

A ping that fails hides no reward: it is logged by its type, and the reward is reported.
"""

from __future__ import annotations

import json
import logging
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.report.credentials import Account, BearerTokens
from reward_functions.rollouts.report.transports import WIRES, Http
from reward_functions.rollouts.request.headers import make_inference_headers

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.rollouts.episode.episode import RolloutContext
    from reward_functions.rollouts.report.intents import Target

    Ping = Callable[[RolloutContext], object]

BODY: Final = json.dumps(
    {"model": "default", "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 1}
)
"""The smallest chat completion: one token."""

LONGEST: Final = 10.0
"""Seconds that a ping may take: it stands between an episode and its reward."""

_log = logging.getLogger("reward_functions.rollouts")


def ping_policy(
    episode: RolloutContext, target: Target, own: Ping | None = None, *, timeout: float = LONGEST
) -> bool:
    """Call the policy once for an episode, and record the turn.

    Args:
        episode: that has no turn.
        target: its runtime, checked before.
        own: what calls the policy instead, with the episode.
        timeout: seconds.

    Returns:
        Whether the policy answered.
    """
    try:
        if own is not None:
            own(episode)
        else:
            WAYS[WIRES[target.transport].ping](target, timeout)
    except Exception as error:  # noqa: BLE001 - whatever fails here, the reward is still reported
        trajectory = episode.metadata.trajectory_id
        _log.warning("the policy ping of rollout %r failed: %s", trajectory, type(error).__name__)
        return False
    if not episode.turns:
        episode.policy_call()
    return True


def _sample(target: Target, timeout: float) -> None:
    _client(target.endpoint, target.region, timeout).sample(
        JobArn=target.job_arn, TrajectoryId=target.trajectory_id, Body=BODY
    )["Body"].read()


def _complete_chat(target: Target, timeout: float) -> None:
    tokens, http = _bearer()
    headers = {
        **make_inference_headers({"jobArn": target.job_arn, "rolloutId": target.trajectory_id}),
        "Authorization": f"Bearer {tokens.get(target.region)}",
        "Content-Type": "application/json",
    }
    url = f"{target.endpoint}/v1/chat/completions"
    status = http.post(url, headers, BODY, timeout=timeout).status
    if status != HTTPStatus.OK:
        raise ConnectionError(f"status {status}")


def _nothing(target: Target, _timeout: float) -> None:
    raise NotImplementedError(f"the {target.transport} API has no public route for policy calls")


WAYS: Final = {"sample": _sample, "chat": _complete_chat, "": _nothing}
"""By the `ping` of a transport's row."""


@cache
def _bearer() -> tuple[BearerTokens, Http]:
    """Tokens and connections that pings share."""
    account = Account()
    return BearerTokens(account), Http(account.ca_bundle)


@cache
def _client(endpoint: str, region: str, timeout: float) -> Any:
    """One client for a runtime: pings are rare, and a client costs 40 ms."""
    import boto3  # noqa: PLC0415 - 0.2 s
    from botocore.config import Config  # noqa: PLC0415

    config = Config(
        connect_timeout=timeout,
        read_timeout=timeout,
        retries={"mode": "standard", "total_max_attempts": 1},
    )
    session = boto3.Session()
    return session.client(
        "sagemakerjobruntime", endpoint_url=endpoint, region_name=region, config=config
    )
