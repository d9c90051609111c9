"""An agent of aws-rft-sdk, the alpha kit: it reports itself, one reward a turn."""

import os

from strands import Agent
from strands.models.openai import OpenAIModel

from reward_functions.rollouts.compat.aws_rft_sdk import RolloutFeedbackClient, rft_handler
from reward_functions.rollouts.compat.aws_rft_sdk.adapters.strands import wrap_model


def policy():
    """The job's policy, behind its runtime."""
    address = f"{os.environ['RFT_RUNTIME_ENDPOINT']}/v1"
    args = {"base_url": address, "api_key": os.environ["POLICY_KEY"]}
    return wrap_model(OpenAIModel(model_id="default", client_args=args))


@rft_handler
def solve(payload):
    """One rollout: the answer to `2 + 2` is rewarded."""
    result = str(Agent(model=policy(), callback_handler=None)(payload["instance"]["question"]))
    client = RolloutFeedbackClient(payload["metadata"])
    client.complete_trajectory()
    client.update_reward([float("4" in result)])
    return {"status": "ok"}
