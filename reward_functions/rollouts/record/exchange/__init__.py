"""Trajectories as trainers have them: rows of tokens, and the records of other systems.

    trajectories ──→ rows of tokens ──→ trace records, datums
         └──→ steps, episodes            joined with rewards ──→ rows with advantages

token_rows.py      a trajectory as rows: each token that the policy wrote is trained once
advantages.py      how far a reward lies above its group's mean
joining.py         rewards and token traces meet by the id of the rollout
fields.py          objects of other systems: strict in types, liberal in fields
agentcore.py       agentcore-rl-toolkit: trace records, and results in S3
datum.py           SageMaker's training sessions: the datum
rllm.py            rLLM: steps, trajectories, episodes
"""
