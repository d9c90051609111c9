"""The agent of Strands on AgentCore: its result goes to S3, where an evaluation reads it.

REWARD_ROLLOUTS_RESULT_BUCKETS=my-results python agentcore_app.py
"""

from reward_functions.rollouts import AgentCoreRLApp, reward_function
from strands.models.openai import OpenAIModel
from strands_tools import solver

app = AgentCoreRLApp()
correct = reward_function("math")


@app.rollout_entrypoint
def solve(payload):
    """One rollout: the policy is where the request says."""
    rollout = payload["_rollout"]
    policy = {"base_url": rollout["base_url"], "api_key": rollout.get("api_key", "none")}
    response = solver(OpenAIModel(client_args=policy, model_id=rollout["model_id"]))(payload)
    reward = correct(response_text=response, ground_truth=payload["answer"])
    return {"rewards": reward, "response": response}


if __name__ == "__main__":
    app.run()
