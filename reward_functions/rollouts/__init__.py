"""Agent episodes: a trainer asks for a rollout, an agent acts, and its reward is counted once.

    payload → contract → context → the agent → results → rewards → feedback → outbox → transports

What is asked, and what is earned:

contract.py      what a trainer sends, in every spelling, and how it is written again
context.py       which rollout this code runs for, by ContextVar
headers.py       the headers and parameters of a policy call, read when the call is made
endpoints.py     where the runtime of a job is, and which hosts may be given a credential
rewards.py       what is a reward: finite numbers, one a rollout or one a turn
scoring/         a pinned reward scores an episode
errors.py        what went wrong, and whose it is: the table of failure attribution

How it is reported:

intents.py       what is to be reported, its token and its state
outcomes.py      what became of a report, by status and error type
settings.py      how a process reports, from the environment
transports/      how a report is carried: SigV4, bearer token, the alpha API
outbox/          where intents are durable before they are sent
reporting/       an episode is reported; what a dead process left is reported by the next one
deferred/        episodes that a deployed reward scores: their record, written into S3

An agent, and who asks it:

episodes/        `rollout_handler`: an agent becomes a rollout
servers/         an agent behind HTTP, and the Lambda that a trainer calls
agentcore/       agentcore-rl-toolkit's app: results in S3, and invocations that survive
collection/      an agent on AgentCore, run for many payloads, its results read from S3
pooling/         agents that are used again, each task's as new

Its policy, by whatever framework:

policy/          a call of the policy: whose it is, its address, its token, its turn
httpx/           httpx: transports that whatever is built on it may have
boto3_events.py  boto3: `Sample` of the runtime, and Converse
openai/          OpenAI's SDK
agents/          OpenAI's Agents SDK
strands/         Strands: `wrap_model`, a model, hooks, middleware
langchain/       LangChain and LangGraph: `wrap_chat_model`, a chat model, callbacks

What it did, for trainers and people:

trajectories/    what an agent did: turns, tools, tokens
relay/           between agents and an inference engine: tokens kept by session
exchange/        trajectories as trainers have them: rLLM, agentcore-rl-toolkit, datums
spans.py         what a rollout does, for whoever traces it
telemetry.py     … by OpenTelemetry

For all of it:

compat/          other toolkits' names, so that an agent changes one import line
background.py    work behind an answer
clock.py         the time of a process, which nobody can set
threads.py       threads that report, apart from those that agents run on
file_locks.py    locks on files, which end with their process
s3.py            S3's client, and an object that is written once

Names are imported when they are first used: a forwarder loads no handler, and nothing here loads
more than boto3 and the standard library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reward_functions.core.extras import Extra, require

if TYPE_CHECKING:
    from reward_functions.rollouts.agentcore.apps import AgentCoreRLApp, AgentCoreRuntimeApp
    from reward_functions.rollouts.agentcore.reward_function import RewardFunction, reward_function
    from reward_functions.rollouts.boto3_events import wrap_boto3
    from reward_functions.rollouts.collection.batches import (
        AsyncBatchResult,
        BatchItem,
        BatchResult,
    )
    from reward_functions.rollouts.collection.client import RolloutClient
    from reward_functions.rollouts.collection.futures import RolloutFuture
    from reward_functions.rollouts.collection.invocations import (
        AgentCoreHttpClient,
        InvocationError,
        InvocationHandle,
    )
    from reward_functions.rollouts.collection.rate_limit import RateLimiter
    from reward_functions.rollouts.context import (
        clear_rollout_context,
        get_inference_params,
        get_rollout_context,
        set_rollout_context,
    )
    from reward_functions.rollouts.contract import (
        InferenceParams,
        RolloutMetadata,
        RolloutRequest,
        read_request,
    )
    from reward_functions.rollouts.deferred.writing import Deferred
    from reward_functions.rollouts.episodes.episode import (
        RFTContext,
        RolloutContext,
        current_rollout,
    )
    from reward_functions.rollouts.episodes.handler import (
        rft_handler,
        rollout_handler,
        sagemaker_rft_handler,
    )
    from reward_functions.rollouts.errors import (
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
    from reward_functions.rollouts.exchange.joining import Joined, RolloutReward, joined
    from reward_functions.rollouts.exchange.token_rows import TokenRow, token_rows
    from reward_functions.rollouts.headers import (
        InferenceHeaders,
        LiveParams,
        get_inference_headers,
        make_inference_headers,
    )
    from reward_functions.rollouts.pooling.pool import AgentPool
    from reward_functions.rollouts.relay.relay import Relay
    from reward_functions.rollouts.reporting.feedback import RolloutFeedbackClient
    from reward_functions.rollouts.scoring.scorer import Pin, Scorer
    from reward_functions.rollouts.servers.answering import answering_at_once
    from reward_functions.rollouts.servers.app import RolloutApp
    from reward_functions.rollouts.settings import RolloutSettings
    from reward_functions.rollouts.trajectories.history import Branch, branches, drift
    from reward_functions.rollouts.trajectories.jsonl import BadTrajectory, TrajectoryFile
    from reward_functions.rollouts.trajectories.recording import Recording
    from reward_functions.rollouts.trajectories.sink import TrajectorySink
    from reward_functions.rollouts.trajectories.statistics import (
        TrajectoryStatistics,
        statistics_of,
    )
    from reward_functions.rollouts.trajectories.types import Trajectory, Turn
    from reward_functions.rollouts.transports.bearer_tokens import generate_token

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
    "agentcore.apps": "AgentCoreRLApp AgentCoreRuntimeApp",
    "agentcore.reward_function": "RewardFunction reward_function",
    "boto3_events": "wrap_boto3",
    "collection.batches": "AsyncBatchResult BatchItem BatchResult",
    "collection.client": "RolloutClient",
    "collection.futures": "RolloutFuture",
    "collection.invocations": "AgentCoreHttpClient InvocationError InvocationHandle",
    "collection.rate_limit": "RateLimiter",
    "context": (
        "clear_rollout_context get_inference_params get_rollout_context set_rollout_context"
    ),
    "contract": "InferenceParams RolloutMetadata RolloutRequest read_request",
    "deferred.writing": "Deferred",
    "episodes.episode": "RFTContext RolloutContext current_rollout",
    "episodes.handler": "rft_handler rollout_handler sagemaker_rft_handler",
    "errors": (
        "AgentFailed BadResult ContractViolation DeliveryFailed EnvironmentFailure InvalidReward "
        "PolicyFailure RolloutError ServiceFailed"
    ),
    "exchange.joining": "Joined RolloutReward joined",
    "exchange.token_rows": "TokenRow token_rows",
    "headers": "InferenceHeaders LiveParams get_inference_headers make_inference_headers",
    "relay.relay": "Relay",
    "pooling.pool": "AgentPool",
    "reporting.feedback": "RolloutFeedbackClient",
    "scoring.scorer": "Pin Scorer",
    "servers.answering": "answering_at_once",
    "servers.app": "RolloutApp",
    "settings": "RolloutSettings",
    "trajectories.history": "Branch branches drift",
    "trajectories.jsonl": "BadTrajectory TrajectoryFile",
    "trajectories.recording": "Recording",
    "trajectories.sink": "TrajectorySink",
    "trajectories.statistics": "TrajectoryStatistics statistics_of",
    "trajectories.types": "Trajectory Turn",
    "transports.bearer_tokens": "generate_token",
}
"""Modules of this package, and the names of `__all__` that each has."""

_MODULES = {name: module for module, names in HOMES.items() for name in names.split()}

require("boto3", by=__name__, extra=Extra("rollouts", "AWS's SDK, boto3"))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
