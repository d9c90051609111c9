"""`reward judge warm`: whether the models of a judge give structured verdicts, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from reward_functions.cli._errors import INCOMPLETE
from reward_functions.cli._options import Models, Name, Parameters  # noqa: TC001 - typer reads annotations
from reward_functions.cli.judge._options import AsJson  # noqa: TC001

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reward_functions.tools.judging.probing import Probe


def warm(
    name: Name,
    *,
    judge: Models = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Try every rung, and not only until one works.")
    ] = False,
    timeout: Annotated[
        float, typer.Option(min=1, max=300, help="Seconds of a call; a new schema is compiled.")
    ] = 300.0,
    parameter: Parameters = None,
    as_json: AsJson = False,
) -> None:
    """Ask every model of a judge one of its questions, by the surest rung that works.

    The rungs are json_schema, strict_tool, tool and json. The one the settings choose is tried
    first; that also has the provider compile the judge's schema, which then is kept for a day.

    Exit status: 0 the chosen rung of every model works; 1 another does, or none; 2 nobody was
    asked.
    """
    from rich.text import Text

    from reward_functions.cli._console import MESSAGE, errors, plain
    from reward_functions.cli._progress import watched
    from reward_functions.cli._rewards import parameter_values, reward_named
    from reward_functions.cli.data._output import print_json
    from reward_functions.tools.judging.probing import first_questions, probes
    from reward_functions.tools.judging.settings import judge_only, judging_of

    spec = judge_only(reward_named(name))
    asked = first_questions(spec, parameter_values(spec, parameter or []))
    judging = judging_of(judge)
    models = [*judging.models, *filter(None, [judging.fallback])]
    tried = {
        model.called: list(
            watched(probes(model, asked, everything=everything, timeout=timeout), "probing")
        )
        for model in models
        if model.backend != "replay"
    }
    if as_json:
        print_json([_as_json(probe) for some in tried.values() for probe in some])
    else:
        _print(probe for some in tried.values() for probe in some)
    for model in models:
        if model.backend == "replay":
            errors().print(f"{plain(model.called)}: recorded answers have nothing to warm")
    advice = [line for model, some in tried.items() if (line := _advice(model, some))]
    for line in advice:
        errors().print(Text(plain(line, MESSAGE), "yellow"), soft_wrap=True)
    if advice:
        raise typer.Exit(INCOMPLETE)


def _advice(model: str, tried: list[Probe]) -> str:
    """What to do; "" where the chosen rung works."""
    if tried[0].error is None:
        return ""
    working = next((probe.form for probe in tried if probe.error is None), None)
    if working:
        return f"{model}: {tried[0].form} does not work; set form = {working!r} in its settings"
    return f"{model}: no rung works; the first: {tried[0].error}"


def _print(tried: Iterable[Probe]) -> None:
    from reward_functions.cli._console import cell, output, table

    shown = table(
        "model", "rung", "verdict", "seconds", "tokens", names=("model",),
        numbers=("seconds", "tokens"),
    )  # fmt: skip
    for probe in tried:
        verdict = cell("works", "green") if probe.error is None else cell(str(probe.error), "red")
        form = f"{probe.form} (chosen)" if probe.chosen else probe.form
        figures = (cell(f"{probe.seconds:.1f}"), cell(f"{probe.usage.total:,}"))
        shown.add_row(cell(probe.model), cell(form), verdict, *figures)
    output().print(shown)


def _as_json(probe: Probe) -> dict[str, Any]:
    return {
        "model": probe.model,
        "form": probe.form,
        "chosen": probe.chosen,
        "works": probe.error is None,
        "error": None if probe.error is None else str(probe.error),
        "kind": None if probe.error is None else probe.error.kind,
        "seconds": round(probe.seconds, 3),
        "tokens": probe.usage.total,
    }
