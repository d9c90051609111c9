"""`verify_reward_function` of sagemaker.train: see `compat.verifying` for what is checked.

The published one lies in `sagemaker.train.common_utils.rlvr_reward_verifier`. It refuses an ARN
with an alias as a file that is not there; this one calls it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import boto3

from reward_functions.rollouts.compat.verifying import (
    ARN,
    Check,
    RewardFunctionOutput,
    RewardMetric,
    is_arn,
    require_hyperpod_name,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["RewardFunctionOutput", "RewardMetric", "verify_reward_function"]

HYPERPOD = "HyperPodCompute"
"""The class of sagemaker.core's that says where a job runs."""


def verify_reward_function(
    reward_function: str,
    sample_data: Sequence[dict[str, Any]],
    validate_format: bool = True,  # noqa: FBT001, FBT002 - theirs
    compute: Any = None,
    is_nova: bool = True,  # noqa: FBT001, FBT002 - theirs
    *,
    strict: bool = False,
) -> dict[str, Any]:
    """Check that a reward function answers samples as its trainer needs it.

    Args:
        reward_function: an ARN of Lambda, or the path of a Python file with a `lambda_handler`.
        sample_data: all are sent in one call, of 6 MB at most.
        validate_format: whether outputs are looked at.
        compute: sagemaker's `TrainingJobCompute` or `HyperPodCompute`; the latter wants SageMaker
            in the name of a Nova model's function.
        is_nova: False where the answer is `{"statusCode": 200, "body": JSON}`.
        strict: also refuse what `compat.verifying` lists; the function is called twice.

    Returns:
        `success` (True), `results`, `total_samples`, `successful_samples` and `warnings`.

    Raises:
        ValueError: anything is wrong; the message lists what.
    """
    if is_nova and type(compute).__name__ == HYPERPOD and is_arn(reward_function):
        require_hyperpod_name(reward_function)
    known = ARN.fullmatch(reward_function)
    return Check(
        function=reward_function,
        given=sample_data,
        client=lambda: boto3.client("lambda", region_name=known["region"] if known else None),
        formats=validate_format,
        envelope=not is_nova,
        strict=strict,
    ).verdict()
