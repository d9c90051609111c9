"""Whether a rollout of this machine can be reported: a table of checks, each with its remedy.

| check | a failure means |
| --- | --- |
| settings | a variable that cannot be read: nothing is reported |
| boto3 | no `sagemakerjobruntime`: an episode without a turn cannot call the policy |
| credentials | nobody signs |
| endpoint | not resolved, not trusted, or silent: likewise |
| clock | five minutes off: AWS refuses every signature |
| token | a bearer token cannot be minted: no chat client reaches the policy |
| permissions | IAM, simulated, denies an action of the agent's role |
| payload | a request of the trainer's that is not understood, or can never be reported |
| outbox | a report is not durable: a crash loses it |
| frameworks, tracing | a framework is too old; traces go nowhere |
| deferred | where the variables say so: an episode that defers its reward has nowhere to go |
| agent | nobody answers |

A check looks for a few seconds; what it cannot see is unknown, and no failure. All look at once.
No finding holds a key, a token or a signature.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import socket
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from time import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from reward_functions.aws.arn import Arn
from reward_functions.aws.deployed.findings import (
    NOTICED,
    REPLY,
    SKEW,
    Check,
    CheckFinding,
    CheckVerdict,
    credentials,
)
from reward_functions.aws.failures import OF_FUNCTIONS, AwsFailed, in_words
from reward_functions.aws.shell import aws_session
from reward_functions.core.extras import EXTRAS, require
from reward_functions.core.loopback import is_loopback
from reward_functions.rollouts.episode.smoke import FIELD
from reward_functions.rollouts.report.settings import PREFIX, RolloutSettings
from reward_functions.rollouts.request.contract import RolloutMetadata, read_request
from reward_functions.rollouts.request.endpoints import endpoint_of, region_of, require_trusted
from reward_functions.rollouts.request.errors import RolloutError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Found(NamedTuple):
    """The finding of a check, by the name that the table gives it."""

    verdict: CheckVerdict
    message: str


FRAMEWORKS: Final = {
    "strands": "strands-agents",
    "openai": "openai",
    "agents": "openai-agents",
    "langchain_openai": "langchain-openai",
    "bedrock_agentcore": "bedrock-agentcore",
    "opentelemetry": "opentelemetry-api",
}
"""By module, a key of `EXTRAS`: the package whose version is shown."""


def frameworks(packages: Mapping[str, str] = FRAMEWORKS) -> Found:
    """Those that are installed, with their versions, and the extras of the others.

    Args:
        packages: by module.
    """
    versions = {module: _version(package) for module, package in packages.items()}
    there = [f"{packages[module]} {found}" for module, found in versions.items() if found]
    extras = sorted({EXTRAS[module].name for module, found in versions.items() if not found})
    parts = [", ".join(there) or "none is installed"]
    if extras:
        parts.append(f"the rest: pip install 'reward-functions[{','.join(extras)}]'")
    return Found("ok", "; ".join(parts))


def tracing() -> Found:
    """Whether rollouts are traced, as far as this process can tell.

    Raises:
        MissingExtra: they are to be, and OpenTelemetry's API is not installed.
    """
    variable = f"{PREFIX}OTEL=1"
    if not RolloutSettings.from_env().otel:
        return Found("ok", f"off; {variable} turns it on")
    require("opentelemetry", by=variable)
    if find_spec("opentelemetry.sdk") is None:
        return Found("warning", f"{variable}, and spans go nowhere: pip install opentelemetry-sdk")
    return Found("ok", f"{variable}: spans go to the providers of the process")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


JOB_ACTIONS: Final = (
    "sagemaker:Sample",
    "sagemaker:SampleWithResponseStream",
    "sagemaker:CompleteRollout",
    "sagemaker:UpdateReward",
)
EVERYWHERE: Final = ("sagemaker:CallWithBearerToken",)
POLICY: Final = "AmazonSageMakerJobRuntimeAccess"
"""The managed policy that allows all of these."""

ASSUMED: Final = r"assumed-role/(?P<role>[^/]+)/.*"

HEALTH: Final = ("/ping", "/health")
OK: Final = 200
MISSING: Final = 404


class Reply(NamedTuple):
    """The answer of a host: its status, and its clock where it says so."""

    status: int
    date: str


def runtime_endpoint(metadata: RolloutMetadata) -> Found:
    """Whether the runtime is trusted, found and answers.

    Raises:
        UntrustedEndpoint: the payload names one that no credential is sent to.
    """
    url = endpoint_of(metadata)
    if not is_loopback(url):
        require_trusted(url)
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        socket.getaddrinfo(host, parts.port or 443)
    except OSError:
        return Found("failure", f"{host} is not found: check the region and the network")
    try:
        reply = _asked(url, "/")
    except (OSError, HTTPException) as error:
        return Found(
            "failure",
            f"{url} does not answer ({type(error).__name__}): check the network, the proxy and, in "
            "a VPC, its endpoint",
        )
    return Found("ok", f"{url} answers (HTTP {reply.status})")


def runtime_clock(metadata: RolloutMetadata, now: float | None = None) -> Found:
    """Whether our clock is the runtime's.

    Args:
        metadata: which runtime.
        now: seconds since the epoch; None for the time of day.
    """
    ours = datetime.now(UTC) if now is None else datetime.fromtimestamp(now, UTC)
    try:
        date = _asked(endpoint_of(metadata), "/").date
        skew = (ours - parsedate_to_datetime(date)).total_seconds()
    except (OSError, HTTPException, TypeError, ValueError):
        return Found("unknown", "the runtime gives no time to compare with")
    ahead = "ahead" if skew > 0 else "behind"
    if abs(skew) > NOTICED:
        verdict: CheckVerdict = "failure" if abs(skew) > SKEW else "warning"
        return Found(
            verdict,
            f"{abs(skew):,.0f} s {ahead} of the runtime's; from {SKEW:g} s on every signature is "
            "refused: switch on NTP",
        )
    return Found("ok", f"within {max(1.0, abs(skew)):.0f} s of the runtime's")


def token(metadata: RolloutMetadata) -> Found:
    """Whether a bearer token can be minted here; it is not sent."""
    from reward_functions.rollouts.report.credentials import generate_token  # noqa: PLC0415 - boto3

    try:
        generate_token(region_of(metadata))
    except RuntimeError:
        return Found("unknown", "no credentials to mint one with")
    return Found("ok", f"one for {region_of(metadata)} can be minted")


def permissions(metadata: RolloutMetadata) -> Found:
    """IAM's answer about the five actions, for you as you type this.

    Raises:
        AwsFailed: IAM cannot be asked, for another reason than a permission.
    """
    try:
        with in_words("asking who we are"):
            session = aws_session(region=region_of(metadata))
            config = _brief()
            who = session.client("sts", config=config).get_caller_identity()["Arn"]
            iam = session.client("iam", config=config)
        known = Arn.read(who, "sts", ASSUMED)
        role = known and replace(known, service="iam", resource=f"role/{known['role']}")
        source = str(role or who)
        job = metadata.job_arn or "*"
        asked = {JOB_ACTIONS: job, EVERYWHERE: "*"}
        with in_words("simulating what the caller may do"):
            denied = [
                str(each["EvalActionName"])
                for actions, resource in asked.items()
                for each in iam.simulate_principal_policy(
                    PolicySourceArn=source, ActionNames=list(actions), ResourceArns=[resource]
                )["EvaluationResults"]
                if each["EvalDecision"] != "allowed"
            ]
    except AwsFailed as error:
        if error.denied:
            message = "iam:SimulatePrincipalPolicy is not allowed here"
        else:
            message = f"not simulated: {error}"
        return Found("unknown", message)
    if denied:
        return Found(
            "failure", f"{', '.join(denied)} not allowed: attach {POLICY} to the agent's role"
        )
    return Found("ok", "IAM, simulated, allows the five actions")


def healthy(url: str) -> Found:
    """Whether an agent's health route answers."""
    for path in HEALTH:
        try:
            reply = _asked(url, path)
        except (OSError, HTTPException, ValueError) as error:
            return Found(
                "failure", f"{url} does not answer ({type(error).__name__}): is it running?"
            )
        if reply.status == OK:
            return Found("ok", f"{path} answers (HTTP {reply.status})")
        if reply.status != MISSING:
            return Found("failure", f"{path} answers HTTP {reply.status}")
    return Found("warning", "it has neither /ping, which AgentCore asks, nor /health")


