"""How jobs, tables and times are shown. What a service sends is data, and made harmless."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from reward_functions.aws.shell import default_stage
from reward_functions.cli._console import MESSAGE, cell, plain
from reward_functions.cli._fitting import print_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from reward_functions.aws.deployed.findings import CheckFinding
    from reward_functions.jobs.job import Job

STYLES: Final = {
    "queued": "dim",
    "running": "cyan",
    "stopping": "yellow",
    "succeeded": "green",
    "failed": "bold red",
    "stopped": "yellow",
}

MARKS: Final = {
    "ok": ("ok", "green"),
    "warning": ("warning", "yellow"),
    "failure": ("FAILURE", "bold red"),
    "unknown": ("unknown", "dim"),
}

SIMULATION: Final = "simulation: the training double trains no language model"
"""What stands above whatever the training double made."""


def job_json(job: Job) -> dict[str, Any]:
    """A job for programs; times as ISO 8601."""
    times = {"created": job.created.isoformat(), "ended": job.ended and job.ended.isoformat()}
    kept = {"hyperparameters": dict(job.hyperparameters), "tags": dict(job.tags)}
    return asdict(job) | kept | times


def next_command(verb: str, job: str, stage: str) -> str:
    """What to type next, such as `reward job watch NAME --stage prod`; made harmless."""
    usual = default_stage().name
    return f"reward job {verb} {plain(job)}" + (f" --stage {stage}" if stage != usual else "")


def status(job: Job) -> Text:
    """The status in its colour, and the service's own word for what it is at."""
    shown = cell(job.status, STYLES[job.status])
    return shown.append_text(cell(f" · {job.phase}")) if job.phase else shown


def moment(at: datetime) -> str:
    """A time to the minute, where the reader is."""
    return f"{at.astimezone():%Y-%m-%d %H:%M}"


def print_findings(findings: Iterable[CheckFinding], title: str, asked: str = "question") -> None:
    """Findings of a check, each in the colour of its verdict.

    Args:
        findings: of any kind; nothing is printed for none.
        title: above the table.
        asked: what the second column is of.
    """
    rows = [
        [
            Text(*MARKS[each.verdict]),
            Text(plain(each.question)),
            Text("\n".join([plain(each.message, MESSAGE), *example_lines(each)])),
        ]
        for each in findings
    ]
    if rows:
        print_table(("", asked, "answer"), rows, words=("answer",), title=title)


def example_lines(finding: CheckFinding) -> Iterator[str]:
    """An answer that shows the finding, and what shows more of it; made harmless."""
    example = finding.example
    if example is None:
        return
    yield f'{plain(example.where)}: "{plain(example.answer)}" earns {example.score:g}'
    if example.command:
        yield f"see it: {plain(example.command, MESSAGE)}"
