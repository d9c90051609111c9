"""The files of a job, linted: one finding for each kind of problem, with its first place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.tools.datasets.linting import MAX_ROWS, MIN_ROWS, lint
from reward_functions.tools.deployed.findings import CheckFinding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from reward_functions.core.spec import RewardSpec
    from reward_functions.tools.datasets.linting import Level, LintFinding
    from reward_functions.tools.deployed.findings import CheckVerdict

UNREADABLE: Final = "no reward can read reference_answer"

LIMITS: Final = ("not a JSON object", "too few rows", "too many rows")
"""Errors of the linter that a service refuses a file for."""

VERDICTS: Final[dict[Level, CheckVerdict]] = {"error": "failure", "warning": "warning"}


def data_findings(
    files: Sequence[Path], spec: RewardSpec | None, rows: tuple[int, int] = (MIN_ROWS, MAX_ROWS)
) -> Iterator[CheckFinding]:
    """What is wrong with the files.

    Args:
        files: the training file first; none where invocation logs are the data.
        spec: the reward that must read every reference; None for a function that is not this
            project's, whose references are its own affair.
        rows: the fewest and the most that the service takes.

    Raises:
        OSError: a file cannot be read.
    """
    if not files:
        yield CheckFinding("unknown", "data", "invocation logs are read by the job alone")
        return
    linted = lint([str(file) for file in files], reward=spec, rows=rows)
    groups: dict[str, list[LintFinding]] = {}
    for finding in linted.findings:
        if not _excused(finding, files, spec):
            groups.setdefault(finding.what, []).append(finding)
    for what, found in groups.items():
        first = ": ".join(filter(None, [found[0].where, found[0].detail]))
        times = f"{len(found):,} times, first " if len(found) > 1 else ""
        yield CheckFinding(VERDICTS[found[0].level], "data", f"{what}: {times}{first}")
    if not groups:
        counted = ", ".join(
            f"{len(prompts):,} rows in {file}" for file, prompts in linted.prompts.items()
        )
        yield CheckFinding("ok", "data", counted)


def of_the_service(finding: CheckFinding) -> bool:
    """Whether the service itself refuses what was found: then nothing here can pass it over."""
    return finding.question == "data" and finding.message.startswith(LIMITS)


def _excused(finding: LintFinding, files: Sequence[Path], spec: RewardSpec | None) -> bool:
    """Whether an error of the linter is none of a job's.

    The least number of rows is that of a training file: AWS's own samples validate on 99.
    """
    if finding.what == UNREADABLE:
        return spec is None
    return finding.what == "too few rows" and finding.where != str(files[0])
