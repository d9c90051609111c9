"""What the doctor sees of AWS: who signs, whose clock is right, who answers, what is allowed.

| check | a failure means |
| --- | --- |
| endpoint | not resolved, not trusted, or silent: likewise |
| clock | five minutes off: AWS refuses every signature |
| token | a bearer token cannot be minted: no chat client reaches the policy |
| permissions | IAM, simulated, denies an action of the agent's role |

No finding holds a key, a token or a signature.
"""

from __future__ import annotations

import re
import socket
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from reward_functions.aws.deployed.findings import NOTICED, REPLY, SKEW, CheckFinding
from reward_functions.aws.failures import AwsFailed, in_words
from reward_functions.aws.shell import aws_session
from reward_functions.core.loopback import is_loopback
from reward_functions.rollouts.request.endpoints import endpoint_of, region_of, require_trusted

if TYPE_CHECKING:
    from reward_functions.rollouts.request.contract import RolloutMetadata

JOB_ACTIONS: Final = (
    "sagemaker:Sample",
    "sagemaker:SampleWithResponseStream",
    "sagemaker:CompleteRollout",
    "sagemaker:UpdateReward",
)
EVERYWHERE: Final = ("sagemaker:CallWithBearerToken",)
POLICY: Final = "AmazonSageMakerJobRuntimeAccess"
"""The managed policy that allows all of these."""

ASSUMED: Final = re.compile(r"arn:(aws[a-z-]*):sts::([0-9]{12}):assumed-role/([^/]+)/.*")

HEALTH: Final = ("/ping", "/health")
OK: Final = 200
MISSING: Final = 404


class Reply(NamedTuple):
    """What a host answered: its status, and its clock where it says so."""

    status: int
    date: str


def endpoint(metadata: RolloutMetadata) -> CheckFinding:
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
        return CheckFinding(
            "failure", "endpoint", f"{host} is not found: check the region and the network"
        )
    try:
        reply = _asked(url, "/")
    except (OSError, HTTPException) as error:
        return CheckFinding(
            "failure",
            "endpoint",
            f"{url} does not answer ({type(error).__name__}): check the network, the proxy and, in "
            "a VPC, its endpoint",
        )
    return CheckFinding("ok", "endpoint", f"{url} answers (HTTP {reply.status})")


def clock(metadata: RolloutMetadata, now: float | None = None) -> CheckFinding:
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
        return CheckFinding("unknown", "clock", "the runtime gives no time to compare with")
    ahead = "ahead" if skew > 0 else "behind"
    if abs(skew) > NOTICED:
        verdict = "failure" if abs(skew) > SKEW else "warning"
        return CheckFinding(
            verdict,  # type: ignore[arg-type]
            "clock",
            f"{abs(skew):,.0f} s {ahead} of the runtime's; from {SKEW:g} s on every signature is "
            "refused: switch on NTP",
        )
    return CheckFinding("ok", "clock", f"within {max(1.0, abs(skew)):.0f} s of the runtime's")


def token(metadata: RolloutMetadata) -> CheckFinding:
    """Whether a bearer token can be minted here; it is not sent."""
    from reward_functions.rollouts.report.transports.bearer_tokens import (  # noqa: PLC0415 - boto3
        generate_token,
    )

    try:
        generate_token(region_of(metadata))
    except RuntimeError:
        return CheckFinding("unknown", "token", "no credentials to mint one with")
    return CheckFinding("ok", "token", f"one for {region_of(metadata)} can be minted")


def permissions(metadata: RolloutMetadata) -> CheckFinding:
    """What IAM says of the five actions, for whoever types this.

    Raises:
        AwsFailed: IAM cannot be asked, for another reason than a permission.
    """
    try:
        with in_words("asking who we are"):
            session = aws_session(region=region_of(metadata))
            config = _brief()
            who = session.client("sts", config=config).get_caller_identity()["Arn"]
            iam = session.client("iam", config=config)
        known = ASSUMED.fullmatch(who)
        source = f"arn:{known[1]}:iam::{known[2]}:role/{known[3]}" if known else who
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
        return CheckFinding("unknown", "permissions", message)
    if denied:
        return CheckFinding(
            "failure",
            "permissions",
            f"{', '.join(denied)} not allowed: attach {POLICY} to the agent's role",
        )
    return CheckFinding("ok", "permissions", "IAM, simulated, allows the five actions")


def healthy(url: str) -> CheckFinding:
    """Whether an agent's health route answers."""
    for path in HEALTH:
        try:
            reply = _asked(url, path)
        except (OSError, HTTPException, ValueError) as error:
            return CheckFinding(
                "failure",
                "agent",
                f"{url} does not answer ({type(error).__name__}): is it running?",
            )
        if reply.status == OK:
            return CheckFinding("ok", "agent", f"{path} answers (HTTP {reply.status})")
        if reply.status != MISSING:
            return CheckFinding("failure", "agent", f"{path} answers HTTP {reply.status}")
    return CheckFinding(
        "warning", "agent", "it has neither /ping, which AgentCore asks, nor /health"
    )


def invocable(name: str) -> CheckFinding:
    """Whether a Lambda is there, and may be invoked: a dry run, which runs nothing.

    Raises:
        AwsFailed: it is not, or may not.
    """
    with in_words(f"invoking {name}, as a dry run"):
        client = aws_session().client("lambda", config=_brief())
        client.invoke(FunctionName=name, InvocationType="DryRun", Payload=b"{}")
    return CheckFinding("ok", "agent", f"{name} may be invoked")


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
