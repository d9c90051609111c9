"""A judge beside people: the card of its agreement, and the same as figures with gates.

    cases with labels ──asking──→ ratings ──figures──→ Card ──→ card_audit: kappa, bias, …

A second judge stands beside the first by the card of an earlier run over the same cases.

The card is written three times, for readers (.md, .html) and for programs (.json), with the hash of
the judge's instructions. A ledger (.jsonl) beside it keeps every rating: to resume repeats no call.
"""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.audit import gates as gating
from reward_functions.audit.conventions import code_file
from reward_functions.audit.results import Audit, Figure, Finding
from reward_functions.calibration.asking import (
    AnswerLedger,
    Judge,
    Ratings,
    TrialPlan,
    ask,
    recorded,
)
from reward_functions.calibration.beside import DIFFERENCES, judge_beside, read_card
from reward_functions.calibration.card import (
    CONSISTENT,
    About,
    Card,
    about,
    markdown,
    page,
    record,
)
from reward_functions.calibration.cases import LABEL, LabelledCases, read_cases
from reward_functions.calibration.estimating import instructions_digest, recorded_questions
from reward_functions.calibration.figures import AGREEMENT, figures
from reward_functions.calibration.fitness import too_few
from reward_functions.calibration.settings import fingerprint, load_judge_config, require_judge
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean
from reward_functions.data.atomic import Together
from reward_functions.data.json_rows import shown
from reward_functions.reports.statistics import DRAWS, wilson
from reward_functions.scoring.rewards import parameter_values, reward_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from reward_functions.audit.engine import AuditOptions
    from reward_functions.audit.results import Gate
    from reward_functions.calibration.asking import Trial
    from reward_functions.calibration.beside import EarlierCard
    from reward_functions.calibration.figures import CardFigure
    from reward_functions.core.spec import RewardSpec

UNDEFINED: Final = "these cases, each asked as often as they are, do not define it"

ALONE: Final = "a single prompt has no interval"


@dataclass(frozen=True, slots=True, kw_only=True)
class CardOptions:
    """How a judge is held against people.

    Args:
        folder: of the card; made where missing.
        recorded: the field of the cases with the judge's answers, written as labels are; no model
            is asked then.
        resume: whether the ledger of an earlier run is continued.
        trials: of each case; two measure consistency.
        both_orders: whether pairs are asked with swapped responses as well.
        beside: the .json of a card over the same cases, whose judge stands beside this one.
    """

    folder: Path
    recorded: str | None = None
    resume: bool = False
    trials: int = 1
    both_orders: bool = False
    beside: Path | None = None


class CardAudit(NamedTuple):
    """A card, where it was written, and its figures held to gates."""

    audit: Audit
    card: Card
    path: Path


def card_audit(
    name: str,
    cases: str,
    wanted: CardOptions,
    asked: AuditOptions,
    *,
    parameters: Sequence[str] = (),
    judge: str | None = None,
    answers: str | None = None,
    watched: Callable[[Sequence[Trial]], Iterable[Trial]] = iter,
    confirm: Callable[[int], bool] | None = None,
) -> CardAudit:
    """Ask a judge about cases with labels, write the card, and hold its figures to gates.

    Args:
        name: of a judge, or the file of one.
        cases: a file of responses, or of pairs of responses, with labels by people.
        wanted: what the card is made of.
        asked: of it, the label, the gates, what is accepted, the budget and the seed.
        parameters: of the judge, `name=value` each.
        judge: the settings of its models.
        answers: the file of recorded answers, in place of a model.
        watched: passes the trials on, and may show progress.
        confirm: asked with the number of trials before a model is, where there is no budget.

    Raises:
        ConfigurationError: no judge has that name, an option cannot be used, no case has a rating,
            or nobody agrees to what the model costs.
        OSError: a file cannot be read or written.
    """
    spec = require_judge(reward_named(name))
    given = parameter_values(spec, parameters)
    labelled = read_cases(cases, spec.scale, label=asked.label or LABEL)
    _require_figures(asked, wanted)
    other = None if wanted.beside is None else read_card(wanted.beside, labelled)
    accepted = gating.accepted_of(name, [spec.name], code_file(spec.function), asked.accepted)
    asked = replace(asked, accepted=accepted)
    if wanted.both_orders and labelled.labels.kind == "graded":
        raise ConfigurationError("--both-orders: the cases are no pairs")
    if wanted.recorded is not None:
        if answers is not None or wanted.resume or wanted.both_orders or wanted.trials > 1:
            raise ConfigurationError(
                "--recorded asks no model: it excludes --judge-answers, --resume, --both-orders "
                "and --repeat"
            )
        origin, ratings = _of_record(spec, labelled, wanted.recorded)
    else:
        config = load_judge_config(judge, answers)
        if asked.max_usd is not None:
            config = replace(config, max_usd=asked.max_usd)
        opened = Judge.opened(spec, given, config)
        _require_budget(opened, labelled, wanted, asked, confirm)
        origin, ratings = _asked(opened, labelled, wanted, watched)
    if not any(ratings.first(case.id) for case in labelled.items):
        reasons = iter(ratings.missing.values())
        raise ConfigurationError(f"no case has a rating; the first: {next(reasons)}")
    origin = replace(origin, file=shown(cases), draws=DRAWS, seed=asked.seed)
    how: dict[str, int] = {"times": DRAWS, "seed": asked.seed}
    found = figures(labelled, ratings, **how)
    second = (
        judge_beside(labelled, ratings, other, wanted.beside, found, **how)
        if other is not None and wanted.beside is not None
        else None
    )
    card = Card(origin, labelled, ratings, found, second)
    path = wanted.folder / f"{_named(origin, wanted, other).stem}.md"
    held = _held(card, asked, path)
    _write(card, path, held.failures)
    return CardAudit(held, card, path)


