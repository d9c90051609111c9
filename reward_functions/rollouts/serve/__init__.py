"""An agent that HTTP reaches, and the Lambda that a trainer calls.

answering.py    what a request is answered, and what runs after it
app.py          the agent's server, by AgentCore's contract and sagemaker.train.rft's, and its queue
forwarder.py    the Lambda that a trainer calls, and where it sends requests
agentcore/      agentcore-rl-toolkit's app: results in S3, and invocations that survive
"""
