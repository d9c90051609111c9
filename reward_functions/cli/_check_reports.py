"""What `reward deployed check` writes: a table for people, a format for machines, or both."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from rich.text import Text

from reward_functions.aws.deployed.findings import RENDERED
from reward_functions.cli._console import MESSAGE, output, plain, table
from reward_functions.cli._echo import say
from reward_functions.data.atomic import replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from reward_functions.aws.deployed import CheckReport

    Write = Callable[[Sequence[CheckReport], str], None]


MARKS: Final = {
    "ok": ("ok", "green"),
    "warning": ("warning", "yellow"),
    "failure": ("FAILURE", "bold red"),
    "unknown": ("unknown", "dim"),
}


@contextmanager
def report_file(out: Path | None) -> Iterator[Write]:
    """Where reports go: to a file, with the table on standard output, or there alone.

    The file is opened before anything is asked, and appears once it is whole.

    Raises:
        OSError: it cannot be written.
    """
    if out is None:
        yield (
            lambda reports, form: (
                print_reports(reports) if form == "text" else _write(RENDERED[form](reports))
            )
        )
        return
    with replaced(out) as stream:

        def write(reports: Sequence[CheckReport], form: str) -> None:
            stream.write(RENDERED[form](reports))
            print_reports(reports)

        yield write


def print_reports(reports: Sequence[CheckReport]) -> None:
    """A table for each function, below its ARN, which no width breaks."""
    for report in reports:
        say(f"\n{report.arn}")  # not as a title, which would break it at a hyphen
        shown = table("", "question", "answer", names=("question",))
        for finding in report.findings:
            shown.add_row(
                Text(*MARKS[finding.verdict]),
                Text(finding.question),
                Text(plain(finding.message, MESSAGE)),
            )
        output().print(shown)


def _write(text: str) -> None:
    sys.stdout.write(text)
