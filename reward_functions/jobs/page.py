"""The page of a job: what ran on what, how it went, and what its figures mean.

It begins with the worst finding: a failure, a job that taught nothing, samples without a score,
then the other signs (`figures.SIGNS`). A figure that never changed is in one line of text.

No service gives the texts of completions, and a grader logs none: the page counts them, and says
where texts can be had. A service says no price of training either: the page names who can say.
Data of a service is escaped.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Final

from reward_functions.core.spec import UNIT_SCALE, Scale
from reward_functions.jobs.figures import (
    NO_COURSE,
    Seen,
    charts,
    constant,
    ends_of,
    number,
    reads,
    signs,
)
from reward_functions.jobs.hyperparameters import TABLE
from reward_functions.jobs.tags import tag
from reward_functions.jobs.wording import duration, progress_words
from reward_functions.reports.pages.page import Concern, Page, Part, Section
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from reward_functions.jobs.figures import Series
    from reward_functions.jobs.job import Job, JobEvent

MAX_EVENTS: Final = 100
"""Events of a page, the newest."""

MAX_HYPERPARAMETERS: Final = 500
"""Of a page: no service takes as many, and a file of a job may hold any number."""

DRAWN: Final = "course"
"""The column of tables that a chart draws better."""

CURVES: Final = "Curves"
SIGNS: Final = "Signs"
EVENTS: Final = "Events"
"""Titles of sections that links lead to."""

UNSTATED: Final = "not known here: the service does not say"


@dataclass(frozen=True, slots=True)
class JobView:
    """A job with all that was read of it.

    Args:
        job: as its service describes it now.
        figures: every series, the service's first.
        events: in any order.
        notes: what could not be read, a sentence each.
        now: when it was read; of a job that has not ended it is the end of its time.
        simulated: whether the training double stands in for the service.
        recorded: whether this is what `reward job show --json` wrote, which has no figures.
    """

    job: Job
    figures: Sequence[Series]
    now: datetime
    events: Sequence[JobEvent] = ()
    notes: Sequence[str] = ()
    simulated: bool = False
    recorded: bool = False


RECORDED: Final = "This file holds no figures: `reward job metrics --json` writes them."


def job_page(course: JobView, sheets: Sequence[Sheet], scale: Scale = UNIT_SCALE) -> Page:
    """The page of a job.

    Args:
        course: what was read.
        sheets: tables of the figures; their column of small bars is left out, as curves are drawn.
        scale: of the rewards.
    """
    job, seen = course.job, signs(course.figures)
    mark = " (simulation)" if course.simulated else ""
    simulated = ["This is a simulation: no language model was trained."] if course.simulated else []
    return Page(
        f"Job {job.name or job.id}{mark}",
        _lead(course, seen),
        [*simulated, *(f"Not read: {note}." for note in course.notes)],
        list(_facts(course)),
        list(_sections(course, seen, sheets, scale)),
        concerns=list(_concerns(course, seen)),
    )


def _concerns(course: JobView, seen: Sequence[Seen]) -> Iterator[Concern]:
    job = course.job
    if job.status == "failed":
        why = (job.failure or "the service does not say why").rstrip(".")
        yield Concern("failed", f"The job failed: {why}. See why: `reward job diagnose`.", EVENTS)
    elif job.status == "stopped":
        yield Concern("failed", "The job was stopped before its end.", EVENTS)
    for each in seen:
        if each.state == "seen":
            sign = each.sign
            yield Concern(
                sign.kind,
                f"{sign.name.capitalize()} ({each.figure}): {sign.meaning}. "
                f"What to do: {sign.remedy}.",
                CURVES,
            )
    if course.recorded:
        yield Concern("other", RECORDED)
    elif job.over and not course.figures:
        yield Concern("other", "The job is over, and no figure of it can be read.")


def _lead(course: JobView, seen: Sequence[Seen]) -> str:
    """State, the course of the reward, and how many signs are seen, in one sentence."""
    parts = [f"The job {course.job.state}"]
    rewards = [each for each in course.figures if reads(each, "reward", "mean") and each.points]
    if rewards:
        first, last = ends_of(rewards[0].values)
        step = f"{rewards[0].unit} {rewards[0].points[-1][0]:g}"
        parts.append(f"{rewards[0].title} went from {number(first)} to {number(last)} by {step}")
    shown, absent = (sum(each.state == state for each in seen) for state in ("seen", "not seen"))
    unknown = len(seen) - shown - absent
    parts.append(
        f"{len(seen)} signs of trouble: {shown} seen, {absent} not seen, {unknown} not measurable"
    )
    return "; ".join(parts) + "."


def _facts(course: JobView) -> Iterator[tuple[str, str]]:
    """Names and values; what a job does not have is left out."""
    job = course.job
    ended = job.ended or course.now
    at = progress_words(job.progress) if job.progress else ""
    found = {
        "state": " · ".join(filter(None, (job.status, job.phase, at))),
        "service": job.service.title,
        "model": job.model,
        "reward": _reward(job),
        "grader" if job.has_grader else "agent": job.grader,
        "evaluator": job.evaluator,
        "deployment": _deployment(job),
        "data": _data(job),
        "tuned model": job.tuned_model,
        "made": _moment(job.created),
        "ended": _moment(job.ended) if job.ended else "",
        "took" if job.ended else "runs for": duration((ended - job.created).total_seconds()),
        "tokens billed": ", ".join(f"{count:,} {kind}" for kind, count in job.tokens.items()),
        "cost": _cost(job),
        "output": job.output,
        "forced": tag(job.tags, "forced"),
        "job": job.id,
        "read": _moment(course.now),
    }
    yield from ((name, value) for name, value in found.items() if value)


def _reward(job: Job) -> str:
    """Name and version as the tags have them; a service without tags does not say."""
    name, version = tag(job.tags, "reward"), tag(job.tags, "version")
    if not name:
        return UNSTATED if job.has_grader else "the agent's own"
    function = tag(job.tags, "function-version")
    return f"{name}, version {version or 'unknown'}" + (
        f"; version {function} of the function" if function else ""
    )


def _deployment(job: Job) -> str:
    name, stage = tag(job.tags, "deployment"), tag(job.tags, "stage")
    return f"{name} of stage {stage}" if name and stage else name


def _data(job: Job) -> str:
    rows = tag(job.tags, "rows")
    counted = f"{rows} rows" if rows else ""
    return "; ".join(filter(None, (", ".join(job.files), counted))) or UNSTATED


def _cost(job: Job) -> str:
    """No service puts a price on a job: the account's bill can say."""
    by = (
        f"by the tag reward-functions:configuration = {digest}, once it is a cost allocation tag"
        if (digest := tag(job.tags, "configuration"))
        else "by service and day"
    )
    return f"not known here: AWS Cost Explorer can say, {by}"


