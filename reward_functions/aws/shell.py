"""Where a command goes: its stage, its region, its credentials. Every command asks here.

| what | in this order |
| --- | --- |
| stage | `--stage`, REWARD_STAGE, the job's file (`job.toml` of this folder where none is named), `cdk.json`, `dev` |
| region | an option, AWS_REGION, AWS_DEFAULT_REGION, the profile, the stage's region in `cdk.json` |
| credentials | boto3's own order, with the profile of an option where there is one |

Stage and region need no boto3, except for the profile's region: `reward doctor` runs on the base.
"""  # noqa: E501

from __future__ import annotations

import os
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.aws.regions import aws_regions
from reward_functions.aws.written_stages import written_context, written_stages
from reward_functions.core.aws_region import REGION_VARIABLES, shell_region
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.extras import require
from reward_functions.core.suggest import did_you_mean

if TYPE_CHECKING:
    from boto3.session import Session

DEFAULT_STAGE: Final = "dev"

STAGE_VARIABLE: Final = "REWARD_STAGE"
"""Names the stage of commands that are given none."""

JOB_FILE: Final = "job.toml"
"""The job's file that is read where a command names none."""


class BadShell(ConfigurationError):
    """The shell, or a file of this folder, names no stage or region that there could be."""


class Named(NamedTuple):
    """A stage or a region, and who says it."""

    name: str
    origin: str


def default_stage(*, job_file: bool = True) -> Named:
    """The stage of a command that is given none.

    Args:
        job_file: whether `job.toml` of this folder may say it; not where another file is named.

    Raises:
        BadShell: `job.toml` is not TOML.
    """
    if typed := os.environ.get(STAGE_VARIABLE):
        return Named(typed, STAGE_VARIABLE)
    if job_file and (found := _stage_of_job()):
        return Named(found, f"that of {JOB_FILE}")
    if found := _stage_of_project():
        return Named(found, "that of cdk.json")
    return Named(DEFAULT_STAGE, "the default")


def stage_hint(stage: str) -> str:
    """How the stage was named, and how to name another; "" for a stage that was typed.

    Args:
        stage: that is not there, or may not be read.
    """
    found = default_stage()
    if stage != found.name or found.origin == STAGE_VARIABLE:
        return ""
    return (
        f"; nobody typed a stage, and {stage!r} is {found.origin}: if you mean another, type "
        f'--stage NAME, or write stage = "NAME" in {JOB_FILE}'
    )


def region_of(stage: str = "", given: str = "", profile: str | None = None) -> Named | None:
    """The region that a command calls; None where nobody names one.

    Args:
        stage: whose region `cdk.json` may say; "" for the default stage.
        given: by an option; "" for none.
        profile: by an option; None for the shell's.

    Raises:
        BadShell: AWS has no such region.
        AwsFailed: the profile cannot be read.
    """
    found = _region(stage, given, profile)
    if found is not None:
        _require_region(found)
    return found


def aws_session(stage: str = "", *, region: str = "", profile: str | None = None) -> Session:
    """The session of a command: its credentials, and its region where somebody names one.

    One for a whole command: each reads the SDK's models again, for half a second.

    Args:
        stage: whose region `cdk.json` may say; "" for the default stage.
        region: by an option; "" for none.
        profile: by an option; None for the shell's.

    Raises:
        MissingExtra: boto3 is not installed.
        BadShell: AWS has no such region.
        AwsFailed: there is no such profile.
    """
    require("boto3", by="a call of AWS")
    import boto3  # noqa: PLC0415 - half a second

    from reward_functions.aws.failures import in_words  # noqa: PLC0415

    found = region_of(stage, region, profile)
    with in_words("reading the AWS configuration"):
        return boto3.Session(profile_name=profile, region_name=found.name if found else None)


def _region(stage: str, given: str, profile: str | None) -> Named | None:
    if given:
        return Named(given, "--region")
    if found := shell_region():
        origin = next(name for name in REGION_VARIABLES if os.environ.get(name))
        return Named(found, origin)
    if found := _profiles_region(profile):
        return Named(found, "the profile")
    written = written_stages().get(stage or default_stage().name, {}).get("region")
    return Named(written, "cdk.json") if isinstance(written, str) and written else None


def _profiles_region(profile: str | None) -> str:
    """What the profile says; "" also where boto3 is not installed, which reads it."""
    if find_spec("boto3") is None:
        return ""
    import boto3  # noqa: PLC0415 - half a second

    from reward_functions.aws.failures import in_words  # noqa: PLC0415

    with in_words("reading the AWS configuration"):
        return boto3.Session(profile_name=profile).region_name or ""


def _require_region(found: Named) -> None:
    """Refuse a region that AWS does not have: its host would be looked for in vain, for a minute.

    An address of one's own answers for any region.
    """
    if os.environ.get("AWS_ENDPOINT_URL") or find_spec("boto3") is None:
        return
    known = aws_regions()
    if found.name not in known:
        near = did_you_mean(found.name, known).partition(";")[0]
        raise BadShell(f"{found.origin}: AWS has no region {found.name!r}{near}")


def _stage_of_job() -> str:
    """What `job.toml` of this folder says; "" where it says nothing, or is not there."""
    try:
        found = tomllib.loads(Path(JOB_FILE).read_text(encoding="utf-8")).get("stage")
    except OSError:
        return ""
    except (ValueError, RecursionError):
        raise BadShell(f"{JOB_FILE} is not TOML, and it may name the stage") from None
    return found if isinstance(found, str) else ""


def _stage_of_project() -> str:
    """The stage that `cdk` takes in this folder, or the only one; "" where nobody says which."""
    stages = written_stages()
    found = written_context().get("stage") if stages else None
    if isinstance(found, str):
        return found
    return next(iter(stages)) if len(stages) == 1 else ""
