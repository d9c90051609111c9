"""`reward demo`: the responses that ship with the project, scored, each with what it shows.

Every row says in its metadata what must come out, so that the demo is a check as well.

`--deployed` goes the whole way, on this machine:

    a local AWS emulator → cdk bootstrap → cdk deploy → the deployed aliases score → nothing is left

Every step is the real one: the CDK's own command line, a change set, a published version of an
alias, boto3. An account differs in the emulator, in the script that answers for Bedrock's models,
and in that both end with the demo.
"""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import ExitStack, contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from shlex import quote
from shutil import which
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.text import Text

from reward_functions import RewardResult, RewardSpec, Scored, get, score_batch
from reward_functions.aws.deployed import DeployedFunction, deployments
from reward_functions.cli._console import NOTHING, cell, errors, output, table
from reward_functions.cli._errors import INCOMPLETE
from reward_functions.cli._results import cells_of
from reward_functions.data.json_rows import read_rows
from reward_functions.local.emulator import running
from reward_functions.local.emulator.cdk import Cdk, CdkFailed
from reward_functions.local.emulator.emulator import ended_like_interrupted
from reward_functions.local.scripted_judge import scripted_judge, verdict
from reward_functions.serving.contract import decode_row
from reward_functions.testing import FakeAsk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boto3.session import Session

    from reward_functions.aws.catalogue import DeployedReward
    from reward_functions.core.asking import Ask

REWARDS: Final = ("gsm8k", "math", "finqa", "reference")
"""Each scores the file of its name; a judge asks the demo's own script."""


def demo(
    *,
    deployed: Annotated[
        bool,
        typer.Option(
            "--deployed",
            help="Deploy them to the local AWS emulator (ministack), and score them there.",
        ),
    ] = False,
) -> None:
    """Score responses that ship with the project: right, wrong, hostile, malformed."""
    if deployed:
        seen = scored_where_deployed(REWARDS)
    else:
        seen = Counter[str]()
        for name in REWARDS:
            seen += scored_here(name)
    console = output()
    console.print(
        f"{seen['right']} right, {seen['minimum']} at the minimum, {seen['unscored']} unscored: "
        "a low score means the model did badly,\nunscored means there is no score. "
        "What to try next:\n"
    )
    for command in (
        *_activation(),
        "reward explain gsm8k --response '#### 20 or 21' --reference 21",
        "reward show math",
        "reward score gsm8k responses.jsonl -o rewards.jsonl --report page.html",
        "reward init --reward-only my_reward",
        "reward local up",
        "reward deployed --help",
    ):
        console.print(Text(f"  {command}", "bold"), soft_wrap=True)
    if seen["surprising"]:
        surprising = f"\nrows that came out otherwise than expected: {seen['surprising']}"
        console.print(surprising, style="bold red")
        raise typer.Exit(INCOMPLETE)


def _activation() -> Iterator[str]:
    """What puts `reward` on the PATH where it is not: `make demo` activates nothing."""
    script = Path(sys.prefix) / "bin" / "activate"
    if which("reward") is None and script.exists():
        here = Path.cwd()
        near = script.relative_to(here) if script.is_relative_to(here) else script
        yield f". {quote(str(near))}"


def scored_here(name: str) -> Counter[str]:
    """Score and print one file; count what came out."""
    rows = shipped(name)
    samples = [decode_row(row, at) for at, row in enumerate(rows)]
    results = score_batch(get(name).bind({}, ask=script(name)), samples)
    columns = ("id", "what it shows", "answer", "score", "reason")
    return shown(name, rows, results, columns, f"{name}: {get(name).summary}")


def script(name: str) -> Ask | None:
    """Answers the demo's judge where no server stands in for Bedrock."""
    if not get(name).needs.judge:
        return None
    return FakeAsk(answer=lambda question: verdict(f"{question.shared}\n{question.text}"))


def shipped(name: str) -> list[dict[str, Any]]:
    """The rows that ship with the project for a reward."""
    with as_file(files("reward_functions.data") / "demo" / f"{name}.jsonl") as file:
        return [row.content for row in read_rows(str(file))]


def shown(
    name: str,
    rows: Sequence[dict[str, Any]],
    results: Sequence[RewardResult],
    columns: Sequence[str],
    title: str,
) -> Counter[str]:
    """Print the table of one file's results; count what came out.

    Args:
        name: of the reward.
        rows: what was scored; each says in its metadata what must come out.
        results: one for each.
        columns: of the table.
        title: above it.
    """
    spec = get(name)
    printed = table(*columns, names=("id",), numbers=("score",), title=title)
    seen = Counter[str]()
    for row, result in zip(rows, results, strict=True):
        shows, expected = row["metadata"]["shows"], row["metadata"]["expected"]
        outcome, surprising = _outcome(spec, result, expected)
        seen.update([outcome] + ["surprising"] * surprising)
        cells = cells_of(spec, result)
        cells.setdefault("reason", cells.get("error", NOTHING))
        cells["what it shows"] = (
            cell(f"{shows} (expected: {expected})", "bold red") if surprising else cell(shows)
        )
        printed.add_row(*[cells.get(column, NOTHING) for column in columns])
    output().print(printed)
    return seen


def _outcome(spec: RewardSpec, result: RewardResult, expected: Any) -> tuple[str, bool]:
    """What a row counts as, and whether that is a surprise."""
    if not isinstance(result, Scored):
        return "unscored", expected != "unscored"
    outcome = "minimum" if result.score.value == spec.scale.minimum else "right"
    return outcome, result.score.value != expected


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
        printed.add_row(step, f"{seconds:.1f}")
    printed.add_row(cell("altogether", "bold"), cell(f"{sum(steps.values()):.1f}", "bold"))
    output().print(printed)
