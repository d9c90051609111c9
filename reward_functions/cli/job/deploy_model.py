"""`reward job deploy-model`: host the model that a job made, so that it can be asked."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer

from reward_functions.cli._console import errors, plain, print_json
from reward_functions.cli._echo import say
from reward_functions.cli.job._options import JOB, AsJson, Typed, taking
from reward_functions.cli.job._output import SIMULATION
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.hosting import Hosting, ModelDeployment

if TYPE_CHECKING:
    from reward_functions.jobs.job import Job
    from reward_functions.jobs.lookup import Place


@taking(*JOB)
def deploy_model(
    typed: Typed,
    *,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Of the deployment, or imported model.", show_default="the job's"
        ),
    ] = None,
    role: Annotated[
        str | None,
        typer.Option(
            metavar="ARN",
            help="What Bedrock reads a model package as.",
            show_default="the stage's training role",
        ),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait until it can be asked.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Host the model that a job made, on demand, and print what to ask it with.

    The same command again shows the one deployment. A model of the OpenAI-compatible API needs
    none: it can be asked at once. A model package of SageMaker is imported into Bedrock (open
    weights, merged), or made a custom model with a deployment (Nova). `reward job cleanup` ends the
    hosting.

    Exit status: 0 it can be asked, or is being made with --no-wait; 2 it cannot.
    """
    where, service, found = typed.found()
    if not found.tuned_model:
        raise BadJob(_no_model(found))
    if not found.service.hosted:
        shown = {"model": found.tuned_model, "status": "Active", "simulation": where.simulated}
        _show(shown, found.tuned_model, as_json=as_json)
        return
    if found.service.packages:
        _host_package(where, found, name or found.name, role, wait=wait, as_json=as_json)
        return
    hosting = Hosting(service.region, where.session)
    chosen = name or found.name
    # A token of its own: that of a deployment that was deleted would stand for the deleted one.
    token = f"{chosen}-{uuid4().hex}"
    deployed = hosting.deploy(chosen, found.tuned_model, token=token, tags=found.tags)
    if wait:
        with errors().status(f"hosting {plain(chosen)}") as status:

            def looked(at: ModelDeployment) -> None:
                status.update(f"hosting {plain(at.name)}: {plain(at.status)}")

            deployed = hosting.wait(deployed.arn, progress=looked)
    more = {"created": deployed.created.isoformat(), "simulation": where.simulated}
    shown = asdict(deployed) | more
    _show(shown, deployed.arn, as_json=as_json)
    if deployed.status != "Active":
        say(f"it is {plain(deployed.status)}: the same command waits for it", err=True)


def _host_package(
    where: Place, job: Job, name: str, role: str | None, *, wait: bool, as_json: bool
) -> None:
    """Import a model package, or make it a custom model with a deployment."""
    with errors().status(f"hosting {plain(name)}") as status:
        hosted = Hosting(where.stage.region, where.session).host(
            job.tuned_model,
            name,
            role or where.stage.import_role_arn or where.stage.training_role_arn,
            tags=job.tags,
            wait=wait,
            progress=lambda at: status.update(f"hosting {plain(name)}: {plain(at)}"),
        )
    facts = asdict(hosted) | {"model": job.tuned_model, "simulation": where.simulated}
    if hosted.status == "Active":
        _show(facts, hosted.arn, as_json=as_json)
        return
    if as_json:
        print_json(facts)
    made = f"the {hosted.kind} {plain(hosted.name)} is {plain(hosted.status)}"
    say(f"{made}: the same command waits for it", err=True)


def _no_model(job: Job) -> str:
    """Why there is nothing to host."""
    if not job.over:
        return f"{job.name or job.id} {job.state}: it has made no model yet"
    return f"{job.name or job.id} {job.state} and has made no model: `reward job diagnose` says why"


def _show(facts: dict[str, Any], model: str, *, as_json: bool) -> None:
    if as_json:
        print_json(facts)
    else:
        if facts["simulation"]:
            say(SIMULATION, err=True)
        say(plain(model, 2_048))
        say(
            "measure it like the base, on the same rows: reward job baseline JOB.toml --ask "
            f"{plain(model, 2_048)}",
            err=True,
        )
