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

from typing import Any, ClassVar, Final

import typer

from reward_functions.cli._group import LazyGroup

__all__ = ["job"]

ROWS: Final = {
    "plan": "Count steps, rollouts, calls, tokens and dollars of a job, and check every "
    "hyperparameter.",
    "baseline": "Measure what the base model earns, before a job pays for training it.",
    "preflight": "Check a job before it costs anything; `reward job start` runs the same checks.",
    "start": "Start a training job, once.",
    "list": "The newest training jobs of the account, in the region of a stage, of all people.",
    "evaluators": "The evaluators of the account: each refers to a reward function, or to a "
    "judge's prompt.",
    "show": "All about one job: its state, its settings, its reward beside what is deployed now.",
    "watch": "Follow a job: its phase, its figures as they come, its events.",
    "metrics": "The figures of a job, and how to read them.",
    "stop": "Ask a job to stop. No service goes on with a stopped job.",
    "diagnose": "Say why a job failed, or taught nothing: the likely cause, what shows it, and "
    "what to do.",
    "recipe": "Lines of YAML for Nova's recipes: the reward's ARN, and how often it is asked at a "
    "time.",
    "deploy-model": "Host the model that a job made, on demand, and print what to ask it with.",
    "evaluate": "Compare a tuned model with its base on prompts that no training has seen.",
    "cleanup": "Remove what a job left: deployments of its model, and more where it is asked for.",
}


OURS: Final = {
    "abort": "stop",
    "cancel": "stop",
    "check": "preflight",
    "compare": "evaluate",
    "create": "start",
    "delete": "cleanup",
    "describe": "show",
    "estimate": "plan",
    "eval": "evaluate",
    "events": "watch",
    "follow": "watch",
    "get": "show",
    "host": "deploy-model",
    "launch": "start",
    "logs": "diagnose",
    "ls": "list",
    "resume": "watch",
    "rm": "cleanup",
    "run": "start",
    "status": "show",
    "submit": "start",
    "tail": "watch",
    "why": "diagnose",
}
"""What AWS's, OpenAI's and others' commands call a thing, and its command here."""


class JobCommands(LazyGroup):
    """Commands, and what to type for those there are not."""

    package = __name__
    rows = ROWS
    targets: ClassVar = {"list": "list_:list_jobs", "stop": "cleanup:stop"}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command.

        Raises:
            UsageError: no command has that name; the message names the right one.
        """
        if args and args[0] in OURS:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {OURS[args[0]]!r}?")
        return super().resolve_command(ctx, args)


job = typer.Typer(cls=JobCommands, no_args_is_help=True)