def invocable(name: str) -> Found:
    """Whether a Lambda is there, and may be invoked: a dry run, which runs nothing.

    Raises:
        AwsFailed: it is not, or may not.
    """
    with in_words(f"invoking {name}, as a dry run", OF_FUNCTIONS):
        client = aws_session().client("lambda", config=_brief())
        client.invoke(FunctionName=name, InvocationType="DryRun", Payload=b"{}")
    return Found("ok", f"{name} may be invoked")


def _brief() -> Any:
    from botocore.config import Config  # noqa: PLC0415 - 0.2 s

    return Config(connect_timeout=REPLY, read_timeout=REPLY, retries={"total_max_attempts": 1})


def _asked(url: str, path: str) -> Reply:
    """What a host answers to a GET without credentials.

    Raises:
        OSError, HTTPException, ValueError: nothing, or no HTTP.
    """
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=REPLY)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return Reply(response.status, response.getheader("Date") or "")
    finally:
        connection.close()


SERVICE: Final = "sagemakerjobruntime"

DEFERRING: Final = ("REWARD_ROLLOUTS_RESULTS", "REWARD_ROLLOUTS_SCORER")
"""Variables by which episodes may defer their rewards."""

MODELLED: Final = "boto3 1.44"
"""The version from which the service is modelled for certain (botocore 1.43.20)."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is looked at.

    Args:
        payload: a request as a trainer sends it; None for none.
        agent: a URL, the name of a Lambda, or a callable of this process; "" for none.
    """

    payload: bytes | None = None
    agent: str | Callable[..., Any] = ""

    @property
    def metadata(self) -> RolloutMetadata:
        """The rollout; empty without a payload, or with one that cannot be read."""
        try:
            return read_request(self.payload or b"{}").metadata
        except RolloutError:
            return RolloutMetadata()


