"""An agent of sagemaker.train.rft: Strands, its model wrapped, its reward reported."""

import os

from strands import Agent
from strands.models.openai import OpenAIModel

from reward_functions.rollouts.compat.sagemaker_rft import sagemaker_rft_handler
from reward_functions.rollouts.compat.sagemaker_rft.adapters.strands import wrap_model
from reward_functions.rollouts.compat.sagemaker_rft.token_generator import generate_token


def policy():
    """The job's policy, behind its runtime."""
    address = f"{os.environ['RFT_RUNTIME_ENDPOINT']}/v1"
    args = {"base_url": address, "api_key": generate_token("us-west-2")}
    return wrap_model(OpenAIModel(model_id="default", client_args=args))


@sagemaker_rft_handler
async def solve(payload):
    """One rollout: the answer to `2 + 2` is rewarded."""
    agent = Agent(model=policy(), callback_handler=None)
    result = await agent.invoke_async(payload["prompt"])
    return {"reward": float("4" in str(result))}
