"""`reward judge probe`: the output modes in which a judge's models give structured verdicts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from reward_functions.calibration.probing import (
    ProbeResult,
    measured_models,
    probe_modes,
    schema_questions,
)
from reward_functions.calibration.settings import load_judge_config
from reward_functions.cli._console import (
    cell,
    leave,
    output,
    print_json,
    remark,
    say_measured,
    table,
)
from reward_functions.cli._options import Models, Name, Parameters  # noqa: TC001 - typer reads annotations
from reward_functions.cli._progress import watched
from reward_functions.cli.judge._options import AsJson, judge_named

if TYPE_CHECKING:
    from collections.abc import Iterable


def probe(
    name: Name,
    *,
    judge: Models = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Try every output mode, also after one that works.")
    ] = False,
    timeout: Annotated[
        float, typer.Option(min=1, max=300, help="Seconds of a call; a new schema is compiled.")
    ] = 300.0,
    parameter: Parameters = None,
    as_json: AsJson = False,
) -> None:
    """Ask every model of a judge one of its questions, and find an output mode that works.

    The modes are json_schema, strict_tool, tool and json. The mode of the settings is tried first.
    The first call also makes the provider compile the judge's schema, which is cached for a day.

    Exit status: 0 the mode of the settings works for every model; 1 another does, or none; 2 no
    model answered, or the arguments cannot be used.
    """
    asked = schema_questions(*judge_named(name, parameter))
    config = load_judge_config(judge)
    models = [*config.models, *filter(None, [config.fallback])]
    tried = {
        model.called: list(
            watched(
                probe_modes(model, asked, everything=everything, timeout=timeout),
                f"asking {escape(model.called)}, at most {timeout:g} s a call",
            )
        )
        for model in models
        if model.backend != "replay"
    }
    measured = measured_models(tried.values())
    say_measured(measured)
    if as_json:
        print_json([_as_json(result) for some in tried.values() for result in some])
    else:
        _print(result for some in tried.values() for result in some)
    for model in models:
        if model.backend == "replay":
            remark(f"{model.called}: recorded answers have no output mode to probe")
    advice = [line for model, some in tried.items() if (line := _advice(model, some))]
    for line in advice:
        remark(line, "yellow")
    leave(measured, failed=bool(advice))


def _advice(model: str, tried: list[ProbeResult]) -> str:
    """What to do; "" where the mode of the settings works."""
    if tried[0].error is None:
        return ""
    working = next((each.output_mode for each in tried if each.error is None), None)
    if working:
        return (
            f"{model}: {tried[0].output_mode} does not work; set output_mode = {working!r} in its "
            "settings"
        )
    return f"{model}: no output mode works; the first: {_cause(tried[0])}"


def _cause(result: ProbeResult) -> str:
    """Why a mode does not work, without the advice to run this command."""
    cause, *_ = re.split("(?:;| Try) `reward judge probe`", str(result.error), maxsplit=1)
    return cause


def _print(tried: Iterable[ProbeResult]) -> None:
    shown = table(
        "model", "output mode", "verdict", "seconds", "tokens", names=("model",),
        numbers=("seconds", "tokens"),
    )  # fmt: skip
    for each in tried:
        verdict = cell("works", "green") if each.error is None else cell(_cause(each), "red")
        mode = f"{each.output_mode} (chosen)" if each.chosen else each.output_mode
        figures = (cell(f"{each.seconds:.1f}"), cell(f"{each.usage.total:,}"))
        shown.add_row(each.model, mode, verdict, *figures)
    output().print(shown)


def _as_json(result: ProbeResult) -> dict[str, Any]:
    return {
        "model": result.model,
        "output_mode": result.output_mode,
        "chosen": result.chosen,
        "works": result.error is None,
        "error": None if result.error is None else _cause(result),
        "kind": None if result.error is None else result.error.kind,
        "seconds": round(result.seconds, 3),
        "tokens": result.usage.total,
    }
