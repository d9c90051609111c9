"""A stand-in for the SageMaker job runtime: agents sample a policy here and report their rewards.

    runtime.py     credentials, policy calls, reports and controls, and what answers them
    chat.py        what is read of a chat request, what a policy is, an answer whole or in events
    policies.py    a calculator, a script, a real model that the double asks
    state.py       trajectories, the table of states, tokens, and what is counted
    faults.py      accidents by a plan that is the same in every run

The server, its walls and AWS's protocol are those of `loopback_service`. A double takes and says
nothing that botocore's model of `sagemakerjobruntime` does not know. It cannot show whether AWS
takes a credential, and what the trainer makes of a reward.

    with serving(RuntimeSettings(CalculatorPolicy(wrong=0.2))) as double:
        double.register(job_arn, "rollout-1")
        ...                                        # the agent runs against double.endpoint
        double.wait(job_arn, "rollout-1", timeout=60).rewards
"""

from reward_functions.local.runtime_double.chat import Answer, Policy, ToolCall
from reward_functions.local.runtime_double.faults import NO_FAULTS, FaultPlan
from reward_functions.local.runtime_double.policies import (
    CalculatorPolicy,
    RelayPolicy,
    ScriptedPolicy,
)
from reward_functions.local.runtime_double.runtime import (
    OwnRuntime,
    RuntimeDouble,
    serving,
    shown_rewards,
)
from reward_functions.local.runtime_double.state import Delivery, RuntimeSettings, Trajectory, Turn

__all__ = [
    "NO_FAULTS",
    "Answer",
    "CalculatorPolicy",
    "Delivery",
    "FaultPlan",
    "OwnRuntime",
    "Policy",
    "RelayPolicy",
    "RuntimeDouble",
    "RuntimeSettings",
    "ScriptedPolicy",
    "ToolCall",
    "Trajectory",
    "Turn",
    "serving",
    "shown_rewards",
]
