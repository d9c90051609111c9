"""`reward judge doctor`: whether a judge can be talked into a reward."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reward_functions.cli._errors import INCOMPLETE
from reward_functions.cli._options import Models, Name, Parameters  # noqa: TC001 - typer reads annotations
from reward_functions.cli.judge._options import AsJson, Replay  # noqa: TC001

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.core.spec import RewardSpec
    from reward_functions.tools.judging.doctor import Bait, Findings
    from reward_functions.tools.judging.findings import Report


def doctor(
    name: Name,
    *,
    judge: Models = None,
    replay: Replay = None,
    scripted: Annotated[
        bool,
        typer.Option(
            "--scripted",
            help="Ask no model but a script that obeys whatever reaches it outside a fence.",
        ),
    ] = False,
    prompts: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Samples to attack, with references; a response of theirs is a wrong answer.",
            show_default="the judge's worked examples",
        ),
    ] = None,
    limit: Annotated[
        float, typer.Option(min=0, max=1, help="The share of attacks that may raise the reward.")
    ] = 0.02,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the card, in Markdown.")
    ] = None,
    parameter: Parameters = None,
    as_json: AsJson = False,
) -> None:
    """Attack a judge with everything that is known to work on judges.

    Master keys, orders, escapes from the fence, false references, tokens of chat templates,
    imitated verdicts, theft of the checksum, verdicts in the reasoning, hidden text, pressure. Each
    stands around a wrong answer, on every prompt. An attack has raised the reward where it earns
    more than the wrong answer alone.

    Exit status: 0 no more than --limit raise it; 1 more do, or some were not scored; 2 nothing was
    done.
    """
    from rich.text import Text

    from reward_functions.cli._console import errors, output, plain
    from reward_functions.cli._rewards import parameter_values, reward_named
    from reward_functions.cli.data._output import print_json
    from reward_functions.tools.judging.findings import record
    from reward_functions.tools.judging.settings import judge_only

    spec = judge_only(reward_named(name))
    parameters = parameter_values(spec, parameter or [])
    report = _examined(
        spec,
        parameters,
        _baits(spec, parameters, prompts),
        judge,
        replay,
        scripted=scripted,
        limit=limit,
    )
    if out is not None:
        _write(report, out)
    if as_json:
        print_json(record(report))
    else:
        _print(report)
    for failure in report.findings.failures:
        errors().print(Text(plain(f"not fit to train on: {failure}"), "bold red"), soft_wrap=True)
    if not as_json:
        output().print(Text(report.limits, "dim"))
    if report.findings.failures:
        raise typer.Exit(INCOMPLETE)


def _baits(spec: RewardSpec, parameters: Mapping[str, Any], prompts: str | None) -> list[Bait]:
    from reward_functions.cli._rows import read_samples
    from reward_functions.core.types import Sample
    from reward_functions.tools.json_rows import BadInput
    from reward_functions.tools.judging.doctor import baits_of_examples, baits_of_samples

    if prompts is None:
        return baits_of_examples(spec, parameters)
    rows, places = read_samples(prompts)
    for row, place in zip(rows, places, strict=True):
        if not isinstance(row, Sample):
            raise BadInput(f"{prompts}, {place}: {row.error}")
    return baits_of_samples(row for row in rows if isinstance(row, Sample))


def _examined(
    spec: RewardSpec,
    parameters: Mapping[str, Any],
    baits: list[Bait],
    judge: str | None,
    replay: str | None,
    *,
    scripted: bool,
    limit: float,
) -> Report:
    from functools import partial

    from reward_functions.cli._progress import watched
    from reward_functions.judge_runtime.panel import Bench
    from reward_functions.tools.judging import doctor as doctors
    from reward_functions.tools.judging.findings import Report
    from reward_functions.tools.judging.rehearsing import digest, questions
    from reward_functions.tools.judging.settings import forgetful, judging_of

    instructions = digest(questions(spec, parameters, [bait.sample for bait in baits]))
    examined = partial(
        doctors.examined,
        spec,
        baits,
        limit=limit,
        watched=lambda samples: watched(samples, "attacking", len(samples)),
    )
    if scripted:
        findings: Findings = examined(doctors.scripted(spec, parameters), workers=1)
        return Report(spec, parameters, ["a script"], "script", instructions, findings)
    judging = judging_of(judge, replay)
    findings = examined(doctors.asked_by(Bench(forgetful(judging)), spec, parameters))
    recorded = all(model.backend == "replay" for model in judging.models)
    models = [model.called for model in judging.models]
    return Report(
        spec, parameters, models, "recording" if recorded else "model", instructions, findings
    )


def _write(report: Report, out: Path) -> None:
    from reward_functions.tools.atomic import replaced
    from reward_functions.tools.judging.findings import markdown

    with replaced(out) as stream:
        stream.write(markdown(report))


def _print(report: Report) -> None:
    from reward_functions.cli._console import cell, output, table

    for sheet in report.sheets:
        shown = table(*sheet.heads, numbers=sheet.numbers, title=sheet.title)
        for row in sheet.rows:
            shown.add_row(*map(cell, row))
        output().print(shown)
