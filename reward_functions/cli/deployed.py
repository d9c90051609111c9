"""`reward deployed`: the functions of a stage, or any Lambda function, seen from a laptop.

Credentials and region are AWS's own: AWS_PROFILE, AWS_REGION and their like. A function is invoked
in the region its ARN names.
"""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from reward_functions.aws.deployed import (
    DeployedFunction,
    Expectation,
    FunctionArn,
    deployments,
    expectation,
    find,
)
from reward_functions.aws.deployed import check as checked
from reward_functions.aws.deployed.catalogue import nothing_deployed
from reward_functions.aws.deployed.checking import expectation_of, made_up
from reward_functions.aws.deployed.findings import RENDERED
from reward_functions.aws.deployed.pruning import UNSEEN, PrunePlan, StoredVersion, planned, removed
from reward_functions.aws.deployed.versions import Rollback, live_version, prepared, rolled_back
from reward_functions.aws.shell import aws_session
from reward_functions.cli._console import (
    cell,
    errors,
    leave,
    output,
    print_json,
    say_measured,
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
    Parameters,
    Shape,
    Stage,
)
from reward_functions.cli.job._output import print_findings
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.types import Unscored
from reward_functions.data.atomic import replaced
from reward_functions.data.json_rows import BadInput, shown
from reward_functions.data.rows.reading import read_rows
from reward_functions.data.rows.shapes import RowOptions
from reward_functions.reports.measured import Measured
from reward_functions.scoring.rewards import parameter_values, reward_named
from reward_functions.scoring.rows import row_options
from reward_functions.serving.contract import ResponseMode, decode_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from boto3.session import Session

    from reward_functions.aws.catalogue import DeployedReward
    from reward_functions.aws.deployed import CheckReport

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
    """What a stage has deployed, and the ARN to give to a job.

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


@app.command()
def check(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Deployments of the stage, or ARNs of any functions.",
            show_default="the whole stage",
        ),
    ] = None,
    *,
    stage: Stage,
    reward: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The reward an ARN serves; its examples are sent."),
    ] = None,
    parameter: Parameters = None,
    samples: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Samples to send to an ARN whose reward is not ours."),
    ] = None,
    mapped: Map = None,
    shape: Shape = None,
    response_mode: Annotated[
        Literal["list", "envelope"] | None,
        typer.Option(help="What the function behind an ARN must answer with."),
    ] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Samples in the timed batch.")] = 64,
    form: Annotated[
        Literal["text", "json", "junit", "markdown"],
        typer.Option(
            "--format",
            help="text for a terminal, junit for a CI's test report, markdown for a comment.",
        ),
    ] = "text",
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write it there, and text to standard output."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Short for --format json.")] = False,
) -> None:
    """Check what a trainer relies on: ids, order, numbers, response mode, time, size.

    Each function is invoked about a dozen times. Nothing is written anywhere. A deployment is
    checked by the version that jobs are given.

    Exit status: 0 nothing failed, 1 something did, 2 no sample was scored, or nothing was done.
    """
    how = row_options(mapped, shape)
    if samples is None and how != RowOptions():
        raise ConfigurationError("--map and --rows say how the FILE of --samples is read")
    if as_json and form not in ("text", "json"):
        raise ConfigurationError(f"--json and --format {form} exclude each other")
    if out is not None and form == "text" and not as_json:
        raise ConfigurationError("--out is for --format json, junit or markdown")
    given = _given(reward, parameter or [], samples, how, response_mode)
    work = _work(targets or [], stage, given)
    with report_file(out) as write:
        with errors().status("checking") as status:
            reports = [
                checked(function, expected, batch_size=batch_size, progress=status.update)
                for function, expected in work
            ]
        measured = sum((each.measured for each in reports), start=Measured("samples", 0))
        say_measured(measured)
        write(reports, "json" if as_json else form)
    leave(measured, failed=not all(report.passed for report in reports))


def _work(
    targets: Sequence[str], stage: str, given: Expectation | None
) -> list[tuple[DeployedFunction, Expectation]]:
    """The functions to check, each with its expectation."""
    arns = [target for target in targets if _is_arn(target)]
    names = [target for target in targets if not _is_arn(target)]
    catalogue = [find(name, stage) for name in names] if targets else deployments(stage)
    if not targets and not catalogue:
        raise nothing_deployed(stage)
    # One attempt: the check is to see a throttle, not to wait until it is over.
    return [
        *[
            (DeployedFunction(each.version_arn, attempts=1), expectation(each))
            for each in catalogue
        ],
        *[(DeployedFunction(arn, attempts=1), given or Expectation(made_up())) for arn in arns],
    ]


def _is_arn(target: str) -> bool:
    return target.startswith("arn:")


def _given(
    reward: str | None,
    parameters: Sequence[str],
    samples: str | None,
    how: RowOptions,
    mode: ResponseMode | None,
) -> Expectation | None:
    """What was typed about the function behind an ARN; None where nothing was."""
    if reward is not None and samples is not None:
        raise ConfigurationError("--reward and --samples exclude each other")
    if reward is None and parameters:
        raise ConfigurationError("--param is a parameter of --reward")
    if reward is not None:
        spec = reward_named(reward)
        return expectation_of(spec, parameter_values(spec, parameters), mode)
    if samples is None and mode is None:
        return None
    rows = made_up() if samples is None else _rows(samples, how)
    return Expectation(rows, mode=mode)


def _rows(file: str, how: RowOptions) -> tuple[dict[str, Any], ...]:
    """The samples of a file, each under an id that no other has."""
    rows = []
    for at, row in enumerate(read_rows(file, how, whole=True)):
        decoded = decode_row(row.content, at)
        if isinstance(decoded, Unscored):
            raise BadInput(f"{shown(file)}, {row.place}: {decoded.error}")
        rows.append(row.content | {"id": f"{decoded.id}-{at}"})
    if not rows:
        raise BadInput(f"{shown(file)} holds no samples")
    return tuple(rows)


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


@contextmanager
def report_file(out: Path | None) -> Iterator[Callable[[Sequence[CheckReport], str], None]]:
    """Where reports go: to a file, with the table on standard output, or there alone.

    The file is opened before anything is asked, and appears once it is whole.

    Raises:
        OSError: it cannot be written.
    """
    with nullcontext(sys.stdout) if out is None else replaced(out) as stream:

        def write(reports: Sequence[CheckReport], form: str) -> None:
            if form != "text":
                stream.write(RENDERED[form](reports))
            if form == "text" or out is not None:
                print_reports(reports)

        yield write


def print_reports(reports: Sequence[CheckReport]) -> None:
    """A table for each function, below its ARN, which no width breaks."""
    for report in reports:
        say(f"\n{report.arn}")  # not as a title, which would break it at a hyphen
        print_findings(report.findings, "")


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


MEGABYTE: Final = 1_000_000
GIGABYTE: Final = 1_000_000_000


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
