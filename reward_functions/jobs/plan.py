"""What a job would come to, before anything is uploaded or started.

    steps         = epochs × ⌈rows ÷ batch⌉
    rollouts      = rows × epochs × samples of a prompt
    grader calls  from one a step to one a rollout: AWS documents no size of a batch
    tokens        of the prompts, read once for each rollout; of the answers, at their longest

An upper bound: a service may stop early, and answers end before their limit. What nobody documents
is assumed in a sentence (`Plan.assumptions`) or unknown, and never a number without a source.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.arn import FunctionArn
from reward_functions.aws.deployed.function import MAX_PAYLOAD_BYTES
from reward_functions.calibration.estimating import (
    ResponseCost,
    TrainingRun,
    estimate,
    measured,
)
from reward_functions.calibration.recorded_questions import examples_with, recorded_questions
from reward_functions.data.lengths import CHARACTERS_PER_TOKEN
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.evaluators import require_fitting
from reward_functions.jobs.grader import require_mode
from reward_functions.jobs.hyperparameters import (
    OF_RECIPES,
    check,
    check_uri,
    hyperparameters,
    shown,
)
from reward_functions.jobs.models import API, find
from reward_functions.jobs.options import check_options, serverless_of
from reward_functions.jobs.plan_warnings import warnings_of
from reward_functions.jobs.planned import Figures, Plan, PlannedSetting, Rates
from reward_functions.jobs.tags import require_possible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reward_functions.aws.catalogue import DeployedReward
    from reward_functions.calibration.estimating import Estimate
    from reward_functions.core.spec import RewardSpec
    from reward_functions.jobs.account import AccountLimits
    from reward_functions.jobs.configuration import JobConfiguration
    from reward_functions.jobs.hyperparameters import Hyperparameter
    from reward_functions.jobs.job import DriverName
    from reward_functions.jobs.recipes import Recipe
    from reward_functions.jobs.sizes import Sizes
    from reward_functions.judge_runtime.config import JudgeConfig

MILLION: Final = 1_000_000
MINUTES_OF_AN_HOUR: Final = 60

GROUP: Final = 4
"""Samples of a prompt, where the API has no such hyperparameter: what AWS states for Nova, in
`reinforcement-fine-tuning` @18b9898."""

ORIGINS: Final = (
    ("service", "the service's default"),
    ("sdk", "the default of AWS's SDK"),
    ("samples", "from AWS's samples"),
)
"""Where a value that was not set is taken from, the first that there is."""

COUNTED: Final = ("epochs", "batch", "samples", "prompt", "answer", "interval")
"""Roles whose values the figures and the warnings count with."""


def plan(
    asked: JobConfiguration,
    *,
    sizes: Sizes | None = None,
    region: str = "",
    deployed: DeployedReward | None = None,
    grader: str = "",
    account: AccountLimits | None = None,
    reward: RewardSpec | None = None,
    judge: JudgeConfig | None = None,
    rates: Rates = Rates(),  # noqa: B008 - frozen
    recipe: Recipe | None = None,
) -> Plan:
    """What a job would come to. Nothing is read, sent or started here.

    Args:
        asked: the configuration.
        sizes: of the data; None leaves every figure unknown.
        region: of the stage; "" compares no regions.
        deployed: the stage's record of the reward; None where no stage was read.
        grader: the ARN of the function, where it is no deployment of a stage.
        account: what the account allows the grader.
        reward: the reward that is deployed, where this machine has it.
        judge: the settings of its judge.
        rates: what is known beyond AWS's documents.
        recipe: of a serverless job; None leaves its hyperparameters unchecked.

    Raises:
        BadJob: a field, the model, a hyperparameter or the deployment does not fit the API.
        BadJudge: the judge has a limit in dollars, and a model without a price.
    """
    base = find(asked.model, region or None, asked.driver)
    _refuse(asked, base.driver, deployed, recipe)
    if recipe is not None:
        recipe.values(asked.hyperparameters, serverless_of(asked))
    elif base.driver not in OF_RECIPES:
        check(base.driver, asked.hyperparameters)
    known = recipe.hyperparameters if recipe else hyperparameters(base.driver)
    empty = Plan(
        asked=asked,
        base=base,
        region=region,
        grader=deployed.version_arn if deployed else grader,
        judged=reward.needs.judge if reward else None,
        settings=tuple(_settings(asked, known, sizes)),
        recipe=recipe,
        sizes=sizes,
        account=account,
    )
    parameters = deployed.parameters if deployed else {}
    figures = _figures(empty, rates, reward, parameters, judge)
    planned = replace(empty, figures=figures)
    assumed = tuple(_assumptions(planned, rates))
    return replace(planned, assumptions=assumed, warnings=tuple(warnings_of(planned)))


def _refuse(
    asked: JobConfiguration,
    driver: DriverName,
    deployed: DeployedReward | None,
    recipe: Recipe | None,
) -> None:
    """What no job of this API can be."""
    if (asked.data is None) == (asked.invocation_logs is None):
        raise BadJob("data: name a training file, or invocation_logs in its place")
    check_options(asked, driver)
    require_possible(asked.tags)
    if asked.invocation_logs is not None:
        check_uri("invocation_logs.source", asked.invocation_logs.source)
    if deployed is not None and (recipe is not None or driver not in OF_RECIPES):
        needs = recipe.response_mode if recipe else "list"
        require_mode(deployed.response_mode, needs, f"deployment: {deployed.name}")
    if deployed is not None and driver == "sagemaker":
        function = FunctionArn.parse(deployed.version_arn)
        require_fitting(function, function.region, function.account)


def _settings(
    asked: JobConfiguration, known: Mapping[str, Hyperparameter], sizes: Sizes | None
) -> Iterator[PlannedSetting]:
    for name, each in known.items():
        given = asked.hyperparameters.get(name)
        advice = each.advice._asdict()
        found = [
            (advice[field][0] if field == "samples" else advice[field], whose)
            for field, whose in ORIGINS
            if advice[field] not in (None, ())
        ]
        if each.default is not None:
            found = [(each.default, "the recipe's default")]
        value, origin = (given, "") if given is not None else (found or [(None, "")])[0]
        yield PlannedSetting(
            hyperparameter=each,
            given=given,
            value=value,
            origin=origin,
            suggested=_suggested(name, asked, sizes) or each.advice.recommended,
        )


def _suggested(name: str, asked: JobConfiguration, sizes: Sizes | None) -> int | None:
    """What the data say about a hyperparameter; None where they say nothing."""
    if sizes is None:
        return None
    match name:
        case "maxPromptLength":
            return sizes.max_prompt_length
        case "inferenceMaxTokens":
            return sizes.inference_max_tokens(asked.hyperparameters.get("reasoningEffort"))
        case _:
            return None


def _figures(
    planned: Plan,
    rates: Rates,
    reward: RewardSpec | None,
    parameters: Mapping[str, Any],
    judge: JudgeConfig | None,
) -> Figures | None:
    sizes = planned.sizes
    if sizes is None or not (planned.value("batch") and planned.value("epochs")):
        return None
    run = TrainingRun(
        prompts=sizes.rows,
        batch_size=planned.value("batch"),
        samples=planned.value("samples") or GROUP,
        epochs=planned.value("epochs"),
    )
    answer = planned.longest_answer
    prompts = sizes.prompt_tokens
    prompt_tokens = None if prompts is None else prompts * run.epochs * run.samples
    generated = None if answer is None else run.responses * answer
    minutes = None if rates.step_minutes is None else run.steps * rates.step_minutes
    interval = planned.value("interval")
    evaluations = run.steps // interval if sizes.validation_rows and interval else 0
    asked_once = evaluations * sizes.validation_rows
    return Figures(
        run=run,
        prompt_tokens=prompt_tokens,
        generated_tokens=generated,
        evaluations=evaluations,
        validation_answers=(asked_once, asked_once * run.samples) if asked_once else None,
        samples_in_a_call=_samples_in_a_call(sizes.largest_row, answer),
        minutes=minutes,
        training_usd=_training_usd(rates, minutes, prompt_tokens, generated),
        judge=_judge_estimate(reward, parameters, judge, run),
    )


def _samples_in_a_call(largest_row: int, answer: int | None) -> int | None:
    """Rollouts of the longest row and the longest answer that fit into 6 MB."""
    if not largest_row or answer is None:
        return None
    return MAX_PAYLOAD_BYTES // (largest_row + answer * CHARACTERS_PER_TOKEN)


def _training_usd(
    rates: Rates, minutes: float | None, prompts: int | None, generated: int | None
) -> float | None:
    if rates.hour_usd is not None and minutes is not None:
        return rates.hour_usd * minutes / MINUTES_OF_AN_HOUR
    if rates.token_usd is not None and prompts is not None and generated is not None:
        return rates.token_usd * (prompts + generated) / MILLION
    return None


def _judge_estimate(
    reward: RewardSpec | None,
    parameters: Mapping[str, Any],
    judge: JudgeConfig | None,
    run: TrainingRun,
) -> Estimate | None:
    """The cost of judging, measured on the judge's worked examples."""
    if reward is None or not reward.needs.judge or judge is None:
        return None
    samples = [each.sample() for each in examples_with(reward, parameters) or reward.examples]
    calls, tokens = measured(recorded_questions(reward, parameters, samples))
    return estimate(judge, run, ResponseCost(calls=calls, input=tokens), judge.concurrency)


