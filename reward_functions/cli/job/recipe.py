"""`reward job recipe`: lines for a recipe of Nova's, with the deployed reward in them."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads annotations
from typing import Annotated, Literal

import typer

from reward_functions.aws.deployed.function import DeployedFunction
from reward_functions.aws.shell import aws_session
from reward_functions.cli._console import plain, remark
from reward_functions.cli._echo import say
from reward_functions.cli.job._options import Typed, taking
from reward_functions.data.atomic import Together
from reward_functions.jobs.grader import account_limits, inspected, pinned
from reward_functions.jobs.lookup import place as place_of
from reward_functions.jobs.options import deployment_of
from reward_functions.jobs.recipes import recipe_lines


@taking("file", "place", "stage", "deployment", "model", "hyperparameters")
def recipe(
    typed: Typed,
    *,
    place: Annotated[
        Literal["training-job", "hyperpod"],
        typer.Option("--for", help="Whose recipe the lines go into."),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write them there.")
    ] = None,
) -> None:
    """Lines of YAML for Nova's recipes: the reward's ARN, and how often it is asked at a time.

    Training jobs of SageMaker and HyperPod name a reward in their recipe. Its concurrency is
    compared with what Lambda allows the function. Settings by the recipe's own names, below
    [hyperparameters] or as --set, stand at their places in the lines.

    Exit status: 0 they are written, 2 they would not work.
    """
    asked = typed.configuration()
    session = aws_session(asked.stage)
    where = place_of(asked.stage, session)
    grader = inspected(
        pinned(deployment_of(asked), where.stage, where.stage.region, session), session
    )
    limits = account_limits(DeployedFunction(str(grader.arn), session=session))
    lines = recipe_lines(place, asked.model, grader.arn, asked.hyperparameters, limits)
    for warning in lines.warnings:
        say(plain(warning, 2_048), err=True)
    if out is None:
        typer.echo(lines.yaml(), nl=False)
        return
    with Together() as files:
        files.opened(out).write(lines.yaml())
    remark(f"the lines are in {out}")
