"""`reward rollouts sessions`: AgentCore sessions that were started and not stopped."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from reward_functions.aws.failures import in_words
from reward_functions.aws.shell import aws_session
from reward_functions.cli._console import print_json
from reward_functions.cli._echo import Yes, require_agreement, require_somebody_to_ask, say, several
from reward_functions.cli._errors import INCOMPLETE
from reward_functions.cli._fitting import print_table
from reward_functions.rollouts.collect.ledger import (
    OpenSession,
    forget,
    ledger_folder,
    open_sessions,
)
from reward_functions.rollouts.collect.payloads import region_of
from reward_functions.rollouts.collect.rate_limit import RateLimiter

app = typer.Typer(no_args_is_help=True)

Folder = Annotated[
    Path | None,
    typer.Option(
        "--folder",
        envvar="REWARD_ROLLOUTS_SESSIONS",
        show_envvar=True,
        show_default="sessions of the state folder",
        help="Where processes write down their sessions.",
    ),
]


@app.command("list")
def list_sessions(
    *,
    folder: Folder = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Sessions that are open, and whether the process that started them still runs.

    Exit status: 0 it was read, 2 it cannot be.
    """
    found = _found(folder)
    if as_json:
        rows = [{**each._asdict(), "path": str(each.path)} for each in found]
        print_json({"sessions": rows})
        return
    if not found:
        say("no session is open")
        return
    _show(found)


@app.command("stop")
def stop_sessions(
    *,
    folder: Folder = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Those of processes that still run, too.")
    ] = False,
    yes: Yes = False,
) -> None:
    """Stop the sessions that a process left open when it died.

    Exit status: 0 all are stopped, 1 some are not, 2 nothing was stopped.
    """
    require_somebody_to_ask("stop", yes=yes)
    found = [each for each in _found(folder) if everything or not each.live]
    if not found:
        say("no session is left open")
        return
    _show(found)
    require_agreement(f"Stop {several(len(found), 'session')}?", "nothing was stopped", yes=yes)
    runtimes = {arn: _runtime(arn) for arn in sorted({each.arn for each in found})}
    stopped = 0
    for each in found:
        if runtimes[each.arn].stop(each.session):
            forget(each)
            stopped += 1
    say(f"{several(stopped, 'session')} stopped, {len(found) - stopped:,} left")
    if stopped < len(found):
        raise typer.Exit(INCOMPLETE)


def _found(folder: Path | None) -> list[OpenSession]:
    named = ledger_folder() if folder is None else folder
    return [] if named is None else list(open_sessions(named))


def _runtime(arn: str) -> Any:
    """What stops sessions of a runtime; of its own region."""
    from reward_functions.rollouts.collect.calls import AgentRuntime

    with in_words("making a client of bedrock-agentcore"):
        client = aws_session().client("bedrock-agentcore", region_name=region_of(arn))
    return AgentRuntime(client, arn, RateLimiter())


def _show(found: list[OpenSession]) -> None:
    now = time.time()
    rows = [
        (
            each.session,
            each.arn.rpartition("/")[2],
            f"{max(0.0, now - each.started) / 60:,.0f}",
            "runs" if each.live else "gone",
        )
        for each in found
    ]
    print_table(("session", "runtime", "minutes", "process"), rows, numbers=("minutes",))
