"""The files of a job, linted: one finding for each kind of problem, with its first place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.aws.deployed.findings import CheckFinding
from reward_functions.data.json_rows import Row, scan_rows
from reward_functions.data.linting import GENERATED, MAX_ROWS, MIN_ROWS, UNREADABLE, lint
from reward_functions.data.records import SYNTHETIC, is_synthetic

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from reward_functions.aws.deployed.findings import CheckVerdict
    from reward_functions.core.spec import RewardSpec
    from reward_functions.data.linting import Level, LintFinding

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


def synthetic_findings(files: Sequence[Path], *, emulated: bool) -> Iterator[CheckFinding]:
    """Whether a job in an account would pay for training on generated rows.

    Args:
        files: of the job, of any service's shape.
        emulated: whether the training double trains: there the rows are what they are for.

    Yields:
        a failure for each file that has such rows.

    Raises:
        OSError: a file cannot be read.
    """
    if emulated:
        return
    for file in files:
        rows = (row for row in scan_rows(str(file)) if isinstance(row, Row))
        if count := sum(is_synthetic(row.content) for row in rows):
            yield CheckFinding(
                "failure",
                "data",
                f"{GENERATED}: {count:,} in {file} (metadata.{SYNTHETIC}): they are generated to "
                "rehearse on the local emulator, and an account is billed for training on them: "
                "reward data prepare makes rows of the real data set",
            )


def of_the_service(finding: CheckFinding) -> bool:
    """Whether the service itself refuses what was found: then nothing here can pass it over."""
    return finding.question == "data" and finding.message.startswith(LIMITS)


def _excused(finding: LintFinding, files: Sequence[Path], spec: RewardSpec | None) -> bool:
    """Whether a job is started all the same after a finding of the linter.

    The least number of rows is that of a training file: AWS's own samples validate on 99. Of
    generated rows `synthetic_findings` has the verdict.
    """
    if finding.what == GENERATED:
        return True
    if finding.what == UNREADABLE:
        return spec is None
    return finding.what == "too few rows" and finding.where != str(files[0])
