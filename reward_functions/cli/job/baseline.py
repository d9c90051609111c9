"""`reward job baseline`: what a model earns before any training."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reward_functions.aws.deployed.scorer import VersionScorer, scorer_named
from reward_functions.cli._console import leave, plain, print_json, remark, say_measured
from reward_functions.cli._echo import Yes, agreed, require_somebody_to_ask, say
from reward_functions.cli._errors import UNUSABLE
from reward_functions.cli._fitting import print_table
from reward_functions.cli._pages import Report, require_page, write_page
from reward_functions.cli._progress import counted
from reward_functions.cli.job._options import AsJson, MaxTokens, Typed, stage_place, taking
from reward_functions.cli.job._output import SIMULATION, print_findings
from reward_functions.core.errors import ConfigurationError
from reward_functions.jobs.asking import (
    AnswerFile,
    AskedPrompt,
    AskingCost,
    ask,
    chosen,
    cost,
    endpoint_of,
    sampling_of,
    setup,
)
from reward_functions.jobs.baseline import (
    FILE,
    TUNED_FILE,
    Baseline,
    BaselineOrigin,
    counts,
    judged,
    measured,
    page,
    recorded,
    save,
    shares,
)
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.data import files_of
from reward_functions.jobs.models import Base, find, made_from
from reward_functions.jobs.options import deployment_of
from reward_functions.jobs.preflight import readable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.aws.deployed.findings import CheckFinding
    from reward_functions.jobs.asking import Endpoint, Sampling
    from reward_functions.reports.statistics import Share


@taking("file", "stage", "deployment", "model", "data", "hyperparameters", "driver")
def baseline(
    typed: Typed,
    *,
    prompts: Annotated[
        int, typer.Option("--prompts", "-n", min=1, help="Rows of the data that are asked.")
    ] = 100,
    answers: Annotated[
        int, typer.Option("--answers", "-k", min=1, max=64, help="Answers to a prompt.")
    ] = 4,
    ask: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Ask this one: a model or profile of Bedrock, or the ARN of a tuned model's "
            "deployment or import.",
            show_default="the file's ask, or what the table of models says of the base",
        ),
    ] = None,
    temperature: Annotated[float, typer.Option(min=0.0, max=2.0, help="Of the answers.")] = 1.0,
    max_tokens: MaxTokens = None,
    price: Annotated[
        str | None,
        typer.Option(
            metavar="IN,OUT",
            help="Dollars per million tokens, read and written.",
            show_default="the table's",
        ),
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=128, help="Calls at once.")] = 8,
    seed: Annotated[int, typer.Option(help="Of the choice of rows.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep the answers; those that are there are not asked."),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The figures, for preflight and start.",
            show_default="baseline.json; tuned.json of a tuned model",
        ),
    ] = None,
    report: Report = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Measure what the base model earns, before a job pays for training it.

    Rows of the training file are drawn at random; the model answers each several times; the
    deployed version scores the answers. The cost is shown first. A model that earns nothing needs
    to be taught the format first; one that earns nearly everything has nothing to learn; a group
    of answers that all earn the same has zero advantage. The figures are kept without any text.

    With --ask MODEL, a model that a job made is measured the same way: on the same rows with the
    same --seed. It does not judge then what a job could learn from it.

    Exit status: 0 a job can learn from this, 1 it cannot, or some answers have no score, 2 nothing
    was measured, and no figures are written.
    """
    require_page(report)
    asked = typed.configuration()
    files = files_of(asked)
    if asked.data is None:
        raise BadJob("data: name a file: invocation logs are read by the job alone")
    where = stage_place(asked.stage)
    base = find(asked.model, where.stage.region, asked.driver)
    scorer = scorer_named(deployment_of(asked), asked.stage, where.session)
    drawn = chosen(*readable([asked.data]), prompts, seed)
    sampling = sampling_of(asked, temperature, max_tokens)
    endpoint = endpoint_of(base, sampling, where, ask=ask or asked.ask, concurrency=concurrency)
    prices = price_of(price, base)
    measured = _measured(endpoint, sampling, drawn, answers, prices, scorer, out, concurrency, yes)
    if measured is None:
        remark("nothing was asked")
        raise typer.Exit(UNUSABLE)
    tuned = made_from(endpoint.model, base, asked.ask)
    origin = BaselineOrigin(
        model=base.identifier,
        asked=endpoint.model,
        data=files.hashes["data"],
        tuned=tuned,
        simulation=where.simulated,
        **asdict(sampling),
    )
    kept = recorded(measured, origin, scorer)
    written = record or Path(TUNED_FILE if tuned else FILE)
    save(kept, written)
    findings = [] if tuned else list(judged(measured))
    model = f"{endpoint.model}{' (simulation)' if where.simulated else ''}"
    if as_json:
        shown = {"findings": [asdict(each) for each in findings]}
        print_json(kept.model_dump(mode="json") | shown)
    else:
        _show(measured, scorer, model, findings, simulated=where.simulated)
    remark(f"the figures are in {written}")
    if report is not None:
        write_page(page(measured, findings, model, kept.facts()), report)
    leave(measured.measured, failed=any(each.verdict == "failure" for each in findings))


