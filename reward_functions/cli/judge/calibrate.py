"""`reward judge calibrate`: a card of a judge's agreement with people."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reward_functions.calibration.asking import (
    AnswerLedger,
    Judge,
    Ratings,
    TrialPlan,
    ask,
    recorded,
)
from reward_functions.calibration.card import About, Card, about, markdown, page, record
from reward_functions.calibration.cases import LabelledCases, read_cases
from reward_functions.calibration.estimating import instructions_digest, recorded_questions
from reward_functions.calibration.figures import figures
from reward_functions.calibration.settings import fingerprint, load_judge_config
from reward_functions.cli._console import (
    leave,
    output,
    print_json,
    remark,
    say_measured,
    sheet_table,
)
from reward_functions.cli._options import Models, Name, Parameters  # noqa: TC001 - typer reads annotations
from reward_functions.cli._progress import watched
from reward_functions.cli.judge._options import AsJson, Replay, judge_named
from reward_functions.core.errors import ConfigurationError
from reward_functions.data.atomic import Together
from reward_functions.data.json_rows import shown

if TYPE_CHECKING:
    from reward_functions.core.spec import RewardSpec


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
            help="The field of the cases with the judge's answers, written as labels are; no model "
            "is asked.",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the ledger of an earlier run.")
    ] = False,
    repeats: Annotated[
        int, typer.Option(min=1, max=20, help="Trials of each case; 2 measure consistency.")
    ] = 1,
    both_orders: Annotated[
        bool, typer.Option("--both-orders", help="Ask pairs with swapped responses as well.")
    ] = False,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder of the card; made where missing.")
    ] = Path("calibration"),
    draws: Annotated[int, typer.Option(min=100, max=100_000, help="Bootstrap samples.")] = 1_000,
    seed: Annotated[int, typer.Option(help="Of the bootstrap.")] = 0,
    parameter: Parameters = None,
    as_json: AsJson = False,
) -> None:
    """Compare a judge with people, and write a card.

    A case is a response with a `label` on the judge's scale, or a pair of responses (`response1`,
    `response2`) with the label 1, 2 or 0 for a tie; `votes` are labels by one person each. A pair
    goes to a judge that compares as it is; another judge scores both responses.

    The card shows the agreement of the judge with people, with intervals by prompt; the agreement
    among people; the effect of invalid verdicts; consistency; and bias towards position and length.
    It is written three times, for readers (.md, .html) and for programs (.json), with the hash of
    the judge's instructions. A ledger (.jsonl) beside it keeps every rating, so that --resume
    repeats no call.

    Exit status: 0 every trial has a valid verdict; 1 some have none; 2 none has one, or nothing was
    written. Trials that the judge decides without a model need none, and are counted apart.
    """
    spec, parameters = judge_named(name, parameter)
    labelled = read_cases(cases, spec.scale)
    if both_orders and labelled.labels.kind == "graded":
        raise ConfigurationError("--both-orders: the cases are no pairs")
    if recorded is not None:
        if replay is not None or resume:
            raise ConfigurationError("--recorded asks no model: it excludes --replay and --resume")
        about, ratings = _recorded(spec, labelled, recorded)
    else:
        opened = Judge.opened(spec, parameters, load_judge_config(judge, replay))
        plan = TrialPlan(repeats, both_orders)
        about, ratings = _asked(opened, labelled, plan, out, resume=resume)
    if not any(ratings.first(case.id) for case in labelled.items):
        reasons = iter(ratings.missing.values())
        raise ConfigurationError(f"no case has a rating; the first: {next(reasons)}")
    say_measured(ratings.measured)
    about = replace(about, file=shown(cases), draws=draws, seed=seed)
    card = Card(about, labelled, ratings, figures(labelled, ratings, times=draws, seed=seed))
    written = _write(card, out)
    if as_json:
        print_json(record(card))
    else:
        _print(card)
    remark(f"the card is {written} and .html")
    leave(ratings.measured)


def _recorded(spec: RewardSpec, cases: LabelledCases, field: str) -> tuple[About, Ratings]:
    """The ratings recorded in the cases, and their origin."""
    models = [f"recorded under {field!r}"]
    ratings = recorded(cases, field)
    answers = [[rating.trial.case, rating.value] for rating in ratings.given.values()]
    return about(spec, {}, cases, models=models, instructions="", answers=answers), ratings


def _asked(
    judge: Judge, cases: LabelledCases, plan: TrialPlan, out: Path, *, resume: bool
) -> tuple[About, Ratings]:
    """The ratings of the judge, earlier ones from the ledger, and their origin."""
    spec, parameters, models = judge.spec, judge.parameters, judge.config.models
    samples = (judge.input(cases, case).samples[0] for case in cases.items)
    asked = recorded_questions(spec, parameters, samples)
    origin = about(
        spec,
        parameters,
        cases,
        models=[model.called for model in models],
        instructions=instructions_digest(asked),
        answers=fingerprint(judge.config),
    )
    free = all(model.backend == "replay" for model in models)
    if not free:
        out.mkdir(parents=True, exist_ok=True)
    path = out / f"{origin.stem}.jsonl"
    with nullcontext() if free else AnswerLedger(path, origin.setup, resume=resume) as ledger:
        ratings = ask(
            judge, cases, plan, ledger, lambda trials: watched(trials, "asking", len(trials))
        )
    spent = judge.spent
    usd = None if spent.unpriced and not spent.usd else spent.usd
    return replace(origin, calls=spent.calls, usd=usd, unpriced=spent.unpriced), ratings


def _write(card: Card, out: Path) -> Path:
    """Write the three files of the card, all or none; the path of the Markdown."""
    path = out / f"{card.about.stem}.md"
    with Together() as files:
        files.folder(out)
        files.opened(path).write(markdown(card))
        files.opened(path.with_suffix(".html")).write(page(card).html())
        files.opened(path.with_suffix(".json")).write(json.dumps(record(card), indent=2) + "\n")
    return path


def _print(card: Card) -> None:
    for sheet in card.sheets:
        output().print(sheet_table(sheet))
    for warning in card.warnings:
        remark(warning, "yellow")
