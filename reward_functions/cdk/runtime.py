"""What the functions of a stage run on, as Lambda's constructs name it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import aws_lambda as lambda_

if TYPE_CHECKING:
    from reward_functions.cdk.stages import Stage


def runtime(stage: Stage) -> lambda_.Runtime:
    """The Python of a stage, also where CDK does not know it yet."""
    return lambda_.Runtime(f"python{stage.python}", lambda_.RuntimeFamily.PYTHON)


def architecture(stage: Stage) -> lambda_.Architecture:
    """The processor of a stage."""
    arm = stage.architecture == "arm64"
    return lambda_.Architecture.ARM_64 if arm else lambda_.Architecture.X86_64