def price_of(typed: str | None, base: Base) -> tuple[float, float] | None:
    """Dollars per million tokens: as typed, or of the table."""
    return typed_price(typed) or (
        base.known.price.inference if base.known and base.known.price else None
    )


def typed_price(typed: str | None) -> tuple[float, float] | None:
    """Dollars per million tokens, read and written; None where none are typed."""
    if typed is None:
        return None
    try:
        read, written = map(float, typed.split(","))
    except ValueError:
        raise ConfigurationError(f"--price {typed!r}: write IN,OUT, such as 0.33,2.75") from None
    if not (0 <= read < float("inf") and 0 <= written < float("inf")):
        raise ConfigurationError(f"--price {typed!r}: a price is a number from 0")
    return read, written


def _measured(  # noqa: PLR0917 - one step after the other
    endpoint: Endpoint,
    sampling: Sampling,
    drawn: Sequence[AskedPrompt],
    each: int,
    price: tuple[float, float] | None,
    scorer: VersionScorer,
    out: Path | None,
    concurrency: int,
    yes: bool,  # noqa: FBT001
) -> Baseline | None:
    """The figures; None where nobody agreed to the cost.

    Raises:
        BadJob: no answer has a score.
    """
    kept = AnswerFile(out, setup(endpoint, sampling)) if out else None
    with kept or nullcontext():
        costs = cost(drawn, each, list(kept.given) if kept else [], sampling, price)
        _show_cost(costs, endpoint, scorer)
        if costs.calls:
            require_somebody_to_ask("nothing was asked: baseline", yes=yes)
        if costs.calls and not agreed(f"Ask {costs.calls:,} times?", yes=yes):
            return None
        with counted("asking", costs.calls) as advance:
            given = ask(endpoint, drawn, each, kept=kept, concurrency=concurrency, advance=advance)
    with counted("scoring", len(given)) as advance:
        found = measured(drawn, given, scorer, advance)
    say_measured(found.measured)
    if not found.scored:
        worst = next(iter(found.errors), "")
        raise BadJob(f"no answer of {endpoint.model} has a score, so that nothing is kept: {worst}")
    return found


def _show_cost(costs: AskingCost, endpoint: Endpoint, scorer: VersionScorer) -> None:
    judged = " · and the judge's calls for each answer: `reward judge estimate`" * scorer.judges
    remark(f"{cost_words(costs, endpoint.model)}{judged}")


def cost_words(costs: AskingCost, model: str) -> str:
    """The cost that is still to be paid."""
    dollars = "unknown (--price IN,OUT)" if costs.usd is None else f"{costs.usd:,.2f} at most"
    kept = f" · answers that are there {costs.kept:,}" if costs.kept else ""
    return (
        f"calls to {plain(model)} {costs.calls:,} · tokens read about {costs.input:,}, "
        f"written {costs.output:,} at most · dollars {dollars}{kept}"
    )


def _show(
    measured: Baseline,
    scorer: VersionScorer,
    model: str,
    findings: Sequence[CheckFinding],
    *,
    simulated: bool,
) -> None:
    """The figures, the most frequent reasons with an example each, and what follows."""
    if simulated:
        say(SIMULATION, err=True)
    figures = [(name, *_share_cells(figure)) for name, figure in shares(measured).items()]
    rows = [*figures, *((name, text, None) for name, text in counts(measured).items())]
    heads = ("figure", "value", "95 % interval")
    print_table(heads, rows, words=("figure",), title=f"Baseline of {plain(model)}")
    if measured.reasons:
        why = [
            (
                each.text,
                f"{each.answers:,}",
                f"{each.reward:g}",
                each.place.rpartition(", ")[2],
                each.end,
            )
            for each in measured.reasons
        ]
        print_table(
            ("reason", "answers", "reward", "row", "an answer ends"),
            why,
            numbers=("answers", "reward"),
            words=("reason", "an answer ends"),
            spare=("row",),
        )
    elif not scorer.judges:
        typer.echo(
            "reasons are the reward's own, and only the very version that is installed here has "
            "them",
            err=True,
        )
    if findings:
        print_findings(findings, "What a job can learn from it")


def _share_cells(figure: Share | None) -> tuple[str | None, str | None]:
    if figure is None:
        return None, None
    return f"{figure.value:.1%}", f"{figure.low:.1%} to {figure.high:.1%}"
