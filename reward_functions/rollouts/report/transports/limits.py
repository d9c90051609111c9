r"""What a transport can carry, checked before a report is durable and again before it is sent.

| transport | job ARN | trajectory id | status |
| --- | --- | --- | --- |
| `modelled` | the model's pattern, in a header | 1 to 256 characters | ready, failed |
| `bearer` | printable ASCII, in a header | likewise | likewise |
| `alpha` | not sent | likewise | ready |

boto3 checks neither the pattern nor the statuses. Source: botocore's model of
`sagemakerjobruntime`, 2026-02-01; the public copies of aws-rft-sdk.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reward_functions.rollouts.request.errors import BadRequest, UnsupportedReport

if TYPE_CHECKING:
    from reward_functions.rollouts.report.intents import Intent, Target

LONGEST_ARN: Final = 256
LONGEST_ID: Final = 256

MODELLED_ARN: Final = re.compile(
    r"arn:aws[a-z\-]*:sagemaker:[a-z0-9\-]*:[0-9]{12}"
    r":job/[a-zA-Z0-9_\-]+/[a-zA-Z0-9](?:-*[a-zA-Z0-9]){0,62}"
)
PRINTABLE: Final = re.compile(r"[!-~]*")
ARNS: Final = {"modelled": MODELLED_ARN, "bearer": PRINTABLE}


def require_sendable(intent: Intent) -> None:
    """Nothing, where the transport of an intent can carry it.

    Raises:
        BadRequest: not with these ids. The message holds their lengths at most.
        UnsupportedReport: its API has no such report.
    """
    require_carried(intent.target)
    if intent.target.transport == "alpha" and intent.payload.get("Status") == "failed":
        raise UnsupportedReport(
            "the alpha API has no failed rollouts: report a reward, "
            "or set REWARD_ROLLOUTS_TRANSPORT=modelled"
        )


def require_carried(target: Target) -> None:
    """Nothing, where the transport of a target can carry its ids.

    Raises:
        BadRequest: it cannot. The message holds their lengths at most.
    """
    pattern = ARNS.get(target.transport)
    arn = target.job_arn
    if pattern and not (len(arn) <= LONGEST_ARN and pattern.fullmatch(arn)):
        raise BadRequest("metadata.jobArn is not the ARN of a SageMaker job")
    if not 1 <= len(target.trajectory_id) <= LONGEST_ID:
        raise BadRequest(
            f"metadata.rolloutId has {len(target.trajectory_id)} characters, not 1 to {LONGEST_ID}"
        )
