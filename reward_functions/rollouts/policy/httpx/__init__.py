"""httpx: whatever calls a policy over it, each call in the rollout that makes it.

transport.py    `RolloutTransport`, `AsyncRolloutTransport`: around the transport of a client
client.py       a client with one: `wrap_http_client`, `rollout_http_client`
auth.py         `RolloutAuth`: headers and tokens alone, where the transport is somebody else's
"""

from reward_functions.core.extras import require

require("httpx", "anyio", by=__name__.replace(".policy", ""))

from reward_functions.rollouts.policy.httpx.auth import RolloutAuth
from reward_functions.rollouts.policy.httpx.client import (
    async_rollout_http_client,
    rollout_http_client,
    wrap_http_client,
)
from reward_functions.rollouts.policy.httpx.transport import AsyncRolloutTransport, RolloutTransport

__all__ = [
    "AsyncRolloutTransport",
    "RolloutAuth",
    "RolloutTransport",
    "async_rollout_http_client",
    "rollout_http_client",
    "wrap_http_client",
]
