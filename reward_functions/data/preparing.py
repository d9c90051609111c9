"""A data set from its public files to training data: one JSONL file for each split, and a report.

Rows are written as they come, and all files take their names together at the end. Official splits
stay what they are; a data set without any becomes `all.jsonl`, for `reward data split`. A record
that cannot be used stops everything, once all of them are known, unless it may be skipped.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.core.errors import ConfigurationError
from reward_functions.data import own
from reward_functions.data.atomic import Together
from reward_functions.data.json_rows import BadInput
from reward_functions.data.leakage import Overlaps
from reward_functions.data.records import BadRecord, Dropped, Row, worded
from reward_functions.data.rows.reading import AS_FOUND
from reward_functions.data.rows.shapes import BEDROCK
from reward_functions.data.rows.writing import write
from reward_functions.data.sources import checksums
from reward_functions.data.wording import AS_PUBLISHED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path
    from typing import TextIO

    from reward_functions.data.finqa import Noise
    from reward_functions.data.leakage import Leak
    from reward_functions.data.records import RecordOutcome
    from reward_functions.data.rows.recognition import RowOptions
    from reward_functions.data.sources import PublicFile
    from reward_functions.data.wording import Wording

Dataset = Literal["finqa", "gsm8k", "math", "pandalm"]

UNSPLIT: Final = "all"
"""The name of the file of a data set without official splits."""

REPORT: Final = "report.json"

REPEATED: Final = "the same row again"


class BadRecords(ConfigurationError):
    """Records that cannot be used, all of them in `problems`; nothing was written."""

    def __init__(self, problems: Sequence[str], total: int) -> None:
        super().__init__(
            f"{len(problems):,} of {total:,} records cannot be used; nothing was written"
        )
        self.problems = problems


@dataclass(slots=True)
class PrepareReport:
    """What became of the records.

    Args:
        dataset: its name.
        sources: SHA-256 of every file, by path; None of what was generated.
        splits: rows written, by split.
        kept: rows written, by the class they are counted under.
        dropped: records left out on purpose, by class.
        problems: records that could not be used.
        invalid: of these, how many of each class.
        lost: what the shape that was written has no place for, and how many rows have it.
        leaks: what the splits share.
        stale: files of splits that an earlier run wrote to the folder, and this one did not.
    """

    dataset: str
    sources: dict[str, str | None]
    splits: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    invalid: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    leaks: list[Leak] = field(default_factory=list)
    stale: list[Path] = field(default_factory=list)

    @property
    def total(self) -> int:
        """All records there were."""
        return self.splits.total() + self.dropped.total() + len(self.problems)

    def as_json(self) -> dict[str, Any]:
        """The report as a file holds it."""
        return {
            "dataset": self.dataset,
            "sources": self.sources,
            "records": self.total,
            "rows": dict(sorted(self.splits.items())),
            "kept": dict(sorted(self.kept.items())),
            "dropped": dict(sorted(self.dropped.items())),
            "problems": self.problems,
            "invalid": dict(sorted(self.invalid.items())),
            "leaks": [str(leak) for leak in self.leaks],
        }


def public_files(dataset: Dataset) -> tuple[PublicFile, ...]:
    """The files of a data set at its public home, at a pinned revision."""
    files: tuple[PublicFile, ...] = import_module(f"reward_functions.data.{dataset}").FILES
    return files


def prepare(
    dataset: Dataset,
    sources: Sequence[Path],
    folder: Path,
    *,
    noise: Noise = "drop",
    skip_bad: bool = False,
    wording: Wording = AS_PUBLISHED,
    to: str = BEDROCK,
    watched: Callable[[Iterable[RecordOutcome]], Iterable[RecordOutcome]] = iter,
) -> PrepareReport:
    """Write the rows of a data set, and the report.

    Args:
        dataset: its name.
        sources: its files, or one folder.
        folder: where to write; made where it is missing.
        noise: what becomes of noisy records of FinQA.
        skip_bad: leave out records that cannot be used, instead of giving up.
        wording: of the prompts.
        to: the shape to write.
        watched: passes the outcomes on, and shows that it goes on.

    Raises:
        BadRecords: some cannot be used, and `skip_bad` is not set.
        ConfigurationError: there is nothing to prepare.
        OSError: a file cannot be read or written.
    """
    module = import_module(f"reward_functions.data.{dataset}")
    read = partial(module.outcomes, noise=noise) if dataset == "finqa" else module.outcomes
    files = [file for source in sources for file in module.files(source)]
    report = PrepareReport(dataset, checksums(files))
    outcomes = watched(worded(chain.from_iterable(map(read, sources)), wording))
    write_rows(report, outcomes, folder, spared=sources, skip_bad=skip_bad, to=to)
    return report


def prepare_own(
    source: str,
    folder: Path,
    *,
    options: RowOptions = AS_FOUND,
    wording: Wording = AS_PUBLISHED,
    complaint: Callable[[dict[str, Any], int], str | None] | None = None,
    skip_bad: bool = False,
    to: str = BEDROCK,
    watched: Callable[[Iterable[RecordOutcome]], Iterable[RecordOutcome]] = iter,
) -> PrepareReport:
    """Write one's own questions, and the report.

    Args:
        source: a file, a data set's folder, or such a folder and a split.
        folder: where to write; made where it is missing.
        options: how the rows are read.
        wording: of the prompts.
        complaint: why the reward cannot use a row, at a position; None where it can.
        skip_bad: leave out rows that cannot be used, instead of giving up.
        to: the shape to write.
        watched: passes the outcomes on, and shows that it goes on.

    Raises:
        BadRecords: some cannot be used, and `skip_bad` is not set.
        ConfigurationError: there is nothing to prepare, or it cannot be read.
        OSError: a file cannot be read or written.
    """
    files = own.files(source)
    name = own.name_of(source)
    report = PrepareReport(name, checksums([file for file, _ in files]))
    outcomes = watched(own.outcomes(files, name, options, wording, complaint))
    spared = [file for file, _ in files]
    write_rows(report, outcomes, folder, spared=spared, skip_bad=skip_bad, to=to)
    return report


def write_rows(
    report: PrepareReport,
    outcomes: Iterable[RecordOutcome],
    folder: Path,
    *,
    spared: Sequence[Path] = (),
    skip_bad: bool = False,
    to: str = BEDROCK,
) -> None:
    """Write the rows among the outcomes, a file for each split, and the report, which is filled in.

    Args:
        report: of the data set, still empty.
        outcomes: of its records, in order.
        folder: where to write; made where it is missing.
        spared: files and folders that are read meanwhile, and never written to.
        skip_bad: leave out records that cannot be used, instead of giving up.
        to: the shape to write.

    Raises:
        BadRecords: some cannot be used, and `skip_bad` is not set.
        ConfigurationError: there is nothing to write.
        OSError: a file cannot be read or written.
    """
    overlaps = Overlaps()
    with Together(spared=spared) as files:
        streams: dict[str, TextIO] = {}
        files.folder(folder)
        for row in _kept(outcomes, report):
            split = row.split or UNSPLIT
            if split not in streams:
                streams[split] = files.opened(folder / f"{split}.jsonl")
            content = row.wire(report.dataset)
            written = write(content, to)
            report.lost.update(set(written.lost))
            streams[split].write(f"{json.dumps(written.content)}\n")
            overlaps.add(split, row.id, content)
        if report.problems and not skip_bad:
            raise BadRecords(report.problems, report.total)
        if not report.splits:
            raise ConfigurationError(f"{', '.join(report.sources)}: no record became a row")
        report.leaks = overlaps.leaks()
        report.stale = [path for path in _earlier(folder) if path.stem not in report.splits]
        files.opened(folder / REPORT).write(f"{json.dumps(report.as_json(), indent=2)}\n")


def _earlier(folder: Path) -> list[Path]:
    """The files of the splits that the folder's report names, where they are still there."""
    try:
        rows = json.loads((folder / REPORT).read_text(encoding="utf-8"))["rows"]
        paths = [folder / f"{split}.jsonl" for split in sorted(rows)]
    except (OSError, ValueError, LookupError, TypeError):  # no report, or one that is not ours
        return []
    return [path for path in paths if path.parent == folder and path.is_file()]


def _kept(outcomes: Iterable[RecordOutcome], report: PrepareReport) -> Iterator[Row]:
    """The rows among the outcomes, everything counted, and no id given twice."""
    seen: dict[str, bytes] = {}
    for outcome in outcomes:
        if isinstance(outcome, BadInput):
            report.problems.append(str(outcome))
            if isinstance(outcome, BadRecord) and outcome.why:
                report.invalid[outcome.why] += 1
        elif isinstance(outcome, Dropped):
            report.dropped[outcome.why] += 1
        elif outcome.id not in seen:
            seen[outcome.id] = _content(outcome)
            report.splits[outcome.split or UNSPLIT] += 1
            if outcome.counted:
                report.kept[outcome.counted] += 1
            yield outcome
        elif seen[outcome.id] == _content(outcome):
            report.dropped[REPEATED] += 1
        else:
            report.problems.append(f"id {outcome.id}: two records have it, and they differ")


def _content(row: Row) -> bytes:
    return sha256(json.dumps(row.wire(""), sort_keys=True).encode()).digest()
