"""`reward job evaluate`: the tuned model beside its base, on prompts that no training has seen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reward_functions.aws.shell import aws_session, default_stage
from reward_functions.cli._console import (
    MESSAGE,
    errors,
    leave,
    plain,
    print_json,
    remark,
    say_measured,
)
from reward_functions.cli._echo import Yes, agreed, require_somebody_to_ask, say
from reward_functions.cli._errors import UNUSABLE
from reward_functions.cli._fitting import print_sheet
from reward_functions.cli._options import Map, Shape  # noqa: TC001 - typer reads annotations
from reward_functions.cli._pages import Report, require_page, write_page
from reward_functions.cli._progress import counted
from reward_functions.cli.job._options import (
    AsJson,
    DriverOption,
    MaxTokens,
    StageOfJob,
    configured,
    is_file,
)
from reward_functions.cli.job._output import SIMULATION
from reward_functions.cli.job.baseline import cost_words, typed_price
from reward_functions.data.atomic import replaced
from reward_functions.data.rows.shapes import RowOptions
from reward_functions.jobs.evaluation.evaluation import Settings
from reward_functions.jobs.evaluation.evaluation import evaluate as compare
from reward_functions.jobs.evaluation.evaluation_record import EvaluationRecord, save
from reward_functions.jobs.evaluation.page import markdown as as_markdown
from reward_functions.jobs.evaluation.page import page, sheets
from reward_functions.jobs.evaluation.preparing import Options, Prepared, prepared

if TYPE_CHECKING:
    from reward_functions.aws.deployed.scorer import VersionScorer
    from reward_functions.jobs.evaluation.by_service import ServiceEvaluation
    from reward_functions.jobs.evaluation.evaluation import Askings


def evaluate(
    job: Annotated[
        str, typer.Argument(metavar="JOB", help="A job's name, id or ARN; or its file, FILE.toml.")
    ],
    *,
    data: Annotated[
        Path, typer.Option("--data", metavar="FILE", help="The split to ask, as `score` reads it.")
    ],
    mapped: Map = None,
    shape: Shape = None,
    stage: StageOfJob = None,
    driver: DriverOption = None,
    on: Annotated[
        str | None,
        typer.Option(
            metavar="SERVICE",
            help="sagemaker: its own evaluation jobs ask both models, greedily.",
            show_default="this machine asks",
        ),
    ] = None,
    train: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What the job was trained on.",
            show_default="the job's own file",
        ),
    ] = None,
    validation: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="What it was validated on.", show_default="the job's own file"
        ),
    ] = None,
    ask_base: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Ask this base.", show_default="the job's"),
    ] = None,
    ask_tuned: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Ask this tuned model: a deployment's ARN, or an id.",
            show_default="what hosts the job's model",
        ),
    ] = None,
    prompts: Annotated[
        int | None,
        typer.Option("--prompts", "-n", min=1, help="Asked at most.", show_default="all"),
    ] = None,
    answers: Annotated[
        int,
        typer.Option("--answers", "-k", min=0, max=64, help="Sampled answers, for pass@k; or 0."),
    ] = 4,
    temperature: Annotated[
        float, typer.Option(min=0.0, max=2.0, help="Of the sampled answers.")
    ] = 1.0,
    max_tokens: MaxTokens = None,
    by: Annotated[
        str,
        typer.Option(
            metavar="KEY", help="Group by this metadata.", show_default="the kind of answer"
        ),
    ] = "",
    success: Annotated[
        float, typer.Option(min=0.01, max=1.0, help="The share of the scale that is right.")
    ] = 1.0,
    care: Annotated[
        float, typer.Option(min=0.001, max=1.0, help="The difference that matters, of the scale.")
    ] = 0.02,
    allow_leak: Annotated[
        str, typer.Option(metavar="REASON", help="Take a split that shares prompts.")
    ] = "",
    price: Annotated[
        str | None,
        typer.Option(
            metavar="IN,OUT",
            help="Dollars per million tokens, read and written, of both models.",
            show_default="the table's, of the base alone",
        ),
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=128, help="Calls at once.")] = 8,
    seed: Annotated[int, typer.Option(help="Of the prompts drawn, and of the intervals.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep the answers; those there are not asked again."),
    ] = None,
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the JSON to a file too.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write Markdown too.")
    ] = None,
    texts: Annotated[
        bool, typer.Option("--texts", help="Put the answers of flips into what is written.")
    ] = False,
    report: Report = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Compare a tuned model with its base on prompts that no training has seen.

    The split is refused where it shares prompts with the job's files. Both models are asked the
    same prompts with the same sampling, once greedily and `--answers` times at a temperature; the
    version that graded the job scores both. The cost is shown first. Where the interval of the
    difference holds 0, no difference is shown: that is said, with the number of prompts that a
    difference of `--care` takes.

    Exit status: 0 better, or no difference shown; 1 worse, or prompts without a score of both were
    left out; 2 nothing was compared.
    """
    require_page(report)
    file = configured(Path(job), stage=stage, driver=driver) if is_file(job) else None
    stage = file.stage if file else stage or default_stage().name
    asked = Options(
        job=job, data=data, file=file, stage=stage, driver=driver, train=train,
        validation=validation, ask_base=ask_base, ask_tuned=ask_tuned, prompts=prompts,
        answers=answers, temperature=temperature, max_tokens=max_tokens, by=by, success=success,
        care=care, allow_leak=allow_leak, price=typed_price(price), concurrency=concurrency,
        seed=seed, rows=RowOptions.parse(mapped, shape), on=on,
    )  # fmt: skip
    made = prepared(asked, aws_session(stage))
    found = (
        _by_service(made.service, made.settings, yes=yes)
        if made.service
        else _by_asking(made, out, concurrency, yes=yes)
    )
    if found is None:
        remark("nothing was asked")
        raise typer.Exit(UNUSABLE)
    say_measured(found.greedy.measured)
    written = found if texts else found.without_texts()
    if as_json:
        print_json(written.model_dump(mode="json"))
    else:
        _show(found)
    if record is not None:
        save(written, record)
    if markdown is not None:
        _write(as_markdown(written), markdown)
    if report is not None:
        write_page(page(written), report)
    leave(found.greedy.measured, failed=found.verdict == "worse")


