"""Plan a job before anything is uploaded or started: one `Plan` of every service.

    steps         = epochs × ⌈rows ÷ batch⌉; of a multi-turn job at most max_steps
    rollouts      = rows × epochs × samples of a prompt
    grader calls  from one a step to one a rollout: AWS documents no size of a batch
    tokens        of the prompts, read once for each rollout; of the answers, at their longest

An upper bound: a service may stop early, and answers end before their limit. A fact that nobody
documents is assumed in a sentence (`Plan.assumptions`) or unknown, and never a number without a
source. Of a multi-turn job that is more: an agent makes of a prompt what it will, so that its
tokens and turns are unknown, and how many rollouts the trainer asks for at a time.

A request that a service would refuse is no warning: `plan` and `hyperparameters.check` raise for
it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, inf
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.arn import FunctionArn
from reward_functions.aws.deployed.function import MAX_PAYLOAD_BYTES
from reward_functions.calibration.estimating import (
    ResponseCost,
    TrainingRun,
    estimate,
    examples_with,
    measured,
    recorded_questions,
)
from reward_functions.data.lengths import CHARACTERS_PER_TOKEN
from reward_functions.jobs.configuration import BadJob, JobConfiguration
from reward_functions.jobs.data import Sizes, require_two_files
from reward_functions.jobs.evaluators import require_fitting
from reward_functions.jobs.grader import AccountLimits, require_mode
from reward_functions.jobs.hyperparameters import (
    AGENT,
    TABLE,
    Hyperparameter,
    check,
    check_uri,
    hyperparameters,
    shown,
    written,
)
from reward_functions.jobs.models import API, Base, find
from reward_functions.jobs.options import JobAgent, agent_of, check_options, granted, serverless_of
from reward_functions.jobs.services import SERVICES, DriverName, HyperparameterValue
from reward_functions.jobs.tags import require_possible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reward_functions.aws.catalogue import DeployedReward, DeployedStage
    from reward_functions.calibration.estimating import Estimate
    from reward_functions.core.spec import RewardSpec
    from reward_functions.jobs.recipes import Recipe
    from reward_functions.judge_runtime.config import JudgeConfig

MILLION: Final = 1_000_000
MINUTES_OF_AN_HOUR: Final = 60
MEGABYTE: Final = 1024 * 1024

GROUP: Final = 4
"""Samples of a prompt, where the API has no such hyperparameter: what AWS states for Nova, in
`reinforcement-fine-tuning` @18b9898."""

WINDOW: Final = 600
"""Seconds in which a rollout has to be rewarded, by a field report of `rollout_timeout`."""

SMALL_GROUP: Final = 2

NO_VALIDATION: Final = "amazon.nova-2-lite"
"""AWS's nova-forge-sdk @a4d5b3d leaves a validation file out for this model and says that it is not
supported (`runtime_manager.py`); AWS's notebooks pass one."""

ROLES: Final = {
    driver: {each.role: name for name, each in TABLE[driver].items() if each.role} for driver in API
}
"""What the arithmetic needs, by each API's own name."""

UNCOUNTED: Final = frozenset({"effort", "validated"})
"""Roles whose values are no figures that somebody has to assume."""

