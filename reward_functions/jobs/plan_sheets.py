"""A plan as tables, as a page and as JSON data: one wording for people and programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from reward_functions.jobs.hyperparameters import hyperparameters, shown
from reward_functions.jobs.models import API, as_of, models
from reward_functions.jobs.recipes import ELSEWHERE
from reward_functions.judge_runtime.usage import prices_as_of
from reward_functions.reports.pages.page import Page
from reward_functions.reports.pages.sections import Section
from reward_functions.reports.sheets import Sheet, escaped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.jobs.advice import Advice
    from reward_functions.jobs.job import DriverName, HyperparameterValue
    from reward_functions.jobs.planned import Figures, Plan, PlannedSetting

UNKNOWN = "unknown"


def sheets(planned: Plan) -> Iterator[Sheet]:
    """The tables of a plan: what it is, its hyperparameters, what it comes to."""
    yield Sheet("The job", ["", "is"], list(map(list, _about(planned))), words=("is",))
    yield _of_recipe(planned) if planned.recipe else _of_api(planned)
    rows = list(_figures(planned.figures)) if planned.figures else [("steps", UNKNOWN)]
    rows += _concurrency(planned)
    yield Sheet("What it comes to", ["", "is"], list(map(list, rows)), words=("is",))


def markdown(planned: Plan) -> Iterator[str]:
    """The lines of a whole plan."""
    yield f"# Plan: {escaped(planned.reward)}"
    for sheet in sheets(planned):
        yield ""
        yield from sheet.markdown()
    for title, sentences in (("Assumed", planned.assumptions), ("Warnings", planned.warnings)):
        if sentences:
            yield ""
            yield f"## {title}"
            yield ""
            yield from (f"- {escaped(each)}" for each in sentences)


def page(planned: Plan) -> Page:
    """A whole plan as one page of HTML."""
    sections = [Section(sheet.title, [sheet]) for sheet in sheets(planned)]
    if planned.assumptions:
        sections.append(Section("Assumed", list(planned.assumptions)))
    return Page(
        f"Plan: {planned.asked.deployment}",
        "What the job would come to. Nothing was uploaded or started.",
        planned.warnings,
        sections=sections,
    )


def as_data(planned: Plan) -> dict[str, Any]:
    """The same as JSON data; null is unknown."""
    figures, sizes = planned.figures, planned.sizes
    return {
        "model": planned.base.identifier,
        "driver": planned.base.driver,
        "region": planned.region or None,
        "grader": planned.grader or None,
        "models_as_of": as_of(),
        "hyperparameters": {
            each.hyperparameter.name: {
                "set": each.given,
                "counted_with": each.value,
                "origin": each.origin or None,
                "range": each.hyperparameter.range,
                "suggested": each.suggested,
                **_advice(each.hyperparameter.advice),
            }
            for each in planned.settings
        },
        "data": sizes
        and {
            "rows": sizes.rows,
            "validation_rows": sizes.validation_rows,
            "largest_row_bytes": sizes.largest_row,
            "prompt_tokens_estimated": sizes.prompts and sizes.prompts.percentiles(),
            "solution_tokens_estimated": sizes.solutions and sizes.solutions.percentiles(),
        },
        "figures": figures and _figures_data(figures),
        "account": planned.account and asdict(planned.account),
        "assumptions": list(planned.assumptions),
        "warnings": list(planned.warnings),
    }


def models_table() -> Iterator[list[str]]:
    """The table of models, for documentation; headings first."""
    yield [
        *("model", "API", "regions", "context", "longest answer", "the base is asked as"),
        "dollars of a million tokens, asked",
    ]
    for model in models():
        price = model.price
        cost = "unknown"
        if price is not None:
            read, written = price.inference
            cost = f"{read:.2f} read, {written:.2f} written, {price.as_of}"
        names = ", ".join(f"`{name}`" for name in (model.id, *model.aliases))
        yield [
            names,
            API[model.driver],
            ", ".join(model.regions),
            f"{model.context:,}",
            f"{model.max_output:,}",
            f"`{model.inference_id}`",
            cost,
        ]


def hyperparameters_table(driver: DriverName) -> Iterator[list[str]]:
    """The hyperparameters of an API, for documentation; headings first."""
    yield ["hyperparameter", "range", "service's default", "AWS's SDK", "AWS's samples", "ours"]
    for each in hyperparameters(driver).values():
        service, sdk, samples, ours = _advised(each.advice)
        recommended = f"`{ours}`: {each.advice.why}" if ours != "-" else each.advice.why
        yield [f"`{each.name}`", each.range, service, sdk, samples, recommended]


def _recipe(planned: Plan) -> Iterator[tuple[str, str]]:
    """What a serverless job is trained by; silence about adapters would mean every weight."""
    chosen = planned.asked.sagemaker
    if planned.base.driver == "sagemaker":
        peft = chosen.peft if chosen else "LORA"
        yield "technique", chosen.technique if chosen else "RLVR"
        yield "weights", f"adapters (Peft {peft})" if peft == "LORA" else "every one (no Peft sent)"
    if planned.recipe is not None:
        yield "recipe", planned.recipe.name or "without a name"
        yield "sequence length", planned.recipe.sequence_length or UNKNOWN


def _about(planned: Plan) -> Iterator[tuple[str, str]]:
    known, sizes = planned.base.known, planned.sizes
    yield "model", planned.base.identifier
    yield "API", API[planned.base.driver]
    yield "region", planned.region or "no stage was read"
    yield "reward", planned.reward
    yield from _recipe(planned)
    own = planned.asked.deployment is None and planned.asked.agent is None
    yield "grader", planned.grader or ("the service's own" if own else "no stage was read")
    if planned.asked.invocation_logs is not None:
        yield "logs", planned.asked.invocation_logs.source
    if sizes is not None:
        yield "rows", f"{sizes.rows:,}"
        if sizes.validation_rows:
            yield "validation rows", f"{sizes.validation_rows:,}"
        if sizes.prompts is not None:
            yield "tokens of a prompt", _percentiles(sizes.prompts.percentiles())
        if sizes.solutions is not None:
            yield "of a worked solution", _percentiles(sizes.solutions.percentiles())
    if known is not None:
        yield "table of models", f"{as_of()}: {known.source}"


def _of_api(planned: Plan) -> Sheet:
    """The hyperparameters of an API, with what others set them to."""
    return Sheet(
        "Hyperparameters",
        ["hyperparameter", "set", "range", "service", "AWS's SDK", "AWS's samples", "suggested"],
        [_hyperparameter_row(each) for each in planned.settings],
        "service: its default, where AWS states one. What is not set is the service's choice.",
        words=("range", "AWS's samples"),
        spare=("AWS's samples", "AWS's SDK", "service"),
    )


def _of_recipe(planned: Plan) -> Sheet:
    """The hyperparameters of a recipe, which has a default where it leaves a choice."""
    rows = [
        [
            each.hyperparameter.name,
            _value(each.given),
            each.hyperparameter.range,
            _value(each.hyperparameter.default),
        ]
        for each in planned.settings
        if each.hyperparameter.name not in ELSEWHERE
    ]
    return Sheet(
        "Hyperparameters",
        ["hyperparameter", "set", "range", "recipe"],
        rows,
        "recipe: its default, which is sent where nothing is set.",
        words=("range",),
    )


def _percentiles(named: dict[str, int]) -> str:
    return "estimated " + ", ".join(f"{name} {value:,}" for name, value in named.items())


def _hyperparameter_row(setting: PlannedSetting) -> list[str]:
    each = setting.hyperparameter
    service, sdk, samples, _ = _advised(each.advice)
    return [
        each.name,
        _value(setting.given),
        each.range,
        service,
        sdk,
        samples,
        _value(setting.suggested),
    ]


def _advised(advice: Advice) -> tuple[str, str, str, str]:
    """The service's default, AWS's SDK's, AWS's samples', ours."""
    samples = ", ".join(map(_value, advice.samples)) or "-"
    service = "unknown" if advice.service is None else _value(advice.service)
    return service, _value(advice.sdk), samples, _value(advice.recommended)


