"""A stage's `feedback`: the path by which rewards that an agent deferred reach the trainer.

    "feedback": {"timeout_seconds": 60, "batch_size": 10, "concurrency": 20}

`{}` is the path with its defaults; without the field there is none.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from pydantic import Field

from reward_functions.cdk.model.deployment import MAX_MEMORY_MB, Settings
from reward_functions.core.errors import ConfigurationError

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class BadFeedback(ConfigurationError):
    """A path that could not report. The message names the field."""


class Feedback(Settings):
    """How results of agents are scored and reported."""

    timeout_seconds: int = Field(
        default=120,
        ge=60,
        le=120,
        description="Lambda's timeout of the function that scores and reports; a message that it "
        "has is nobody else's for six times that.",
    )
    batch_size: int = Field(
        default=10, ge=1, le=10, description="Results that it is given at a time, at most."
    )
    concurrency: int = Field(
        default=10, ge=2, le=1000, description="Batches at a time, at most: the queue's own limit."
    )
    memory_mb: int = Field(
        default=512,
        ge=256,
        le=MAX_MEMORY_MB,
        description="Lambda's memory size. It asks rewards and scores nothing by itself.",
    )
    keep_results_days: int = Field(
        default=14,
        ge=1,
        le=365,
        description="After so many days a result is deleted, and its last copy after as many more.",
    )
    endpoint: str | None = Field(
        default=None,
        max_length=512,
        description="Of the job runtime, where it is not AWS's: `https`, or this machine with "
        "`emulated`.",
    )


def check_feedback(feedback: Feedback | None, *, pinnable: bool, emulated: bool) -> None:
    """Whether there is a reward to pin, and the trainer is where credentials may go.

    Args:
        feedback: what the stage says; None of a stage without the path.
        pinnable: whether a deployment scores a response without the rest of its group.
        emulated: whether the stage is for the local AWS emulator.

    Raises:
        BadFeedback: there is none; or the endpoint is no address, not encrypted, or this machine of
            a stage on AWS.
    """
    if feedback is not None and not pinnable:
        raise BadFeedback(
            "feedback: all deployments compare the responses of a group, and a deferred reward is "
            "of one alone: add a deployment that scores it"
        )
    if feedback is None or feedback.endpoint is None:
        return
    try:
        parts = urlsplit(feedback.endpoint)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        parts, host = urlsplit(""), ""
    plain = parts.scheme in {"http", "https"} and not (
        parts.query or parts.fragment or parts.username
    )
    if not host or not plain or any(each.isspace() for each in feedback.endpoint):
        raise BadFeedback(
            "feedback.endpoint is not the address of a job runtime: write https://HOST, with a "
            "port or a path where it has one"
        )
    here = host in LOOPBACK
    if here and not emulated:
        raise BadFeedback(
            "feedback.endpoint is this machine, which no function on AWS reaches: only a stage "
            "with 'emulated' may name it"
        )
    if parts.scheme != "https" and not here:
        raise BadFeedback(
            "feedback.endpoint is not encrypted, and a credential would go there: write https://"
        )