RATES: Final = {
    "step_minutes": "the minutes of a step are",
    "hour_usd": "the price of an hour is",
    "token_usd": "the price of a million tokens is",
}
"""How each of `Rates` is called in a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Rates that you know and AWS does not document.

    Args:
        step_minutes: minutes of an optimiser step.
        hour_usd: dollars of an hour of training.
        token_usd: dollars of a million tokens, of prompts and answers alike.

    Raises:
        BadJob: one of them is below 0, or not finite.
    """

    step_minutes: float | None = None
    hour_usd: float | None = None
    token_usd: float | None = None

    def __post_init__(self) -> None:
        for name, words in RATES.items():
            value = getattr(self, name)
            if value is not None and not 0 <= value < inf:
                raise BadJob(f"{words} {value:g}: write a number from 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSetting:
    """One hyperparameter of the job.

    Args:
        hyperparameter: its range, and what others set.
        given: what was asked for; None where the service chooses.
        value: what the plan counts with; None where nobody states a value.
        origin: whose value that is; "" where it was given.
        suggested: by the data, or else by this project's recommendation.
    """

    hyperparameter: Hyperparameter
    given: HyperparameterValue | None
    value: HyperparameterValue | None
    origin: str
    suggested: HyperparameterValue | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRun(TrainingRun):
    """The run of a multi-turn job, which may end before its epochs do.

    Args:
        most: steps of the whole job.
        every: steps between two validations; 0 for none on the way.
        validation: rows of the other file.
    """

    most: int
    every: int
    validation: int

    @property
    def steps_per_epoch(self) -> int:
        """The last may be smaller."""
        return ceil(self.prompts / self.batch_size)

    @property
    def steps(self) -> int:
        """Of the whole job, at most."""
        return min(self.most, self.epochs * self.steps_per_epoch)

    @property
    def responses(self) -> int:
        """Rollouts of all steps, without validation."""
        epochs, rest = divmod(self.steps, self.steps_per_epoch)
        partial = min(rest * self.batch_size, self.prompts)
        return (epochs * self.prompts + partial) * self.samples

    @property
    def validated(self) -> int:
        """Rollouts of validation, one of each prompt."""
        return (ceil(self.steps / self.every) if self.every else 1) * self.validation


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The arithmetic of a job.

    Args:
        run: steps and rollouts.
        prompt_tokens: of all rollouts, estimated; None where the data are logs.
        generated_tokens: of all rollouts at most; None where no limit of an answer is known.
        evaluations: of the validation file.
        validation_answers: scored in them, from one answer a prompt to a whole group; None without
            a validation file.
        samples_in_a_call: rollouts of the longest kind that an invocation can hold; None where the
            length of a row or of an answer is unknown.
        minutes: of training; None where the time of a step is unknown.
        training_usd: dollars of training; None where the price is unknown.
        judge: the cost of judging; None where no model judges, or its settings are unknown.
    """

    run: TrainingRun
    prompt_tokens: int | None = None
    generated_tokens: int | None = None
    evaluations: int = 0
    validation_answers: tuple[int, int] | None = None
    samples_in_a_call: int | None = None
    minutes: float | None = None
    training_usd: float | None = None
    judge: Estimate | None = None

    @property
    def grader_calls(self) -> tuple[int, int]:
        """The fewest and the most: a step in each, or a rollout in each."""
        return self.run.steps, self.run.responses


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A job as it would be.

    Args:
        asked: the configuration.
        base: the model it starts from.
        region: where it runs; "" where no stage was read.
        grader: the ARN that the job would be given; "" where no stage was read.
        judged: whether the reward asks a judge model; None where the reward is not known.
        settings: every hyperparameter of the API, or of the recipe, in its order.
        sizes: of the data; None where nobody counted the logs.
        account: of the grader; None where it was not read.
        recipe: of a serverless job; None where no hub was read.
        agent: of a multi-turn job.
        figures: None where the number of rows is unknown.
        assumptions: what the figures rest on, in sentences.
        warnings: what deserves a look before it starts, in sentences.
    """

    asked: JobConfiguration
    base: Base
    region: str
    settings: tuple[PlannedSetting, ...]
    grader: str = ""
    judged: bool | None = None
    sizes: Sizes | None = None
    account: AccountLimits | None = None
    recipe: Recipe | None = None
    agent: JobAgent | None = None
    figures: Figures | None = None
    assumptions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def reward(self) -> str:
        """The grader, as it was asked for."""
        chosen = self.asked.sagemaker
        own = (chosen.preset_reward or chosen.judge) if chosen else None
        return self.asked.deployment or own or (self.agent.short if self.agent else "")

    def setting(self, role: str) -> PlannedSetting | None:
        """The hyperparameter of a role of `ROLES`; None where the API has none."""
        name = ROLES[self.base.driver].get(role)
        return next((each for each in self.settings if each.hyperparameter.name == name), None)

    def value(self, role: str) -> Any:
        """The value that the plan uses in a role; None where that is unknown."""
        setting = self.setting(role)
        return setting.value if setting else None

    @property
    def longest_answer(self) -> int | None:
        """Tokens of an answer at most; None where neither job nor model has a known limit."""
        limit = self.value("answer")
        known = self.base.known
        return limit if limit is not None else known.max_output if known else None


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
    rates: Rates = Rates(),
    recipe: Recipe | None = None,
    stage: DeployedStage | None = None,
) -> Plan:
    """The plan of a job. Nothing is sent or started here.

    Args:
        asked: the configuration.
        sizes: of the data; None leaves every figure unknown. A multi-turn job's are counted here.
        region: of the stage; "" compares no regions.
        deployed: the stage's record of the reward; None where no stage was read.
        grader: the ARN of the function, where it is no deployment of a stage.
        account: what the account allows the grader.
        reward: the reward that is deployed, where this machine has it.
        judge: the settings of its judge.
        rates: what is known beyond AWS's documents.
        recipe: of a serverless job; None leaves its hyperparameters unchecked.
        stage: whose jobs a multi-turn job would be among; None where none was read.

    Raises:
        BadJob: a field, the model, a hyperparameter, the deployment or the agent does not fit.
        BadJudge: the judge has a limit in dollars, and a model without a price.
        OSError: a file of a multi-turn job cannot be read.
    """
    base = find(asked.model, region or None, asked.driver)
    _refuse(asked, base.driver, deployed, recipe)
    if not SERVICES[base.driver].graded:
        empty = _of_agent(asked, stage)
    else:
        if recipe is not None:
            recipe.values(asked.hyperparameters, serverless_of(asked))
        elif not SERVICES[base.driver].packages:
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
    figures = _figures(empty, rates)
    if figures is not None and judge is not None and reward is not None and reward.needs.judge:
        parameters = deployed.parameters if deployed else {}
        figures = replace(figures, judge=_judging(reward, parameters, judge, figures.run))
    planned = replace(empty, figures=figures)
    assumed = tuple(_assumptions(planned, rates))
    return replace(planned, assumptions=assumed, warnings=tuple(_warnings(planned)))


