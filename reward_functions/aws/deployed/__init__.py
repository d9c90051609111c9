"""Reward functions that are deployed: found, invoked, checked, rolled back and pruned.

    reward = find("gsm8k", stage="dev")             # a DeployedReward of the catalogue
    function = DeployedFunction(reward.live_arn)
    function.score(samples)                         # the types of `score_batch`
    report = check(function, expectation(reward))   # what a trainer relies on, checked

    catalogue.py   the records a stage leaves in SSM
    function.py    invoke; results as the types of a local run; every way a response can break the
                   contract, in the trainer's terms
    scorer.py      the deployed version that scores a file, in batches as a trainer sends them
    checking.py    the check: a function's settings, its answers, its times and sizes
    findings.py    what a check found; what every doctor of this machine shares
    versions.py    what Lambda stores: published versions, aliases, immutable functions; `live` and
                   the catalogue name another version, which passes its self-test first
    pruning.py     which versions go, and the training jobs in progress with the functions they name

Functions that are not this project's are invoked and checked the same way.
"""

from __future__ import annotations

from reward_functions.aws.arn import FunctionArn
from reward_functions.aws.deployed.catalogue import deployments, find
from reward_functions.aws.deployed.checking import Expectation, check, expectation
from reward_functions.aws.deployed.findings import CheckFinding, CheckReport
from reward_functions.aws.deployed.function import BrokenContract, DeployedFunction
from reward_functions.aws.failures import AwsFailed

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
