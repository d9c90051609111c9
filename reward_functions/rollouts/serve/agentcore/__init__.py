"""An agent on AgentCore: results in S3 to be polled, and invocations that survive.

results.py           where a result is written, what is stored of it, and what never is
invocations.py       the messages of start and get, and what has started and ended, in files
own_host.py          AgentCore's contract on this project's server
bedrock_host.py      the same on AgentCore's own app
apps.py              `AgentCoreRLApp` and `AgentCoreRuntimeApp`: what runs after its answers
reward_function.py   agentcore-rl-toolkit's interface of a reward

Names and wire formats are those of agentcore-rl-toolkit 0.2.0, whose clients read what is written
here. `reward_functions.rollouts` exports the public ones.
"""
