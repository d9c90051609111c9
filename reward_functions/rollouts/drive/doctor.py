"""Whether a rollout of this machine can be reported: a table of checks, each with its remedy.

| check | a failure means |
| --- | --- |
| settings | a variable that cannot be read: nothing is reported |
| boto3 | no `sagemakerjobruntime`: the modelled transport does not start |
| credentials, clock, endpoint, token, permissions | see `doctor_aws` |
| payload | a request of the trainer's that is not understood, or can never be reported |
| outbox | a report is not durable: a crash loses it |
| frameworks, tracing | see `doctor_frameworks` |
| deferred | where the variables say so: an episode that defers its reward has nowhere to go |
| agent | nobody answers |

A check looks for a few seconds; what it cannot see is unknown, and no failure. All look at once.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from dataclasses import dataclass
from time import time
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.deployed.findings import Check, CheckFinding, credentials
from reward_functions.rollouts.drive import doctor_aws, doctor_frameworks
from reward_functions.rollouts.episode.smoke import FIELD
from reward_functions.rollouts.report.settings import RolloutSettings
from reward_functions.rollouts.request.contract import RolloutMetadata, read_request
from reward_functions.rollouts.request.errors import RolloutError

if TYPE_CHECKING:
    from collections.abc import Callable

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
        """Which rollout; empty where there is no payload, or none that can be read."""
        try:
            return read_request(self.payload or b"{}").metadata
        except RolloutError:
            return RolloutMetadata()


def checks(subject: Subject) -> list[Check]:
    """All that apply."""
    metadata = subject.metadata
    found = [
        Check("settings", settings),
        Check("boto3", modelled),
        Check("credentials", credentials),
        Check("endpoint", lambda: doctor_aws.endpoint(metadata)),
        Check("clock", lambda: doctor_aws.clock(metadata)),
        Check("token", lambda: doctor_aws.token(metadata)),
        Check("permissions", lambda: doctor_aws.permissions(metadata)),
        Check("outbox", outbox),
        Check("frameworks", doctor_frameworks.frameworks),
        Check("tracing", doctor_frameworks.tracing),
    ]
    if any(os.environ.get(each) for each in DEFERRING):
        found.append(Check("deferred", deferred))
    if (given := subject.payload) is not None:
        found.append(Check("payload", lambda: payload(given)))
    if subject.agent:
        found.append(Check("agent", lambda: agent(subject.agent)))
    return found


def settings() -> CheckFinding:
    """Whether the variables can be read."""
    known = RolloutSettings.from_env()
    return CheckFinding(
        "ok",
        "settings",
        f"reports go by the {known.transport} transport, within {known.window:g} s less "
        f"{known.margin:g} s; an episode that we could not run is reported as {known.on_failure}",
    )


def modelled() -> CheckFinding:
    """Whether boto3 has the service."""
    import boto3  # noqa: PLC0415 - 0.2 s

    if SERVICE in boto3.session.Session().get_available_services():
        return CheckFinding("ok", "boto3", f"{boto3.__version__} has {SERVICE}")
    return CheckFinding(
        "failure",
        "boto3",
        f"{boto3.__version__} has no {SERVICE}: pip install 'boto3>=1.44' ({MODELLED} has it), or "
        "set REWARD_ROLLOUTS_TRANSPORT=bearer",
    )


def outbox() -> CheckFinding:
    """Whether an intent can be made durable."""
    from reward_functions.rollouts.report.outbox.opening import open_outbox  # noqa: PLC0415 - boto3

    found: Any = open_outbox(RolloutSettings.from_env().outbox)
    try:
        found.lease(f"doctor-{os.getpid()}", time())
        counts = found.counts()
    except RolloutError as error:
        return CheckFinding("failure", "outbox", str(error))
    finally:
        found.close()
    waiting = counts.get("pending", 0)
    more = f"; {waiting:,} reports wait: `reward rollouts outbox list`" if waiting else ""
    return CheckFinding("ok", "outbox", f"{found.name} can be written{more}")


def deferred() -> CheckFinding:
    """Whether an episode may defer its reward, as far as the variables say; nothing is written."""
    known = RolloutSettings.from_env()
    return CheckFinding(
        "ok",
        "deferred",
        f"an episode may go to {known.results}, to be scored by {known.scorer}; what is not "
        "rewarded then is shown by `reward rollouts redrive --dry-run`",
    )


def payload(given: bytes) -> CheckFinding:
    """Whether a request can be read, run and reported."""
    try:
        request = read_request(given)
    except RolloutError as error:
        return CheckFinding("failure", "payload", str(error))
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
        return CheckFinding(
            "failure",
            "payload",
            f"{', '.join(missing)} missing: a rollout without ids is run and never reported",
        )
    known = request.inference_params.wire()
    sampling = ", ".join(f"{name} {value:g}" for name, value in known.items())
    return CheckFinding(
        "ok",
        "payload",
        f"a prompt of {len(request.prompt):,} characters"
        f"{', an instance' if request.instance else ''}; {sampling or 'no inferenceParams'}",
    )


def agent(asked: str | Callable[..., Any]) -> CheckFinding:
    """Whether an agent answers: its smoke route, its health by HTTP, a dry run of a Lambda.

    No rollout begins.
    """
    if not isinstance(asked, str):
        return smoke(asked)
    if "://" in asked:
        return doctor_aws.healthy(asked)
    if asked.startswith("arn:") and ":bedrock-agentcore:" in asked:
        return CheckFinding(
            "unknown", "agent", "an invocation of AgentCore is paid for: `reward rollouts run -n 1`"
        )
    return doctor_aws.invocable(asked)


def smoke(function: Callable[..., Any]) -> CheckFinding:
    """What the smoke route of a `rollout_handler` says; another function would run a rollout."""
    if not hasattr(function, "rollout"):
        return CheckFinding(
            "warning", "agent", "it is no rollout_handler: it reports nothing by itself"
        )
    answer = function({FIELD: True})
    if inspect.iscoroutine(answer):
        answer = asyncio.run(answer)
    if not isinstance(answer, dict) or answer.get("status") != "ok":
        return CheckFinding("failure", "agent", "its smoke route does not answer")
    reporting = answer["reporting"]
    return CheckFinding(
        "ok",
        "agent",
        f"{answer['handler']} answers its smoke route; it reports to {reporting['endpoint']}, "
        f"within {reporting['window']:g} s less {reporting['margin']:g} s",
    )
