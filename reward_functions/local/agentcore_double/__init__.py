"""A stand-in for AgentCore's data plane, and for the bucket that results are written to.

    bucket.py     objects that are put, looked at and read, as S3's path style has them
    agents.py     what runs behind it: a function, or an app on this machine
    double.py     one port for all of it

    with serving(FunctionAgent(agent)) as double:
        client = RolloutClient(ARN, "results", "run", agentcore_client=…, s3_client=…)

It takes and says what botocore's model of bedrock-agentcore knows. What it cannot show: containers
that start and die, and whether AWS takes a credential.
"""

from reward_functions.local.agentcore_double.agents import AppAgent, FunctionAgent
from reward_functions.local.agentcore_double.double import AgentCoreDouble, Faults, serving

__all__ = ["AgentCoreDouble", "AppAgent", "Faults", "FunctionAgent", "serving"]
