"""A plan as tables, as a page and as JSON data: one wording for people and programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from reward_functions.jobs.hyperparameters import Hyperparameter, hyperparameters, shown
from reward_functions.jobs.models import API, as_of, models
from reward_functions.jobs.plan import WINDOW, AgentRun, Figures, Plan, PlannedSetting
from reward_functions.jobs.recipes import ELSEWHERE
from reward_functions.jobs.services import SERVICES
from reward_functions.judge_runtime.usage import prices_as_of
from reward_functions.reports.pages.page import Page, Section
from reward_functions.reports.sheets import Sheet, escaped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reward_functions.calibration.estimating import TrainingRun
    from reward_functions.jobs.job import DriverName, HyperparameterValue

UNKNOWN = "unknown"


def sheets(planned: Plan) -> Iterator[Sheet]:
    """The tables of a plan: what it is, its hyperparameters, what it comes to."""
    yield _pairs("The job", _about(planned))
    yield _hyperparameters(planned)
    if planned.agent and planned.figures:
        yield _pairs("What it comes to", _rollouts(planned, planned.figures))
        return
    rows = list(_figures(planned.figures)) if planned.figures else [("steps", UNKNOWN)]
    yield _pairs("What it comes to", [*rows, *_concurrency(planned)])


def _pairs(title: str, rows: Iterable[tuple[str, str]]) -> Sheet:
    return Sheet(title, ["", "is"], list(map(list, rows)), words=("is",))


def markdown(planned: Plan) -> Iterator[str]:
    """The lines of a whole plan."""
    yield f"# Plan: {escaped(planned.reward)}"
    for sheet in sheets(planned):
        yield ""
        yield from sheet.markdown()
    for title, sentences in (("Assumed", planned.assumptions), ("Warnings", planned.warnings)):
        if sentences:
            yield from ("", f"## {title}", "", *(f"- {escaped(each)}" for each in sentences))


def page(planned: Plan) -> Page:
    """A whole plan as one page of HTML."""
    sections = [Section(sheet.title, [sheet]) for sheet in sheets(planned)]
    if planned.assumptions:
        sections.append(Section("Assumed", list(planned.assumptions)))
    about = "What the job would come to. Nothing was uploaded or started."
    return Page(f"Plan: {planned.reward}", about, planned.warnings, sections=sections)


def as_data(planned: Plan) -> dict[str, Any]:
    """The same as JSON data; null is unknown."""
    kind = _data_of_agent(planned, planned.figures) if planned.figures and planned.agent else {}
    return {
        "model": planned.base.identifier,
        "driver": planned.base.driver,
        "region": planned.region or None,
        **(kind or _data_of_grader(planned)),
        "assumptions": list(planned.assumptions),
        "warnings": list(planned.warnings),
    }


def _data_of_grader(planned: Plan) -> dict[str, Any]:
    figures, sizes = planned.figures, planned.sizes
    return {
        "grader": planned.grader or None,
        "models_as_of": as_of(),
        "hyperparameters": {
            each.hyperparameter.name: {
                "set": each.given,
                "counted_with": each.value,
                "origin": each.origin or None,
                "range": each.hyperparameter.range,
                "suggested": each.suggested,
                "service_default": each.hyperparameter.service,
                "sdk_default": each.hyperparameter.sdk,
                "samples": list(each.hyperparameter.samples),
                "why": each.hyperparameter.why,
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
    }


def _data_of_agent(planned: Plan, figures: Figures) -> dict[str, Any]:
    sizes, run = planned.sizes, figures.run
    return {
        "model": planned.asked.model,
        "agent": planned.agent and planned.agent.arn,
        "hyperparameters": {
            each.hyperparameter.name: {
                "set": each.given,
                "default": each.hyperparameter.default,
                "range": each.hyperparameter.range,
            }
            for each in planned.settings
            if each.hyperparameter.default is not None
        },
        "data": sizes and {"rows": sizes.rows, "validation_rows": sizes.validation_rows},
        "figures": {
            "steps": run.steps,
            "rollouts": run.responses,
            "rollouts_of_a_step": run.per_step,
            "validation_rollouts": _validated(run),
            "prompt_tokens": None,
            "generated_tokens_at_most": None,
            "training_usd": figures.training_usd,
            "minutes": figures.minutes,
        },
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
        ours = f"`{_value(each.recommended)}`: " if each.recommended is not None else ""
        yield [f"`{each.name}`", each.range, *_advised(each), f"{ours}{each.why}"]


def _recipe(planned: Plan) -> Iterator[tuple[str, str]]:
    """What a serverless job is trained by; silence about adapters would mean every weight."""
    chosen = planned.asked.sagemaker
    if SERVICES[planned.base.driver].recipes:
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
    if planned.agent:
        yield "agent", planned.agent.arn
    else:
        yield "reward", planned.reward
        yield from _recipe(planned)
        own = planned.asked.deployment is None
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


def _hyperparameters(planned: Plan) -> Sheet:
    """What is set, and beside it what others set, or the default that is sent."""
    heads = ["hyperparameter", "set", "range"]
    rows = [
        [each.hyperparameter.name, _value(each.given), *_beside(planned, each)]
        for each in planned.settings
        if not (planned.recipe and each.hyperparameter.name in ELSEWHERE)
    ]
    if planned.agent:
        return Sheet(
            "Hyperparameters", [*heads, "default"], rows, words=("range",), spare=("default",)
        )
    if planned.recipe:
        note = "recipe: its default, which is sent where nothing is set."
        return Sheet("Hyperparameters", [*heads, "recipe"], rows, note, words=("range",))
    return Sheet(
        "Hyperparameters",
        [*heads, "service", "AWS's SDK", "AWS's samples", "suggested"],
        rows,
        "service: its default, where AWS states one. What is not set is the service's choice.",
        words=("range", "AWS's samples"),
        spare=("AWS's samples", "AWS's SDK", "service"),
    )


def _beside(planned: Plan, each: PlannedSetting) -> list[str]:
    """The range of a hyperparameter, and what others set or the default that is sent."""
    known = each.hyperparameter
    if planned.agent:
        return [known.range if known.default else "no page says", _value(known.default)]
    if planned.recipe:
        return [known.range, _value(known.default)]
    return [known.range, *_advised(known), _value(each.suggested)]


def _percentiles(named: dict[str, int]) -> str:
    return "estimated " + ", ".join(f"{name} {value:,}" for name, value in named.items())


def _advised(each: Hyperparameter) -> list[str]:
    """The service's default, AWS's SDK's, AWS's samples'."""
    service = UNKNOWN if each.service is None else _value(each.service)
    return [service, _value(each.sdk), ", ".join(map(_value, each.samples)) or "-"]


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


def _validated(run: TrainingRun) -> int:
    return run.validated if isinstance(run, AgentRun) else 0


def _rollouts(planned: Plan, figures: Figures) -> Iterator[tuple[str, str]]:
    """What a multi-turn job comes to."""
    run = figures.run
    yield "steps", f"{run.steps:,}, each of {run.per_step:,} rollouts or fewer"
    yield "rollouts", f"{run.responses:,}"
    if planned.sizes and planned.sizes.validation_rows:
        yield "of validation", f"{_validated(run):,}"
    yield "at a time", f"unknown: 1 to {run.per_step:,}"
    yield "a rollout's window", f"{WINDOW:,} s, by a field report"
    yield "turns, tokens", UNKNOWN
    yield "minutes", UNKNOWN if figures.minutes is None else f"{figures.minutes:,.0f}"
    yield "dollars of training", _usd(figures.training_usd)


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
