"""`reward job watch`: progress as it comes, until the job ends."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from reward_functions.cli._console import MESSAGE, errors, plain
from reward_functions.cli._echo import say
from reward_functions.cli._errors import INCOMPLETE, INTERRUPTED, UNUSABLE
from reward_functions.cli.job._options import JOB, AsJson, OwnFigures, Typed, taking
from reward_functions.cli.job._output import SIMULATION, next_command
from reward_functions.jobs.figures import number, series
from reward_functions.jobs.watching import GraderWatch, Observation, Polling
from reward_functions.jobs.watching import watch as observations
from reward_functions.jobs.wording import duration, progress_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from reward_functions.jobs.job import Driver, Job, MetricPoint
    from reward_functions.jobs.lookup import Place

STEPS: Final = 5
"""Steps whose figures are shown at once; a watch that begins late leaves out those before."""

FIGURES: Final = 5
"""Figures of a step on its line; `reward job metrics` has all."""

GRADED: Final = ("reward_mean", "frac_reward_min", "unscored_share", "samples")
"""The grader's figures on the line of a minute, where they say anything."""

ENDINGS: Final = {"succeeded": 0, "failed": INCOMPLETE, "stopped": INCOMPLETE}
"""Exit statuses, by how a job ended."""


@taking(*JOB)
def watch(
    typed: Typed,
    *,
    interval: Annotated[
        float,
        typer.Option(
            min=0.05,
            max=3_600,
            metavar="SECONDS",
            help="Between two questions while something happens; up to twelve times as long while "
            "nothing does.",
        ),
    ] = 5.0,
    patience: Annotated[
        float,
        typer.Option(
            min=0, metavar="SECONDS", help="Without any answer, after which the watch gives up."
        ),
    ] = 3_600.0,
    grader: OwnFigures = True,
    as_json: AsJson = False,
) -> None:
    """Follow a job: its phase, its figures as they come, its events.

    Bedrock's figures come when a job has ended. Until then the grader's own are shown each minute,
    from its log, where that may be read. Events carry the service's time.

    It begins with what the service has on record: a watch that was interrupted goes on there, and
    any number of people can watch. With --json it writes a line for each thing that is new.

    Exit status: 0 the job succeeded; 1 it failed or was stopped; 2 it was deleted, or the service
    did not answer within --patience; 130 the watch was interrupted, and the job goes on.
    """
    where, service, found = typed.found()
    polling = Polling(shortest=interval, longest=12 * interval, patience=patience)
    follow(found, service, where, polling, grader=grader, as_json=as_json)


