"""`reward rollouts redrive`: dead letters of deferred rewards, shown and sent back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from reward_functions.aws.failures import AwsFailed
from reward_functions.aws.shell import aws_session
from reward_functions.cli._console import errors, print_json
from reward_functions.cli._echo import Yes, require_agreement, require_somebody_to_ask, say, several
from reward_functions.cli._errors import INCOMPLETE
from reward_functions.cli._fitting import print_table
from reward_functions.cli._options import Stage  # noqa: TC001 - typer reads annotations
from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.drive.redriving import (
    DeadLetters,
    Letter,
    path_of,
    reasons,
    redriven,
    require_kinds,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


SHOWN: Final = 20
"""Letters that stay, named one by one."""


def redrive(
    *,
    stage: Stage,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="KIND",
            help="Letters of this kind alone; once for each.",
            show_default="all but expired ones",
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(
            "--drop",
            metavar="KIND",
            help="Forget letters of this kind, and send none back without --only; once for each.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the table alone.")] = False,
    yes: Yes = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Send dead letters of deferred rewards back to be scored and reported, once the cause is gone.

    Expired ones stay, as their trainer waits no more: `--drop expired` forgets them, and sends
    nothing back. A result that was reported meanwhile is not reported again.

    Exit status: 0 all that was chosen is sent back or dropped, 1 some of it is not, 2 nothing is.
    """
    require_kinds([*(only or ()), *(drop or ())])
    if both := sorted(set(only or ()) & set(drop or ())):
        raise ConfigurationError(f"{both[0]} is sent back or dropped, not both")
    if not dry_run:
        require_somebody_to_ask("redrive", yes=yes)
    session = aws_session(stage)
    queue = DeadLetters(path_of(stage, session), session)
    with errors().status("reading the dead letters"):
        letters = queue.held()
    left = list(letters)
    try:
        gone = [each for each in letters if each.kind in (drop or ())]
        back = [] if drop and not only else redriven(letters, only or ())
        if not as_json:
            _show(letters)
        done = ([], []) if dry_run else _carried_out(queue, back, gone, left, yes=yes)
    finally:
        queue.release(left)
    _tell(stage, letters, done, left, dry_run=dry_run, as_json=as_json)
    if not dry_run and len(done[0]) + len(done[1]) < len(back) + len(gone):
        raise typer.Exit(INCOMPLETE)


def _carried_out(
    queue: DeadLetters,
    back: Sequence[Letter],
    gone: Sequence[Letter],
    left: list[Letter],
    *,
    yes: bool,
) -> tuple[list[Letter], list[Letter]]:
    """Ask, send back and drop; what is done leaves `left`."""
    sent: list[Letter] = []
    dropped: list[Letter] = []
    if not back and not gone:
        return sent, dropped
    forgotten = f", forget {len(gone)}" if gone else ""
    question = f"Send {several(len(back), 'letter')} back{forgotten}"
    require_agreement(f"{question}?", "nothing was sent", yes=yes)
    try:
        for letter in queue.sent_back(back):
            sent.append(letter)
            left.remove(letter)
        for letter in queue.dropped(gone):
            dropped.append(letter)
            left.remove(letter)
    except AwsFailed as error:
        if not sent and not dropped:
            raise
        say(str(error), err=True)
    return sent, dropped


def _show(letters: Sequence[Letter]) -> None:
    if not letters:
        return
    rows = [(kind, f"{count:,}", reason) for kind, reason, count in reasons(letters)]
    print_table(("kind", "letters", "reason"), rows, numbers=("letters",), words=("reason",))


def _tell(
    stage: str,
    letters: Sequence[Letter],
    done: tuple[list[Letter], list[Letter]],
    left: Sequence[Letter],
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    """What was done, and what stays by its address."""
    sent, dropped = done
    if as_json:
        found = [{"kind": each.kind, "reason": each.reason, "from": each.where} for each in letters]
        stays = [each.where for each in left]
        print_json(
            {
                "stage": stage,
                "letters": found,
                "sent_back": len(sent),
                "dropped": len(dropped),
                "left": stays,
            }
        )
        return
    if not letters:
        say(f"stage {stage} has no dead letters")
        return
    if not dry_run:
        sent_back = several(len(sent), "letter")
        say(f"{sent_back} sent back, {len(dropped):,} forgotten, {len(left):,} left")
    for each in left[:SHOWN]:
        say(f"left: {each.kind} {each.where}")
    if len(left) > SHOWN:
        say(f"and {len(left) - SHOWN:,} more")
