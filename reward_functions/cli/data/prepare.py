"""`reward data prepare`: a public data set as training data."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads annotations
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from reward_functions.cli._errors import INCOMPLETE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reward_functions.tools.datasets.preparing import Dataset, PrepareReport

PROBLEMS: Final = 20
"""Records reported one by one; the rest are counted."""


def prepare(
    dataset: Annotated[
        Literal["finqa", "gsm8k", "math", "pandalm"], typer.Argument(help="The data set.")
    ],
    *,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder to write to; made where it is missing.")
    ],
    source: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="The public file, a folder of them, or the archive of MATH.",
            show_default="downloaded",
        ),
    ] = None,
    noise: Annotated[
        Literal["drop", "keep", "mark"] | None,
        typer.Option(
            help="FinQA: records whose answers disagree are left out; or kept, either answer being "
            "right; or kept so, and marked in metadata.noisy.",
            show_default="drop",
        ),
    ] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out records that cannot be used.")
    ] = False,
    mirror: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Download from here; the pinned checksums still hold."),
    ] = None,
) -> None:
    """Write a public data set as Bedrock reads it, and a report.

    One file for each official split: train.jsonl, dev.jsonl, test.jsonl; or all.jsonl, for `reward
    data split`. Without --source the files are downloaded from their public home, at a pinned
    revision, and held to their checksums.

    A record that cannot be used is reported by file, line and field. Without --skip-bad, nothing is
    then written.

    Exit status: 0 all is well, 1 records were skipped, 2 nothing was written.
    """
    from reward_functions.cli._console import MESSAGE, errors, output, plain
    from reward_functions.cli._progress import watched
    from reward_functions.core.errors import ConfigurationError
    from reward_functions.tools.datasets import preparing

    if noise is not None and dataset != "finqa":
        raise ConfigurationError(f"--noise: FinQA has noisy records, {dataset} has not")
    if source is not None and mirror is not None:
        raise ConfigurationError("--mirror: nothing is downloaded where there is a --source")
    sources = [source] if source is not None else _downloaded(dataset, mirror)
    console = errors()
    try:
        report = preparing.prepare(
            dataset,
            sources,
            out,
            noise=noise or "drop",
            skip_bad=skip_bad,
            watched=lambda outcomes: watched(outcomes, "preparing"),
        )
    except preparing.BadRecords as error:
        _report_problems(error.problems)
        raise
    for shown in _tables(report, out):
        output().print(shown)
    for leak in report.leaks:
        console.print(f"leak: {plain(str(leak), MESSAGE)}", style="yellow", soft_wrap=True)
    for path in report.stale:
        note = f"{path} is from an earlier run, and was left as it is"
        console.print(plain(note, MESSAGE), style="yellow", soft_wrap=True)
    _report_problems(report.problems)
    if report.problems:
        raise typer.Exit(INCOMPLETE)


def _downloaded(dataset: Dataset, mirror: str | None) -> list[Path]:
    from reward_functions.cli._console import errors
    from reward_functions.cli._progress import transfer
    from reward_functions.tools.datasets.preparing import public_files
    from reward_functions.tools.datasets.sources import cache_folder, checksum, fetched

    paths = []
    for file in public_files(dataset):
        with transfer(file.name) as advance:
            path = fetched(file, cache_folder(), mirror, advance)
        if file.sha256 is None:
            note = f"{file.name}: no checksum is published; this one's SHA-256 is {checksum(path)}"
            errors().print(note, style="yellow", soft_wrap=True)
        paths.append(path)
    return paths


def _report_problems(problems: Iterable[str]) -> None:
    """The first of the problems, one a line, and how many more there are."""
    from rich.text import Text

    from reward_functions.cli._console import MESSAGE, errors, plain

    console = errors()
    listed = list(problems)
    for problem in listed[:PROBLEMS]:
        console.print(Text(plain(problem, MESSAGE), "yellow"), soft_wrap=True)
    if len(listed) > PROBLEMS:
        console.print(f"and {len(listed) - PROBLEMS:,} more", style="yellow")


def _tables(report: PrepareReport, out: Path) -> Iterable[object]:
    from reward_functions.cli._console import cell, table
    from reward_functions.tools.datasets.preparing import REPORT

    splits = table("split", "rows", "file", numbers=("rows",), title=report.dataset)
    for split, rows in sorted(report.splits.items()):
        splits.add_row(cell(split), cell(f"{rows:,}"), cell(str(out / f"{split}.jsonl")))
    yield splits
    classes = table("records", "kept", "dropped", numbers=("kept", "dropped"))
    for name in sorted(report.kept.keys() | report.dropped.keys()):
        kept, dropped = report.kept[name], report.dropped[name]
        classes.add_row(
            cell(name),
            cell(f"{kept:,}" if kept else None),
            cell(f"{dropped:,}" if dropped else None),
        )
    if report.problems:
        classes.add_row(cell("cannot be used"), cell(None), cell(f"{len(report.problems):,}"))
    if classes.row_count:
        yield classes
    yield (
        f"{report.splits.total():,} of {report.total:,} records became rows; "
        f"the report is {out / REPORT}"
    )
