"""A data set from its files to training data: one JSONL file for each split, and a report.

Rows are written as they come, and all files take their names together at the end. Official splits
stay what they are; a data set without any becomes `all.jsonl`, for `reward data split`. A record
that cannot be used stops everything, once all of them are known, unless it may be skipped.

One's own rows, of any shape and format, keep prompt, earlier turns, reference and id; a response is
left out, since the policy writes its own. A record that cannot be trained on is a `BadRecord`: no
prompt, no reference, or one that the reward cannot read or whose right answer it does not pay. The
same question again is dropped, and under another reference wherever it stands: neither is known to
be right.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.jsons import json_kind
from reward_functions.core.types import ASSISTANT_ROLES
from reward_functions.data import public
from reward_functions.data.atomic import Together
from reward_functions.data.decimals import in_quotes, sign_of, with_point
from reward_functions.data.json_rows import BadInput
from reward_functions.data.records import (
    BadRecord,
    Dropped,
    Row,
    digest,
    each,
    text_of,
    unrepeated,
    worded,
)
from reward_functions.data.rows.formats import files_of, splits_of
from reward_functions.data.rows.reading import AS_FOUND, scan_rows
from reward_functions.data.rows.shapes import BEDROCK
from reward_functions.data.rows.writing import metadata_of, write
from reward_functions.data.sources import NAMES, checksums, split_files
from reward_functions.data.splitting import PART, Overlaps
from reward_functions.data.wording import AS_PUBLISHED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TextIO

    from reward_functions.data.json_rows import Row as ReadRow
    from reward_functions.data.public import Dataset, Noise
    from reward_functions.data.records import RecordOutcome
    from reward_functions.data.rows.shapes import RowOptions
    from reward_functions.data.splitting import Leak
    from reward_functions.data.wording import Wording

UNSPLIT: Final = "all"
"""The name of the file of a data set without official splits."""

REPORT: Final = "report.json"

Complaint: TypeAlias = Callable[[dict[str, Any], int], str | None]
"""Why the reward cannot use a row, at a position; None where it can."""

REPEATED: Final = "the same row again"
REPEATED_QUESTION: Final = "the same question again"
CONFLICT: Final = "the same question under another reference"

NO_SPLIT: Final = "split is missing, and other rows have one"
NO_REFERENCE: Final = "there is no reference"
NOT_JSON: Final = "NaN and Infinity are not numbers of JSON"

SYSTEM_ROLES: Final = ("system", "developer")


class BadRecords(ConfigurationError):
    """Records that cannot be used, all of them in `problems`; nothing was written."""

    def __init__(self, problems: Sequence[str], total: int) -> None:
        super().__init__(
            f"{len(problems):,} of {total:,} records cannot be used; nothing was written"
        )
        self.problems = problems


@dataclass(slots=True)
class PrepareReport:
    """The outcomes of the records, counted.

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
    files = list(dict.fromkeys(file for each in sources for file in public.files(dataset, each)))
    report = PrepareReport(dataset, checksums(files))
    read = public.outcomes_of(dataset, sources, noise)
    outcomes = watched(worded(read, wording))
    write_rows(report, outcomes, folder, spared=sources, skip_bad=skip_bad, to=to)
    return report