def _refuse(
    asked: JobConfiguration,
    driver: DriverName,
    deployed: DeployedReward | None,
    recipe: Recipe | None,
) -> None:
    """What no job of this API can be."""
    if not SERVICES[driver].graded and asked.data is None:
        raise BadJob("data: name a training file: a multi-turn job takes no invocation logs")
    if (asked.data is None) == (asked.invocation_logs is None):
        raise BadJob("data: name a training file, or invocation_logs in its place")
    check_options(asked, driver)
    require_possible(asked.tags)
    if asked.invocation_logs is not None:
        check_uri("invocation_logs.source", asked.invocation_logs.source)
    if deployed is not None and (recipe is not None or not SERVICES[driver].packages):
        needs = recipe.response_mode if recipe else "list"
        require_mode(deployed.response_mode, needs, f"deployment: {deployed.name}")
    if deployed is not None and SERVICES[driver].recipes:
        require_fitting(FunctionArn.parse(deployed.version_arn))


def _of_agent(asked: JobConfiguration, stage: DeployedStage | None) -> Plan:
    """A multi-turn job, whose rows are counted.

    Raises:
        BadJob: the stage does not grant the agent, or a row has no prompt.
    """
    from reward_functions.jobs.data import counted  # noqa: PLC0415 - 50 ms of rollouts

    agent = granted(asked.agent, stage) if stage else agent_of(asked.agent or "")
    sent = written(asked.hyperparameters)
    if asked.data and asked.validation:
        require_two_files(asked.data, asked.validation)
    rows, held_out = (
        counted(file).number if file else 0 for file in (asked.data, asked.validation)
    )
    if not rows:
        raise BadJob(f"data: {str(asked.data)!r} has no rows")
    region = stage.region if stage else ""
    newer = [Hyperparameter(name, "string") for name in sent if name not in AGENT]
    settings = [
        PlannedSetting(
            hyperparameter=each,
            given=sent.get(each.name),
            value=_counted(each, sent.get(each.name, each.default)),
            origin="" if each.name in sent else "the developer guide's default",
        )
        for each in (*AGENT.values(), *newer)
    ]
    return Plan(
        asked=asked,
        base=find(asked.model, region or None, asked.driver),
        region=region,
        agent=agent,
        settings=tuple(settings),
        sizes=Sizes(rows=rows, validation_rows=held_out),
    )


