"""`reward judge estimate`: the cost of judging a training run."""

from __future__ import annotations

from dataclasses import asdict, replace
from math import isnan, nan
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from reward_functions.calibration import estimating
from reward_functions.calibration.estimating import (
    Estimate,
    examples_with,
    measured,
    recorded_questions,
)
from reward_functions.calibration.settings import load_judge_config
from reward_functions.cli._console import facts, output, print_json, remark, table
from reward_functions.cli._options import (  # noqa: TC001 - typer reads annotations
    Map,
    Models,
    Name,
    Parameters,
)
from reward_functions.cli.judge._options import AsJson, judge_named
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.types import Sample
from reward_functions.judge_runtime.usage import prices_as_of
from reward_functions.scoring.rows import read_samples, row_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.core.spec import RewardSpec
    from reward_functions.judge_runtime.config import JudgeConfig


def estimate(
    name: Name,
    *,
    prompts: Annotated[int, typer.Option(min=1, help="Rows of training data.")],
    batch_size: Annotated[int, typer.Option(min=1, help="Prompts of a step.")] = 32,
    samples: Annotated[int, typer.Option(min=1, help="Responses to a prompt.")] = 4,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the data.")] = 1,
    judge: Models = None,
    rows: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Samples with responses, to measure the judge's questions on.",
            show_default="the judge's worked examples",
        ),
    ] = None,
    mapped: Map = None,
    calls: Annotated[
        float | None,
        typer.Option(min=0, help="Calls of a response to one model.", show_default="measured"),
    ] = None,
    input_tokens: Annotated[
        int | None, typer.Option(min=0, help="Input tokens of a call.", show_default="measured")
    ] = None,
    output_tokens: Annotated[int, typer.Option(min=0, help="Tokens of an answer.")] = 300,
    latency: Annotated[float, typer.Option(min=0.001, help="Seconds of a call.")] = 3.0,
    concurrency: Annotated[
        int | None, typer.Option(min=1, help="Concurrent calls.", show_default="of the settings")
    ] = None,
    price: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL=IN,OUT",
            help="Dollars per million tokens, before the dated table; one option for each model.",
        ),
    ] = None,
    parameter: Parameters = None,
    as_json: AsJson = False,
) -> None:
    """Count the calls, tokens, dollars, quota and time of judging a training run.

    An upper bound: the prefilter, deduplication and caches avoid calls; retries come on top. Tokens
    are estimated from characters. No model is asked.

    Exit status: 0, or 2 where the arguments cannot be used.
    """
    spec, parameters = judge_named(name, parameter)
    config = _priced(load_judge_config(judge), price or [])
    found_calls, found_tokens = _measured(spec, parameters, rows, mapped)
    run = estimating.TrainingRun(
        prompts=prompts, batch_size=batch_size, samples=samples, epochs=epochs
    )
    cost = estimating.ResponseCost(
        calls=found_calls if calls is None else calls,
        input=found_tokens if input_tokens is None else input_tokens,
        output=output_tokens,
        latency=latency,
    )
    estimated = estimating.estimate(config, run, cost, concurrency or config.concurrency)
    if as_json:
        print_json(_as_json(estimated))
    else:
        _print(estimated)
    for warning in estimated.warnings:
        remark(warning, "yellow")


def _priced(config: JudgeConfig, prices: Sequence[str]) -> JudgeConfig:
    """The settings with the prices of the command line, which override their own.

    Raises:
        ConfigurationError: a price is not written MODEL=INPUT,OUTPUT.
        BadJudge: a price is out of range.
    """
    typed: dict[str, tuple[float, ...]] = {}
    for price in prices:
        model, _, dollars = price.rpartition("=")
        try:
            input_price, output_price = map(float, dollars.split(","))
        except ValueError:
            input_price = output_price = nan
        if not model or isnan(input_price) or isnan(output_price):
            raise ConfigurationError(f"a price is written MODEL=INPUT,OUTPUT, not {price!r}")
        typed[model] = (input_price, output_price)
    return replace(config, prices={**(config.prices or {}), **typed}) if typed else config


def _measured(
    spec: RewardSpec, parameters: Mapping[str, Any], rows: str | None, mapped: list[str] | None
) -> tuple[float, int]:
    """Calls of a response, and input tokens of a call."""
    how = row_options(mapped, None)
    if rows is None and mapped:
        raise ConfigurationError("--map says how the FILE of --rows is read, and none is given")
    if rows is None:
        samples = [each.sample() for each in examples_with(spec, parameters) or spec.examples]
    else:
        samples = [
            row for row in read_samples(rows, how, answered=False)[0] if isinstance(row, Sample)
        ]
    calls, tokens = measured(recorded_questions(spec, parameters, samples))
    if not calls and rows is not None:
        raise ConfigurationError(f"{rows}: {spec.name} has no question about these samples")
    return calls, tokens


def _print(estimated: Estimate) -> None:
    run, cost = estimated.run, estimated.cost
    listed = {
        "steps": f"{run.steps:,}, each of {run.per_step:,} responses",
        "responses": f"{run.responses:,}",
        "a response": f"{_calls(cost.calls)} of {cost.input:,} + {cost.output:,} tokens",
        "calls": f"{estimated.calls:,}",
        "dollars": "unknown" if estimated.usd is None else f"{estimated.usd:,.2f}",
        "time": f"{_duration(estimated.seconds)} at {estimated.concurrency} concurrent calls",
        "time of a step": _duration(estimated.step_seconds),
    }
    output().print(facts({name: Text(value) for name, value in listed.items()}))
    numbers = ("calls", "input", "output", "dollars", "RPM", "TPM reserved")
    shown = table("model", *numbers, names=("model",), numbers=numbers)
    for model in estimated.models:
        shown.add_row(
            model.model,
            f"{model.calls:,}",
            f"{model.usage.input:,}",
            f"{model.usage.output:,}",
            None if model.usd is None else f"{model.usd:,.2f}",
            f"{model.rpm:,.0f}",
            f"{model.tpm:,.0f}",
        )
    output().print(shown)
    output().print(f"prices as of {prices_as_of()}, where the settings name none", style="dim")


def _calls(count: float) -> str:
    return "1 call" if count == 1 else f"{count:g} calls"


def _duration(seconds: float) -> str:
    if seconds < 120:  # noqa: PLR2004 - two minutes read better in seconds
        return f"{seconds:,.1f} s"
    hours, rest = divmod(round(seconds / 60), 60)
    return f"{hours:,} h {rest} min" if hours else f"{rest} min"


def _as_json(estimated: Estimate) -> dict[str, Any]:
    return {
        **asdict(estimated),
        "steps": estimated.run.steps,
        "responses": estimated.run.responses,
        "calls": estimated.calls,
        "usd": estimated.usd,
        "prices_as_of": prices_as_of(),
        "warnings": estimated.warnings,
    }
