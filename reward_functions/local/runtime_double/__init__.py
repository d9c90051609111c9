"""A stand-in for the SageMaker job runtime: agents sample a policy here and report their rewards.

    runtime.py             agents, reports, controls: what answers them
    credentials.py         a signature or a bearer token, well-formed and in time
    sampling.py            policy calls: OpenAI's API and the two operations of the model
    chat.py                what is read of a chat request
    completions.py         an answer as OpenAI's API writes it, whole or in events
    reports.py             CompleteRollout and UpdateReward; the alpha API's two
    state.py               the table of states, tokens, and what is counted
    trajectory.py          a trajectory, its turns and the reports of it
    faults.py              accidents by a plan that is the same in every run
    control.py, page.py    what it was sent, for programs and for people
    calculator_policy.py   does sums with the agent's calculator; arithmetic.py evaluates them
    scripted_policy.py     follows a script
    relay_policy.py        a real model behind the double
    own_runtime.py         a double of this process as the runtime of a run

The server, its walls and AWS's protocol are those of `loopback_service`. A double takes and says
nothing that botocore's model of `sagemakerjobruntime` does not know. What it cannot show: whether
AWS takes a credential, and what the trainer makes of a reward.

    with serving(RuntimeSettings(CalculatorPolicy(wrong=0.2))) as double:
        double.register(job_arn, "rollout-1")
        ...                                        # the agent runs against double.endpoint
        double.wait(job_arn, "rollout-1", timeout=60).rewards
"""

from reward_functions.local.runtime_double.calculator_policy import CalculatorPolicy
from reward_functions.local.runtime_double.chat import Answer, Policy, ToolCall
from reward_functions.local.runtime_double.faults import NO_FAULTS, FaultPlan
from reward_functions.local.runtime_double.relay_policy import RelayPolicy
from reward_functions.local.runtime_double.runtime import RuntimeDouble, serving
from reward_functions.local.runtime_double.scripted_policy import ScriptedPolicy
from reward_functions.local.runtime_double.state import RuntimeSettings
from reward_functions.local.runtime_double.trajectory import Delivery, Trajectory, Turn

__all__ = [
    "NO_FAULTS",
    "Answer",
    "CalculatorPolicy",
    "Delivery",
    "FaultPlan",
    "Policy",
    "RelayPolicy",
    "RuntimeDouble",
    "RuntimeSettings",
    "ScriptedPolicy",
    "ToolCall",
    "Trajectory",
    "Turn",
    "serving",
]
