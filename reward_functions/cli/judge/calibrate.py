"""`reward judge calibrate`: how far a judge agrees with people, on a card."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reward_functions.cli._errors import INCOMPLETE
from reward_functions.cli._options import Models, Name, Parameters  # noqa: TC001 - typer reads annotations
from reward_functions.cli.judge._options import AsJson, Replay  # noqa: TC001

if TYPE_CHECKING:
    from reward_functions.core.spec import RewardSpec
    from reward_functions.tools.calibration.about import About
    from reward_functions.tools.calibration.asking import Judge, Plan
    from reward_functions.tools.calibration.cases import Cases
    from reward_functions.tools.calibration.readings import Readings
    from reward_functions.tools.calibration.sheets import Card


def calibrate(
    name: Name,
    *,
    cases: Annotated[
        str, typer.Option(metavar="FILE", help="Cases with human labels: JSONL or one JSON array.")
    ],
    judge: Models = None,
    replay: Replay = None,
    recorded: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD",
            help="The judge's answers stand in this field of the cases, written as labels are; "
            "nobody is asked.",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the ledger of an earlier run.")
    ] = False,
    repeats: Annotated[
        int, typer.Option(min=1, max=20, help="Times each case is asked: 2 show how steady it is.")
    ] = 1,
    both_orders: Annotated[
        bool, typer.Option("--both-orders", help="Ask pairs with the responses swapped as well.")
    ] = False,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder of the card; made where missing.")
    ] = Path("calibration"),
    draws: Annotated[int, typer.Option(min=100, max=100_000, help="Of the bootstrap.")] = 1_000,
    seed: Annotated[int, typer.Option(help="Of the bootstrap.")] = 0,
    parameter: Parameters = None,
    as_json: AsJson = False,
) -> None:
    """Compare a judge with people, and write a card.

    A case is a response with a `label` on the judge's scale, or a pair of responses (`response1`,
    `response2`) with the label 1, 2 or 0 for a tie; `votes` are labels by one person each. A pair
    is put to a judge that compares as it is; another judge scores both.

    The card says how often the judge and people agree, with intervals by prompt; how far people
    agree among themselves; what becomes of answers that cannot be used; whether the judge is
    steady; and whether it leans towards place or length. It is written three times, for readers
    (.md, .html) and for programs (.json), with the hash of the judge's instructions. A ledger
    (.jsonl) beside it keeps every answer, so that --resume pays for none twice.

    Exit status: 0 every case has a reading, 1 some have none, 2 nothing was written.
    """
    from reward_functions.cli._console import errors, plain
    from reward_functions.cli._rewards import parameter_values, reward_named
    from reward_functions.core.errors import ConfigurationError
    from reward_functions.tools.calibration.asking import Judge, Plan
    from reward_functions.tools.calibration.cases import read_cases
    from reward_functions.tools.calibration.figures import figures
    from reward_functions.tools.calibration.sheets import Card
    from reward_functions.tools.json_rows import shown
    from reward_functions.tools.judging.settings import judge_only, judging_of

    spec = judge_only(reward_named(name))
    parameters = parameter_values(spec, parameter or [])
    labelled = read_cases(cases, spec.scale)
    if both_orders and labelled.labels.kind == "graded":
        raise ConfigurationError("--both-orders: the cases are no pairs")
    if recorded is not None:
        if replay is not None or resume:
            raise ConfigurationError("--recorded: nobody is asked, so nothing goes with it")
        about, readings = _recorded(spec, labelled, recorded)
    else:
        seated = Judge.seated(spec, parameters, judging_of(judge, replay))
        plan = Plan(repeats, both_orders)
        about, readings = _asked(seated, labelled, plan, out, resume=resume)
    if not any(readings.first(case.id) for case in labelled.items):
        reasons = iter(readings.missing.values())
        raise ConfigurationError(f"no case has a reading; the first: {next(reasons)}")
    about = replace(about, file=shown(cases), draws=draws, seed=seed)
    card = Card(about, labelled, readings, figures(labelled, readings, times=draws, seed=seed))
    written = _write(card, out)
    if as_json:
        from reward_functions.cli.data._output import print_json
        from reward_functions.tools.calibration.records import record

        print_json(record(card))
    else:
        _print(card)
    errors().print(f"the card is {plain(str(written))} and .html", soft_wrap=True)
    if readings.missing:
        raise typer.Exit(INCOMPLETE)


def _recorded(spec: RewardSpec, cases: Cases, field: str) -> tuple[About, Readings]:
    """What the cases say that the judge said."""
    from reward_functions.tools.calibration.about import about
    from reward_functions.tools.calibration.readings import recorded

    models = [f"recorded under {field!r}"]
    said = recorded(cases, field)
    answers = [[reading.turn.case, reading.value] for reading in said.given.values()]
    return about(spec, {}, cases, models=models, instructions="", answers=answers), said


def _asked(
    judge: Judge, cases: Cases, plan: Plan, out: Path, *, resume: bool
) -> tuple[About, Readings]:
    """What the judge says, by the ledger where it was asked before."""
    from contextlib import nullcontext

    from reward_functions.cli._progress import watched
    from reward_functions.tools.calibration.about import about
    from reward_functions.tools.calibration.asking import ask
    from reward_functions.tools.calibration.ledger import Ledger
    from reward_functions.tools.judging.rehearsing import digest, questions
    from reward_functions.tools.judging.settings import fingerprint

    spec, parameters, models = judge.spec, judge.parameters, judge.judging.models
    asked = questions(spec, parameters, [judge.put(cases, case).samples[0] for case in cases.items])
    told = about(
        spec,
        parameters,
        cases,
        models=[model.called for model in models],
        instructions=digest(asked),
        answers=fingerprint(judge.judging),
    )
    free = all(model.backend == "replay" for model in models)
    if not free:
        out.mkdir(parents=True, exist_ok=True)
    path = out / f"{told.stem}.jsonl"
    with nullcontext() if free else Ledger(path, told.setup, resume=resume) as ledger:
        readings = ask(
            judge, cases, plan, ledger, lambda turns: watched(turns, "asking", len(turns))
        )
    return replace(told, calls=judge.spent.calls, usd=judge.spent.usd), readings


def _write(card: Card, out: Path) -> Path:
    """The three forms of the card, together or not at all; the path of the Markdown."""
    import json

    from reward_functions.tools.atomic import Together
    from reward_functions.tools.calibration.markdown import markdown
    from reward_functions.tools.calibration.page import page
    from reward_functions.tools.calibration.records import record

    path = out / f"{card.about.stem}.md"
    with Together() as files:
        files.folder(out)
        files.opened(path).write(markdown(card))
        files.opened(path.with_suffix(".html")).write(page(card))
        files.opened(path.with_suffix(".json")).write(json.dumps(record(card), indent=2) + "\n")
    return path


def _print(card: Card) -> None:
    from rich.text import Text

    from reward_functions.cli._console import MESSAGE, cell, errors, output, plain, table

    for sheet in card.sheets:
        shown = table(*sheet.heads, numbers=sheet.numbers, title=sheet.title)
        for row in sheet.rows:
            shown.add_row(*map(cell, row))
        output().print(shown)
    for warning in card.warnings:
        errors().print(Text(plain(warning, MESSAGE), "yellow"), soft_wrap=True)
