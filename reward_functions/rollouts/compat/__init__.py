"""Other toolkits' names on our reporting: an agent changes one import line.

sagemaker_rft/   sagemaker.train.rft, and what it takes of sagemaker.core: tokens, the verifier
aws_rft_sdk/     the alpha kit before it
nova_forge.py    amzn_nova_forge: its check of a reward function
agentcore_rl/    agentcore-rl-toolkit: its app, its client, its runtime protocol
rllm/            rLLM: its types, decorators, and both of its integrations with Strands
verifying.py     the check that both verifiers share; verifying_runner.py runs a file's reward

No other top-level package is installed, and none of the toolkits is imported. Names, signatures and
bodies on the wire are theirs; what is sent is durable, typed and counted once, as everywhere here.
Each module's table says where it differs on purpose. A toolkit's `__init__.py` has its names; files
of five lines there are the sub-modules that its users import from.
"""
