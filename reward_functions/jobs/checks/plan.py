"""What a plan of the job warns of, where the other checks do not: sizes, groups, limits.

The base model, and whether the name of the model that a job makes is free.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from reward_functions.aws.deployed.findings import CheckFinding
from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.clients import client
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.data import ROWS
from reward_functions.jobs.failures import answer
from reward_functions.jobs.models import find
from reward_functions.jobs.plan import plan
from reward_functions.jobs.sizes import measure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boto3.session import Session

    from reward_functions.jobs.job import DriverName
    from reward_functions.jobs.preparing import PreparedJob
    from reward_functions.jobs.sizes import Sizes


def plan_findings(job: PreparedJob) -> Iterator[CheckFinding]:
    """The warnings of a plan, but for those of the model and of the account, which others ask for.

    Raises:
        OSError: a file cannot be read.
    """
    if job.driver == "agent-rft":
        with suppress(BadJob):  # of a row, of which there is a finding
            for warning in plan(job.asked, stage=job.stage).warnings:
                yield CheckFinding("warning", "plan", warning)
        return
    planned = plan(job.asked, sizes=_sizes(job), region=job.stage.region, recipe=job.recipe)
    for warning in planned.warnings:
        if warning not in planned.base.warnings:
            yield CheckFinding("warning", "plan", warning)


def _sizes(job: PreparedJob) -> Sizes | None:
    """What the files come to; None for files with errors, of which the linter has a finding."""
    if "data" not in job.files.paths:
        return None
    try:
        paths = job.files.paths
        return measure(paths["data"], paths.get("validation"), rows=ROWS[job.driver])
    except BadJob:
        return None


def base_findings(model: str, region: str, driver: DriverName | None) -> Iterator[CheckFinding]:
    """What the table of models says of the base.

    Args:
        model: an id or an ARN.
        region: of the job.
        driver: the API that was named by hand; None for the table's.
    """
    try:
        base = find(model, region, driver)
    except BadJob as error:
        yield CheckFinding("failure", "model", str(error))
        return
    for warning in base.warnings:
        yield CheckFinding("warning", "model", warning)
    if not base.warnings:
        yield CheckFinding("ok", "model", f"{model} is trained in {region}")


def name_finding(name: str, region: str, session: Session | None = None) -> CheckFinding:
    """Whether a custom model has the name already that a Bedrock job would give to its own.

    Raises:
        WrongEndpoint: it would reach another AWS than the one that is meant.
        AwsFailed: Bedrock cannot be asked.
    """
    bedrock = client("bedrock", region, session)
    try:
        answer(f"looking for a model {name}", bedrock.get_custom_model, modelIdentifier=name)
    except AwsFailed as error:
        if error.missing:
            return CheckFinding("ok", "model's name", f"no custom model is called {name}")
        if error.denied:
            return CheckFinding("unknown", "model's name", "bedrock:GetCustomModel is not allowed")
        raise
    return CheckFinding(
        "failure",
        "model's name",
        f"a custom model is called {name} already: take the next run with --again, or another "
        "name with --name",
    )
