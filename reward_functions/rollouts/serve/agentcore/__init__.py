"""An agent on AgentCore: results in S3 for whoever polls, and invocations that survive.

destinations.py      where a result is written, and which buckets may be
envelopes.py         what is stored of a result, and what never is
secrets.py           credentials, replaced by name and by value
runs.py              rollouts behind their answers, each with one stored end
protocol.py          the messages of start and get
store.py             what has started and how it ended, in files
invocations.py       one run for an id, whoever asks again
agents.py            a user's function, begun behind an answer
answers.py           strict bodies, and the status of each refusal
own_host.py          AgentCore's contract on this project's server
bedrock_host.py      the same on AgentCore's own app
apps.py              `AgentCoreRLApp` and `AgentCoreRuntimeApp`
reward_function.py   agentcore-rl-toolkit's interface of a reward

Names and wire formats are those of agentcore-rl-toolkit 0.2.0, whose clients read what is written
here. `reward_functions.rollouts` exports the public ones.
"""
