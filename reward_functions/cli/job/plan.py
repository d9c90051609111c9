"""`reward job plan`: what a job would come to, before anything is uploaded or started."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from reward_functions.aws.shell import aws_session
from reward_functions.calibration.settings import load_judge_config
from reward_functions.cli._console import MESSAGE, output, plain, print_json, remark
from reward_functions.cli._echo import say
from reward_functions.cli._fitting import print_sheet
from reward_functions.cli._options import Models  # noqa: TC001 - typer reads annotations
from reward_functions.cli._pages import Report, require_page, write_page
from reward_functions.cli._progress import watched
from reward_functions.cli.job._options import CONFIGURATION, AsJson, Typed, taking
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.registry import specs
from reward_functions.jobs import plan as planning
from reward_functions.jobs.data import ROWS, Sizes, measure
from reward_functions.jobs.grader import NOWHERE, account_of, graded_by
from reward_functions.jobs.lookup import place
from reward_functions.jobs.models import find
from reward_functions.jobs.options import check_options, in_s3, require_files, serverless_of
from reward_functions.jobs.plan import Plan, Rates
from reward_functions.jobs.plan_sheets import as_data, markdown, page, sheets
from reward_functions.jobs.recipes import Recipe, recipe_of
from reward_functions.jobs.services import SERVICES
from reward_functions.scoring.rewards import reward_named

if TYPE_CHECKING:
    from boto3.session import Session

    from reward_functions.aws.catalogue import DeployedReward
    from reward_functions.core.spec import RewardSpec
    from reward_functions.jobs.configuration import JobConfiguration
    from reward_functions.judge_runtime.config import JudgeConfig


@taking(*CONFIGURATION)
def plan(
    typed: Typed,
    *,
    reward: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The reward of the deployment.",
            show_default="what the stage says of it",
        ),
    ] = None,
    judge: Models = None,
    rows: Annotated[
        int | None, typer.Option(min=1, help="Rows, where invocation logs are the data.")
    ] = None,
    step_minutes: Annotated[
        float | None, typer.Option(min=0, help="Minutes of a step: AWS documents none.")
    ] = None,
    hour_price: Annotated[
        float | None, typer.Option(min=0, help="Dollars of an hour of training.")
    ] = None,
    token_price: Annotated[
        float | None,
        typer.Option(min=0, help="Dollars of a million tokens of training, read or written."),
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Read no stage and no account: AWS is not asked.")
    ] = False,
    report: Report = None,
    as_json: AsJson = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Write Markdown.")] = False,
) -> None:
    """Count steps, rollouts, calls, tokens and dollars of a job, and check every hyperparameter.

    The training file is linted, and measured for `maxPromptLength` and `inferenceMaxTokens`. Every
    figure says what it rests on; what AWS documents nowhere is unknown, unless you give it. Nothing
    is uploaded or started.

    Exit status: 0, or 2 where the service would refuse the job, with the allowed range.
    """
    if as_json and as_markdown:
        raise ConfigurationError("--json and --markdown exclude each other")
    require_page(report)
    asked = typed.configuration()
    session = None if offline else aws_session(asked.stage)
    if in_s3(asked):
        require_files(asked, place(asked.stage, session).stage if session else None)
    multi_turn = _multi_turn(asked)
    if multi_turn:
        given = {"--reward": reward, "--judge": judge, "--rows": rows, "--token-price": token_price}
        for option in (name for name, value in given.items() if value is not None):
            raise ConfigurationError(
                f"{option}: a multi-turn job has no deployment, and its tokens are unknown; leave "
                "it out"
            )
    found = (
        graded_by(asked.deployment, asked.stage, session)
        if asked.deployment and session
        else NOWHERE
    )
    spec = _spec(reward, found.deployed)
    planned = planning.plan(
        asked,
        sizes=None if multi_turn else _sizes(asked, spec, rows),
        region=found.region,
        recipe=_recipe(asked, session) if session else None,
        deployed=found.deployed,
        grader=found.arn,
        account=found.account,
        reward=spec,
        # What is deployed is what will judge; REWARD_JUDGE may be of something else.
        judge=found.judge or _judge(judge, spec),
        stage=place(asked.stage, session).stage if multi_turn and session else None,
        rates=Rates(step_minutes=step_minutes, hour_usd=hour_price, token_usd=token_price),
    )
    _write(planned, as_json=as_json, as_markdown=as_markdown)
    if report is not None:
        write_page(page(planned), report)


def _multi_turn(asked: JobConfiguration) -> bool:
    """Whether an agent makes the rollouts, so that there is no deployment to plan with."""
    return not SERVICES[find(asked.model, None, asked.driver).driver].graded


def _recipe(asked: JobConfiguration, session: Session) -> Recipe | None:
    """The recipe of a serverless job, as SageMaker's hub has it now; None on other services."""
    driver = find(asked.model, None, asked.driver).driver
    if not SERVICES[driver].recipes:
        return None
    check_options(asked, driver)
    stage = place(asked.stage, session).stage
    chosen = serverless_of(asked)
    return recipe_of(asked.model, chosen, stage.region, account_of(stage), session)


def _spec(reward: str | None, deployed: DeployedReward | None) -> RewardSpec | None:
    """The reward, where it is named here, or deployed and installed here."""
    if reward is not None:
        return reward_named(reward)
    return specs().get(deployed.reward) if deployed else None


def _judge(judge: str | None, spec: RewardSpec | None) -> JudgeConfig | None:
    """The judge that was named, for a reward that asks one; REWARD_JUDGE may be another's."""
    return load_judge_config(judge) if judge and spec and spec.needs.judge else None


def _sizes(asked: JobConfiguration, spec: RewardSpec | None, rows: int | None) -> Sizes | None:
    if asked.data is None:
        return Sizes(rows=rows) if rows else None
    if rows is not None:
        raise ConfigurationError("--rows is for invocation logs: the rows of a file are counted")
    return measure(
        asked.data,
        asked.validation,
        reward=spec,
        rows=ROWS[find(asked.model, None, asked.driver).driver],
        watched=lambda items: watched(items, "measuring"),
    )


def _write(planned: Plan, *, as_json: bool, as_markdown: bool) -> None:
    if as_json:
        print_json(as_data(planned))
    elif as_markdown:
        say("\n".join(markdown(planned)))
    else:
        for sheet in sheets(planned):
            print_sheet(sheet)
        for assumption in planned.assumptions:
            output().print(Text(f"assumed: {plain(assumption, MESSAGE)}", "dim"), soft_wrap=True)
    for warning in planned.warnings:
        remark(f"warning: {warning}", "yellow")
