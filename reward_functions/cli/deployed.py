"""`reward deployed`: the functions of a stage, or any Lambda function, seen from a laptop.

Credentials and region are AWS's own: AWS_PROFILE, AWS_REGION and their like. A function is invoked
in the region its ARN names.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from reward_functions.aws.deployed import (
    DeployedFunction,
    FunctionArn,
    deployments,
    find,
)
from reward_functions.aws.deployed.pruning import UNSEEN, PrunePlan, StoredVersion, planned, removed
from reward_functions.aws.deployed.versions import Rollback, live_version, prepared, rolled_back
from reward_functions.aws.shell import aws_session
from reward_functions.cli._console import (
    cell,
    errors,
    output,
    print_json,
    table,
)
from reward_functions.cli._echo import Yes, require_agreement, require_somebody_to_ask, say, several
from reward_functions.cli._errors import INCOMPLETE
from reward_functions.cli._fitting import print_table
from reward_functions.cli._invocations import invoked, results_to, rows_of
from reward_functions.cli._options import (  # noqa: TC001 - typer reads annotations
    AllowEmpty,
    File,
    Map,
    Output,
    Shape,
    Stage,
)
from reward_functions.scoring.rows import row_options

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from boto3.session import Session

    from reward_functions.aws.catalogue import DeployedReward

app = typer.Typer(no_args_is_help=True)

Target = Annotated[
    str,
    typer.Argument(metavar="NAME", help="A deployment of the stage, or the ARN of any function."),
]

DIGITS: Final = 8
"""Of a digest, in a table."""


@app.command("list")
def list_deployed(
    *,
    stage: Stage,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON, with every ARN.")] = False,
) -> None:
    """List the deployments of a stage, with the ARN to give to a job.

    The columns `job` and `live` are versions of the function: what the catalogue gives to jobs, and
    what the alias points to.
    """
    session = aws_session(stage)
    found = deployments(stage, session)
    live = {reward.name: live_version(reward, session) for reward in found}
    if as_json:
        rows = [reward.model_dump() | {"live_version": live[reward.name]} for reward in found]
        print_json(rows)
    elif not found:
        say(f"stage {stage!r} has no deployments here")
    else:
        _list(found, live)


@app.command()
def invoke(
    target: Target,
    file: File,
    *,
    stage: Stage,
    output: Output = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Samples an invocation.")] = 64,
    mapped: Map = None,
    shape: Shape = None,
    allow_empty: AllowEmpty = False,
) -> None:
    """Invoke a deployed function as a trainer does, and time it.

    Results are jsonl, times go to standard error. The file is read as `reward score` reads it.

    Exit status: 0 every batch was answered, 1 some were not, 2 none was, or nothing was done.
    """
    arn = target if _is_arn(target) else find(target, stage).live_arn
    function = DeployedFunction(arn)
    rows = rows_of(file, row_options(mapped, shape), allow_empty=allow_empty)
    with results_to(output, file) as destination:
        invoked(function, rows, batch_size, destination)


def _is_arn(target: str) -> bool:
    return target.startswith("arn:")


def _list(found: Sequence[DeployedReward], live: Mapping[str, str | None]) -> None:
    """A table, and below it every ARN whole on a line of its own."""
    rows = [
        [
            reward.name,
            reward.reward,
            str(reward.version),
            reward.digest[:DIGITS],
            _parameters(reward) or None,
            reward.response_mode,
            (given := FunctionArn.parse(reward.version_arn).qualifier),
            cell(at := live[reward.name], "" if at in (None, given) else "yellow"),
        ]
        for reward in found
    ]
    print_table(
        ("name", "reward", "version", "digest", "parameters", "response", "job", "live"),
        rows,
        words=("parameters",),
        spare=("digest", "response", "parameters", "version"),
    )
    typer.echo("what a job is given:")
    wide = max(len(reward.name) for reward in found)
    for reward in found:
        # Not by the console, which would break an ARN at a hyphen.
        say(f"  {reward.name:{wide}}  {reward.version_arn}")


def _parameters(reward: DeployedReward) -> str:
    return ", ".join(f"{name}={json.dumps(value)}" for name, value in reward.parameters.items())


@app.command()
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
    points = f"{before.name}: `live` points to version {step.alias.version}; version {step.version}"
    if before.version_arn == after.version_arn:
        return f"{points} is what the catalogue has"
    if before.digest == after.digest:
        code = f"{after.reward} {after.version}"
        return f"{points} has the code of the catalogue, {code}; its settings differ"
    return (
        f"{points} is {after.reward} {after.version} of digest {after.digest}, the catalogue has "
        f"{before.reward} {before.version} of digest {before.digest}"
    )


def _done(step: Rollback) -> str:
    return (
        f"`live` of {step.before.name} points to version {step.version}, and new jobs get\n"
        f"{step.after.version_arn}\n"
        "jobs that run keep their version; the next deployment with changed code or settings moves "
        "`live` again"
    )


MEGABYTE: Final = 1_000_000
GIBIBYTE: Final = 1 << 30
"""Lambda's storage for code is 75 of them."""


class Service(StrEnum):
    """Whose jobs can be listed; typer takes no list of literals."""

    bedrock = "bedrock"
    sagemaker = "sagemaker"


@app.command()
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
            stored.published[:16] and f"{stored.published[:16]}Z",
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
        f"{free}, of which this account uses {plan.storage.used / GIBIBYTE:,.1f} of "
        f"{plan.storage.limit / GIBIBYTE:,.1f} GiB."
    )


def _name(stored: StoredVersion) -> str:
    """The number of a version; the digest of a generation."""
    return stored.key.version or stored.key.function.rpartition("-")[2]
