"""`reward deployed prune`: remove stored versions that nobody names any more."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from reward_functions.aws.deployed.pruning import UNSEEN, PrunePlan, StoredVersion, planned, removed
from reward_functions.aws.shell import aws_session
from reward_functions.cli._console import cell, errors, output, table
from reward_functions.cli._echo import Yes, require_agreement, require_somebody_to_ask, say, several
from reward_functions.cli._errors import INCOMPLETE
from reward_functions.cli._options import Stage  # noqa: TC001 - typer reads annotations

if TYPE_CHECKING:
    from collections.abc import Callable

    from boto3.session import Session


MEGABYTE: Final = 1_000_000
GIGABYTE: Final = 1_000_000_000


class Service(StrEnum):
    """Whose jobs can be listed; typer takes no list of literals."""

    bedrock = "bedrock"
    sagemaker = "sagemaker"


def prune(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...", help="Deployments of the stage.", show_default="the whole stage"
        ),
    ] = None,
    *,
    stage: Stage,
    keep: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="The newest versions of each deployment that stay.",
            show_default="the stage's keep_versions",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the table alone.")] = False,
    yes: Yes = False,
    without_jobs: Annotated[
        list[Service] | None,
        typer.Option(
            help="Where no job runs, as you know: its jobs are not listed. Once for each service."
        ),
    ] = None,
) -> None:
    """Remove published versions that are old and that nobody names.

    The last versions of each deployment stay, and so do those that the catalogue, an alias or a job
    in progress names. Where the jobs cannot be listed, nothing is removed. Of a deployment that is
    immutable, whole functions go.

    Exit status: 0 all that could go is gone, 1 some of it is still there, 2 nothing was removed.
    """
    if not dry_run:
        require_somebody_to_ask("prune", yes=yes)
    session = aws_session(stage)

    def decided() -> PrunePlan:
        with errors().status("reading versions and jobs"):
            return planned(
                stage,
                names or (),
                keep=keep,
                without_jobs=without_jobs or (),
                session=session,
            )

    plan = decided()
    _show(plan)
    if dry_run or not plan.going:
        return
    _carry_out(plan, decided, session, yes=yes)


def _carry_out(
    plan: PrunePlan, decided: Callable[[], PrunePlan], session: Session, *, yes: bool
) -> None:
    """Ask, look again, and remove what is still to go."""
    require_agreement(
        f"Remove {several(len(plan.going), 'version')}? It cannot be undone.",
        "nothing was removed",
        yes=yes,
    )
    if not yes:  # a job may have begun while the question stood
        plan = plan.still(decided())
    done = list(removed(plan, session))
    gone = [each for each in done if each.problem is None]
    say(f"{several(len(gone), 'version')} removed")
    for each in done:
        if each.problem is not None:
            say(f"not removed: {each.problem}", err=True)
    if len(gone) < len(plan.going):
        raise typer.Exit(INCOMPLETE)


def _show(plan: PrunePlan) -> None:
    """The table, and what the decision rests on."""
    shown = table(
        *("deployment", "version", "serves", "published", "MB", "", "why"),
        names=("deployment", "version", "published"),
        numbers=("MB",),
    )
    for decision in plan.decisions:
        stored = decision.stored
        shown.add_row(
            stored.deployment,
            _name(stored),
            stored.serves or None,
            stored.published[:16],
            f"{stored.size / MEGABYTE:.1f}",
            cell("goes", "yellow") if decision.goes else "stays",
            decision.reason,
        )
    output().print(shown)
    count = f"{len(plan.going)} of {several(len(plan.decisions), 'version')}"
    say(f"{count} can go: {plan.bytes_going / MEGABYTE:,.1f} MB. {_cost(plan)}")
    if plan.going:
        say(f"{UNSEEN}: be sure that none of these names a version that goes.")


def _cost(plan: PrunePlan) -> str:
    """What it costs to keep them."""
    free = "Lambda charges nothing for stored versions; their code counts against its storage"
    if plan.storage is None:
        return f"{free}, which may not be read here."
    return (
        f"{free}, of which this account uses {plan.storage.used / GIGABYTE:,.1f} of "
        f"{plan.storage.limit / GIGABYTE:,.1f} GB."
    )


def _name(stored: StoredVersion) -> str:
    """The number of a version; the digest of a generation."""
    return stored.key.version or stored.key.function.rpartition("-")[2]
