"""Options that the commands of `reward job` share, and the configuration they come to.

Where a command of `reward job` works, and the job it is about: one file has one meaning.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from reward_functions.aws.shell import STAGE_VARIABLE
from reward_functions.jobs.services import DriverName

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.jobs.configuration import JobConfiguration
    from reward_functions.jobs.job import Driver, Job
    from reward_functions.jobs.lookup import Place


Config = Annotated[
    Path | None,
    typer.Argument(metavar="FILE", help="The job as TOML; options are stronger than it."),
]
StageOfJob = Annotated[
    str | None,
    typer.Option(
        "--stage",
        "-s",
        metavar="NAME",
        envvar=STAGE_VARIABLE,
        show_envvar=True,
        show_default="the file's, that of job.toml or cdk.json, or dev",
        help="A stage of cdk.json that is deployed.",
    ),
]
Deployment = Annotated[
    str | None,
    typer.Option(
        "--deployment", "-d", metavar="NAME", help="The reward: a deployment, or a function's ARN."
    ),
]
Model = Annotated[
    str | None,
    typer.Option("--model", "-m", help="The base model's id, or a custom model's ARN."),
]
Data = Annotated[
    Path | None, typer.Option("--data", metavar="FILE", help="The training file, JSONL.")
]
Validation = Annotated[
    Path | None, typer.Option("--validation", metavar="FILE", help="The validation file, JSONL.")
]
Hyperparameters = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A hyperparameter by the service's own name; one option for each.",
    ),
]
Prefix = Annotated[
    str | None, typer.Option("--name", help="How the job's name begins; else the deployment's.")
]
DriverOption = Annotated[
    DriverName | None,
    typer.Option("--driver", help="bedrock, openai, sagemaker or agent-rft."),
]
Baseline = Annotated[
    Path, typer.Option("--baseline", metavar="FILE", help="Figures of `reward job baseline`.")
]
NUMBERS: Final = {
    int: re.compile(r"[+-]?[0-9]+"),
    float: re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"),
}
"""How a number is written: Python reads more, such as 1_0, " 64" and digits of other scripts."""

LONGEST_NUMBER: Final = 40
"""Characters."""

JobName = Annotated[
    str,
    typer.Argument(metavar="JOB", help="A job's name, id or ARN, or the file it was started with."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]


def configured(
    file: Path | None, *, hyperparameters: Sequence[str] | None = None, **given: Any
) -> JobConfiguration:
    """What was asked for: the file's fields, and over them what was typed.

    Args:
        file: TOML, or None.
        hyperparameters: NAME=VALUE; numbers are read as such.
        given: fields of `JobConfiguration`; None where nothing was typed.

    Raises:
        BadJob: a field is missing, unknown or wrong.
    """
    from reward_functions.aws.shell import default_stage
    from reward_functions.jobs.configuration import load

    typed = {name: value for name, value in given.items() if value is not None}
    if hyperparameters:
        typed["hyperparameters"] = dict(map(_pair, hyperparameters))
    return load(file, typed, stage=default_stage(job_file=file is None).name)


def _pair(text: str) -> tuple[str, Any]:
    from reward_functions.jobs.configuration import BadJob

    name, equals, value = text.partition("=")
    if not (name and equals):
        raise BadJob(f"--set {text!r}: write NAME=VALUE, such as batchSize=64")
    if len(value) <= LONGEST_NUMBER:
        for kind, written in NUMBERS.items():
            if written.fullmatch(value):
                return name, kind(value)
    return name, value


TOML: Final = ".toml"


def is_file(job: str) -> bool:
    """Whether what stands in the place of a job's name is its file."""
    return job.lower().endswith(TOML)


def stage_place(stage: str | None) -> Place:
    """The stage that a command works on, and the session that reaches it.

    Args:
        stage: as typed; None for the one of `job.toml`, of `cdk.json`, or the default.

    Raises:
        WrongEndpoint, NotDeployed, AwsFailed: as `jobs.lookup.place`.
        BadShell: a file that would name the stage cannot be read.
    """
    from reward_functions.aws.shell import aws_session, default_stage
    from reward_functions.jobs.lookup import place

    name = stage or default_stage().name
    return place(name, aws_session(name))


def job_at(job: str, stage: str | None, driver: DriverName | None) -> tuple[Place, Driver, Job]:
    """A job, the service that runs it, and its stage.

    Args:
        job: its name, id or ARN; or the file that it was started with, which names the stage too.
        stage: as typed; None for that of the file.
        driver: as typed; None for whichever service has the job.

    Raises:
        BadJob: no job was started with the file, as it is now.
        NoSuchJob: no service has such a job.
        AwsFailed: a service cannot be asked.
    """
    if not is_file(job):
        where = stage_place(stage)
        return where, *where.job(job, driver)
    from reward_functions.cli.job._options import configured

    asked = configured(Path(job), stage=stage, driver=driver)
    where = stage_place(asked.stage)
    return where, *_started_with(asked, job, where)


def _started_with(asked: JobConfiguration, file: str, where: Place) -> tuple[Driver, Job]:
    from reward_functions.jobs.configuration import BadJob
    from reward_functions.jobs.job import Job
    from reward_functions.jobs.models import find
    from reward_functions.jobs.starting import prepared

    service = where.driver(find(asked.model, where.stage.region, asked.driver).driver)
    found = prepared(asked, where.stage, service, session=where.session)
    if not isinstance(found, Job):
        raise BadJob(
            f"{file}: no job was started with this file and these data as they are now: name the "
            f"job, which `reward job list --stage {where.stage.stage}` shows"
        )
    return service, found
