"""Agent episodes: a trainer asks for a rollout, an agent acts, and its reward is counted once.

    payload → contract → context → the agent → results → rewards → feedback → outbox → transports

contract.py      what a trainer sends, in every spelling, and how it is written again
settings.py      how a process reports, from the environment
context.py       which rollout this code runs for, by ContextVar
headers.py       the headers and parameters of a policy call, read when the call is made
endpoints.py     where the runtime of a job is, and which hosts may be given a credential
rewards.py       what is a reward: finite numbers, one a rollout or one a turn
intents.py       what is to be reported, its token and its state
deferred/        episodes that a deployed reward scores: their record, written into S3
outcomes.py      what became of a report, by status and error type
errors.py        what went wrong, and whose it is: the table of failure attribution
background.py    work behind an answer
threads.py       threads that report, apart from those that agents run on
transports/      how a report is carried: SigV4, bearer token, the alpha API
outbox/          where intents are durable before they are sent
reporting/       an episode is reported; what a dead process left is reported by the next one
scoring/         a pinned reward scores an episode
episodes/        `rollout_handler`: an agent becomes a rollout
servers/         an agent behind HTTP, and the Lambda that a trainer calls
strands/         Strands: `wrap_model`, a model, hooks

Names are imported when they are first used: a forwarder loads no handler, and nothing here loads
more than boto3 and the standard library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reward_functions.core.extras import Extra, require

if TYPE_CHECKING:
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
        ContractViolation,
        DeliveryFailed,
        EnvironmentFailure,
        InvalidReward,
        PolicyFailure,
        RolloutError,
    )
    from reward_functions.rollouts.headers import (
        InferenceHeaders,
        LiveParams,
        get_inference_headers,
        make_inference_headers,
    )
    from reward_functions.rollouts.reporting.feedback import RolloutFeedbackClient
    from reward_functions.rollouts.scoring.scorer import Pin, Scorer
    from reward_functions.rollouts.servers.answering import answering_at_once
    from reward_functions.rollouts.servers.app import RolloutApp
    from reward_functions.rollouts.settings import RolloutSettings
    from reward_functions.rollouts.transports.bearer_tokens import generate_token

__all__ = [
    "ContractViolation",
    "Deferred",
    "DeliveryFailed",
    "EnvironmentFailure",
    "InferenceHeaders",
    "InferenceParams",
    "InvalidReward",
    "LiveParams",
    "Pin",
    "PolicyFailure",
    "RFTContext",
    "RolloutApp",
    "RolloutContext",
    "RolloutError",
    "RolloutFeedbackClient",
    "RolloutMetadata",
    "RolloutRequest",
    "RolloutSettings",
    "Scorer",
    "answering_at_once",
    "clear_rollout_context",
    "current_rollout",
    "generate_token",
    "get_inference_headers",
    "get_inference_params",
    "get_rollout_context",
    "make_inference_headers",
    "read_request",
    "rft_handler",
    "rollout_handler",
    "sagemaker_rft_handler",
    "set_rollout_context",
]

HOMES = {
    "context": (
        "clear_rollout_context get_inference_params get_rollout_context set_rollout_context"
    ),
    "contract": "InferenceParams RolloutMetadata RolloutRequest read_request",
    "deferred.writing": "Deferred",
    "episodes.episode": "RFTContext RolloutContext current_rollout",
    "episodes.handler": "rft_handler rollout_handler sagemaker_rft_handler",
    "errors": (
        "ContractViolation DeliveryFailed EnvironmentFailure InvalidReward PolicyFailure "
        "RolloutError"
    ),
    "headers": "InferenceHeaders LiveParams get_inference_headers make_inference_headers",
    "reporting.feedback": "RolloutFeedbackClient",
    "scoring.scorer": "Pin Scorer",
    "servers.answering": "answering_at_once",
    "servers.app": "RolloutApp",
    "settings": "RolloutSettings",
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
