"""`reward job metrics`: the service's figures and the grader's own: tables, and a plot."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path  # noqa: TC003 - typer reads annotations
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.text import Text

from reward_functions.aws.arn import BadArn
from reward_functions.aws.deployed import find
from reward_functions.aws.failures import AwsFailed
from reward_functions.cli._console import errors, output, plain, remark
from reward_functions.cli._echo import say
from reward_functions.cli._fitting import print_sheet
from reward_functions.cli._progress import watched
from reward_functions.cli._tracking import Track, send, trackers
from reward_functions.cli.job._options import JOB, AsJson, OwnFigures, Typed, taking
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.registry import get
from reward_functions.core.spec import UNIT_SCALE, Scale
from reward_functions.data.atomic import Together
from reward_functions.jobs.figures import (
    Series,
    as_csv,
    by_position,
    overview,
    series,
    signs,
    svg,
)
from reward_functions.jobs.grader_log import by_minute, read
from reward_functions.jobs.job import JobEvent
from reward_functions.jobs.page import JobView, job_page
from reward_functions.jobs.tags import tag
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boto3.session import Session

    from reward_functions.export import Tracker
    from reward_functions.jobs.job import Driver, Job
    from reward_functions.jobs.lookup import Place

COLUMNS: Final = 6
"""Figures in the table of steps; the files have all."""

PLOTS: Final = (".svg", ".html")


@taking(*JOB)
def metrics(
    typed: Typed,
    *,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw it: .svg, or .html, the page of the job."),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write every point as CSV.")
    ] = None,
    rows: Annotated[int, typer.Option(min=0, help="Steps in the table, the newest.")] = 10,
    grader: OwnFigures = True,
    track: Track = None,
    as_json: AsJson = False,
) -> None:
    """The figures of a job, and how to read them.

    The service's are by step. The grader's are by minute, from the log of exactly the version that
    the job asks: mean and standard deviation of the rewards, their share at the minimum, samples
    that could not be scored. Other callers of that version meanwhile are counted with the job.
    """
    _require_plot(plot)
    asked = trackers(track)
    where, service, found = typed.found()
    measured, notes = _measured(found, service, where.session, grader=grader)
    sheets = _sheets(measured, rows, " (simulation)" if where.simulated else "")
    with Together() as files:
        if csv is not None:
            files.opened(csv).write(as_csv(measured))
        if plot is not None:
            scale = _scale(found, where.stage.stage, where.session)
            if plot.suffix == ".svg":
                drawn = svg(measured, _title(where, found), scale)
            else:
                course = _course(where, service, found, measured, notes)
                drawn = job_page(course, sheets, scale).html()
            files.opened(plot).write(drawn)
    if as_json:
        typer.echo(_json(where, found, measured, notes))
    else:
        _show(measured, sheets, notes)
        if where.simulated:
            say(f"the simulated policy's strategies: {where.simulation_page(found)}")
    if asked and not _tracked(asked, found, measured):
        raise typer.Exit(1)


def _tracked(asked: list[Tracker], job: Job, measured: Sequence[Series]) -> bool:
    """Send a job's figures to its trackers; True if all took them."""
    from reward_functions.export import Curve, TrackedRun

    curves = tuple(Curve(each.title, each.points) for each in measured)
    named = {"model": job.model, "reward": tag(job.tags, "reward"), "status": job.status}
    run = TrackedRun(job.name or job.id, {k: v for k, v in named.items() if v}, {}, curves)
    return send(asked, run, "the same command tries again")


def _title(where: Place, job: Job) -> str:
    return f"Figures of {job.name or job.id}{' (simulation)' if where.simulated else ''}"


def _course(
    where: Place, driver: Driver, job: Job, measured: Sequence[Series], notes: Sequence[str]
) -> JobView:
    """What the page shows of a job; where its events cannot be read, it says so."""
    unread, events = list(notes), list[JobEvent]()
    try:
        events += driver.events(job)
    except AwsFailed as error:
        unread.append(f"the service's events: {error}")
    return JobView(job, measured, datetime.now(UTC), events, unread, simulated=where.simulated)


def _require_plot(plot: Path | None) -> None:
    if plot is not None and plot.suffix not in PLOTS:
        raise ConfigurationError(f"--plot {plot}: the name ends in {' or '.join(PLOTS)}")


def _scale(job: Job, stage: str, session: Session) -> Scale:
    """Of the job's reward: as its grader's deployment records it, or as its tags name it.

    It is 0 to 1 where neither is known here.
    """
    reward = tag(job.tags, "reward")
    with suppress(ConfigurationError):  # nor does a plot fail where the record cannot be read
        deployed = find(tag(job.tags, "deployment"), stage, session)
        if deployed.reward == reward:
            return deployed.spec().scale
    with suppress(ConfigurationError):
        return get(reward).scale
    return UNIT_SCALE


NOT_YET: Final = "the service has no figures yet"


def _measured(
    job: Job, driver: Driver, session: Session, *, grader: bool
) -> tuple[list[Series], list[str]]:
    """Every series, the service's first, and what could not be read."""
    found = series(watched(driver.metrics(job), "reading the service's figures"))
    none = "no figures are kept any more, or none were written" if job.over else NOT_YET
    notes = [] if found else [none]
    if grader and job.has_grader:
        own, note = _of_grader(job, session)
        found += own
        notes += [note] if note else []
    return found, notes


def _of_grader(job: Job, session: Session) -> tuple[list[Series], str]:
    with errors().status("reading the grader's log"):
        try:
            figures = read(job, datetime.now(UTC), session)
        except BadArn:
            return [], "the service does not say which function the job asks"
        except AwsFailed as error:
            return [], f"the grader's own figures: {error}"
    if not figures.batches:
        return [], "the grader's log has no figures of that version and time"
    rest = "" if figures.complete else "the grader's log is longer than what was read"
    return by_minute(figures.batches), rest


def _sheets(measured: Sequence[Series], rows: int, mark: str) -> list[Sheet]:
    """An overview and the newest rows, of the service's figures and of the grader's."""
    sheets = []
    for unit, whose in (("step", "The service's figures"), ("minute", "The grader's figures")):
        of = [each for each in measured if each.unit == unit]
        if of:
            sheets.append(overview(of, f"{whose}{mark}"))
        if of and rows:
            sheets.append(by_position(of[:COLUMNS], f"{whose}, by {unit}{mark}", rows))
    return sheets


def _show(measured: Sequence[Series], sheets: Sequence[Sheet], notes: Sequence[str]) -> None:
    console = output()
    for sheet in sheets:
        print_sheet(sheet)
    found = signs(measured)
    if measured:
        seen = [
            (each.sign.name, plain(each.figure), each.sign.meaning, each.sign.remedy)
            for each in found
            if each.state == "seen"
        ]
        if seen:
            heads = ("sign", "figure", "meaning", "what to do")
            print_sheet(Sheet("What they show", heads, seen, words=heads))
        for state in ("not seen", "too few points", "not measured"):
            names = [each.sign.name for each in found if each.state == state]
            if names:
                console.print(Text(f"{state}: {', '.join(names)}"))
    for note in notes:
        remark(note)


def _json(where: Place, job: Job, measured: Sequence[Series], notes: Sequence[str]) -> str:
    return json.dumps(
        {
            "job": job.name or job.id,
            "simulation": where.simulated,
            "series": [
                {"name": each.name, "split": each.split, "unit": each.unit, "points": each.points}
                for each in measured
            ],
            "signs": [
                {"sign": each.sign.name, "state": each.state, "figure": each.figure}
                for each in signs(measured)
            ],
            "notes": list(notes),
        },
        indent=2,
    )
