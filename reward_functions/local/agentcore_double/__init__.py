"""A stand-in for AgentCore's data plane, and for the bucket that results are written to.

    faults.py     accidents by a plan that is the same in every run
    sessions.py   sessions: which run, how often each was invoked and stopped
    bucket.py     objects that are put, looked at and read, as S3's path style has them
    agents.py     what runs behind it: a function, or an app on this machine
    double.py     one port for all of it

    with serving(FunctionAgent(agent)) as double:
        client = RolloutClient(ARN, "results", "run", agentcore_client=…, s3_client=…)

It takes and says what botocore's model of bedrock-agentcore knows. What it cannot show: containers
that start and die, and whether AWS takes a credential.
"""

from reward_functions.local.agentcore_double.agents import AppAgent, FunctionAgent
from reward_functions.local.agentcore_double.double import AgentCoreDouble, serving
from reward_functions.local.agentcore_double.faults import Faults

__all__ = ["AgentCoreDouble", "AppAgent", "Faults", "FunctionAgent", "serving"]
