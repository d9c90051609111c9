"""How the functions of a deployment start: what Lambda refuses together, and what it costs at rest.

Nothing here knows the CDK. Sources: "Improving startup performance with Lambda SnapStart" and
"Configuring provisioned concurrency" in the Lambda developer guide, read in November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.aws.regions import partition_of
from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.cdk.model.deployment import Deployment
    from reward_functions.cdk.model.stages import Stage

STORAGE_MB: Final = 512
"""Of `/tmp` in every function, and the most that a snapshot holds."""

MAX_STORAGE_MB: Final = 10_240

ONE_PROCESSOR_MB: Final = 1769
"""Memory at which Lambda gives one whole processor (Lambda developer guide, "Configure memory")."""

LEAST_MEMORY_MB: Final = 512
"""The algebra's process and the function's own take 200 MB; with less, both wait for seconds."""


class Seconds(NamedTuple):
    """How long `math` takes, in seconds: to the first response, and for 256 samples after it."""

    start: float
    batch: float


SECONDS: Final = {1769: Seconds(0.83, 0.36), 1024: Seconds(1.6, 0.56), 512: Seconds(3.3, 1.5)}
"""By memory in MB, under AWS's runtime client with that share of a processor of ours:
`python -m tests.benchmarks memory`."""

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


def check_starts(each: Deployment, stage: Stage) -> None:
    """Whether Lambda starts a deployment's function as it is asked to.

    Raises:
        BadStart: it does not; the message is the first reason.
    """
    for reason in _refusals(each, stage):
        raise BadStart(reason)


def _refusals(each: Deployment, stage: Stage) -> Iterator[str]:
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


def costs_of_starts(stage: Stage) -> Iterator[str]:
    """The cost of the starts of a stage's functions while nobody calls, a sentence for each."""
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


def costs_of_memory(stage: Stage) -> Iterator[str]:
    """The seconds that a part of a processor costs, a sentence for each function that has one."""
    whole = SECONDS[ONE_PROCESSOR_MB]
    for each in stage.deployments:
        if each.memory_mb >= ONE_PROCESSOR_MB:
            continue
        size = max(size for size in SECONDS if size <= each.memory_mb)
        part, share = SECONDS[size], each.memory_mb / ONE_PROCESSOR_MB
        yield (
            f"{each.name} has {each.memory_mb} MB, and with it {share:.0%} of a processor: where "
            f"`math` was measured at {size} MB, its first response came after {part.start:g} s "
            f"instead of {whole.start:g}, and 256 samples took {part.batch:g} s instead of "
            f"{whole.batch:g}. Rewards stay what they are; what a batch's deadline cuts off is "
            "unscored"
        )


def state(each: Deployment) -> dict[str, Any]:
    """The settings that make another generation of an immutable deployment, if unusual."""
    found: dict[str, Any] = {}
    if each.ephemeral_storage_mb != STORAGE_MB:
        found["ephemeral_storage_mb"] = each.ephemeral_storage_mb
    if each.tracing:
        found["tracing"] = True
    return found
