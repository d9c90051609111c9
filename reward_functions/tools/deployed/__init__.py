"""Reward functions that are deployed: found, invoked, checked, rolled back and pruned.

    reward = find("gsm8k", stage="dev")             # a DeployedReward of the catalogue
    function = DeployedFunction(reward.live_arn)
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
    versions.py    what Lambda stores: published versions, aliases, immutable functions
    rollback.py    `live` and the catalogue name another version, which passes its self-test first
                   (`self_test.py`)
    retention.py   which versions go, without AWS; `pruning.py` reads and removes them
    jobs.py        the training jobs in progress, and the functions they name

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
