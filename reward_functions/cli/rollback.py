"""`reward deployed rollback`: `live` and the catalogue name an earlier version again."""

from __future__ import annotations

from typing import Annotated

import typer

from reward_functions.aws.deployed.versions import Rollback, prepared, rolled_back
from reward_functions.aws.shell import aws_session
from reward_functions.cli._console import errors
from reward_functions.cli._echo import Yes, require_agreement, require_somebody_to_ask, say
from reward_functions.cli._options import Stage  # noqa: TC001 - typer reads annotations


def rollback(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A deployment of the stage.")],
    *,
    to: Annotated[
        int | None,
        typer.Option(
            min=1, help="The version.", show_default="the highest below the one `live` points to"
        ),
    ] = None,
    stage: Stage,
    yes: Yes = False,
) -> None:
    """Point `live` to another published version, and give that version to new jobs.

    The version passes its self-test first: its examples, where it stands. Jobs that run keep the
    version they were given. The next deployment that changes this one's code or settings moves
    `live` again.

    Exit status: 0 it was done, 2 it was not, or not wholly: the message says what has moved.
    """
    require_somebody_to_ask("a rollback", yes=yes)
    session = aws_session(stage)
    step = prepared(name, stage, to, session)
    say(_intended(step), err=True)
    require_agreement("Roll back?", "nothing has moved", yes=yes)
    with errors().status(f"asking version {step.version} for its examples"):
        rolled_back(step, stage, session)
    say(_done(step))


def _intended(step: Rollback) -> str:
    before, after = step.before, step.after
    return (
        f"{before.name}: `live` points to version {step.alias.version}; version {step.version} is "
        f"{after.reward} {after.version} of digest {after.digest}, the catalogue has "
        f"{before.reward} {before.version} of digest {before.digest}"
    )


def _done(step: Rollback) -> str:
    return (
        f"`live` of {step.before.name} points to version {step.version}, and new jobs get\n"
        f"{step.after.version_arn}\n"
        "jobs that run keep their version; the next deployment with changed code or settings moves "
        "`live` again"
    )
