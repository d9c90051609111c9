"""What a plan of the job warns of, where the other checks do not: sizes, groups, limits."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from reward_functions.aws.deployed.findings import CheckFinding
from reward_functions.jobs.agent_plan import agent_plan
from reward_functions.jobs.agent_plan import warnings as agent_warnings
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.data import ROWS
from reward_functions.jobs.plan import plan
from reward_functions.jobs.sizes import measure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.jobs.preparing import PreparedJob
    from reward_functions.jobs.sizes import Sizes


def plan_findings(job: PreparedJob) -> Iterator[CheckFinding]:
    """The warnings of a plan, but for those of the model and of the account, which others ask for.

    Raises:
        OSError: a file cannot be read.
    """
    if job.driver == "agent-rft":
        with suppress(BadJob):  # of a row, of which there is a finding
            for warning in agent_warnings(agent_plan(job.asked, job.stage)):
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