def _counted(known: Hyperparameter, value: Any) -> HyperparameterValue:
    """A value of a document as a number, where it is whole."""
    whole = known.kind == "integer" or known.name == "global_batch_size"
    return int(float(value)) if whole else str(value)


def _settings(
    asked: JobConfiguration, known: Mapping[str, Hyperparameter], sizes: Sizes | None
) -> Iterator[PlannedSetting]:
    for name, each in known.items():
        given = asked.hyperparameters.get(name)
        value, origin = (given, "") if given is not None else _chosen(each)
        yield PlannedSetting(
            hyperparameter=each,
            given=given,
            value=value,
            origin=origin,
            suggested=_suggested(name, asked, sizes) or each.recommended,
        )


def _chosen(each: Hyperparameter) -> tuple[HyperparameterValue | None, str]:
    """What a hyperparameter that was not set is counted with, and whose value that is."""
    for value, whose in (
        (each.default, "the recipe's default"),
        (each.service, "the service's default"),
        (each.sdk, "the default of AWS's SDK"),
        (next(iter(each.samples), None), "from AWS's samples"),
    ):
        if value is not None:
            return value, whose
    return None, ""


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


def _figures(planned: Plan, rates: Rates) -> Figures | None:
    sizes = planned.sizes
    if sizes is None or not (planned.value("batch") and planned.value("epochs")):
        return None
    counts: dict[str, int] = {
        "prompts": sizes.rows,
        "batch_size": planned.value("batch"),
        "samples": planned.value("samples") or GROUP,
        "epochs": planned.value("epochs"),
    }
    run = TrainingRun(**counts)
    if planned.agent is not None:
        most, every = planned.value("steps"), planned.value("validated")
        run = AgentRun(**counts, most=most, every=every, validation=sizes.validation_rows)
    answer = planned.longest_answer
    prompts = sizes.prompt_tokens
    prompt_tokens = None if prompts is None else prompts * run.epochs * run.samples
    generated = None if answer is None else run.responses * answer
    minutes = None if rates.step_minutes is None else run.steps * rates.step_minutes
    interval = planned.value("interval")
    evaluations = run.steps // interval if sizes.validation_rows and interval else 0
    asked_once = evaluations * sizes.validation_rows
    fitting = None
    if sizes.largest_row and answer is not None:
        fitting = MAX_PAYLOAD_BYTES // (sizes.largest_row + answer * CHARACTERS_PER_TOKEN)
    return Figures(
        run=run,
        prompt_tokens=prompt_tokens,
        generated_tokens=generated,
        evaluations=evaluations,
        validation_answers=(asked_once, asked_once * run.samples) if asked_once else None,
        samples_in_a_call=fitting,
        minutes=minutes,
        training_usd=_training_usd(rates, minutes, prompt_tokens, generated),
    )


def _training_usd(
    rates: Rates, minutes: float | None, prompts: int | None, generated: int | None
) -> float | None:
    if rates.hour_usd is not None and minutes is not None:
        return rates.hour_usd * minutes / MINUTES_OF_AN_HOUR
    if rates.token_usd is not None and prompts is not None and generated is not None:
        return rates.token_usd * (prompts + generated) / MILLION
    return None


def _judging(
    reward: RewardSpec, parameters: Mapping[str, Any], judge: JudgeConfig, run: TrainingRun
) -> Estimate:
    """The cost of judging, measured on the judge's worked examples."""
    samples = [each.sample() for each in examples_with(reward, parameters) or reward.examples]
    calls, tokens = measured(recorded_questions(reward, parameters, samples))
    return estimate(judge, run, ResponseCost(calls=calls, input=tokens), judge.concurrency)


