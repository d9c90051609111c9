"""Options that the commands of `reward job` share, and the configuration they come to.

Where a command of `reward job` works, and the job it is about: one file has one meaning.
"""

from __future__ import annotations

import inspect
import re
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from reward_functions.aws.shell import STAGE_VARIABLE, aws_session, default_stage
from reward_functions.jobs.configuration import BadJob, JobConfiguration, load
from reward_functions.jobs.job import Driver, Job
from reward_functions.jobs.lookup import Place, place
from reward_functions.jobs.models import find
from reward_functions.jobs.preparing import prepared
from reward_functions.jobs.services import DriverName, names

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


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
    typer.Option("--driver", help=f"{names()}."),
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
OwnFigures = Annotated[
    bool, typer.Option("--grader/--no-grader", help="Read the grader's log for its own figures.")
]
MaxTokens = Annotated[
    int | None,
    typer.Option(min=1, help="Of an answer.", show_default="the job's inferenceMaxTokens"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]

SHARED: Final[dict[str, Any]] = {
    "file": Config,
    "job": JobName,
    "stage": StageOfJob,
    "deployment": Deployment,
    "model": Model,
    "data": Data,
    "validation": Validation,
    "hyperparameters": Hyperparameters,
    "name": Prefix,
    "driver": DriverOption,
}
"""What several commands take, by the names that `configured` and `job_at` give them."""


CONFIGURATION: Final = tuple(name for name in SHARED if name != "job")

JOB: Final = ("job", "stage", "driver")


class Typed(dict[str, Any]):
    """The shared arguments of a command, as they were typed."""

    def configuration(self) -> JobConfiguration:
        """What was asked for: the file's fields, and over them what was typed.

        Raises:
            BadJob: a field is missing, unknown or wrong.
        """
        return configured(**self)

    def found(self) -> tuple[Place, Driver, Job]:
        """The job, the service that runs it, and its stage: as `job_at`."""
        return job_at(**self)


def taking(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command shared arguments in the place of its first parameter, a `Typed`.

    Args:
        names: those of `SHARED` that it takes, and of its own that stand between them.
    """

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        _, *left = inspect.signature(command, eval_str=True).parameters.values()
        own = {each.name: each for each in left}

        @wraps(command)
        def run(**given: Any) -> None:
            command(Typed({name: given.pop(name) for name in names if name in SHARED}), **given)

        parameters = [own.pop(name) if name in own else _shared(name) for name in names]
        run.__signature__ = inspect.Signature([*parameters, *own.values()])  # type: ignore[attr-defined]
        return run

    return decorated


def _shared(name: str) -> inspect.Parameter:
    default = inspect.Parameter.empty if name == "job" else None
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=SHARED[name])


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
    typed = {name: value for name, value in given.items() if value is not None}
    if hyperparameters:
        typed["hyperparameters"] = dict(map(_pair, hyperparameters))
    return load(file, typed, stage=default_stage(job_file=file is None).name)


def _pair(text: str) -> tuple[str, Any]:
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
    asked = configured(Path(job), stage=stage, driver=driver)
    where = stage_place(asked.stage)
    return where, *_started_with(asked, job, where)


def _started_with(asked: JobConfiguration, file: str, where: Place) -> tuple[Driver, Job]:
    service = where.driver(find(asked.model, where.stage.region, asked.driver).driver)
    found = prepared(asked, where.stage, service, session=where.session)
    if not isinstance(found, Job):
        raise BadJob(
            f"{file}: no job was started with this file and these data as they are now: name the "
            f"job, which `reward job list --stage {where.stage.stage}` shows"
        )
    return service, found
