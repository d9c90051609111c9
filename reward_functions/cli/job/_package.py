"""What a job of SageMaker made, for `reward job show`: the model package, and its checkpoints."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from reward_functions.cli._echo import say

if TYPE_CHECKING:
    from reward_functions.jobs.hosting import ModelPackage
    from reward_functions.jobs.job import Job
    from reward_functions.jobs.lookup import Place

MAX_LISTED: Final = 20
"""Packages of a group that are shown."""


def packages_of(where: Place, job: Job) -> tuple[list[ModelPackage], str]:
    """The package that a job made and the newest others of its group, and why they are unknown.

    Raises nothing: a job is shown also where its package may not be read.
    """
    from itertools import islice

    from reward_functions.aws.failures import AwsFailed
    from reward_functions.jobs.hosting import Hosting

    if not job.service.packages or not job.tuned_model:
        return [], ""
    packages = Hosting(where.stage.region, where.session)
    found: list[ModelPackage] = []
    try:
        made = packages.package(job.tuned_model)
        if made is None:
            return [], f"the model package {job.tuned_model} is gone"
        found.append(made)
        others = islice(packages.of_group(made.group), MAX_LISTED) if made.group else ()
        found += [each for each in others if each.arn != made.arn]
    except AwsFailed as error:
        return found, str(error)
    return found, ""


def package_json(found: list[ModelPackage]) -> dict[str, Any]:
    """The package of a job and the others of its group, for programs."""
    plain = [asdict(each) | {"created": each.created.isoformat()} for each in found]
    return {"package": plain[0] if plain else None, "group": plain[1:]}


def show_packages(found: list[ModelPackage], problem: str) -> None:
    """A line for each fact of the package; the others of its group as a table."""
    from reward_functions.cli._console import MESSAGE, cell, plain
    from reward_functions.cli._fitting import print_table
    from reward_functions.cli.job._output import moment

    for package in found[:1]:
        facts = {
            "package": "a checkpoint" if package.checkpoint else "the result",
            "weights": package.location or "kept by SageMaker",
            "made of": package.base,
            "recipe": package.recipe,
        }
        for name, words in facts.items():
            if words:
                say(f"{name:8}{plain(words, 2_048)}")
    rows = [
        (cell(each.arn.rpartition("/")[2]), cell(each.status), cell(moment(each.created)))
        for each in found[1:]
    ]
    if rows:
        print_table(("version", "status", "made"), rows, title="Others of its group")
    if problem:
        say(plain(problem, MESSAGE), err=True)