def _advice(advice: Advice) -> dict[str, Any]:
    named = advice._asdict()
    return {
        "service_default": named["service"],
        "sdk_default": named["sdk"],
        "samples": list(named["samples"]),
        "why": named["why"],
    }


def _value(value: HyperparameterValue | None) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else shown(value)


def _figures(figures: Figures) -> Iterator[tuple[str, str]]:
    run, judge = figures.run, figures.judge
    fewest, most = figures.grader_calls
    yield "steps", f"{run.steps:,}, each of {run.per_step:,} rollouts or fewer"
    yield "rollouts", f"{run.responses:,}"
    yield "grader calls", f"{fewest:,} to {most:,}"
    if figures.validation_answers is not None:
        once, groups = figures.validation_answers
        yield "validation", f"{figures.evaluations:,} times, {once:,} to {groups:,} answers"
    yield "tokens of prompts", _count(figures.prompt_tokens)
    yield "tokens of answers", _count(figures.generated_tokens, "at most ")
    if figures.samples_in_a_call is not None:
        yield "rollouts in 6 MB", f"{figures.samples_in_a_call:,} of the longest"
    if judge is not None:
        yield "judge calls", f"{judge.calls:,}, at least {judge.seconds / 60:,.0f} min of judging"
    yield "dollars of training", _usd(figures.training_usd)
    if judge is not None:
        yield "dollars of judging", f"{_usd(judge.usd)}, prices as of {prices_as_of()}"
    yield "minutes", UNKNOWN if figures.minutes is None else f"{figures.minutes:,.0f}"


