"""`reward job`: training jobs on AWS.

plan.py          plan            steps, calls, tokens, dollars, time; every hyperparameter's range
baseline.py      baseline        what the base model earns before any training
preflight.py     preflight       whether a job can teach anything, and whether its role may do it
start.py         start           once, however often it is asked for
list_.py         list            the jobs of the account
evaluators.py    evaluators      the rewards that SageMaker knows
show.py          show            a job, and what it uses beside what is deployed
watch.py         watch           progress as it comes, until the end
metrics.py       metrics         the service's figures and the grader's own: a table, a plot
diagnose.py      diagnose        why it failed
recipe.py        recipe          lines for a recipe of Nova's, with the reward in them
deploy_model.py  deploy-model    host the tuned model
evaluate.py      evaluate        the tuned model beside its base, on prompts it has not seen
cleanup.py       cleanup         remove what a job left that costs something
"""

from __future__ import annotations

import typer

from reward_functions.cli.job import (
    baseline,
    cleanup,
    deploy_model,
    diagnose,
    evaluate,
    evaluators,
    list_,
    metrics,
    plan,
    preflight,
    recipe,
    show,
    start,
    watch,
)
from reward_functions.cli.job._commands import JobCommands

__all__ = ["job"]

job = typer.Typer(
    cls=JobCommands,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Training jobs on AWS: plan, check, start once, watch, explain.",
)
job.command("plan")(plan.plan)
job.command("baseline")(baseline.baseline)
job.command("preflight")(preflight.preflight)
job.command("start")(start.start)
job.command("list")(list_.list_jobs)
job.command("evaluators")(evaluators.evaluators)
job.command("show")(show.show)
job.command("watch")(watch.watch)
job.command("metrics")(metrics.metrics)
job.command("stop")(cleanup.stop)
job.command("diagnose")(diagnose.diagnose)
job.command("recipe")(recipe.recipe)
job.command("deploy-model")(deploy_model.deploy_model)
job.command("evaluate")(evaluate.evaluate)
job.command("cleanup")(cleanup.cleanup)
