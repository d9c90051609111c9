"""What a stage does not say: its deployments, and the table of verdicts of its judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.cdk.artifact.packages import normalised
from reward_functions.cdk.model.deployment import Deployment, source_of
from reward_functions.core import registry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reward_functions.cdk.artifact.packages import Package


def unconfigured(packages: Iterable[Package]) -> tuple[Deployment, ...]:
    """Every reward that works as it is: ours, and those of the stage's packages.

    A judge does not: somebody has to name the model it asks.
    """
    carried = {package.name for package in packages}
    found = registry.installed()
    for broken in found.broken:  # left out, it would be missed in no list
        if normalised(broken.package) in carried:
            raise broken
    return tuple(
        Deployment.model_validate(spec.name)
        for spec in found.specs.values()
        if source_of(spec.name) in {None, *carried}
        and not spec.needs.judge
        and all(parameter.has_default for parameter in spec.parameters.values())
    )


def remembering(deployments: Iterable[Deployment], table: str) -> tuple[Deployment, ...]:
    """The same with a table of verdicts for every judge that does not say which."""
    named = {"cache_table": table}
    return tuple(
        each.model_copy(update={"judge": named | each.judge}) if each.judge else each
        for each in deployments
    )
