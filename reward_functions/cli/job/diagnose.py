"""`reward job diagnose`: why a job failed."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from rich.text import Text

from reward_functions.cli._console import MESSAGE, cell, errors, output, plain, print_json, table
from reward_functions.cli._echo import say
from reward_functions.cli.job._options import JOB, AsJson, Typed, taking
from reward_functions.cli.job._output import SIMULATION, job_json
from reward_functions.jobs.diagnosing import Diagnosis
from reward_functions.jobs.diagnosing import diagnose as diagnosed

if TYPE_CHECKING:
    from reward_functions.jobs.causes import LikelyCause
    from reward_functions.jobs.grader_log import GraderLog


@taking(*JOB)
def diagnose(typed: Typed, *, as_json: AsJson = False) -> None:
    """Say why a job failed, or taught nothing: the likely cause, what shows it, and what to do.

    Read are the service's message and figures, the grader's log of exactly the job's version and
    time, and what Lambda says of that version now. Where nothing fits, that is said.

    Exit status: 0 it was read, 2 it could not be.
    """
    where, service, found = typed.found()
    lines = 0
    with errors().status("reading the grader's log") as status:

        def read(count: int) -> None:
            nonlocal lines
            lines += count
            status.update(f"reading the grader's log: {lines:,} lines")

        points = service.metrics(found)
        diagnosis = diagnosed(
            found, where.session, progress=read, points=points, region=service.region
        )
    if as_json:
        shown = {
            "job": job_json(found),
            "causes": [_cause_json(each) for each in diagnosis.causes],
            "signs": [sign._asdict() for sign in diagnosis.signs],
            "log": _log_json(diagnosis.log) if diagnosis.log else None,
            "unread": list(diagnosis.unread),
            "simulation": where.simulated,
        }
        print_json(shown)
    else:
        if where.simulated:
            say(SIMULATION, err=True)
        _show(diagnosis, " (simulation)" if where.simulated else "")


def _cause_json(likely: LikelyCause) -> dict[str, Any]:
    cause, sign = likely
    kept = {name: getattr(cause, name) for name in ("name", "cause", "remedy", "source")}
    return kept | {"sign": sign._asdict()}


def _log_json(log: GraderLog) -> dict[str, Any]:
    """Its counts as they are: `asdict` makes counters of pairs, which JSON has no words for."""
    counts = {"endings": dict(log.endings), "errors": dict(log.errors)}
    return asdict(replace(log, endings=Counter(), errors=Counter())) | counts


def _show(diagnosis: Diagnosis, mark: str) -> None:
    job = diagnosis.job
    say(f"{plain(job.name or job.id)} {job.state}")
    if diagnosis.signs:
        seen = table("seen", "words", names=("seen",), title=f"What was seen{mark}")
        for sign in diagnosis.signs:
            seen.add_row(sign.place, Text(plain(sign.text, MESSAGE)))
        output().print(seen)
    if diagnosis.causes:
        shown = table(
            "likely cause", "what happened", "what to do", "source", names=("likely cause",)
        )
        for each in diagnosis.causes:
            cause = each.cause
            words = Text(cause.cause), Text(cause.remedy)
            shown.add_row(cell(cause.name, "bold"), *words, cell(cause.source, "dim"))
        output().print(shown)
    else:
        say(_nothing(diagnosis))
    _show_log(diagnosis)
    for problem in diagnosis.unread:
        say(f"not read: {plain(problem, MESSAGE)}", err=True)


def _nothing(diagnosis: Diagnosis) -> str:
    """What is said where no row of the table fits."""
    if diagnosis.job.status not in ("failed", "stopped") and not diagnosis.signs:
        return "nothing is wrong, as far as can be seen"
    return (
        "no known cause fits: `reward job show` and `reward job metrics` have the rest, and AWS's "
        "support can read the job's ARN"
    )


def _show_log(diagnosis: Diagnosis) -> None:
    log = diagnosis.log
    if log is None or not log.invocations:
        return
    invoked = f"the grader was invoked {log.invocations:,} times in the job's time"
    lines = [invoked, "who else asked that version then cannot be told apart"]
    if log.seconds:
        lines.append(f"the longest invocation took {log.seconds:,.1f} s")
    if log.memory_used:
        size = f" of {log.memory_size:,.0f}" if log.memory_size else ""
        lines.append(f"memory {log.memory_used:,.0f}{size} MB at most")
    if not log.complete:
        lines.append("the log is longer than what was read")
    say("; ".join(lines), err=True)