def _by_asking(
    made: Prepared, out: Path | None, concurrency: int, *, yes: bool
) -> EvaluationRecord | None:
    """The record; None where nobody agreed to the cost."""
    with made.askings(out) as askings:
        if not _agreed(askings, made.scorer, yes=yes):
            return None
        return _evaluated(askings, made, concurrency)


def _by_service(
    service: ServiceEvaluation, settings: Settings, *, yes: bool
) -> EvaluationRecord | None:
    """The record of the service's own jobs; None where nobody agreed to start them."""
    prompts = len(service.split.prompts)
    say(
        f"two evaluation jobs of SageMaker, {prompts:,} prompts each, of {plain(service.job.name)} "
        "and its base · dollars unknown: AWS bills their tokens",
        err=True,
    )
    require_somebody_to_ask("nothing was started: evaluate", yes=yes)
    if not agreed("Start both, or read those that ran?", yes=yes):
        return None
    with errors().status("evaluating") as status:
        names = service.run(lambda at: status.update(plain(at)))
    return service.record(names, settings)


def _agreed(askings: Askings, scorer: VersionScorer, *, yes: bool) -> bool:
    """Show what is still to be paid for, and ask whether to."""
    costs = askings.costs()
    calls = sum(each.calls for each in costs)
    for one, each in zip(askings.asked, costs, strict=True):
        remark(f"{one.side}, {one.mode}: {cost_words(each, one.endpoint.model)}")
    if scorer.judges:
        say("and the judge's calls for each answer: `reward judge estimate`", err=True)
    if calls:
        require_somebody_to_ask("nothing was asked: evaluate", yes=yes)
    return not calls or agreed(f"Ask {calls:,} times?", yes=yes)


def _evaluated(askings: Askings, made: Prepared, concurrency: int) -> EvaluationRecord:
    with counted("asking", sum(each.calls for each in askings.costs())) as advance:
        given = askings.answers(concurrency=concurrency, advance=advance)
    with counted("scoring", sum(map(len, given.values()))) as advance:
        return compare(
            given, askings.asked, made.split, made.scorer, made.settings, advance=advance
        )


def _show(record: EvaluationRecord) -> None:
    """The verdict, what a reader must not overlook, and the tables."""
    if record.simulation:
        say(SIMULATION, err=True)
    say(plain(record.conclusion, MESSAGE))
    for warning in record.warnings:
        remark(f"warning: {warning}")
    for sheet in sheets(record):
        print_sheet(sheet)


def _write(text: str, path: Path) -> None:
    with replaced(path) as stream:
        stream.write(text)