def _assumptions(planned: Plan, rates: Rates) -> Iterator[str]:
    """What the figures rest on."""
    for role, name in ROLES[planned.base.driver].items():
        setting = planned.setting(role)
        if role in UNCOUNTED or not (setting and setting.origin):
            continue
        if role != "interval" or planned.asked.validation:
            yield f"{name} is not set: counted with {shown(setting.value)}, {setting.origin}"
    if planned.figures is None:
        yield (
            "the rows of the logs are not counted: --rows plans with a number"
            if planned.sizes is None
            else "no recipe was read, or it has no batch or epochs: steps are not counted"
        )
        return
    kind = _of_rollouts() if planned.agent else _of_answers(planned, planned.figures)
    yield from kind
    if rates.step_minutes is None:
        yield "how long a step takes is not documented: --step-minutes plans with yours"
    elif planned.agent is None:
        yield f"a step takes {rates.step_minutes:g} minutes, as given"
    if planned.figures.training_usd is None:
        yield (
            "no page that could be read has a price of multi-turn jobs: --hour-price (with "
            "--step-minutes) plans with yours"
            if planned.agent
            else "no page that could be read has a price of reinforcement fine-tuning: "
            "--hour-price (with --step-minutes) or --token-price plans with yours"
        )
    judge = planned.figures.judge
    if judge is not None:
        yield (
            f"a judge model writes {judge.cost.output:,} tokens a call in {judge.cost.latency:g} "
            "s; its prefilter and caches avoid calls, retries add"
        )


def _of_rollouts() -> Iterator[str]:
    """What is assumed of an agent."""
    yield "the service may stop early: an upper bound"
    yield (
        f"a rollout that is not rewarded within {WINDOW} s is said to end the whole job, and so is "
        "one that fails or never asks the policy; AWS documents none of it"
    )
    yield "turns and tokens depend on the agent: `reward rollouts run` counts them before the job"


def _of_answers(planned: Plan, figures: Figures) -> Iterator[str]:
    """What is assumed where the service makes the rollouts."""
    if planned.setting("samples") is None:
        yield (
            f"{API['openai']} has no samples of a prompt: counted with {GROUP}, which AWS states "
            "for Nova; AWS reports 67 steps for 300 rows in batches of 4, so it may hold rows back"
        )
    if figures.run.prompts % figures.run.batch_size:
        yield "an epoch's last step holds what is left; a trainer that drops it takes fewer steps"
    yield "how many answers an invocation brings is not documented: from one to a whole step"
    yield "the service may stop early, and most answers end before their limit: an upper bound"
    if figures.prompt_tokens is not None:
        yield "tokens of prompts are estimates, and every rollout reads its prompt"


def _warnings(planned: Plan) -> Iterator[str]:
    """Every sentence that applies, those about the model first."""
    yield from planned.base.warnings
    for rule in (_of_sizes, _of_limits, _of_validation, _of_calls):
        yield from rule(planned, ROLES[planned.base.driver])
    if planned.account is not None:
        yield from (f"concurrency: {each}" for each in planned.account.unmeasured)
    if planned.figures is not None and planned.figures.judge is not None:
        yield from planned.figures.judge.warnings


def _of_sizes(planned: Plan, name: Mapping[str, str]) -> Iterator[str]:
    """Groups, batches and prompts, beside the data."""
    sizes, batch, limit = planned.sizes, planned.value("batch"), planned.value("prompt")
    if planned.value("samples") == SMALL_GROUP:
        yield (
            f"{name['samples']} is 2: the baseline of a group is the mean of two rewards, and "
            "groups of equal rewards teach nothing; 4 or more are less noisy"
        )
    if sizes and batch is not None and batch > sizes.rows:
        yield (
            f"{name['batch']} is {batch:,}, and the data have {sizes.rows:,} rows: an epoch is "
            "one step, and not a full one"
        )
    prompts = sizes.prompts.values if sizes and sizes.prompts else ()
    over = sum(limit is not None and value > limit for value in prompts)
    if sizes and over:
        yield (
            f"{name['prompt']} is {limit:,}, and {over:,} of {sizes.rows:,} prompts are longer, by "
            f"estimate up to {max(prompts):,} tokens; what becomes of them is not documented: "
            f"{sizes.max_prompt_length:,} holds them all"
        )


