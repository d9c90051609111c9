"""How the functions of a deployment start: what Lambda refuses together, and what it costs at rest.

Nothing here knows the CDK. Sources: "Improving startup performance with Lambda SnapStart" and
"Configuring provisioned concurrency" in the Lambda developer guide, read in November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from reward_functions.aws.regions import partition_of
from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STORAGE_MB: Final = 512
"""Of `/tmp` in every function, and the most that a snapshot holds."""

MAX_STORAGE_MB: Final = 10_240

MAX_ENVIRONMENTS: Final = 2**31 - 1
"""The most that Lambda's API can write; how many there are, the account says."""

WITHOUT_SNAP_START: Final = {"ap-east-2": "Taipei", "ap-southeast-6": "New Zealand"}
"""Regions that "Supported Regions" of the page on SnapStart leaves out. It speaks of commercial
regions alone; CloudFormation's linter refuses it in GovCloud and in China."""

COMMERCIAL: Final = "aws"
"""The partition of the commercial regions."""

CHINA: Final = "aws-cn"
"""Where Lambda has no X-Ray ("Amazon Lambda" in Getting Started with AWS in China)."""

SNAP_START_PYTHON: Final = (3, 12)

MONTH: Final = 730 * 3600
"""Seconds, as AWS's own examples count a month."""

PROVISIONED: Final = {"x86_64": 0.0000041667, "arm64": 0.0000033334}
"""Dollars for a GB-second of provisioned concurrency, used or not: us-east-1, as price lists and
guides from 2025 to September 2026 have it; AWS's own page shows its figures to browsers only."""

CACHED: Final = 0.0000015046
"""Dollars for a GB-second of a cached snapshot, of either processor: the same sources."""


class BadStart(ConfigurationError):
    """Lambda takes the options of a deployment not together, or not here."""


class Starting(Protocol):
    """A deployment, as far as its start goes: fields of `cdk.model.deployment.Deployment`."""

    @property
    def name(self) -> str:
        """The deployment's."""

    @property
    def immutable(self) -> bool:
        """Whether every state is a function of its own."""

    @property
    def memory_mb(self) -> int:
        """Of its function."""

    @property
    def reserved_concurrency(self) -> int | None:
        """Invocations at a time, at most; None for no such limit."""

    @property
    def provisioned_concurrency(self) -> int | None:
        """Environments that are kept ready; None for none."""

    @property
    def snap_start(self) -> bool:
        """Whether environments are restored from a snapshot."""

    @property
    def ephemeral_storage_mb(self) -> int:
        """Of `/tmp`."""

    @property
    def tracing(self) -> bool:
        """Whether X-Ray traces it."""


class StartingStage(Protocol):
    """A stage, as far as its functions' starts go: fields of `cdk.model.stages.Stage`."""

    @property
    def region(self) -> str:
        """AWS's name of the region."""

    @property
    def python(self) -> str:
        """Of the functions, as `3.13`."""

    @property
    def architecture(self) -> str:
        """`arm64` or `x86_64`."""

    @property
    def keep_versions(self) -> int:
        """Versions that a prune keeps at least."""

    @property
    def deployments(self) -> Sequence[Starting]:
        """Its functions."""


def check_starts(each: Starting, stage: StartingStage) -> None:
    """Whether Lambda starts a deployment's function as it is asked to.

    Raises:
        BadStart: it does not; the message is the first reason.
    """
    for reason in _refusals(each, stage):
        raise BadStart(reason)


def _refusals(each: Starting, stage: StartingStage) -> Iterator[str]:
    provided, reserved = each.provisioned_concurrency, each.reserved_concurrency
    asked = {"provisioned_concurrency": provided, "snap_start": each.snap_start}
    for option in [name for name, value in asked.items() if value and each.immutable]:
        yield (
            f"{option} is of published versions, and an immutable deployment is asked by its "
            "function's name: drop one of the two"
        )
    if provided and reserved is not None and reserved < 2 * provided:
        yield (
            f"reserved_concurrency {reserved} is too little for provisioned_concurrency "
            f"{provided}: while a deployment replaces a version, both have theirs, and Lambda "
            f"provides no more than is reserved: reserve {2 * provided}, or nothing"
        )
    if each.tracing and partition_of(stage.region) == CHINA:
        yield f"Lambda has no X-Ray in {stage.region}: leave tracing out"
    if not each.snap_start:
        return
    if provided:
        yield (
            "Lambda takes snap_start and provisioned_concurrency not together: a version is "
            "restored or kept ready"
        )
    if each.ephemeral_storage_mb > STORAGE_MB:
        yield (
            f"Lambda takes snap_start with no more ephemeral storage than {STORAGE_MB} MB: leave "
            "ephemeral_storage_mb out"
        )
    if tuple(map(int, stage.python.split("."))) < SNAP_START_PYTHON:
        yield f"Lambda takes snap_start from Python 3.12, and the stage's is {stage.python}"
    if place := WITHOUT_SNAP_START.get(stage.region):
        yield f"Lambda has no SnapStart in {stage.region} ({place}): leave snap_start out"
    if partition_of(stage.region) != COMMERCIAL:
        yield (
            f"AWS documents SnapStart for commercial regions, and {stage.region} is none: leave "
            "snap_start out"
        )


def costs_of_starts(stage: StartingStage) -> Iterator[str]:
    """What the starts of a stage's functions cost while nobody calls, a sentence for each."""
    for each in stage.deployments:
        gigabytes = each.memory_mb / 1024
        if provided := each.provisioned_concurrency:
            month = provided * gigabytes * PROVISIONED[stage.architecture] * MONTH
            yield (
                f"{each.name} keeps {provided} environments of {each.memory_mb} MB ready: about "
                f"${month:,.2f} a month (list price of us-east-1), used or not, and twice that "
                "while a deployment replaces its version"
            )
        if each.snap_start:
            month = gigabytes * CACHED * MONTH
            kept = stage.keep_versions
            yield (
                f"every published version of {each.name} caches a snapshot of {each.memory_mb} "
                f"MB: about ${month:,.2f} a month (list price of us-east-1) for each until `reward "
                f"deployed prune` deletes it, ${kept * month:,.2f} for the {kept} it keeps"
            )


def state(each: Starting) -> dict[str, Any]:
    """What makes another generation of an immutable deployment, where it is not as usual."""
    found: dict[str, Any] = {}
    if each.ephemeral_storage_mb != STORAGE_MB:
        found["ephemeral_storage_mb"] = each.ephemeral_storage_mb
    if each.tracing:
        found["tracing"] = True
    return found
