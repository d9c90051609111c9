"""`reward demo --deployed`: the whole way, on this machine.

    a local AWS emulator → cdk bootstrap → cdk deploy → the deployed aliases score → nothing is left

Every step is the real one: the CDK's own command line, a change set, a published version behind an
alias, boto3. What differs from an account is the emulator, the script that answers for Bedrock's
models, and that both end with the demo.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final

from reward_functions.aws.deployed import DeployedFunction, deployments
from reward_functions.cli._console import cell, errors, output, table
from reward_functions.cli._demo_rows import shipped, shown
from reward_functions.local.emulator import running
from reward_functions.local.emulator.cdk import Cdk, CdkFailed
from reward_functions.local.emulator.emulator import ended_like_interrupted
from reward_functions.local.scripted_judge import scripted_judge

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boto3.session import Session

    from reward_functions.aws.catalogue import DeployedReward

STAGE: Final = "local"
"""The stage of `cdk.json` for an emulator."""

COLUMNS: Final = ("id", "what it shows", "score", "error")

WARM: Final = 3
"""Invocations behind the first; the fastest is shown, for it waited for nothing else."""


def scored_where_deployed(rewards: Sequence[str]) -> Counter[str]:
    """Deploy, score and print the rewards' files, and take everything away; count what came out.

    Raises:
        LocalAwsError: a step failed; nothing is left running.
    """
    project = Path.cwd()
    if not (project / "cdk.json").is_file():
        raise CdkFailed(
            f"{project} has no cdk.json: the demo is deployed from the project's folder"
        )
    steps: dict[str, float] = {}
    with ended_like_interrupted(), ExitStack() as ended:
        with _timed(steps, "the local AWS emulator starts"):
            aws = ended.enter_context(running(models=ended.enter_context(scripted_judge())))
        cdk = Cdk(aws, project, stage=STAGE)
        with _timed(steps, "cdk bootstrap"):
            cdk.bootstrap()
        with _timed(steps, "cdk deploy"):
            cdk.deploy()
        with _timed(steps, "the deployed functions score"):
            seen = score_deployed(aws.session(), rewards)
        with _timed(steps, "the local AWS emulator ends"):
            ended.close()
    _print_times(steps)
    return seen


def score_deployed(session: Session, rewards: Sequence[str]) -> Counter[str]:
    """Score and print the files of these rewards where they stand with their defaults.

    Args:
        session: boto3's, of the account.
        rewards: their names.
    """
    seen = Counter[str]()
    for deployed in deployments(STAGE, session):
        if deployed.reward in rewards and not deployed.parameters:
            function = DeployedFunction(deployed.live_arn, session=session)
            seen += _shown(deployed, function)
    return seen


def _shown(deployed: DeployedReward, function: DeployedFunction) -> Counter[str]:
    """Score one file there, print it, and say what it took."""
    rows = shipped(deployed.reward)
    first = function.invoke(rows)
    results = function.results(rows)
    warm = min(function.invoke(rows).seconds for _ in range(WARM))
    mode = {"list": "a bare list", "envelope": "an envelope"}[deployed.response_mode]
    title = (
        f"{deployed.reward} version {deployed.version}, from {deployed.live_arn}\n"
        f"{len(rows)} samples answered with {mode}: "
        f"{first.seconds * 1000:,.0f} ms with the start, then {warm * 1000:,.0f} ms"
    )
    return shown(deployed.reward, rows, results, COLUMNS, title)


@contextmanager
def _timed(steps: dict[str, float], step: str) -> Iterator[None]:
    """Note what a step took; say which it is where a person is watching."""
    began = perf_counter()
    with errors().status(step):
        yield
    steps[step] = perf_counter() - began


def _print_times(steps: dict[str, float]) -> None:
    printed = table("step", "seconds", numbers=("seconds",), title="What it took")
    for step, seconds in steps.items():
        printed.add_row(cell(step), cell(f"{seconds:.1f}"))
    printed.add_row(cell("altogether", "bold"), cell(f"{sum(steps.values()):.1f}", "bold"))
    output().print(printed)