def follow(
    job: Job,
    driver: Driver,
    where: Place,
    polling: Polling | None = None,
    *,
    grader: bool = True,
    as_json: bool = False,
) -> None:
    """Show a job until it ends, and exit with what became of it.

    Raises:
        typer.Exit: with the status that `watch` says, where it is not 0.
    """
    stage = where.stage.stage
    if where.simulated:
        say(SIMULATION, err=True)
    own = GraderWatch(where.session) if grader and job.has_grader else None
    try:
        last = _shown(observations(job, driver, polling, grader=own), stage, as_json=as_json)
    except KeyboardInterrupt:
        again = next_command("watch", job.name or job.id, stage)
        say(f"\nthe job goes on; come back with: {again}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    ended = ENDINGS.get(last.job.status, UNUSABLE) if last.ending == "over" else UNUSABLE
    if ended:
        raise typer.Exit(ended)


def _shown(observed: Iterable[Observation], stage: str, *, as_json: bool) -> Observation:
    """Print each observation; returns the last."""
    before = None
    with errors().status("asking") as waiting:
        for seen in observed:
            lines = _json_lines(seen, before) if as_json else _lines(seen, before)
            for line in lines:
                say(line)
            if seen.trouble:
                say(_trouble(seen), err=True)
            waiting.update(_state(seen))
            before = seen
    assert before is not None  # a watch yields its first look in any case
    if not as_json:
        say(_ending(before, stage))
    return before


def _lines(seen: Observation, before: Observation | None) -> Iterator[str]:
    """What is new, as lines."""
    for event in seen.events:
        line = f"{plain(event.level)}: {plain(event.message, MESSAGE)}"
        yield _stamped(seen, line, event.at)
    if before is None or _stage(before) != _stage(seen):
        yield _stamped(seen, _state(seen))
    steps = [
        (step, list(points))
        for step, points in groupby(
            sorted(seen.points, key=lambda each: each.step), lambda each: each.step
        )
    ]
    if len(steps) > STEPS:
        yield _stamped(seen, f"{len(steps) - STEPS:,} steps before these: `reward job metrics`")
    for step, points in steps[-STEPS:]:
        yield _stamped(seen, f"step {step:,} · {_figures(points)}")
    for minute, figures in seen.graded:
        yield _stamped(seen, f"minute {minute:,} · grader {_graded(figures)}")


def _graded(figures: Mapping[str, float]) -> str:
    """What the grader measured in a minute, such as `reward_mean 0.41 · samples 512`."""
    named = [name for name in GRADED if name in figures]
    return " · ".join(
        f"{name} {number(figures[name])}"
        for name in named
        if name != "unscored_share" or figures[name]
    )


def _figures(points: Sequence[MetricPoint]) -> str:
    """The figures of a step that say most."""
    shown = [f"{plain(each.title)} {number(each.values[-1])}" for each in series(points)]
    more = f" · {len(shown) - FIGURES} more" if len(shown) > FIGURES else ""
    return f"{' · '.join(shown[:FIGURES])}{more}"


def _state(seen: Observation) -> str:
    """The status, the step and the time, such as `running · Training · step 12 of 188 · 7 min`."""
    progress, step = seen.job.progress, None
    if progress is not None:
        step = progress_words(progress)
    elif seen.step is not None:
        step = f"step {seen.step:,}" + (f" of {seen.total:,}" if seen.total else "")
    parts = (seen.job.status, plain(seen.job.phase), step, duration(seen.elapsed))
    return " · ".join(filter(None, parts))


def _trouble(seen: Observation) -> str:
    return _stamped(seen, plain(seen.trouble, MESSAGE))


def _stamped(seen: Observation, text: str, at: datetime | None = None) -> str:
    """A line with its time: when it was seen, or when the service says it came about."""
    here, now = (at or seen.at).astimezone(), seen.at.astimezone()
    day = "" if here.date() == now.date() else f"{here:%Y-%m-%d} "
    return f"{day}{here:%H:%M:%S}  {text}"


def _ending(last: Observation, stage: str) -> str:
    """What became of it, and what to do next."""
    job, named = last.job, last.job.name or last.job.id
    name = plain(named)
    if last.ending == "deleted":
        return f"{name} was deleted: nothing more can be known of it"
    if last.ending == "lost":
        again = next_command("watch", named, stage)
        return f"{name} cannot be asked any more; it may go on: {again}"
    if job.status == "failed":
        return (
            f"{name} failed: {plain(job.failure, MESSAGE) or 'the service does not say why'}\n"
            f"see why: {next_command('diagnose', named, stage)}"
        )
    if job.status == "succeeded":
        return f"{name} succeeded: {plain(job.tuned_model, 2_048) or 'it names no model'}"
    return f"{name} was stopped"


def _json_lines(seen: Observation, before: Observation | None) -> Iterator[str]:
    """What was seen as JSON objects, a line each, with their kind and the time."""
    at = {"at": seen.at.isoformat()}
    state = {
        "status": seen.job.status,
        "phase": seen.job.phase,
        "step": seen.step,
        "total": seen.total,
        "progress": seen.job.progress and asdict(seen.job.progress),
        "ending": seen.ending,
        "failure": seen.job.failure,
        "tuned_model": seen.job.tuned_model,
    }
    for event in seen.events:
        yield json.dumps({"kind": "event", **asdict(event), "at": event.at.isoformat()})
    for point in seen.points:
        yield json.dumps({"kind": "metric", **at, **asdict(point)})
    for minute, figures in seen.graded:
        yield json.dumps({"kind": "grader", **at, "minute": minute, "figures": dict(figures)})
    if seen.trouble:
        yield json.dumps({"kind": "trouble", **at, "message": seen.trouble})
    if before is None or _news(before) != _news(seen):
        yield json.dumps({"kind": "state", **at, **state})


def _stage(seen: Observation) -> tuple[Any, ...]:
    """What of a job is worth a line of its own whenever it changes."""
    return seen.job.status, seen.job.phase, seen.job.progress


def _news(seen: Observation) -> tuple[Any, ...]:
    return seen.job.status, seen.job.phase, seen.job.progress, seen.step, seen.ending
