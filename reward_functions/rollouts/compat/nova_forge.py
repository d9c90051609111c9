"""The names of `amzn_nova_forge` that are about rewards: its check of a reward function.

    -from amzn_nova_forge import verify_reward_function
    +from reward_functions.rollouts.compat.nova_forge import verify_reward_function

| what differs on purpose | nova-forge | here |
| --- | --- | --- |
| a file | `exec` in an empty namespace | a process of its own; its neighbours can be imported |
| ARNs | `arn:aws:` only, no alias | any partition, aliases and versions |
| the region of an ARN | `region`, us-east-1 by default | its own, where `region` is the default |
| logs | every sample and every output | nothing of them |
| NaN, `"0.5"`, wrong ids, three outputs for two samples | pass | fail with `strict=True` |

Not here: `RFTMultiturnInfrastructure` and `CustomEnvironment`, which start a private kit;
`RuntimeManager`, `NotificationManager` and `CloudWatchLogMonitor`, whose work is done by a stage,
its notifications and `reward job`; `RFTDatasetValidator`, in whose place is `reward data check`.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import boto3

from reward_functions.rollouts.compat.verifying import (
    ARN,
    Check,
    RewardFunctionOutput,
    RewardMetric,
    checked_samples,
    is_arn,
    require_hyperpod_name,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Platform", "RewardFunctionOutput", "RewardMetric", "verify_reward_function"]

DEFAULT_REGION: Final = "us-east-1"


class Platform(Enum):
    """Where a job runs."""

    SMTJ = "SMTJ"
    SMHP = "SMHP"
    BEDROCK = "BEDROCK"
    SMTJServerless = "SMTJServerless"
    LOCAL = "LOCAL"
    GLUE = "GLUE"


def verify_reward_function(
    reward_function: str,
    sample_data: Sequence[dict[str, Any]],
    region: str = DEFAULT_REGION,
    validate_format: bool = True,  # noqa: FBT001, FBT002 - theirs
    platform: Any = None,
    *,
    strict: bool = False,
) -> dict[str, Any]:
    """Check that a reward function answers samples as a Nova model's trainer needs it.

    Args:
        reward_function: an ARN of Lambda, or the path of a Python file with a `lambda_handler`.
        sample_data: of `messages`, and perhaps `id`, `tools` and `reference_answer`; all are sent
            in one call, of 6 MB at most.
        region: of the Lambda, where its ARN is in another than the default.
        validate_format: whether samples and outputs are looked at.
        platform: a `Platform`, or nova-forge's own; an ARN needs one. SMHP wants SageMaker in the
            function's name.
        strict: also refuse what `compat.verifying` lists; the function is called twice.

    Returns:
        `success` (True), `results`, `total_samples`, `successful_samples` and `warnings`.

    Raises:
        ValueError: anything is wrong; the message lists what.
    """
    named = getattr(platform, "value", platform)
    if is_arn(reward_function):
        if platform is None:
            raise ValueError("The 'platform' parameter is required when using a Lambda ARN")
        if named == Platform.SMHP.value:
            require_hyperpod_name(reward_function)
    warnings = checked_samples(sample_data) if validate_format or strict else []
    known = ARN.fullmatch(reward_function)
    where = known["region"] if known and region == DEFAULT_REGION else region
    return Check(
        function=reward_function,
        given=sample_data,
        client=lambda: boto3.client("lambda", region_name=where),
        formats=validate_format,
        strict=strict,
    ).verdict(warnings)