def _of_limits(planned: Plan, name: Mapping[str, str]) -> Iterator[str]:
    """The length of an answer, beside the data and the model."""
    sizes, known = planned.sizes, planned.base.known
    prompt, limit, answer = planned.value("prompt"), planned.value("answer"), planned.longest_answer
    if sizes and limit is not None:
        generous = sizes.inference_max_tokens(planned.value("effort"))
        if int(limit) < generous:
            yield (
                f"{name['answer']} is {limit:,}: an answer that is cut off there earns the "
                f"minimum, and the policy learns to be brief; {generous:,} leaves room"
            )
    if known is None or answer is None:
        return
    if prompt is None and sizes and sizes.prompts:
        prompt = max(sizes.prompts.values)
    if prompt is not None and prompt + answer > known.context:
        yield (
            f"a prompt of {prompt:,} tokens and an answer of {answer:,} are more than the context "
            f"of {known.name}, {known.context:,}"
        )
    if limit is not None and limit > known.max_output:
        yield (
            f"{name['answer']} is {limit:,}, and {known.name} writes at most "
            f"{known.max_output:,} tokens"
        )


def _of_validation(planned: Plan, name: Mapping[str, str]) -> Iterator[str]:
    """What is evaluated on the way, and whether the service takes the file."""
    setting, known, figures = planned.setting("interval"), planned.base.known, planned.figures
    if setting and setting.given and figures and int(setting.given) > figures.run.steps:
        yield (
            f"{name['interval']} is {setting.given}, and the job has {figures.run.steps:,} steps: "
            "nothing is evaluated on the way"
        )
    if planned.asked.validation is not None:
        if doubt := SERVICES[planned.base.driver].validation:
            yield doubt
        elif known is not None and known.id.startswith(NO_VALIDATION):
            yield (
                "AWS's SDK leaves out a validation file for Nova 2 Lite as not supported, and "
                "AWS's notebooks pass one: the service may refuse it"
            )
        elif planned.sizes and planned.sizes.validation_rows and planned.value("validated") == 0:
            yield "val_every is 0: the validation file is asked at the end alone, if at all"
    if planned.asked.invocation_logs is not None:
        yield (
            "rows that come from invocation logs have no reference_answer: the reward must score "
            "without one, or every sample is unscored"
        )


def _of_calls(planned: Plan, _: Mapping[str, str]) -> Iterator[str]:
    """What the grader is asked at a time."""
    figures, account = planned.figures, planned.account
    if figures is None:
        return
    step, fitting = figures.run.per_step, figures.samples_in_a_call
    if fitting is not None and fitting < step:
        yield (
            f"an invocation takes {MAX_PAYLOAD_BYTES // MEGABYTE} MB, {fitting:,} of the longest "
            f"answers, and a step has {step:,}: if the service sends a whole step in one, the "
            "longest do not fit"
        )
    available = account.available if account else None
    if available == 0:
        yield "the grader's reserved concurrency is 0: it answers nobody; raise or remove it"
    elif account and available is not None and available < step:
        reserved = account.reserved is not None
        whose = "is reserved for the grader" if reserved else "is unreserved here"
        yield (
            f"a step has {step:,} answers, and a concurrency of {available:,} {whose}: if the "
            "service sends one an invocation, all at a time, calls are throttled; how many it "
            "sends is not documented"
        )
    if planned.judged and figures.judge is None:
        yield (
            "the reward asks a judge model, and its settings are not known here: its calls and "
            "dollars are not counted; give --judge FILE, or lambda:GetFunctionConfiguration to the "
            "caller"
        )
