"""`reward job show`: a job, and what it uses beside what is deployed."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from reward_functions.aws.failures import AwsFailed
from reward_functions.cli._console import MESSAGE, cell, facts, output, plain, print_json
from reward_functions.cli._echo import say
from reward_functions.cli._fitting import print_table
from reward_functions.cli.job._options import JOB, AsJson, Typed, taking
from reward_functions.cli.job._output import (
    SIMULATION,
    job_json,
    moment,
    print_findings,
    status,
)
from reward_functions.jobs.beside_deployed import beside_deployed
from reward_functions.jobs.hosting import Hosting, ModelPackage
from reward_functions.jobs.wording import duration, progress_words

if TYPE_CHECKING:
    from rich.table import Table

    from reward_functions.jobs.job import Job, MlflowRun
    from reward_functions.jobs.lookup import Place


BESIDE: Final = ("Its reward, beside what is deployed now", "Its agent, as it is now")
"""The title of the last table, for jobs that a function grades and for those of an agent."""


@taking(*JOB)
def show(typed: Typed, *, as_json: AsJson = False) -> None:
    """All about one job: its state, its settings, its reward beside what is deployed now."""
    where, _, found = typed.found()
    findings = list(beside_deployed(found, where.stage.stage, where.session))
    packages, problem = packages_of(where, found)
    if as_json:
        shown = job_json(found) | {"deployed": [asdict(each) for each in findings]}
        shown["simulation"] = where.simulated
        if packages:
            shown |= package_json(packages)
        shown["simulation_page"] = where.simulation_page(found) or None
        print_json(shown)
    else:
        if where.simulated:
            say(f"{SIMULATION}: {where.simulation_page(found)}")
        show_job(found)
        show_packages(packages, problem)
        print_findings(findings, BESIDE[not found.has_grader], "of")


WIDTH: Final = len("evaluator ")
"""Of what stands before an address."""


def show_job(job: Job) -> None:
    """The facts of a job, its hyperparameters and its tags."""
    console = output()
    console.print(_facts(job))
    addresses = {
        "job": job.id,
        "base": job.model,
        "grader" if job.has_grader else "agent": job.grader,
        "evaluator": job.evaluator,
        "model": job.tuned_model,
        "output": job.output,
    }
    for name, text in addresses.items():
        if text:
            # Not by the console, which would break an ARN at a hyphen.
            say(f"{name:{WIDTH}}{plain(text, 2_048)}")
    for title, pairs in (("Hyperparameters", job.hyperparameters), ("Tags", job.tags)):
        if pairs:
            _print_pairs(title, {key: str(value) for key, value in pairs.items()})


def _facts(job: Job) -> Table:
    ended = job.ended or datetime.now(UTC)
    return facts(
        {
            "name": cell(job.name or None),
            "status": status(job),
            "failure": Text(plain(job.failure, MESSAGE), "red") if job.failure else None,
            "service": cell(job.service.title),
            "at": cell(progress_words(job.progress) or None) if job.progress else None,
            "tokens": _tokens(job),
            "MLflow": _mlflow(job.mlflow),
            "made": cell(moment(job.created)),
            "ended": cell(moment(job.ended)) if job.ended else None,
            "took": cell(duration((ended - job.created).total_seconds())),
        }
    )


def _mlflow(run: MlflowRun | None) -> Text | None:
    """What the service names of a run: any part of it may be missing."""
    if run is None:
        return None
    named = {"run": run.run, "experiment": run.experiment, "app": run.app}
    return cell(", ".join(f"{name} {value}" for name, value in named.items() if value))


def _tokens(job: Job) -> Text | None:
    billed = (f"{number:,} {kind}" for kind, number in job.tokens.items())
    return cell(", ".join(billed)) if job.tokens else None


def _print_pairs(title: str, pairs: dict[str, str]) -> None:
    rows = [(name, value or None) for name, value in pairs.items()]
    print_table(("name", "value"), rows, words=("value",), title=title)


MAX_LISTED: Final = 20
"""Packages of a group that are shown."""


def packages_of(where: Place, job: Job) -> tuple[list[ModelPackage], str]:
    """The package that a job made and the newest others of its group, and why they are unknown.

    Raises nothing: a job is shown also where its package may not be read.
    """
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
    rows = [(each.arn.rpartition("/")[2], each.status, moment(each.created)) for each in found[1:]]
    if rows:
        print_table(("version", "status", "made"), rows, title="Others of its group")
    if problem:
        say(plain(problem, MESSAGE), err=True)
