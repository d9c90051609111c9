"""An app of agentcore-rl-toolkit: an entry point whose results go to S3."""

from reward_functions.rollouts.compat.agentcore_rl import AgentCoreRLApp, RewardFunction


class Exact(RewardFunction):
    """1.0 where the response holds the answer."""

    def __call__(self, *, response, answer, **_):
        """The reward of a response."""
        return float(answer in response)


app = AgentCoreRLApp()
reward = Exact()


@app.rollout_entrypoint
def solve(payload):
    """One rollout. An agent of yours calls the policy here; this one knows its answer."""
    response = "2 + 2 = 4"
    return {"rewards": reward(response=response, answer=payload["answer"]), "rollout_data": []}


if __name__ == "__main__":
    app.run()
