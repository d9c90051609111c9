"""`reward job`: training jobs on Bedrock.

plan.py          plan            steps, calls, tokens, dollars, time; every hyperparameter's range
baseline.py      baseline        what the base model earns before any training
preflight.py     preflight       whether a job can teach anything, and whether its role may do it
start.py         start           once, however often it is asked for
list_.py         list            the jobs of the account
show.py          show            a job, and what it uses beside what is deployed
watch.py         watch           progress as it comes, until the end
metrics.py       metrics         the service's figures and the grader's own: a table, a plot
stop.py          stop
diagnose.py      diagnose        why it failed
deploy_model.py  deploy-model    host the tuned model
cleanup.py       cleanup         remove what a job left that costs something
"""

from __future__ import annotations

import typer

from reward_functions.cli.job import (
    baseline,
    cleanup,
    deploy_model,
    diagnose,
    list_,
    metrics,
    plan,
    preflight,
    show,
    start,
    stop,
    watch,
)
from reward_functions.cli.job._commands import JobCommands

__all__ = ["job"]

job = typer.Typer(
    cls=JobCommands,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Training jobs on Bedrock: plan, check, start once, watch, explain.",
)
job.command("plan")(plan.plan)
job.command("baseline")(baseline.baseline)
job.command("preflight")(preflight.preflight)
job.command("start")(start.start)
job.command("list")(list_.list_jobs)
job.command("show")(show.show)
job.command("watch")(watch.watch)
job.command("metrics")(metrics.metrics)
job.command("stop")(stop.stop)
job.command("diagnose")(diagnose.diagnose)
job.command("deploy-model")(deploy_model.deploy_model)
job.command("cleanup")(cleanup.cleanup)
