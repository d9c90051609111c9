"""The names of aws-rft-sdk, the alpha kit, on our reporting.

    -from aws_rft_sdk import RolloutFeedbackClient, rft_handler
    +from reward_functions.rollouts.compat.aws_rft_sdk import RolloutFeedbackClient, rft_handler

client.py      `RolloutFeedbackClient`: CompleteTrajectory and UpdateReward, signed
context.py     `RFTContext`: the headers of a policy call, a new span id each
decorator.py   `rft_handler`
adapters/      `strands.wrap_model`

| what differs on purpose | aws-rft-sdk | here |
| --- | --- | --- |
| another thread's headers | none, or another rollout's | those of its Context |
| an agent that raises | completed, rewarded with 0.0 | nothing: the API knows no failure |
| what an agent returns | is not reported | a reward is; any other result completes |
| a report meets an outage | raised, or logged and dropped | durable, and sent again |
| `wrap_model` | `extra_headers`, which Strands drops | headers of each request |

`REWARD_ROLLOUTS_ON_FAILURE=minimum` reports the minimum of an agent that raises.

Source: public copies of the kit, of March 2026; the pull request 5596 of sagemaker-python-sdk.
"""

from reward_functions.rollouts.compat.aws_rft_sdk.client import RolloutFeedbackClient
from reward_functions.rollouts.compat.aws_rft_sdk.context import RFTContext
from reward_functions.rollouts.compat.aws_rft_sdk.decorator import rft_handler

__all__ = ["RFTContext", "RolloutFeedbackClient", "rft_handler"]
