"""Agent episodes: a trainer asks for a rollout, an agent acts, and its reward is counted once.

    payload → contract → context → the agent → results → rewards → feedback → outbox → transports

request/    what a trainer asks, what is a reward, and whose a failure is
record/     what an agent did: turns, tools, tokens; the relay, and what trainers read
report/     a reward is counted once: durable, sent, settled
episode/    an agent becomes a rollout; a pinned reward scores it
serve/      who asks an agent: HTTP, a forwarder's queue, AgentCore
policy/     one call of the policy, by any framework
collect/    an agent on AgentCore, run for many payloads
compat/     other toolkits' names, so that an agent changes one import line
drive/      agents run as a trainer runs them, on one machine

`strands.py`, `langchain.py`, `openai.py`, `agents.py`, `httpx.py` and `relay.py` are what users
import; each stands for the folder of its name. `servers/` holds what deployed stages name.

Names are imported when they are first used: a forwarder loads no handler, and nothing here loads
more than boto3 and the standard library. Names that only compute are here without boto3 too.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reward_functions.core.extras import ROLLOUTS, require

if TYPE_CHECKING:
    from reward_functions.rollouts.collect.batches import AsyncBatchResult as AsyncBatchResult
    from reward_functions.rollouts.collect.batches import BatchItem as BatchItem
    from reward_functions.rollouts.collect.batches import BatchResult as BatchResult
    from reward_functions.rollouts.collect.client import RolloutClient as RolloutClient
    from reward_functions.rollouts.collect.futures import RolloutFuture as RolloutFuture
    from reward_functions.rollouts.collect.invocations import (
        AgentCoreHttpClient as AgentCoreHttpClient,
    )
    from reward_functions.rollouts.collect.invocations import InvocationError as InvocationError
    from reward_functions.rollouts.collect.invocations import InvocationHandle as InvocationHandle
    from reward_functions.rollouts.collect.rate_limit import RateLimiter as RateLimiter
    from reward_functions.rollouts.episode.episode import RFTContext as RFTContext
    from reward_functions.rollouts.episode.episode import RolloutContext as RolloutContext
    from reward_functions.rollouts.episode.episode import current_rollout as current_rollout
    from reward_functions.rollouts.episode.handler import rft_handler as rft_handler
    from reward_functions.rollouts.episode.handler import rollout_handler as rollout_handler
    from reward_functions.rollouts.episode.handler import (
        sagemaker_rft_handler as sagemaker_rft_handler,
    )
    from reward_functions.rollouts.episode.pooling import AgentPool as AgentPool
    from reward_functions.rollouts.episode.scoring import Pin as Pin
    from reward_functions.rollouts.episode.scoring import Scorer as Scorer
    from reward_functions.rollouts.policy.boto3_events import wrap_boto3 as wrap_boto3
    from reward_functions.rollouts.record.exchange.joining import Joined as Joined
    from reward_functions.rollouts.record.exchange.joining import RolloutReward as RolloutReward
    from reward_functions.rollouts.record.exchange.joining import joined as joined
    from reward_functions.rollouts.record.exchange.token_rows import TokenRow as TokenRow
    from reward_functions.rollouts.record.exchange.token_rows import token_rows as token_rows
    from reward_functions.rollouts.record.history import Branch as Branch
    from reward_functions.rollouts.record.history import branches as branches
    from reward_functions.rollouts.record.history import drift as drift
    from reward_functions.rollouts.record.jsonl import BadTrajectory as BadTrajectory
    from reward_functions.rollouts.record.jsonl import TrajectoryFile as TrajectoryFile
    from reward_functions.rollouts.record.recording import Recording as Recording
    from reward_functions.rollouts.record.relay.relay import Relay as Relay
    from reward_functions.rollouts.record.sink import TrajectorySink as TrajectorySink
    from reward_functions.rollouts.record.statistics import (
        TrajectoryStatistics as TrajectoryStatistics,
    )
    from reward_functions.rollouts.record.statistics import statistics_of as statistics_of
    from reward_functions.rollouts.record.types import Trajectory as Trajectory
    from reward_functions.rollouts.record.types import Turn as Turn
    from reward_functions.rollouts.report.credentials import generate_token as generate_token
    from reward_functions.rollouts.report.deferred import Deferred as Deferred
    from reward_functions.rollouts.report.feedback import (
        RolloutFeedbackClient as RolloutFeedbackClient,
    )
    from reward_functions.rollouts.report.settings import RolloutSettings as RolloutSettings
    from reward_functions.rollouts.request.context import (
        clear_rollout_context as clear_rollout_context,
    )
    from reward_functions.rollouts.request.context import (
        get_inference_params as get_inference_params,
    )
    from reward_functions.rollouts.request.context import get_rollout_context as get_rollout_context
    from reward_functions.rollouts.request.context import set_rollout_context as set_rollout_context
    from reward_functions.rollouts.request.contract import InferenceParams as InferenceParams
    from reward_functions.rollouts.request.contract import RolloutMetadata as RolloutMetadata
    from reward_functions.rollouts.request.contract import RolloutRequest as RolloutRequest
    from reward_functions.rollouts.request.contract import read_request as read_request
    from reward_functions.rollouts.request.errors import AgentFailed as AgentFailed
    from reward_functions.rollouts.request.errors import BadResult as BadResult
    from reward_functions.rollouts.request.errors import ContractViolation as ContractViolation
    from reward_functions.rollouts.request.errors import DeliveryFailed as DeliveryFailed
    from reward_functions.rollouts.request.errors import EnvironmentFailure as EnvironmentFailure
    from reward_functions.rollouts.request.errors import InvalidReward as InvalidReward
    from reward_functions.rollouts.request.errors import PolicyFailure as PolicyFailure
    from reward_functions.rollouts.request.errors import RolloutError as RolloutError
    from reward_functions.rollouts.request.errors import ServiceFailed as ServiceFailed
    from reward_functions.rollouts.request.headers import InferenceHeaders as InferenceHeaders
    from reward_functions.rollouts.request.headers import LiveParams as LiveParams
    from reward_functions.rollouts.request.headers import (
        get_inference_headers as get_inference_headers,
    )
    from reward_functions.rollouts.request.headers import (
        make_inference_headers as make_inference_headers,
    )
    from reward_functions.rollouts.serve.agentcore.apps import AgentCoreRLApp as AgentCoreRLApp
    from reward_functions.rollouts.serve.agentcore.apps import (
        AgentCoreRuntimeApp as AgentCoreRuntimeApp,
    )
    from reward_functions.rollouts.serve.agentcore.reward_function import (
        RewardFunction as RewardFunction,
    )
    from reward_functions.rollouts.serve.agentcore.reward_function import (
        reward_function as reward_function,
    )
    from reward_functions.rollouts.serve.answering import answering_at_once as answering_at_once
    from reward_functions.rollouts.serve.app import RolloutApp as RolloutApp

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
    "episode.pooling": "AgentPool",
    "report.feedback": "RolloutFeedbackClient",
    "episode.scoring": "Pin Scorer",
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

PURE = ("request.", "record.exchange.", "record.history", "record.statistics", "record.types")
"""Modules that compute, and need no boto3: contract, records, rows of tokens."""

_MODULES = {name: module for module, names in HOMES.items() for name in names.split()}

__all__ = list(_MODULES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _MODULES[name]
    if not module.startswith(PURE):
        require("boto3", by=__name__, extra=ROLLOUTS)
    return getattr(import_module(f"{__name__}.{module}"), name)