def prepare_own(
    source: str,
    folder: Path,
    *,
    options: RowOptions = AS_FOUND,
    wording: Wording = AS_PUBLISHED,
    complaint: Complaint | None = None,
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
    files = _own_files(source)
    name = _name_of(source)
    report = PrepareReport(name, checksums([file for file, _ in files]))
    outcomes = watched(_own_outcomes(files, name, options, wording, complaint))
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
        report.stale = [path for path in earlier_splits(folder) if path.stem not in report.splits]
        files.opened(folder / REPORT).write(f"{json.dumps(report.as_json(), indent=2)}\n")


def earlier_splits(folder: Path) -> list[Path]:
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
            seen[outcome.id] = _mark(outcome.wire(""))
            report.splits[outcome.split or UNSPLIT] += 1
            if outcome.counted:
                report.kept[outcome.counted] += 1
            yield outcome
        elif seen[outcome.id] == _mark(outcome.wire("")):
            report.dropped[REPEATED] += 1
        else:
            report.problems.append(f"id {outcome.id}: two records have it, and they differ")


def _own_files(source: str) -> list[tuple[Path, str | None]]:
    """The files of a source, and the split each belongs to; None where it names none.

    Args:
        source: a file, a data set's folder, or such a folder and a split.

    Raises:
        BadInput: the folder holds no rows.
    """
    path = Path(source)
    if not path.is_dir():
        listed = files_of(source)
        if listed is None:
            return split_files(path)
        return [(file, NAMES.get(path.name, path.name)) for file in listed]
    found = splits_of(path)
    if len(found) == 1:
        return split_files(path)
    if not found:
        files_of(source)  # says which endings there are
    return [(file, NAMES.get(name, name)) for name in sorted(found) for file in found[name]]


def _name_of(source: str) -> str:
    """What a source is called in ids and metadata: its name without endings."""
    stem = Path(source).name.split(".", 1)[0]
    return re.sub(r"[^\w-]+", "-", stem).strip("-")[:64] or "own"


def _own_outcomes(
    sources: Sequence[tuple[Path, str | None]],
    name: str,
    options: RowOptions,
    wording: Wording,
    complaint: Complaint | None,
) -> Iterator[RecordOutcome]:
    """What becomes of every row, in order.

    Args:
        sources: the files, and the split of each, as `_own_files` finds them. They are read twice.
        name: of the data set, which ids without one of their own begin with.
        options: how the rows are read.
        wording: of the prompts, which are compared as the policy reads them.
        complaint: why the reward cannot use a row, at a position; None where it can.

    Raises:
        BadInput: the shape of a file's rows is not known, or it has two.
        OSError: a file cannot be read.
    """
    references: dict[bytes, set[bytes]] = {}
    splits: set[str | None] = set()
    for row in worded(_rows(sources, name, options), wording):
        if isinstance(row, Row):
            references.setdefault(_asked(row), set()).add(_mark(row.reference))
            splits.add(row.split)

    def usable() -> Iterator[RecordOutcome]:
        for position, row in enumerate(worded(_rows(sources, name, options), wording)):
            if isinstance(row, Row):
                lost = row.split is None and len(splits) > 1
                why = NO_SPLIT if lost else _flaw(row.wire(name), position, complaint)
                shown = _with_value(why, row.reference) if why else ""
                yield BadRecord(f"{row.where}: {shown}", why) if why else row
            else:
                yield row

    yield from unrepeated(
        usable(), references, _asked, repeated=REPEATED_QUESTION, conflict=CONFLICT
    )


def _rows(
    sources: Sequence[tuple[Path, str | None]], name: str, options: RowOptions
) -> Iterator[RecordOutcome]:
    for file, split in sources:
        read = scan_rows(str(file), options, responses=False, whole=True)
        yield from each(read, partial(_row, split=split, name=name))


def _row(read: ReadRow, split: str | None, name: str) -> Row:
    turns = _prompt_turns(read)
    known = metadata_of(read.content).items()
    metadata = {key: value for key, value in known if value == value}  # noqa: PLR0124 - NaN is none
    own = metadata.pop("split", None)
    if own not in (None, ""):
        if not isinstance(own, str) or not PART.fullmatch(own):
            raise BadRecord(f"{read.where}: split is not a name of letters, digits, - and _")
        split = NAMES.get(own, own)
    system = [text_of(turn["content"]) for turn in turns[:1] if turn["role"] in SYSTEM_ROLES]
    question = text_of(turns[-1]["content"])
    reference = read.content.get("reference_answer")
    return Row(
        id=_id(read, question, split, name),
        system=system[0] if system else "",
        question=question,
        reference=reference,
        fields={key: _text(value) for key, value in metadata.items() if _text(value)},
        earlier=turns[len(system) : -1],
        metadata=metadata,
        split=split,
        where=read.where,
    )


def _prompt_turns(read: ReadRow) -> list[dict[str, Any]]:
    """The turns up to the last of the user's; a response behind it is left out.

    Raises:
        BadRecord: they make no prompt of text.
    """
    messages = read.content.get("messages")
    turns = list(messages) if isinstance(messages, list) else []
    for turn in turns:
        if not isinstance(turn, dict) or not isinstance(turn.get("role"), str):
            raise BadRecord(f"{read.where}: a message is not an object with a role")
    while turns and turns[-1]["role"] in ASSISTANT_ROLES:
        turns.pop()
    if not turns or turns[-1]["role"] != "user":
        raise BadRecord(f"{read.where}: the prompt does not end with a user turn", "no user turn")
    if not text_of(turns[-1].get("content")).strip():
        raise BadRecord(f"{read.where}: the question is empty", "the question is empty")
    return turns


def _flaw(content: dict[str, Any], position: int, complaint: Complaint | None) -> str | None:
    """Why a row cannot be trained on; None where it can. A reward may need no reference."""
    try:
        json.dumps(content, allow_nan=False)
    except ValueError:  # Python writes NaN and Infinity, and a trainer cannot read them
        return NOT_JSON
    if complaint:
        return complaint(content, position)
    reference = content.get("reference_answer")
    stated = reference.strip() if isinstance(reference, str) else reference
    return NO_REFERENCE if stated is None or stated in ("", [], {}) else None


def _with_value(why: str, reference: Any) -> str:
    """Why a row cannot be used, and the value that cannot be read where the reference is a text."""
    if why in (NO_SPLIT, NO_REFERENCE, NOT_JSON) or not isinstance(reference, str):
        return why
    text = reference.rpartition("####")[2]
    if not text.strip():
        return why
    mended = f", write {with_point(text)}" if sign_of(text) == "comma" else ""
    return f"{why}: {in_quotes(text)}{mended}"


def _id(read: ReadRow, question: str, split: str | None, name: str) -> str:
    own = read.content.get("id")
    if own is None or own == "":
        return "-".join([name, *filter(None, [split]), digest(question)])
    if isinstance(own, bool) or not isinstance(own, str | int):
        raise BadRecord(f"{read.where}: id is {json_kind(own)}, not a string")
    return str(own)


def _text(value: Any) -> str:
    """A column that a template may name: a string, or a number as it is written."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return json.dumps(value) if number else value if isinstance(value, str) else ""


def _asked(row: Row) -> bytes:
    return _mark([row.split, row.system, *row.earlier, row.prompt])


def _mark(value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
