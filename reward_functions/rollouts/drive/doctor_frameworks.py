"""Which frameworks an agent of this machine can be written with, and whether rollouts are traced.

Nothing is imported: a framework takes seconds, and what is broken is not for this to find.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from reward_functions.aws.deployed.findings import CheckFinding
from reward_functions.core.extras import EXTRAS, require
from reward_functions.rollouts.report.settings import PREFIX, RolloutSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

FRAMEWORKS: Final = {
    "strands": "strands-agents",
    "openai": "openai",
    "agents": "openai-agents",
    "langchain_openai": "langchain-openai",
    "bedrock_agentcore": "bedrock-agentcore",
    "opentelemetry": "opentelemetry-api",
}
"""By module, a key of `EXTRAS`: the package whose version is shown."""


def frameworks(packages: Mapping[str, str] = FRAMEWORKS) -> CheckFinding:
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
    return CheckFinding("ok", "frameworks", "; ".join(parts))


def tracing() -> CheckFinding:
    """Whether rollouts are traced, as far as this process can tell.

    Raises:
        MissingExtra: they are to be, and OpenTelemetry's API is not installed.
    """
    variable = f"{PREFIX}OTEL=1"
    if not RolloutSettings.from_env().otel:
        return CheckFinding("ok", "tracing", f"off; {variable} turns it on")
    require("opentelemetry", by=variable)
    if find_spec("opentelemetry.sdk") is None:
        return CheckFinding(
            "warning",
            "tracing",
            f"{variable}, and spans go nowhere: pip install opentelemetry-sdk",
        )
    return CheckFinding("ok", "tracing", f"{variable}: spans go to the providers of the process")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
