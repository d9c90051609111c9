"""Agent episodes: a trainer asks for a rollout, an agent acts, and its reward is counted once.

    payload → contract → context → the agent → results → rewards → feedback → outbox → transports

request/    what a trainer asks, what is a reward, and whose a failure is
record/     what an agent did: turns, tools, tokens; the relay, and what trainers read
report/     a reward is counted once: durable, sent, settled
episode/    an agent becomes a rollout; a pinned reward scores it
serve/      who asks an agent: HTTP, a forwarder's queue, AgentCore
policy/     one call of the policy, by whatever framework
collect/    an agent on AgentCore, run for many payloads
compat/     other toolkits' names, so that an agent changes one import line
drive/      agents run as a trainer runs them, on one machine

`strands.py`, `langchain.py`, `openai.py`, `agents.py`, `httpx.py` and `relay.py` are what users
import; each stands for the folder of its name. `servers/` holds what deployed stages name.

Names are imported when they are first used: a forwarder loads no handler, and nothing here loads
more than boto3 and the standard library. Without boto3 the folders import that call nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reward_functions.core.extras import ROLLOUTS, require

if TYPE_CHECKING:
    from reward_functions.rollouts.collect.batches import (
        AsyncBatchResult,
        BatchItem,
        BatchResult,
    )
    from reward_functions.rollouts.collect.client import RolloutClient
    from reward_functions.rollouts.collect.futures import RolloutFuture
    from reward_functions.rollouts.collect.invocations import (
        AgentCoreHttpClient,
        InvocationError,
        InvocationHandle,
    )
    from reward_functions.rollouts.collect.rate_limit import RateLimiter
    from reward_functions.rollouts.episode.episode import (
        RFTContext,
        RolloutContext,
        current_rollout,
    )
    from reward_functions.rollouts.episode.handler import (
        rft_handler,
        rollout_handler,
        sagemaker_rft_handler,
    )
    from reward_functions.rollouts.episode.pooling.pool import AgentPool
    from reward_functions.rollouts.episode.scoring.scorer import Pin, Scorer
    from reward_functions.rollouts.policy.boto3_events import wrap_boto3
    from reward_functions.rollouts.record.exchange.joining import Joined, RolloutReward, joined
    from reward_functions.rollouts.record.exchange.token_rows import TokenRow, token_rows
    from reward_functions.rollouts.record.history import Branch, branches, drift
    from reward_functions.rollouts.record.jsonl import BadTrajectory, TrajectoryFile
    from reward_functions.rollouts.record.recording import Recording
    from reward_functions.rollouts.record.relay.relay import Relay
    from reward_functions.rollouts.record.sink import TrajectorySink
    from reward_functions.rollouts.record.statistics import (
        TrajectoryStatistics,
        statistics_of,
    )
    from reward_functions.rollouts.record.types import Trajectory, Turn
    from reward_functions.rollouts.report.credentials import generate_token
    from reward_functions.rollouts.report.deferred import Deferred
    from reward_functions.rollouts.report.feedback import RolloutFeedbackClient
    from reward_functions.rollouts.report.settings import RolloutSettings
    from reward_functions.rollouts.request.context import (
        clear_rollout_context,
        get_inference_params,
        get_rollout_context,
        set_rollout_context,
    )
    from reward_functions.rollouts.request.contract import (
        InferenceParams,
        RolloutMetadata,
        RolloutRequest,
        read_request,
    )
    from reward_functions.rollouts.request.errors import (
        AgentFailed,
        BadResult,
        ContractViolation,
        DeliveryFailed,
        EnvironmentFailure,
        InvalidReward,
        PolicyFailure,
        RolloutError,
        ServiceFailed,
    )
    from reward_functions.rollouts.request.headers import (
        InferenceHeaders,
        LiveParams,
        get_inference_headers,
        make_inference_headers,
    )
    from reward_functions.rollouts.serve.agentcore.apps import AgentCoreRLApp, AgentCoreRuntimeApp
    from reward_functions.rollouts.serve.agentcore.reward_function import (
        RewardFunction,
        reward_function,
    )
    from reward_functions.rollouts.serve.answering import answering_at_once
    from reward_functions.rollouts.serve.app import RolloutApp

__all__ = [
    "AgentCoreHttpClient",
    "AgentCoreRLApp",
    "AgentCoreRuntimeApp",
    "AgentFailed",
    "AgentPool",
    "AsyncBatchResult",
    "BadResult",
    "BadTrajectory",
    "BatchItem",
    "BatchResult",
    "Branch",
    "ContractViolation",
    "Deferred",
    "DeliveryFailed",
    "EnvironmentFailure",
    "InferenceHeaders",
    "InferenceParams",
    "InvalidReward",
    "InvocationError",
    "InvocationHandle",
    "Joined",
    "LiveParams",
    "Pin",
    "PolicyFailure",
    "RFTContext",
    "RateLimiter",
    "Recording",
    "Relay",
    "RewardFunction",
    "RolloutApp",
    "RolloutClient",
    "RolloutContext",
    "RolloutError",
    "RolloutFeedbackClient",
    "RolloutFuture",
    "RolloutMetadata",
    "RolloutRequest",
    "RolloutReward",
    "RolloutSettings",
    "Scorer",
    "ServiceFailed",
    "TokenRow",
    "Trajectory",
    "TrajectoryFile",
    "TrajectorySink",
    "TrajectoryStatistics",
    "Turn",
    "answering_at_once",
    "branches",
    "clear_rollout_context",
    "current_rollout",
    "drift",
    "generate_token",
    "get_inference_headers",
    "get_inference_params",
    "get_rollout_context",
    "joined",
    "make_inference_headers",
    "read_request",
    "reward_function",
    "rft_handler",
    "rollout_handler",
    "sagemaker_rft_handler",
    "set_rollout_context",
    "statistics_of",
    "token_rows",
    "wrap_boto3",
]

HOMES = {
    "serve.agentcore.apps": "AgentCoreRLApp AgentCoreRuntimeApp",
    "serve.agentcore.reward_function": "RewardFunction reward_function",
    "policy.boto3_events": "wrap_boto3",
    "collect.batches": "AsyncBatchResult BatchItem BatchResult",
    "collect.client": "RolloutClient",
    "collect.futures": "RolloutFuture",
    "collect.invocations": "AgentCoreHttpClient InvocationError InvocationHandle",
    "collect.rate_limit": "RateLimiter",
    "request.context": (
        "clear_rollout_context get_inference_params get_rollout_context set_rollout_context"
    ),
    "request.contract": "InferenceParams RolloutMetadata RolloutRequest read_request",
    "report.deferred": "Deferred",
    "episode.episode": "RFTContext RolloutContext current_rollout",
    "episode.handler": "rft_handler rollout_handler sagemaker_rft_handler",
    "request.errors": (
        "AgentFailed BadResult ContractViolation DeliveryFailed EnvironmentFailure InvalidReward "
        "PolicyFailure RolloutError ServiceFailed"
    ),
    "record.exchange.joining": "Joined RolloutReward joined",
    "record.exchange.token_rows": "TokenRow token_rows",
    "request.headers": "InferenceHeaders LiveParams get_inference_headers make_inference_headers",
    "record.relay.relay": "Relay",
    "episode.pooling.pool": "AgentPool",
    "report.feedback": "RolloutFeedbackClient",
    "episode.scoring.scorer": "Pin Scorer",
    "serve.answering": "answering_at_once",
    "serve.app": "RolloutApp",
    "report.settings": "RolloutSettings",
    "record.history": "Branch branches drift",
    "record.jsonl": "BadTrajectory TrajectoryFile",
    "record.recording": "Recording",
    "record.sink": "TrajectorySink",
    "record.statistics": "TrajectoryStatistics statistics_of",
    "record.types": "Trajectory Turn",
    "report.credentials": "generate_token",
}
"""Modules of this package, and the names of `__all__` that each has."""

_MODULES = {name: module for module, names in HOMES.items() for name in names.split()}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    require("boto3", by=__name__, extra=ROLLOUTS)
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
