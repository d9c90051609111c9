"""Reward functions that are deployed: the catalogue read back, one invoked, any one checked.

    reward = find("gsm8k", stage="dev")             # a DeployedReward of the catalogue
    function = DeployedFunction(reward.alias_arn)
    function.score(samples)                         # the types of `score_batch`
    report = check(function, expectation(reward))   # what a trainer relies on, checked

    arn.py         a function's ARN, in any partition, with or without a qualifier
    failures.py    the exceptions of AWS's SDK, as one sentence with the remedy
    catalogue.py   the records a stage leaves in SSM
    function.py    invoke; results as the types of a local run
    response.py    every way a response can break the contract, in the trainer's terms
    probes.py      the batches a function is checked with
    checking.py    the check: a report of findings (`findings.py`), from the function's settings
                   (`configuration.py`), its answers, its times and sizes (`load.py`)

Functions that are not this project's are invoked and checked the same way.
"""

from __future__ import annotations

from reward_functions.tools.deployed.arn import FunctionArn
from reward_functions.tools.deployed.catalogue import deployments, find
from reward_functions.tools.deployed.checking import check
from reward_functions.tools.deployed.failures import AwsFailed
from reward_functions.tools.deployed.findings import CheckFinding, CheckReport
from reward_functions.tools.deployed.function import BrokenContract, DeployedFunction
from reward_functions.tools.deployed.probes import Expectation, expectation

__all__ = [
    "AwsFailed",
    "BrokenContract",
    "CheckFinding",
    "CheckReport",
    "DeployedFunction",
    "Expectation",
    "FunctionArn",
    "check",
    "deployments",
    "expectation",
    "find",
]