def _sections(
    course: JobView, seen: Sequence[Seen], sheets: Sequence[Sheet], scale: Scale
) -> Iterator[Section]:
    unchanged = constant(course.figures)
    curves: list[Part] = [*charts(course.figures, scale), *([unchanged] if unchanged else [])]
    yield Section(CURVES, curves or [NO_COURSE])
    yield Section(SIGNS, [_signs(seen)])
    yield Section("Completions", list(_completions(course)))
    if course.job.hyperparameters:
        yield Section("Hyperparameters", [_hyperparameters(course.job)])
    yield Section(EVENTS, [_events(course.events)])
    yield from (Section(sheet.title, [sheet.without(DRAWN)]) for sheet in sheets)


def _signs(seen: Sequence[Seen]) -> Sheet:
    return Sheet(
        SIGNS,
        ("sign", "state", "figure", "what it means"),
        [(each.sign.name, each.state, each.figure or "-", each.sign.meaning) for each in seen],
        "Signs draw the eye and decide nothing. Most need six points of a figure.",
        words=("state", "figure", "what it means"),
    )


def _completions(course: JobView) -> Iterator[str | Sheet]:
    """How many there are of a step, as far as anybody counts them, and where texts are."""
    job = course.job
    roles = {each.role: job.hyperparameters.get(name) for name, each in TABLE[job.driver].items()}
    batch, samples = roles.get("batch"), roles.get("samples")
    if isinstance(batch, int) and isinstance(samples, int):
        each_step = f"{batch * samples:,} completions"
        yield f"A step has {each_step}: {samples:,} for each of {batch:,} prompts."
    else:
        yield "The job's hyperparameters do not say how many completions a step has."
    graded = [each for each in course.figures if each.split == "grader" and each.name == "samples"]
    for each in graded:
        total, minutes = sum(each.values), len(each.points)
        yield f"The grader scored {total:,.0f} completions in {minutes:,} minutes of its log."
    texts = (
        "The service does not give their texts, and a grader logs none. Ask the tuned model for "
        "some: `reward job evaluate` writes them beside those of the base."
        if job.has_grader
        else "The service does not give their texts. Those that your agent recorded are shown by "
        "`reward rollouts report`."
    )
    yield texts


def _hyperparameters(job: Job) -> Sheet:
    rows = [(name, f"{value}") for name, value in sorted(job.hyperparameters.items())]
    return Sheet("Hyperparameters", ("name", "value"), rows).first(MAX_HYPERPARAMETERS)


def _events(events: Sequence[JobEvent]) -> Sheet:
    """The newest, from the newest on."""
    newest = sorted(events, key=lambda each: each.at, reverse=True)
    rows = [(_moment(each.at), each.level, each.message) for each in newest[:MAX_EVENTS]]
    left_out = len(newest) - len(rows)
    note = f"{left_out:,} older events are left out." if left_out else ""
    if not rows:
        note = "The service reports no event."
    return Sheet(EVENTS, ("time", "level", "event"), rows, note, words=("level", "event"))


def _moment(at: datetime) -> str:
    """A time for readers anywhere."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
