"""`reward judge estimate`: what a training run asks of a judge."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reward_functions.cli._options import Models, Name, Parameters  # noqa: TC001 - typer reads annotations
from reward_functions.cli.judge._options import AsJson  # noqa: TC001

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.core.spec import RewardSpec
    from reward_functions.judge_runtime.config import Judging
    from reward_functions.tools.judging.estimating import Estimate


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
            help="Samples with responses, by which the judge's questions are measured.",
            show_default="the judge's worked examples",
        ),
    ] = None,
    calls: Annotated[
        float | None,
        typer.Option(min=0, help="Of a response and a juror.", show_default="measured"),
    ] = None,
    input_tokens: Annotated[
        int | None, typer.Option(min=0, help="Of a call.", show_default="measured")
    ] = None,
    output_tokens: Annotated[int, typer.Option(min=0, help="Of an answer.")] = 300,
    latency: Annotated[float, typer.Option(min=0.001, help="Seconds of a call.")] = 3.0,
    concurrency: Annotated[
        int | None, typer.Option(min=1, help="Calls at once.", show_default="of the settings")
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

    An upper bound: gates, shared answers and caches make it less; repeated calls come on top.
    Tokens are estimated from characters. Nobody is asked.

    Exit status: 0, or 2 where the arguments cannot be used.
    """
    from rich.text import Text

    from reward_functions.cli._console import MESSAGE, errors, plain
    from reward_functions.cli._rewards import parameter_values, reward_named
    from reward_functions.cli.data._output import print_json
    from reward_functions.tools.judging import estimating
    from reward_functions.tools.judging.settings import judge_only, judging_of

    spec = judge_only(reward_named(name))
    judging = _priced(judging_of(judge), price or [])
    found_calls, found_tokens = _measured(spec, parameter_values(spec, parameter or []), rows)
    run = estimating.Run(prompts=prompts, batch_size=batch_size, samples=samples, epochs=epochs)
    cost = estimating.Cost(
        calls=found_calls if calls is None else calls,
        input=found_tokens if input_tokens is None else input_tokens,
        output=output_tokens,
        latency=latency,
    )
    estimated = estimating.estimate(judging, run, cost, concurrency or judging.concurrency)
    if as_json:
        print_json(_as_json(estimated))
    else:
        _print(estimated)
    for warning in estimated.warnings:
        errors().print(Text(plain(warning, MESSAGE), "yellow"), soft_wrap=True)


def _priced(judging: Judging, prices: Sequence[str]) -> Judging:
    """The settings with prices as typed, before those they have.

    Raises:
        ConfigurationError: a price is not of the form.
        BadJudge: it is no price.
    """
    from reward_functions.core.errors import ConfigurationError

    typed: dict[str, tuple[float, ...]] = {}
    for told in prices:
        model, _, dollars = told.rpartition("=")
        try:
            given, taken = map(float, dollars.split(","))
        except ValueError:
            given = taken = float("nan")
        if not model or given != given or taken != taken:  # noqa: PLR0124 - NaN
            raise ConfigurationError(f"a price is written MODEL=INPUT,OUTPUT, not {told!r}")
        typed[model] = (given, taken)
    return replace(judging, prices={**(judging.prices or {}), **typed}) if typed else judging


def _measured(
    spec: RewardSpec, parameters: Mapping[str, Any], rows: str | None
) -> tuple[float, int]:
    """Calls of a response, and input tokens of a call."""
    from reward_functions.cli._rows import read_samples
    from reward_functions.core.errors import ConfigurationError
    from reward_functions.core.types import Sample
    from reward_functions.tools.judging.estimating import measured
    from reward_functions.tools.judging.rehearsing import examples, questions

    if rows is None:
        samples = [each.sample() for each in examples(spec, parameters) or spec.examples]
    else:
        samples = [row for row in read_samples(rows)[0] if isinstance(row, Sample)]
    calls, tokens = measured(questions(spec, parameters, samples))
    if not calls and rows is not None:
        raise ConfigurationError(f"{rows}: {spec.name} asks nothing about these samples")
    return calls, tokens


def _print(estimated: Estimate) -> None:
    from rich.text import Text

    from reward_functions.cli._console import cell, facts, output, table
    from reward_functions.judge_runtime.usage import prices_as_of

    run, cost = estimated.run, estimated.cost
    told = {
        "steps": f"{run.steps:,}, each of {run.per_step:,} responses",
        "responses": f"{run.responses:,}",
        "a response": f"{cost.calls:g} calls of {cost.input:,} + {cost.output:,} tokens",
        "calls": f"{estimated.calls:,}",
        "dollars": "unknown" if estimated.usd is None else f"{estimated.usd:,.2f}",
        "time": f"{_duration(estimated.seconds)} at {estimated.concurrency} calls at once",
        "time of a step": _duration(estimated.step_seconds),
    }
    output().print(facts({name: Text(value) for name, value in told.items()}))
    numbers = ("calls", "input", "output", "dollars", "RPM", "TPM reserved")
    shown = table("model", *numbers, names=("model",), numbers=numbers)
    for juror in estimated.jurors:
        shown.add_row(
            cell(juror.model),
            cell(f"{juror.calls:,}"),
            cell(f"{juror.usage.input:,}"),
            cell(f"{juror.usage.output:,}"),
            cell(None if juror.usd is None else f"{juror.usd:,.2f}"),
            cell(f"{juror.rpm:,.0f}"),
            cell(f"{juror.tpm:,.0f}"),
        )
    output().print(shown)
    output().print(f"prices as of {prices_as_of()}, where the settings name none", style="dim")


def _duration(seconds: float) -> str:
    if seconds < 120:  # noqa: PLR2004 - two minutes read better in seconds
        return f"{seconds:,.1f} s"
    hours, rest = divmod(round(seconds / 60), 60)
    return f"{hours:,} h {rest} min" if hours else f"{rest} min"


def _as_json(estimated: Estimate) -> dict[str, Any]:
    from dataclasses import asdict

    from reward_functions.judge_runtime.usage import prices_as_of

    return {
        **asdict(estimated),
        "steps": estimated.run.steps,
        "responses": estimated.run.responses,
        "calls": estimated.calls,
        "usd": estimated.usd,
        "prices_as_of": prices_as_of(),
        "warnings": estimated.warnings,
    }
