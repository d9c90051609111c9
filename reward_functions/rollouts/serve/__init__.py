"""An agent behind HTTP, and the Lambda that a trainer calls.

answering.py             what a request is answered, and what runs behind it
app.py                   the agent's server: AgentCore's contract, and sagemaker.train.rft's
queue_reader.py          what hands it the requests of a queue
forwarder.py             the Lambda that a trainer calls
forwarder_settings.py    where it sends requests
agentcore/               agentcore-rl-toolkit's app: results in S3, and invocations that survive
"""
