"""`reward demo`: the responses that ship with the project, scored, each with what it shows.

Every row says in its metadata what must come out, so that the demo is a check as well.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from shlex import quote
from shutil import which
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.text import Text

from reward_functions import get, score_batch
from reward_functions.cli._console import output
from reward_functions.cli._demo_rows import shipped, shown
from reward_functions.cli._deployed_demo import scored_where_deployed
from reward_functions.cli._errors import INCOMPLETE
from reward_functions.local.scripted_judge import verdict
from reward_functions.serving.contract import decode_row
from reward_functions.testing import FakeAsk

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        "reward new my_reward",
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
