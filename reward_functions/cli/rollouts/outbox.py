"""`reward rollouts outbox`: what is durable and what became of it, sent again, and forgotten."""

from __future__ import annotations

import re
import time
from collections import Counter
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from reward_functions.cli._console import cell, errors, plain, print_json, remark
from reward_functions.cli._echo import Yes, require_agreement, require_somebody_to_ask, say, several
from reward_functions.cli._errors import INCOMPLETE
from reward_functions.cli._fitting import print_table
from reward_functions.cli._progress import watched
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean
from reward_functions.rollouts.report.outbox.dynamodb import create_table, dynamodb_client
from reward_functions.rollouts.report.outbox.opening import open_outbox, table_url
from reward_functions.rollouts.report.outbox.sqlite import MemoryOutbox
from reward_functions.rollouts.report.reporter import Reporter, replayed
from reward_functions.rollouts.report.settings import RolloutSettings
from reward_functions.rollouts.report.transports import open_transport

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.text import Text

    from reward_functions.rollouts.report.intents import Stored
    from reward_functions.rollouts.report.outbox import Outbox
    from reward_functions.rollouts.request.outcomes import Outcome

app = typer.Typer(no_args_is_help=True)

Url = Annotated[
    str,
    typer.Option(
        "--outbox",
        metavar="URL",
        envvar="REWARD_ROLLOUTS_OUTBOX",
        show_envvar=True,
        show_default="a file of the state folder",
        help="sqlite:///PATH or dynamodb://TABLE?region=REGION.",
    ),
]
Format = Annotated[Literal["table", "json"], typer.Option("--format", help="What to print.")]

STYLES: Final = {"pending": "cyan", "delivered": "green", "refused": "bold red", "expired": "red"}

EVERYTHING: Final = 1_000_000
"""Intents that a command takes at once: more than a month of jobs has."""

UNITS: Final = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}

SHOWN: Final = 20
"""Undelivered reports that `replay` names one by one."""


class State(StrEnum):
    """Of a report; typer takes no list of literals."""

    pending = "pending"
    delivered = "delivered"
    refused = "refused"
    expired = "expired"


@app.command("list")
def list_intents(
    *,
    url: Url = "",
    state: Annotated[
        list[State] | None, typer.Option("--state", help="Of these states alone; once for each.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Reports at most.")] = 50,
    output_format: Format = "table",
) -> None:
    """List an outbox: the newest undelivered reports first, then the newest delivered ones.

    Exit status: 0 it was read, 2 it cannot be.
    """
    with _opened(url) as store:
        counts = store.counts()
        wanted = state or list(State)
        undelivered = [each for each in wanted if each != "delivered"]
        found = store.list(undelivered, limit, newest=True) if undelivered else []
        if "delivered" in wanted and len(found) < limit:
            found += store.list(["delivered"], limit - len(found), newest=True)
        name = store.name
    if output_format == "json":
        rows = [_fields(each) for each in found]
        print_json({"outbox": name, "counts": counts, "reports": rows})
        return
    _show(name, counts, found)


@app.command("replay")
def replay(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID]...",
            help="Rollouts whose undelivered reports are sent.",
            show_default="all that are pending",
        ),
    ] = None,
    *,
    url: Url = "",
    all_refused: Annotated[
        bool, typer.Option("--all-refused", help="Those that the service refused.")
    ] = False,
    expired: Annotated[
        bool, typer.Option("--expired", help="Those whose rollout's window has closed.")
    ] = False,
) -> None:
    """Send undelivered reports now, even after their window: the same bytes with the same tokens.

    Exit status: 0 all were delivered, 1 some were not, 2 nothing was sent.
    """
    with _opened(url) as store:
        if ids:
            stored = _of_rollouts(store, ids)
        else:
            states = ["refused"] * all_refused + ["expired"] * expired
            stored = store.list(states or ["pending"], EVERYTHING)
        reporter = Reporter(RolloutSettings.from_env(), store, transports=open_transport)
        sending = replayed(reporter, stored)
        outcomes = [each for _, each in watched(sending, "sending", len(stored))]
    _tell_counts(outcomes)
    failed = [each for each in outcomes if not each.delivered]
    for each in failed[:SHOWN]:
        _complain(each)
    if len(failed) > SHOWN:
        remark(f"and {len(failed) - SHOWN} more")
    waiting = len(stored) - len(outcomes)
    if waiting:
        say(f"{several(waiting, 'report')} not sent: their completion goes first", err=True)
    if failed or waiting:
        raise typer.Exit(INCOMPLETE)


@app.command("purge")
def purge(
    *,
    state: Annotated[
        list[State], typer.Option("--state", help="What is forgotten; once for each state.")
    ],
    older_than: Annotated[
        str,
        typer.Option("--older-than", metavar="AGE", help="Such as 7d, 12h, 30m or 0s."),
    ],
    url: Url = "",
    yes: Yes = False,
) -> None:
    """Forget old reports. A delivered one is safe to forget; any other is lost with that.

    Exit status: 0 they are gone, 2 nothing was forgotten.
    """
    before = time.time() - _seconds(older_than)
    lost = [each for each in state if each != "delivered"]
    if lost:
        require_somebody_to_ask("purge", yes=yes)
    with _opened(url) as store:
        if lost:
            found = [each for each in store.list(lost, EVERYTHING) if each.intent.created < before]
            question = f"Forget {several(len(found), 'report')} that the trainer never got?"
            if found:
                undone = f"{question} It cannot be undone."
                require_agreement(undone, "nothing was forgotten", yes=yes)
        gone = store.purge(state, before)
    say(f"{several(gone, 'report')} forgotten")


