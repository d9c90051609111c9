"""Whether this machine and this shell are ready: the part that needs neither a stage nor the CDK.

| check | a failure means |
| --- | --- |
| aws | the shell points at an emulator that has ended, or at two AWS at once |
| credentials | nobody to sign as, or no longer |
| account | STS does not know them, or they are another account's than the stage's |
| clock | five minutes off: AWS refuses every signature |
| region | nobody names one, or AWS has no such region |
| boto3 | not installed, or an API that a driver of ours calls is not modelled |
| disk | no room for artifacts |

`doctor_checks` has what the doctor of the rollouts asks too. Nothing is asked of the
network but STS, once, within seconds; no key, token or user name of a URL is in a finding.
"""

from __future__ import annotations

import os
import platform
import shutil
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from reward_functions.aws.deployed.findings import NOTICED, REPLY, SKEW, CheckFinding
from reward_functions.aws.emulator_record import away_line, pointed_at
from reward_functions.aws.failures import NO_REGION, AwsFailed, in_words
from reward_functions.aws.shell import BadShell, aws_session, region_of
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.extras import EXTRAS
from reward_functions.core.loopback import is_loopback
from reward_functions.local.emulator.emulator import ACCOUNT, known

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.aws.deployed.findings import CheckVerdict

ENDPOINT: Final = "AWS_ENDPOINT_URL"

IGNORED: Final = "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"

KEYS: Final = "AWS_ACCESS_KEY_ID"

NEWEST: Final = {
    "bedrock": "create_model_customization_job",
    "sagemaker": "create_job",
    "sagemakerjobruntime": "complete_rollout",
}
"""By service, the latest operation that a driver calls: an older boto3 does not model it."""

LITTLE: Final = 1_000_000_000
"""Bytes: the artifacts of a stage and what they are made of take some 300 MB."""

TOO_LITTLE: Final = 200_000_000

HOSTS: Final = frozenset({"inspect", "trl", "verifiers", "verl"})
"""Extras of trainers, which exclude one another."""


class Caller:
    """The signer, as STS says; asked once, by the check that comes first.

    Args:
        stage: whose region `cdk.json` may say; "" for the default stage.
    """

    def __init__(self, stage: str = "") -> None:
        self._stage = stage
        self._lock = Lock()
        self._found: tuple[dict[str, Any] | ConfigurationError, str] | None = None

    def asked(self) -> tuple[dict[str, Any] | ConfigurationError, str]:
        """The answer of STS, or why it gives none; and the date of its answer, "" without one."""
        with self._lock:
            if self._found is None:
                self._found = _asked(self._stage)
            return self._found


def shell(variables: Mapping[str, str]) -> CheckFinding:
    """The AWS to which the variables lead.

    Args:
        variables: of the shell.
    """
    named = {name: url for name, url in variables.items() if name.startswith(ENDPOINT) and url}
    if variables.get(IGNORED, "").lower() == "true":
        named = {}
    here = {name: url for name, url in named.items() if is_loopback(url)}
    by = _chosen(variables)
    if not named:
        return CheckFinding("ok", "aws", f"the real AWS, {by}")
    if not here and ENDPOINT in named:
        where = ", ".join(sorted({_host(url) for url in named.values()}))
        return CheckFinding("warning", "aws", f"{where}, which is neither AWS nor this machine")
    if len(here) < len(named) or ENDPOINT not in here:
        rest = ", ".join(f"{name} to {_host(url)}" for name, url in sorted(named.items()))
        others = "" if ENDPOINT in named else ", and other services to the real AWS"
        verdict: CheckVerdict = "failure" if here else "warning"
        return CheckFinding(
            verdict,
            "aws",
            f"{rest}{others}: unset what is not meant",
        )
    aws = pointed_at([here[ENDPOINT]])
    if aws is None:
        return CheckFinding(
            "warning",
            "aws",
            f"{_host(here[ENDPOINT])} on this machine, which is no emulator of `reward local`: "
            f"unset {ENDPOINT}, or go on if it is meant",
        )
    if not aws.alive:
        return CheckFinding(
            "failure", "aws", f"the local AWS {aws.name!r}, which has ended: {away_line(aws)}"
        )
    return CheckFinding("ok", "aws", f"the local AWS {aws.name!r} on {aws.endpoint}, no account")


def account(caller: Caller, expected: str | None, *, emulated: bool | None) -> CheckFinding:
    """Whose account the credentials are of.

    Args:
        caller: asked.
        expected: the stage's account; None where it names none.
        emulated: whether the stage is for an emulator; None without a stage.
    """
    answer, _ = caller.asked()
    if isinstance(answer, ConfigurationError):
        return CheckFinding("failure", "account", str(answer))
    found, who = str(answer["Account"]), str(answer["Arn"])
    if expected not in (None, found):
        return CheckFinding(
            "failure",
            "account",
            f"{found}, and the stage is of {expected}: choose another AWS_PROFILE or another stage",
        )
    if emulated is False and found == ACCOUNT:
        return CheckFinding("warning", "account", f"{found}, the local emulator's, as {who}")
    return CheckFinding("ok", "account", f"{found}, as {who}")


def clock(caller: Caller, now: datetime | None = None) -> CheckFinding:
    """Whether our clock is that of STS, whose answer has a date also where it refuses.

    Args:
        caller: asked.
        now: None for the time of day.
    """
    _, date = caller.asked()
    try:
        skew = ((now or datetime.now(UTC)) - parsedate_to_datetime(date)).total_seconds()
    except (TypeError, ValueError):
        return CheckFinding("unknown", "clock", "AWS gave no time to compare with")
    if abs(skew) <= NOTICED:
        return CheckFinding("ok", "clock", "as AWS's")
    return CheckFinding(
        "failure" if abs(skew) > SKEW else "warning",
        "clock",
        f"{abs(skew):,.0f} s {'ahead of' if skew > 0 else 'behind'} AWS's; from {SKEW:g} s on "
        "every signature is refused: switch on NTP",
    )


