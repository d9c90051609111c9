"""The smoke route: `{"smoke_test": true}` is answered without the agent, the policy or a report.

It says what a deployed agent is and whether it could report, so that a mistake in an image, a role
or a variable shows before a job does. A payload with the ids of a rollout is never a smoke test.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.request.contract import RolloutMetadata
from reward_functions.rollouts.request.endpoints import endpoint_of, region_of

if TYPE_CHECKING:
    from reward_functions.rollouts.episode.options import Reporting
    from reward_functions.rollouts.request.contract import RolloutRequest

FIELD: Final = "smoke_test"


def is_smoke_test(request: RolloutRequest) -> bool:
    """Whether a request asks for the smoke route."""
    ids = request.metadata.job_arn or request.metadata.trajectory_id
    return request.payload.get(FIELD) is True and not ids


def smoke_answer(name: str, reporting: Reporting) -> dict[str, Any]:
    """The identity of the handler, and how it would report.

    Args:
        name: of the agent.
        reporting: the handler's.

    Returns:
        Status "ok", the handler's name, the version of this package, its reporting, and whether
        credentials are found; no credential, and nothing of the environment but these.
    """
    settings, own = reporting.reporter.settings, reporting.own
    return {
        "status": "ok",
        "handler": name,
        "version": _version(),
        "reporting": {
            "transport": own.transport if isinstance(own.transport, str) else settings.transport,
            "outbox": reporting.reporter.outbox.name,
            "endpoint": _endpoint(own.trusted),
            "window": reporting.window,
            "margin": reporting.margin,
            "minimum": reporting.minimum,
            "on_failure": reporting.on_failure,
            "reward": None if own.scorer is None else own.scorer.pin.json(),
        },
        "credentials": _has_credentials(),
    }


def _version() -> str:
    try:
        return version("reward-functions")
    except PackageNotFoundError:  # a copy of the source, such as a Lambda's folder
        return ""


def _endpoint(trusted: tuple[str, ...]) -> str:
    """Where a payload without an endpoint is reported; what is wrong with it where nowhere."""
    try:
        region_of(RolloutMetadata())
        return endpoint_of(RolloutMetadata(), trusted=trusted)
    except ConfigurationError as error:
        return str(error)


def _has_credentials() -> bool:
    import boto3  # noqa: PLC0415 - 0.2 s
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415

    try:
        return boto3.Session().get_credentials() is not None
    except BotoCoreError:
        return False
