"""What outlives a stack: in production what was stored and logged, and what jobs may still use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aws_cdk import RemovalPolicy
from aws_cdk import aws_logs as logs

if TYPE_CHECKING:
    from constructs import Construct

    from reward_functions.cdk.model.stages import Stage

OUTLIVES: Final = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
"""What failed when it was made goes again, for the next deployment to make it anew."""


def kept(stage: Stage) -> RemovalPolicy:
    """Of what was stored and logged: it stays in production, and goes with any other stage."""
    return OUTLIVES if stage.production else RemovalPolicy.DESTROY


def retention(stage: Stage) -> logs.RetentionDays:
    """For how long logs are kept: a month; a year in production."""
    return logs.RetentionDays.ONE_YEAR if stage.production else logs.RetentionDays.ONE_MONTH


def log_group(scope: Construct, function: str, stage: Stage) -> logs.LogGroup:
    """The log of a function, by the function's physical name."""
    return logs.LogGroup(
        scope,
        "Logs",
        log_group_name=f"/aws/lambda/{function}",
        retention=retention(stage),
        removal_policy=kept(stage),
    )
