"""`reward job cleanup`: remove what a job left that costs something, or is in the way.

`reward job stop`: a job ends before its time.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from reward_functions.cli._console import MESSAGE, cell, errors, plain, print_json
from reward_functions.cli._echo import Yes, require_agreement, require_somebody_to_ask, say, several
from reward_functions.cli._errors import INCOMPLETE
from reward_functions.cli._fitting import print_table
from reward_functions.cli.job._options import JOB, AsJson, Typed, taking
from reward_functions.jobs.leftovers import Kind, Leftover, Leftovers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.jobs.job import Job


@taking(*JOB)
def cleanup(
    typed: Typed,
    *,
    model: Annotated[
        bool,
        typer.Option("--model", help="The model or model package too; it cannot be made again."),
    ] = False,
    data: Annotated[bool, typer.Option("--data", help="The files uploaded for it, too.")] = False,
    output: Annotated[bool, typer.Option("--output", help="What it wrote, too.")] = False,
    record: Annotated[
        bool,
        typer.Option("--job", help="A multi-turn job itself too, where nothing else of it stays."),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the table alone.")] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Remove what a job left: deployments of its model, and more where it is asked for.

    Everything is listed first, also where nobody can be asked. Of a job in progress nothing goes,
    nor what another job in progress uses. Files of yours that lie elsewhere are never touched.

    Exit status: 0 all that could go is gone, 1 some of it is still there, 2 nothing was removed.
    """
    where, service, found = typed.found()
    leftovers = Leftovers(found, service, where.stage, where.session)
    chosen = {"model": model, "data": data, "output": output, "job": record}
    wanted: set[Kind] = {kind for kind, asked in chosen.items() if asked}  # type: ignore[misc]
    with errors().status("looking for what it left"):
        there = leftovers.found(wanted)
    _show(there, as_json=as_json)
    going = [each for each in there if not each.stays]
    if dry_run or not going:
        return
    require_somebody_to_ask("nothing was removed: cleanup", yes=yes)
    if _forgets(found, going):
        say(
            f"the name {plain(found.name)} is forgotten with its file: the same start would make "
            "the job again",
            err=True,
        )
    require_agreement(
        f"Remove {several(len(going), 'thing')}? It cannot be undone.",
        "nothing was removed",
        yes=yes,
    )
    _carry_out(leftovers, going)


def _forgets(job: Job, going: Sequence[Leftover]) -> bool:
    """Whether a job loses its name, which the OpenAI-compatible API has in the file alone."""
    return not job.service.bucket and any(each.kind == "data" for each in going)


def _carry_out(leftovers: Leftovers, going: Sequence[Leftover]) -> None:
    problems = [problem for _, problem in leftovers.removed(going) if problem]
    say(f"{several(len(going) - len(problems), 'thing')} removed", err=True)
    for problem in problems:
        say(f"not removed: {plain(problem, MESSAGE)}", err=True)
    if problems:
        raise typer.Exit(INCOMPLETE)


def _show(there: Sequence[Leftover], *, as_json: bool) -> None:
    if as_json:
        print_json([asdict(each) for each in there])
        return
    if not there:
        typer.echo("the job left nothing")
        return
    rows = [
        (
            "stays" if each.stays else cell("goes", "yellow"),
            each.kind,
            each.note,
            each.stays or None,
        )
        for each in there
    ]
    print_table(("", "kind", "what", "why"), rows, words=("what", "why"))
    for each in there:
        # Not by the console, which would break an ARN at a hyphen.
        say(f"  {each.kind:12}{plain(each.id, 2_048)}")


@taking(*JOB)
def stop(typed: Typed, *, yes: Yes = False) -> None:
    """Ask a job to stop. No service goes on with a stopped job.

    The service may finish a step first: `reward job watch` shows the end.

    Exit status: 0 it stops, or is over already; 2 it goes on.
    """
    _, service, found = typed.found()
    name = plain(found.name or found.id)
    if found.over:
        say(f"{name} is over already: it {found.state}")
        return
    require_somebody_to_ask("a stop", yes=yes)
    require_agreement(
        f"Stop {name}, which {found.state}? It cannot go on later.", f"{name} goes on", yes=yes
    )
    stopped = service.stop(found)
    say(f"{name} {stopped.state}")
