"""Collection: an agent on AgentCore is run for many payloads, and its results are read from S3.

payloads.py     what an agent is sent, within AgentCore's limit
rate_limit.py   calls spaced evenly, in one process or in several
calls.py        InvokeAgentRuntime and StopRuntimeSession, sent again where that is safe
ledger.py       sessions that were started and not stopped, on the disk
futures.py      one rollout: its result is looked for in S3, and its session stopped
batches.py      a batch: its threads start, look and stop; its items, as one iterator or another
client.py       `RolloutClient`
invocations.py  `AgentCoreHttpClient`: invocations that are started and looked up by id

Names, arguments and defaults are those of agentcore-rl-toolkit 0.2.0.
"""