def _named(origin: About, wanted: CardOptions, other: EarlierCard | None) -> About:
    """The origin by which a card is named: with its trials, and the card that stands beside it.

    The ledger has the name without them: what was answered is asked by no other trials again.
    """
    plan = [wanted.trials, wanted.both_orders, other and other.model_dump()]
    if plan == [1, False, None]:
        return origin
    decisive = json.dumps([origin.setup, plan], sort_keys=True)
    return replace(origin, setup=sha256(decisive.encode()).hexdigest())


def _require_budget(
    judge: Judge,
    cases: LabelledCases,
    wanted: CardOptions,
    asked: AuditOptions,
    confirm: Callable[[int], bool] | None,
) -> None:
    if _is_free(judge):
        return
    trials = len(cases.items) * wanted.trials * (1 + wanted.both_orders)
    if asked.budget is not None and trials > asked.budget:
        raise ConfigurationError(
            f"a budget of {asked.budget:,} is too small: the cases take {trials:,} trials"
        )
    agreed = asked.budget is not None or asked.max_usd is not None
    if not agreed and (confirm is None or not confirm(trials)):
        raise ConfigurationError(
            f"the card asks the judge's model about {trials:,} trials at most: give a budget "
            f"(--budget {trials}), or agree to it (--yes)"
        )


OF_TWO: Final = tuple(f"{each}.beside" for each in DIFFERENCES)
"""Differences of two judges, the first less the second."""

FIGURES: Final = (
    *(each.lower().replace(" ", "_") for each in AGREEMENT),
    *("bias", "length_bias", "unscored"),
    *(f"consistency.{each.replace(' ', '_')}" for each in CONSISTENT),
    *OF_TWO,
)
"""What a gate can be of; a card lacks those that its cases do not define."""


def _require_figures(asked: AuditOptions, wanted: CardOptions) -> None:
    """Read the gates before a model is asked.

    Raises:
        ConfigurationError: one is no expression, of no figure of a card, or of two judges where
            there is one.
    """
    for each in gating.expressions(asked.fail_on, ()):
        if each.figure not in FIGURES:
            hint = did_you_mean(each.figure, FIGURES)
            raise ConfigurationError(f"{each.text!r}: a card has no figure {each.figure!r}{hint}")
        if each.figure in OF_TWO and wanted.beside is None:
            raise ConfigurationError(f"{each.text!r} holds two judges: add --beside CARD.json")


def require_no_card_gate(fail_on: Sequence[str]) -> None:
    """Refuse a gate that only a card has, before anything is asked.

    Raises:
        ConfigurationError: one is no expression, or of a card alone.
    """
    for each in gating.expressions(fail_on, ()):
        if each.figure in FIGURES and each.figure != "unscored":
            raise ConfigurationError(
                f"{each.text!r} is a gate of a judge beside people: add --card DIR, and DATA with "
                "their labels"
            )


def _is_free(judge: Judge) -> bool:
    return all(model.backend == "replay" for model in judge.config.models)


def _of_record(spec: RewardSpec, cases: LabelledCases, field: str) -> tuple[About, Ratings]:
    """The ratings recorded in the cases, and their origin."""
    models = [f"recorded under {field!r}"]
    ratings = recorded(cases, field)
    kept = [[rating.trial.case, rating.value] for rating in ratings.given.values()]
    return about(spec, {}, cases, models=models, instructions="", answers=kept), ratings


