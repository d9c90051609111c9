"""`reward deployed`: the functions of a stage, or any Lambda function, seen from a laptop.

Credentials and region are AWS's own: AWS_PROFILE, AWS_REGION and their like. A function is invoked
in the region its ARN names.
"""

from __future__ import annotations

import json
from pathlib import Path  # noqa: TC003 - typer reads annotations
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from reward_functions.cli._echo import say
from reward_functions.cli._options import (  # noqa: TC001 - typer reads annotations
    AllowEmpty,
    File,
    Map,
    Output,
    Parameters,
    Shape,
    Stage,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.aws.catalogue import DeployedReward
    from reward_functions.aws.deployed import DeployedFunction, Expectation
    from reward_functions.data.rows.shapes import RowOptions
    from reward_functions.serving.contract import ResponseMode

app = typer.Typer(
    no_args_is_help=True, help="Functions that are deployed: the catalogue, invoke, check."
)

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
    from reward_functions.aws.deployed import deployments
    from reward_functions.aws.deployed.versions import live_version
    from reward_functions.aws.shell import aws_session

    session = aws_session(stage)
    found = deployments(stage, session)
    live = {reward.name: live_version(reward, session) for reward in found}
    if as_json:
        rows = [reward.model_dump() | {"live_version": live[reward.name]} for reward in found]
        typer.echo(json.dumps(rows, indent=2))
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
    from reward_functions.aws.deployed import DeployedFunction, find
    from reward_functions.cli._invocations import invoked, results_to
    from reward_functions.data.rows.reading import read_rows
    from reward_functions.scoring.rows import require_rows, row_options

    arn = target if _is_arn(target) else find(target, stage).live_arn
    function = DeployedFunction(arn)
    read = read_rows(file, row_options(mapped, shape), answered=True, whole=True)
    rows = [row.content for row in read]
    require_rows(len(rows), file, allow_empty=allow_empty)
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
    from reward_functions.aws.deployed import check as checked
    from reward_functions.cli._check_reports import report_file
    from reward_functions.cli._console import errors, leave, say_measured
    from reward_functions.core.errors import ConfigurationError
    from reward_functions.data.rows.shapes import RowOptions
    from reward_functions.reports.measured import Measured
    from reward_functions.scoring.rows import row_options

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
    from reward_functions.aws.deployed import (
        DeployedFunction,
        Expectation,
        deployments,
        expectation,
        find,
    )
    from reward_functions.aws.deployed.catalogue import nothing_deployed
    from reward_functions.aws.deployed.checking import made_up

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
    from reward_functions.aws.deployed.checking import Expectation, expectation_of, made_up
    from reward_functions.core.errors import ConfigurationError
    from reward_functions.scoring.rewards import parameter_values, reward_named

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
    from reward_functions.core.types import Unscored
    from reward_functions.data.json_rows import BadInput, shown
    from reward_functions.data.rows.reading import read_rows
    from reward_functions.serving.contract import decode_row

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
    from reward_functions.cli._console import cell
    from reward_functions.cli._fitting import print_table

    rows = [
        [
            cell(reward.name),
            cell(reward.reward),
            cell(str(reward.version)),
            cell(reward.digest[:DIGITS]),
            cell(_parameters(reward) or None),
            cell(reward.response_mode),
            cell(given := _version_given(reward)),
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


def _version_given(reward: DeployedReward) -> str | None:
    """The number of the version that jobs are given; None of an immutable deployment."""
    from reward_functions.aws.deployed import FunctionArn

    return FunctionArn.parse(reward.version_arn).qualifier


def _parameters(reward: DeployedReward) -> str:
    return ", ".join(f"{name}={json.dumps(value)}" for name, value in reward.parameters.items())