def region(stage: str, wanted: str | None) -> CheckFinding:
    """Where commands look, beside where the stage is.

    Args:
        stage: its name; "" for the default stage.
        wanted: the stage's region; None where nobody knows it.

    Raises:
        BadShell: AWS has no such region.
        AwsFailed: the profile cannot be read.
    """
    found = region_of(stage)
    if found is None:
        return CheckFinding("failure", "region", NO_REGION.format(place=wanted or "us-east-1"))
    if wanted not in (None, found.name):
        return CheckFinding(
            "warning",
            "region",
            f"{found.name} of {found.origin}, and the stage is in {wanted}: cdk deploys there all "
            f"the same, and `reward` looks in {found.name}: export AWS_REGION={wanted}",
        )
    return CheckFinding("ok", "region", f"{found.name}, of {found.origin}")


def packages() -> CheckFinding:
    """This project, Python, and the extras that are there; those of trainers exclude each other."""
    lacking = sorted(
        {
            extra.name
            for module, extra in EXTRAS.items()
            if extra.name not in HOSTS and find_spec(module) is None
        }
    )
    ours = f"reward-functions {_version('reward-functions')}, Python {platform.python_version()}"
    if lacking:
        wanted = f"pip install 'reward-functions[{','.join(lacking)}]'"
        return CheckFinding("ok", "packages", f"{ours}; not installed, if you need them: {wanted}")
    return CheckFinding("ok", "packages", f"{ours}, with every extra")


def sdk() -> CheckFinding:
    """Whether boto3 is there, and models what the drivers call. Nothing is called."""
    if find_spec("boto3") is None:
        line = EXTRAS["boto3"].line
        return CheckFinding("failure", "boto3", f"not installed, and AWS is asked by it: {line}")
    import boto3  # noqa: PLC0415 - 0.2 s
    from botocore.session import get_session  # noqa: PLC0415

    session = get_session()
    there = session.get_available_services()
    lacking = []
    for service, operation in NEWEST.items():
        if service not in there:
            lacking.append(service)
            continue
        model = session.get_service_model(service)
        wanted = operation.replace("_", "")
        if wanted not in {name.lower() for name in model.operation_names}:
            lacking.append(f"{service}:{operation}")
    versions = f"boto3 {boto3.__version__}, botocore {_version('botocore')}"
    if lacking:
        return CheckFinding(
            "failure",
            "boto3",
            f"{versions} lacks {', '.join(lacking)}: pip install --upgrade 'boto3>=1.44'",
        )
    return CheckFinding("ok", "boto3", f"{versions}, with every API that is called")


def emulators() -> CheckFinding:
    """The local AWS that runs, and whether one can be started."""
    from reward_functions.aws.emulator_record import LocalAwsError  # noqa: PLC0415
    from reward_functions.local.emulator.installing import emulator_python  # noqa: PLC0415

    running = [
        f"{aws.name!r} on {aws.endpoint}"
        + (f", started in {aws.record.project}" if aws.record.project else "")
        for aws in known()
        if aws.alive
    ]
    if running:
        return CheckFinding("ok", "emulator", f"{'; '.join(running)}")
    try:
        emulator_python()
    except LocalAwsError:
        return CheckFinding("ok", "emulator", "not installed, if you need it: reward local install")
    return CheckFinding("ok", "emulator", "none runs: reward local up")


def disk() -> CheckFinding:
    """Room for what is built, where it is kept."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    folder = next(each for each in (home, *home.parents) if each.is_dir())
    free = shutil.disk_usage(folder).free
    room = f"{free / 1e9:,.1f} GB free at {folder}"
    if free < LITTLE:
        return CheckFinding(
            "failure" if free < TOO_LITTLE else "warning",
            "disk",
            f"{room}: delete {home / 'reward-functions'}, which is built again",
        )
    return CheckFinding("ok", "disk", room)


def _asked(stage: str) -> tuple[dict[str, Any] | ConfigurationError, str]:
    from botocore.config import Config  # noqa: PLC0415 - 0.2 s
    from botocore.exceptions import ClientError  # noqa: PLC0415

    config = Config(connect_timeout=REPLY, read_timeout=REPLY, retries={"total_max_attempts": 1})
    dates = []
    try:
        with in_words("asking STS who we are"):
            session = aws_session(stage)
            sts = session.client(
                "sts", config=config, region_name=session.region_name or "us-east-1"
            )
            try:
                answer = sts.get_caller_identity()
            except ClientError as error:
                dates.append(_date(error.response))
                raise
            return answer, _date(answer)
    except (AwsFailed, BadShell) as error:
        return error, "".join(dates)


def _date(response: Mapping[str, Any]) -> str:
    return str(response.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date", ""))


def _chosen(variables: Mapping[str, str]) -> str:
    """By what the credentials are found, without any of them."""
    if variables.get(KEYS):
        return f"by the keys in {KEYS}"
    profile = variables.get("AWS_PROFILE") or variables.get("AWS_DEFAULT_PROFILE")
    return f"by the profile {profile!r}" if profile else "by the default profile or a role"


def _host(url: str) -> str:
    """The host and port of a URL, whatever stands before and behind them."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "an address that cannot be read"
    return f"{parts.hostname or 'an address without a host'}{port}"


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "without metadata"
