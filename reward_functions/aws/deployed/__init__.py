"""Reward functions that are deployed: found, invoked, checked, rolled back and pruned.

    reward = find("gsm8k", stage="dev")             # a DeployedReward of the catalogue
    function = DeployedFunction(reward.live_arn)
    function.score(samples)                         # the types of `score_batch`
    report = check(function, expectation(reward))   # what a trainer relies on, checked

    catalogue.py   the records a stage leaves in SSM
    function.py    invoke; results as the types of a local run (`invocation.py`)
    response.py    every way a response can break the contract, in the trainer's terms
    probes.py      the batches a function is checked with
    checking.py    the check: a report of findings (`findings.py`), from the function's settings
                   (`configuration.py`), its answers, its times and sizes (`load.py`)
    versions.py    what Lambda stores: published versions, aliases, immutable functions
    rollback.py    `live` and the catalogue name another version, which passes its self-test first
                   (`self_test.py`)
    retention.py   which versions go, without AWS; `pruning.py` reads and removes them
    jobs.py        the training jobs in progress, and the functions they name
    reports.py     reports of checks, for machines and for people elsewhere
    doctor_checks.py  what every doctor of this machine shares

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
