"""`reward data prepare`: a public data set, or one's own questions, as training data."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads annotations
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from reward_functions.cli._console import output, remark, table
from reward_functions.cli._errors import INCOMPLETE
from reward_functions.cli._options import (  # noqa: TC001 - typer reads annotations
    Folder,
    Map,
    Parameters,
    Shape,
)
from reward_functions.cli._progress import counted, watched
from reward_functions.cli.data._output import require_shape, tell_lost
from reward_functions.cli.data._wording import complaints, warn_of_format, wording_of
from reward_functions.core.errors import ConfigurationError
from reward_functions.data import preparing
from reward_functions.data.decimals import DecimalSign  # noqa: TC001 - typer reads annotations
from reward_functions.data.preparing import REPORT, PrepareReport
from reward_functions.data.public import REWARDS, Dataset, public_files
from reward_functions.data.sources import cache_folder, checksum, fetched
from reward_functions.scoring.rewards import parameter_values, reward_named
from reward_functions.scoring.rows import row_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


PROBLEMS: Final = 20
"""Records reported one by one; the rest are counted."""


def prepare(
    dataset: Annotated[
        Dataset | None,
        typer.Argument(help="The public data set; none with --from."),
    ] = None,
    *,
    own: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Your own questions: a file or folder in any shape `score` reads.",
        ),
    ] = None,
    out: Folder,
    source: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="The public file, a folder of them, or the archive of MATH.",
            show_default="downloaded",
        ),
    ] = None,
    reward: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="With --from: the reward that must be able to use every row."
        ),
    ] = None,
    parameters: Parameters = None,
    mapped: Map = None,
    shape: Shape = None,
    system: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="The system prompt; @FILE reads a file."),
    ] = None,
    no_system: Annotated[bool, typer.Option("--no-system", help="No system prompt.")] = False,
    template: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="The user turn, with {question} and {answer_format} in it, and with FinQA's "
            "{context}, {schema} of a database, or a column of your own; @FILE reads a file.",
        ),
    ] = None,
    answer_format: Annotated[
        str | None,
        typer.Option(
            "--answer-format",
            metavar="FORM",
            help="How the prompt asks for the answer: boxed, hash (####), answer (ANSWER:), or a "
            "sentence of your own; @FILE reads a file.",
        ),
    ] = None,
    decimal: Annotated[
        DecimalSign,
        typer.Option(
            "--decimal",
            help="With --from: the decimal sign of the right answers. comma writes 1.250,50 as "
            "1250.50, which rewards read.",
        ),
    ] = "point",
    to: Annotated[
        str, typer.Option("--to", metavar="SHAPE", help="The shape to write, as for `convert`.")
    ] = "bedrock",
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
    """Write a public data set, or your own questions, as Bedrock reads it, and a report.

    One file for each official split: train.jsonl, dev.jsonl, test.jsonl; or all.jsonl, for `reward
    data split`. Without --source the files are downloaded from their public home, at a pinned
    revision, and held to their checksums.

    A record that cannot be used is reported by file, line and field. Without --skip-bad, nothing is
    then written.

    Exit status: 0 all is well, 1 records were skipped or lost something, 2 nothing was written.
    """
    _check_options(
        dataset,
        own,
        public={"--source": source, "--noise": noise, "--mirror": mirror},
        further={
            "--reward": reward,
            "--param": parameters,
            "--map": mapped,
            "--rows": shape,
            "--decimal": "comma" if decimal == "comma" else None,
        },
    )
    require_shape(to)
    wording, pattern = wording_of(system, template, answer_format, no_system=no_system)
    name = REWARDS[dataset] if dataset else reward
    spec = reward_named(name) if name else None
    values = parameter_values(spec, parameters or ()) if spec else {}
    try:
        if own is not None:
            report = preparing.prepare_own(
                own,
                out,
                options=row_options(mapped, shape)._replace(comma=decimal == "comma"),
                wording=wording,
                complaint=complaints(spec, values) if spec else None,
                skip_bad=skip_bad,
                to=to,
                watched=lambda outcomes: watched(outcomes, "preparing"),
            )
        else:
            assert dataset is not None, "the options are checked above"
            report = preparing.prepare(
                dataset,
                [source] if source is not None else _downloaded(dataset, mirror),
                out,
                noise=noise or "drop",
                skip_bad=skip_bad,
                wording=wording,
                to=to,
                watched=lambda outcomes: watched(outcomes, "preparing"),
            )
    except preparing.BadRecords as error:
        _report_problems(error.problems)
        raise
    for shown in _tables(report, out):
        output().print(shown)
    for leak in report.leaks:
        remark(f"leak: {leak}", "yellow")
    for path in report.stale:
        note = f"{path} is from an earlier run, and was left as it is"
        remark(note, "yellow")
    tell_lost(report.lost, to, "yellow")
    if spec and pattern:
        warn_of_format(spec, values, out / f"{max(report.splits)}.jsonl", pattern)
    _report_problems(report.problems)
    if report.problems or report.lost:
        raise typer.Exit(INCOMPLETE)


def _check_options(
    dataset: str | None,
    own: str | None,
    public: Mapping[str, object],
    further: Mapping[str, object],
) -> None:
    """Refuse options that say nothing about what is prepared.

    Raises:
        ConfigurationError: there is neither a data set nor a file, or both; or such an option.
    """
    if (dataset is None) == (own is None):
        raise ConfigurationError(
            "name one of bfcl, bird, finqa, gsm8k, hotpotqa, ifeval, math, pandalm, spider and "
            "squad, or your own questions: --from FILE"
        )
    if own == "-":
        raise ConfigurationError("--from reads its file twice; standard input is read once")
    kind, wrong = ("--from", public) if own is not None else (f"{dataset}", further)
    given = [option for option, value in wrong.items() if value is not None]
    if given:
        other = "a public data set" if own is not None else "--from"
        raise ConfigurationError(f"{given[0]} goes with {other}, not with {kind}")
    if public["--noise"] is not None and dataset != "finqa":
        raise ConfigurationError(f"--noise: FinQA has noisy records, {dataset} has not")
    if public["--source"] is not None and public["--mirror"] is not None:
        raise ConfigurationError("--mirror: nothing is downloaded where there is a --source")
    if further["--param"] is not None and further["--reward"] is None:
        raise ConfigurationError("--param sets a parameter of a reward: give --reward NAME")


def _downloaded(dataset: Dataset, mirror: str | None) -> list[Path]:
    paths: list[Path] = []
    if not (listed := public_files(dataset)):
        raise ConfigurationError(
            f"{dataset}: its files stand in an archive: unpack it, and give --source PATH"
        )
    for file in listed:
        with counted(file.name, size=True) as advance:
            path = fetched(file, cache_folder(), mirror, advance)
        if file.sha256 is None:
            note = f"{file.name}: no checksum is published; this one's SHA-256 is {checksum(path)}"
            remark(note, "yellow")
        paths.append(path)
    return paths


def _report_problems(problems: Iterable[str]) -> None:
    """The first of the problems, one a line, and how many more there are."""
    listed = list(problems)
    for problem in listed[:PROBLEMS]:
        remark(problem, "yellow")
    if len(listed) > PROBLEMS:
        remark(f"and {len(listed) - PROBLEMS:,} more", "yellow")


def _tables(report: PrepareReport, out: Path) -> Iterable[object]:
    splits = table("split", "rows", "file", numbers=("rows",), title=report.dataset)
    for split, rows in sorted(report.splits.items()):
        splits.add_row(split, f"{rows:,}", str(out / f"{split}.jsonl"))
    yield splits
    classes = table("records", "kept", "dropped", numbers=("kept", "dropped"))
    for name in sorted(report.kept.keys() | report.dropped.keys()):
        kept, dropped = report.kept[name], report.dropped[name]
        classes.add_row(
            name,
            f"{kept:,}" if kept else None,
            f"{dropped:,}" if dropped else None,
        )
    for name, count in report.invalid.most_common(PROBLEMS):
        classes.add_row(f"cannot be used: {name}", None, f"{count:,}")
    others = len(report.problems) - report.invalid.total()
    if others:
        classes.add_row("cannot be used", None, f"{others:,}")
    if classes.row_count:
        yield classes
    yield (
        f"{report.splits.total():,} of {report.total:,} records became rows; "
        f"the report is {out / REPORT}"
    )
