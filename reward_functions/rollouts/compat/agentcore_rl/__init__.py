"""The public names of agentcore-rl-toolkit 0.2.0: one import line changes.

    from reward_functions.rollouts.compat.agentcore_rl import AgentCoreRLApp, RolloutClient

app.py              of `agentcore_rl_toolkit.app`
client.py           of `agentcore_rl_toolkit.client`
concurrency.py      of `agentcore_rl_toolkit.concurrency`
reward_function.py  of `agentcore_rl_toolkit.reward_function`
runtime.py          of `agentcore_rl_toolkit.runtime`

Names, signatures and defaults are theirs. What differs: a failed look at S3 is repeated and ends no
batch; an agent's failure is `success=False`, and `RolloutFuture.result` raises `AgentFailed`; every
session is stopped; `timeout` is exact; a client of boto3 stands where one of aiobotocore did.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from reward_functions.rollouts.collect.batches import (
        AsyncBatchResult,
        BatchItem,
        BatchResult,
    )
    from reward_functions.rollouts.collect.futures import RolloutFuture
    from reward_functions.rollouts.collect.invocations import (
        AgentCoreHttpClient,
        InvocationError,
        InvocationHandle,
    )
    from reward_functions.rollouts.collect.rate_limit import ACRRateLimiter
    from reward_functions.rollouts.compat.agentcore_rl.client import RolloutClient
    from reward_functions.rollouts.serve.agentcore.apps import AgentCoreRLApp, AgentCoreRuntimeApp
    from reward_functions.rollouts.serve.agentcore.reward_function import RewardFunction

ROLLOUTS: Final = "reward_functions.rollouts."

_MODULES: Final = {
    name: ROLLOUTS + module
    for module, names in {
        "serve.agentcore.apps": "AgentCoreRLApp AgentCoreRuntimeApp",
        "serve.agentcore.reward_function": "RewardFunction",
        "collect.batches": "AsyncBatchResult BatchItem BatchResult",
        "collect.futures": "RolloutFuture",
        "collect.invocations": "AgentCoreHttpClient InvocationError InvocationHandle",
        "collect.rate_limit": "ACRRateLimiter",
        "compat.agentcore_rl.client": "RolloutClient",
    }.items()
    for name in names.split()
}

__all__ = [
    "ACRRateLimiter",
    "AgentCoreHttpClient",
    "AgentCoreRLApp",
    "AgentCoreRuntimeApp",
    "AsyncBatchResult",
    "BatchItem",
    "BatchResult",
    "InvocationError",
    "InvocationHandle",
    "RewardFunction",
    "RolloutClient",
    "RolloutFuture",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