def _asked(
    judge: Judge,
    cases: LabelledCases,
    wanted: CardOptions,
    watched: Callable[[Sequence[Trial]], Iterable[Trial]],
) -> tuple[About, Ratings]:
    """The ratings of the judge, earlier ones from the ledger, and their origin."""
    spec, parameters, models = judge.spec, judge.parameters, judge.config.models
    samples = (judge.input(cases, case).samples[0] for case in cases.items)
    origin = about(
        spec,
        parameters,
        cases,
        models=[model.called for model in models],
        instructions=instructions_digest(recorded_questions(spec, parameters, samples)),
        answers=fingerprint(judge.config),
    )
    free, out = _is_free(judge), wanted.folder
    if not free:
        out.mkdir(parents=True, exist_ok=True)
    path = out / f"{origin.stem}.jsonl"
    plan = TrialPlan(wanted.trials, wanted.both_orders)
    with (
        nullcontext() if free else AnswerLedger(path, origin.setup, resume=wanted.resume) as ledger
    ):
        ratings = ask(judge, cases, plan, ledger, watched)
    spent = judge.spent
    usd = None if spent.unpriced and not spent.usd else spent.usd
    return replace(origin, calls=spent.calls, usd=usd, unpriced=spent.unpriced), ratings


def _write(card: Card, path: Path, failures: Sequence[str]) -> None:
    """Write the three files of the card, all or none.

    Args:
        card: what is written.
        path: of the Markdown.
        failures: why gates do not hold.
    """
    with Together() as files:
        files.folder(path.parent)
        files.opened(path).write(markdown(card))
        files.opened(path.with_suffix(".html")).write(page(card, failures).html())
        files.opened(path.with_suffix(".json")).write(json.dumps(record(card), indent=2) + "\n")


def _held(card: Card, asked: AuditOptions, path: Path) -> Audit:
    """The figures of a card with the gates that are asked for; each trial must have a verdict."""
    seen, origin = [*_figures(card)], card.about
    lacking = {*FIGURES} - {each.id for each in seen}
    seen += [Figure(each, None, why=UNDEFINED) for each in FIGURES if each in lacking]
    found = [
        Finding(
            "CARD",
            "beside people",
            "ok" if card.fitness.fit == "fit" else "note",
            card.verdict,
            n=card.figures.prompts,
        ),
        *(Finding("CARD", "beside people", "note", warning) for warning in card.warnings),
    ]
    gates = gating.gate_decisions(gating.expressions(asked.fail_on, ("unscored>0",)), seen)
    few = {each.id: each.why for each in seen if each.value is not None}
    gates = [_decided(each, few.get(each.figure, "")) for each in gates]
    gates, found = gating.accept(gates, found, asked.accepted or (), seen)
    return Audit(
        target={
            "kind": "reward",
            "name": origin.judge,
            "version": str(origin.version),
            "digest": origin.instructions,
            "convention": "",
        },
        data=_data(card),
        figures=seen,
        findings=found,
        gates=gates,
        measured=card.ratings.measured,
        calls=origin.calls,
        dollars=origin.usd,
        notes=[
            f"{origin.judge}, version {origin.version}, beside people",
            card.verdict,
            card.outcome,
            f"the card is {path} and .html",
        ],
        allow_undecided=asked.allow_undecided,
    )


def _decided(gate: Gate, few: str) -> Gate:
    """A gate that holds by what decides nothing is undecided.

    Args:
        gate: of a figure.
        few: why its interval decides nothing, or is missing; "" where it decides.
    """
    if gate.decision != "held" or not few:
        return gate
    return replace(gate, decision="undecided", message=f"{gate.message}; {few}")


def _data(card: Card) -> Mapping[str, Any]:
    return {
        "file": card.about.file,
        "rows": len(card.cases.items),
        "prompts": card.figures.prompts,
        "sha256": card.about.digest,
    }


def _figures(card: Card) -> Iterable[Figure]:
    """Agreement with invalid verdicts counted as wrong, biases by their size, consistency."""
    found, prompts = card.figures, card.figures.prompts
    for name, value in found.agreement["wrong"].items():
        few = too_few(found, name)
        yield _figure(name.lower().replace(" ", "_"), value, prompts, few)
    few = too_few(found, "bias")
    yield _figure("bias", found.bias, prompts, few, size=True)
    yield _figure("length_bias", found.length_bias, prompts, few, size=True)
    for name, share in found.consistency.items():
        if share.value is not None:
            place = f"consistency.{name.replace(' ', '_')}"
            low, high = wilson(share.value, share.whole)[1:]
            yield Figure(place, share.value, low, high, share.whole)
    shared = card.beside.first if card.beside else found
    for name, value in card.beside.differences.items() if card.beside else ():
        yield _figure(f"{name}.beside", value, shared.prompts, too_few(shared, name))
    measured = card.ratings.measured
    trials = measured.measured + measured.missing + measured.unasked
    yield Figure("unscored", measured.missing / trials, n=prompts)


def _figure(name: str, found: CardFigure, prompts: int, few: str, *, size: bool = False) -> Figure:
    value, interval = found.value, found.interval
    if value is None:
        return Figure(name, None, n=prompts, unit="score", why=UNDEFINED)
    low, high = interval or (None, None)
    if size:
        value = abs(value)
        if low is not None and high is not None:
            ends = sorted((abs(low), abs(high)))
            low, high = (0.0 if low <= 0 <= high else ends[0]), ends[1]
    why = few if interval else ALONE
    return Figure(name, value, low, high, prompts, "score", why)