def checks(subject: Subject) -> list[Check]:
    """All that apply."""
    metadata, given = subject.metadata, subject.payload
    looks: dict[str, Callable[[], Found]] = {
        "settings": settings,
        "boto3": modelled,
        "endpoint": lambda: runtime_endpoint(metadata),
        "clock": lambda: runtime_clock(metadata),
        "token": lambda: token(metadata),
        "permissions": lambda: permissions(metadata),
        "outbox": outbox,
        "frameworks": frameworks,
        "tracing": tracing,
    }
    if any(os.environ.get(each) for each in DEFERRING):
        looks["deferred"] = deferred
    if given is not None:
        looks["payload"] = lambda: payload(given)
    if subject.agent:
        looks["agent"] = lambda: agent(subject.agent)
    found = [Check(name, partial(_found, name, look)) for name, look in looks.items()]
    return [*found[:2], Check("credentials", credentials), *found[2:]]


def _found(name: str, look: Callable[[], Found]) -> CheckFinding:
    found = look()
    return CheckFinding(found.verdict, name, found.message)


def settings() -> Found:
    """Whether the variables can be read."""
    known = RolloutSettings.from_env()
    return Found(
        "ok",
        f"reports go by the {known.transport} transport, within {known.window:g} s less "
        f"{known.margin:g} s; an episode that we could not run is reported as {known.on_failure}",
    )


def modelled() -> Found:
    """Whether boto3 has the service."""
    import boto3  # noqa: PLC0415 - 0.2 s

    if SERVICE in boto3.session.Session().get_available_services():
        return Found("ok", f"{boto3.__version__} has {SERVICE}")
    return Found(
        "failure",
        f"{boto3.__version__} has no {SERVICE}: pip install 'boto3>=1.44' ({MODELLED} has it), or "
        "set REWARD_ROLLOUTS_TRANSPORT=bearer",
    )


def outbox() -> Found:
    """Whether an intent can be made durable."""
    from reward_functions.rollouts.report.outbox.opening import open_outbox  # noqa: PLC0415 - boto3

    found: Any = open_outbox(RolloutSettings.from_env().outbox)
    try:
        found.lease(f"doctor-{os.getpid()}", time())
        counts = found.counts()
    except RolloutError as error:
        return Found("failure", str(error))
    finally:
        found.close()
    waiting = counts.get("pending", 0)
    more = f"; {waiting:,} reports wait: `reward rollouts outbox list`" if waiting else ""
    return Found("ok", f"{found.name} can be written{more}")


def deferred() -> Found:
    """Whether an episode may defer its reward, as far as the variables say; nothing is written."""
    known = RolloutSettings.from_env()
    return Found(
        "ok",
        f"an episode may go to {known.results}, to be scored by {known.scorer}; what is not "
        "rewarded then is shown by `reward rollouts redrive --dry-run`",
    )


def payload(given: bytes) -> Found:
    """Whether a request can be read, run and reported."""
    try:
        request = read_request(given)
    except RolloutError as error:
        return Found("failure", str(error))
    missing = [
        name
        for name, there in (
            ("metadata.jobArn", request.metadata.job_arn),
            ("metadata.rolloutId", request.metadata.trajectory_id),
            ("prompt", request.prompt or request.instance),
        )
        if not there
    ]
    if missing:
        return Found(
            "failure",
            f"{', '.join(missing)} missing: a rollout without ids is run and never reported",
        )
    known = request.inference_params.wire()
    sampling = ", ".join(f"{name} {value:g}" for name, value in known.items())
    return Found(
        "ok",
        f"a prompt of {len(request.prompt):,} characters"
        f"{', an instance' if request.instance else ''}; {sampling or 'no inferenceParams'}",
    )


def agent(asked: str | Callable[..., Any]) -> Found:
    """Whether an agent answers: its smoke route, its health by HTTP, a dry run of a Lambda.

    No rollout begins.
    """
    if not isinstance(asked, str):
        return smoke(asked)
    if "://" in asked:
        return healthy(asked)
    if asked.startswith("arn:") and ":bedrock-agentcore:" in asked:
        return Found(
            "unknown", "an invocation of AgentCore is paid for: `reward rollouts run -n 1`"
        )
    return invocable(asked)


def smoke(function: Callable[..., Any]) -> Found:
    """The answer of a `rollout_handler`'s smoke route; another function would run a rollout."""
    if not hasattr(function, "rollout"):
        return Found("warning", "it is no rollout_handler: it reports nothing by itself")
    answer = function({FIELD: True})
    if inspect.iscoroutine(answer):
        answer = asyncio.run(answer)
    if not isinstance(answer, dict) or answer.get("status") != "ok":
        return Found("failure", "its smoke route does not answer")
    reporting = answer["reporting"]
    return Found(
        "ok",
        f"{answer['handler']} answers its smoke route; it reports to {reporting['endpoint']}, "
        f"within {reporting['window']:g} s less {reporting['margin']:g} s",
    )
