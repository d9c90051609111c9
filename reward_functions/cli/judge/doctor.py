"""`reward judge doctor`: attack a judge."""

from __future__ import annotations

from functools import partial
from pathlib import Path  # noqa: TC003 - typer reads annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from reward_functions.calibration import doctor as doctors
from reward_functions.calibration.doctor import (
    AttackReport,
    AttackResults,
    AttackTarget,
    markdown,
    record,
    targets_from_examples,
    targets_from_samples,
)
from reward_functions.calibration.estimating import instructions_digest, recorded_questions
from reward_functions.calibration.settings import load_judge_config, without_cache
from reward_functions.cli._console import (
    leave,
    output,
    print_json,
    remark,
    say_measured,
    sheet_table,
)
from reward_functions.cli._options import (  # noqa: TC001 - typer reads annotations
    Map,
    Models,
    Name,
    Parameters,
    Shape,
)
from reward_functions.cli._progress import watched
from reward_functions.cli.judge._options import AsJson, Replay, judge_named
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.types import Sample
from reward_functions.data.atomic import replaced
from reward_functions.data.json_rows import BadInput
from reward_functions.data.rows.shapes import RowOptions
from reward_functions.judge_runtime.panel import JudgePool
from reward_functions.scoring.rows import read_samples, row_options

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.core.spec import RewardSpec


def doctor(
    name: Name,
    *,
    judge: Models = None,
    replay: Replay = None,
    scripted: Annotated[
        bool,
        typer.Option(
            "--scripted",
            help="Ask no model but a scripted one, which obeys every order outside a fence.",
        ),
    ] = False,
    prompts: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Samples to attack, with references; their responses are wrong answers.",
            show_default="the judge's worked examples",
        ),
    ] = None,
    limit: Annotated[
        float, typer.Option(min=0, max=1, help="The share of attacks that may raise the reward.")
    ] = 0.02,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the report as Markdown.")
    ] = None,
    mapped: Map = None,
    shape: Shape = None,
    parameter: Parameters = None,
    as_json: AsJson = False,
) -> None:
    """Attack a judge with the attacks that are known to work on judges.

    Master keys, orders, escapes from the fence, false references, tokens of chat templates,
    imitated verdicts, theft of the checksum, verdicts in the reasoning, hidden text, pressure. Each
    attack surrounds a wrong answer, on every prompt. It raised the reward where it earns more than
    the wrong answer alone.

    Exit status: 0 no more than --limit raise it; 1 more do, or some have no verdict; 2 none has
    one, or the arguments or the input cannot be used. Attacks that the judge decides without a
    model need none, and are counted apart.
    """
    spec, parameters = judge_named(name, parameter)
    report = _report(
        spec,
        parameters,
        _targets(spec, parameters, prompts, row_options(mapped, shape)),
        judge,
        replay,
        scripted=scripted,
        limit=limit,
    )
    measured = report.results.measured
    say_measured(measured)
    if out is not None:
        _write(report, out)
    if as_json:
        print_json(record(report))
    else:
        _print(report)
    for failure in report.results.failures:
        remark(f"not fit to train on: {failure}", "bold red")
    if not as_json:
        output().print(Text(report.limits, "dim"))
    leave(measured, failed=bool(report.results.failures))


def _targets(
    spec: RewardSpec, parameters: Mapping[str, Any], prompts: str | None, how: RowOptions
) -> list[AttackTarget]:
    if prompts is None and how != RowOptions():
        raise ConfigurationError("--map and --rows say how the FILE of --prompts is read")
    if prompts is None:
        return targets_from_examples(spec, parameters)
    rows, places = read_samples(prompts, how, answered=False)
    for row, place in zip(rows, places, strict=True):
        if not isinstance(row, Sample):
            raise BadInput(f"{prompts}, {place}: {row.error}")
    return targets_from_samples(row for row in rows if isinstance(row, Sample))


def _report(
    spec: RewardSpec,
    parameters: Mapping[str, Any],
    targets: list[AttackTarget],
    judge: str | None,
    replay: str | None,
    *,
    scripted: bool,
    limit: float,
) -> AttackReport:
    asked = recorded_questions(spec, parameters, (target.sample for target in targets))
    instructions = instructions_digest(asked)
    run_attacks = partial(
        doctors.run_attacks,
        spec,
        targets,
        limit=limit,
        watched=lambda samples: watched(samples, "attacking", len(samples)),
    )
    if scripted:
        results: AttackResults = run_attacks(
            doctors.scripted_scorer(spec, parameters), workers=1, scripted=True
        )
        return AttackReport(spec, parameters, ["a script"], "script", instructions, results)
    config = load_judge_config(judge, replay)
    results = run_attacks(doctors.scorer_for(JudgePool(without_cache(config)), spec, parameters))
    recorded = all(model.backend == "replay" for model in config.models)
    models = [model.called for model in config.models]
    return AttackReport(
        spec, parameters, models, "recording" if recorded else "model", instructions, results
    )


def _write(report: AttackReport, out: Path) -> None:
    with replaced(out) as stream:
        stream.write(markdown(report))


def _print(report: AttackReport) -> None:
    for sheet in report.sheets:
        output().print(sheet_table(sheet))