def _assumptions(planned: Plan, rates: Rates) -> Iterator[str]:
    """What the figures rest on."""
    figures = planned.figures
    for role in COUNTED:
        setting = planned.setting(role)
        if setting and setting.origin and (role != "interval" or planned.asked.validation):
            name = setting.hyperparameter.name
            yield f"{name} is not set: counted with {shown(setting.value)}, {setting.origin}"
    if figures is None:
        yield (
            "the rows of the logs are not counted: --rows plans with a number"
            if planned.sizes is None
            else "no recipe was read, or it has no batch or epochs: steps are not counted"
        )
        return
    run = figures.run
    if planned.setting("samples") is None:
        yield (
            f"{API['openai']} has no samples of a prompt: counted with {GROUP}, which AWS states "
            "for Nova; AWS reports 67 steps for 300 rows in batches of 4, so it may hold rows back"
        )
    if run.prompts % run.batch_size:
        yield "an epoch's last step holds what is left; a trainer that drops it takes fewer steps"
    yield "how many answers an invocation brings is not documented: from one to a whole step"
    yield "the service may stop early, and most answers end before their limit: an upper bound"
    if figures.prompt_tokens is not None:
        yield "tokens of prompts are estimates, and every rollout reads its prompt"
    if rates.step_minutes is not None:
        yield f"a step takes {rates.step_minutes:g} minutes, as given"
    else:
        yield "how long a step takes is not documented: --step-minutes plans with yours"
    if figures.training_usd is None:
        yield (
            "no page that could be read has a price of reinforcement fine-tuning: --hour-price "
            "(with --step-minutes) or --token-price plans with yours"
        )
    if figures.judge is not None:
        yield (
            f"a judge model writes {figures.judge.cost.output:,} tokens a call in "
            f"{figures.judge.cost.latency:g} s; its prefilter and caches avoid calls, retries add"
        )
