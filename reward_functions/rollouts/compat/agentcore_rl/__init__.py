"""The public names of agentcore-rl-toolkit 0.2.0: one import line changes.

    from reward_functions.rollouts.compat.agentcore_rl import AgentCoreRLApp, RolloutClient

Its sub-modules are here too: `app`, `client`, `concurrency`, `reward_function`, `runtime`.

Names, signatures and defaults are theirs. Differences: a failed look at S3 is repeated and ends no
batch. An agent's failure is `success=False`, and `RolloutFuture.result` raises `AgentFailed`. Every
session is stopped; `timeout` is exact; a client of boto3 stands where one of aiobotocore did.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from reward_functions.rollouts.collect.batches import AsyncBatchResult as AsyncBatchResult
    from reward_functions.rollouts.collect.batches import BatchItem as BatchItem
    from reward_functions.rollouts.collect.batches import BatchResult as BatchResult
    from reward_functions.rollouts.collect.futures import RolloutFuture as RolloutFuture
    from reward_functions.rollouts.collect.invocations import (
        AgentCoreHttpClient as AgentCoreHttpClient,
    )
    from reward_functions.rollouts.collect.invocations import InvocationError as InvocationError
    from reward_functions.rollouts.collect.invocations import InvocationHandle as InvocationHandle
    from reward_functions.rollouts.collect.rate_limit import ACRRateLimiter as ACRRateLimiter
    from reward_functions.rollouts.compat.agentcore_rl.client import RolloutClient as RolloutClient
    from reward_functions.rollouts.serve.agentcore.apps import AgentCoreRLApp as AgentCoreRLApp
    from reward_functions.rollouts.serve.agentcore.apps import (
        AgentCoreRuntimeApp as AgentCoreRuntimeApp,
    )
    from reward_functions.rollouts.serve.agentcore.reward_function import (
        RewardFunction as RewardFunction,
    )

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

__all__ = list(_MODULES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