def _concurrency(planned: Plan) -> Iterator[tuple[str, str]]:
    if planned.figures is not None:
        most = planned.figures.run.per_step
        yield "concurrency wanted", f"1 to {most:,}, by how many answers a call brings"
    account = planned.account
    if account is None or account.concurrency is None:
        yield "concurrency there is", _measured(None)
        return
    none = account.reserved_measured and account.reserved is None
    reserved = "none" if none else _measured(account.reserved)
    there_is = f"{account.concurrency:,} in the account, unreserved: "
    there_is += f"{_measured(account.unreserved)}; reserved for the grader: {reserved}"
    yield "concurrency there is", there_is


def _figures_data(figures: Figures) -> dict[str, Any]:
    run, judge = figures.run, figures.judge
    return {
        **asdict(run),
        "steps": run.steps,
        "rollouts": run.responses,
        "rollouts_of_a_step": run.per_step,
        "grader_calls": list(figures.grader_calls),
        "evaluations": figures.evaluations,
        "validation_answers": figures.validation_answers and list(figures.validation_answers),
        "prompt_tokens": figures.prompt_tokens,
        "generated_tokens_at_most": figures.generated_tokens,
        "longest_samples_in_a_call": figures.samples_in_a_call,
        "training_usd": figures.training_usd,
        "minutes": figures.minutes,
        "judge": judge
        and {
            "calls": judge.calls,
            "usd": judge.usd,
            "seconds": judge.seconds,
            "prices_as_of": prices_as_of(),
        },
    }


def _measured(executions: int | None) -> str:
    return "not measured" if executions is None else f"{executions:,}"


def _count(tokens: int | None, prefix: str = "") -> str:
    return UNKNOWN if tokens is None else f"{prefix}{tokens:,}"


def _usd(dollars: float | None) -> str:
    return UNKNOWN if dollars is None else f"{dollars:,.2f}"