@app.command("create")
def create(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="Its name.")],
    *,
    region: Annotated[
        str, typer.Option("--region", help="Of AWS.", show_default="the environment's")
    ] = "",
    endpoint: Annotated[
        str, typer.Option("--endpoint", metavar="URL", help="In place of DynamoDB's own.")
    ] = "",
) -> None:
    """Make the DynamoDB table of an outbox: keys, index, time to live; paid by the request.

    Exit status: 0 it is there, 2 it is not.
    """
    from botocore.exceptions import NoRegionError

    url = table_url(table, region)
    try:
        client = dynamodb_client(region, endpoint)
    except NoRegionError:
        raise ConfigurationError("there is no region: add --region, or set AWS_REGION") from None
    with errors().status("making the table"):
        made = create_table(client, table)
    say(f"{table} {'is made' if made else 'was there already'}: REWARD_ROLLOUTS_OUTBOX={url}")


@contextmanager
def _opened(url: str) -> Iterator[Outbox]:
    """An outbox for a block.

    Raises:
        ConfigurationError: the URL is none, or names what lives in another process.
    """
    store = open_outbox(url)
    if isinstance(store, MemoryOutbox):
        raise ConfigurationError(
            "an outbox in memory is its process's own: nobody else can read it"
        )
    try:
        yield store
    finally:
        store.close()


def _of_rollouts(store: Outbox, ids: Sequence[str]) -> list[Stored]:
    """The undelivered reports of some rollouts.

    Raises:
        ConfigurationError: the outbox has none of one.
    """
    known = store.list(limit=EVERYTHING)
    rollouts = {each.intent.target.trajectory_id for each in known}
    for each in ids:
        if each not in rollouts:
            raise ConfigurationError(
                f"the outbox has no report of rollout {each!r}"
                + (did_you_mean(each, rollouts) if len(rollouts) <= SHOWN else "")
            )
    return [
        each
        for each in known
        if each.intent.target.trajectory_id in ids and each.state != "delivered"
    ]


def _seconds(age: str) -> float:
    """The seconds of an age such as 7d.

    Raises:
        ConfigurationError: it is none.
    """
    found = re.fullmatch(r"([0-9]{1,6})([smhd])", age)
    if not found:
        raise ConfigurationError(f"{age!r} is no age: write 7d, 12h, 30m or 90s")
    return int(found[1]) * UNITS[found[2]]


def _show(name: str, counts: dict[str, int], found: Sequence[Stored]) -> None:
    total = " · ".join(f"{count:,} {state}" for state, count in counts.items())
    say(f"{plain(name)}: {total}")
    if not found:
        return
    now = time.time()
    rows = [
        (
            cell(each.state, STYLES[each.state]),
            each.intent.target.trajectory_id,
            each.intent.operation,
            str(each.attempts),
            _age(now - each.intent.created),
            _next(each, now),
            _last(each),
        )
        for each in found
    ]
    heads = ("state", "rollout", "report", "sent", "age", "next try", "last outcome")
    print_table(heads, rows, numbers=("sent", "age"), words=("last outcome",))


def _last(stored: Stored) -> Text:
    words = (stored.outcome, stored.detail)
    return cell(": ".join(each for each in words if each) or None)


def _age(seconds: float) -> str:
    """Such as 42 s, 7 min, 3 h or 12 d."""
    whole = max(0, int(seconds))
    for unit, size, most in (("s", 1, 90), ("min", 60, 90), ("h", 3_600, 48)):
        if whole < size * most:
            return f"{whole // size} {unit}"
    return f"{whole // 86_400} d"


def _next(stored: Stored, now: float) -> str | None:
    if stored.state != "pending":
        return None
    return "now" if stored.due <= now else f"in {_age(stored.due - now)}"


def _fields(stored: Stored) -> dict[str, Any]:
    """A report for programs; times in seconds since the epoch, null for a window without an end."""
    intent = stored.intent
    return {
        "state": stored.state,
        "rollout": intent.target.trajectory_id,
        "job": intent.target.job_arn,
        "operation": intent.operation,
        "payload": intent.payload,
        "token": intent.token,
        "endpoint": intent.target.endpoint,
        "transport": intent.target.transport,
        "attempts": stored.attempts,
        "created": intent.created,
        "expires": None if intent.expires == float("inf") else intent.expires,
        "due": stored.due if stored.state == "pending" else None,
        "outcome": stored.outcome or None,
        "detail": stored.detail,
    }


def _tell_counts(outcomes: Sequence[Outcome]) -> None:
    if not outcomes:
        typer.echo("there is nothing to send")
        return
    counts = Counter(type(each).__name__ for each in outcomes)
    say(" · ".join(f"{count:,} {name}" for name, count in counts.most_common()))


def _complain(outcome: Outcome) -> None:
    remark(outcome.sentence)
