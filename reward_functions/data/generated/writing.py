"""Generated records as rows: a file for training and one to hold out, and no prompt twice."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from itertools import count as count_from
from random import Random
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.core.errors import ConfigurationError
from reward_functions.data.generated import records
from reward_functions.data.json_rows import BadInput
from reward_functions.data.preparing import PrepareReport, write_rows
from reward_functions.data.public import ROWS, query_row
from reward_functions.data.records import SYNTHETIC, Record, Row, digest, is_synthetic
from reward_functions.data.rows.formats import scan_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from reward_functions.data.records import RecordOutcome

Generated = Literal["finqa", "gsm8k", "invoices", "math", "spider"]
"""The data sets whose like can be generated; `invoices` is our own, for `json_fields`."""

MOST_IN_VAIN: Final = 1_000
"""Draws in a row that repeat an earlier prompt before it is given up."""

_WORD: Final = re.compile(r"\w+")


def generate(
    dataset: Generated,
    folder: Path,
    *,
    rows: int = 200,
    test_rows: int = 100,
    seed: int = 1,
    force: bool = False,
    watched: Callable[[Iterable[RecordOutcome]], Iterable[RecordOutcome]] = iter,
) -> PrepareReport:
    """Write synthetic rows: `train.jsonl`, `test.jsonl` where there are any, and `report.json`.

    Equal arguments write equal files. No two rows have the same words and figures, in one file or
    in both; no page of FinQA's kind is in both.

    Args:
        dataset: whose shape the rows have.
        folder: where to write; made where it is missing.
        rows: of the training file, at least 1.
        test_rows: of the other file; 0 for none.
        seed: of what is drawn.
        force: whether files of the same names are replaced, though their rows are not synthetic.
        watched: passes the outcomes on, and shows that it goes on.

    Raises:
        ConfigurationError: the templates do not hold as many different prompts; or a file of the
            same name holds other rows.
        OSError: a file cannot be read or written.
    """
    for name, wanted in {"train": rows, "test": test_rows}.items():
        if wanted and not force:
            _require_ours(folder / f"{name}.jsonl")
    report = PrepareReport(dataset, {f"generated from templates, seed {seed}": None})
    drawn = _outcomes(dataset, {"train": rows, "test": test_rows}, seed)
    write_rows(report, watched(drawn), folder)
    return report


def _require_ours(file: Path) -> None:
    """Refuse to replace a file, unless it is empty or its first row is synthetic."""
    row = next(scan_file(str(file)), None) if file.exists() else None
    if row and (isinstance(row, BadInput) or not is_synthetic(row.content)):
        raise ConfigurationError(
            f"{file} holds rows that are not synthetic: name another folder with --out, or add "
            "--force, which replaces them"
        )


def _outcomes(dataset: Generated, wanted: dict[str, int], seed: int) -> Iterator[RecordOutcome]:
    """So many rows for each split; what is left of a page when a split is full is nobody's."""
    pages = _pages(dataset, Random(f"{dataset} {seed}"))  # noqa: S311 - the same draws in every run
    row_of = _row_of(dataset)
    seen: set[tuple[str, ...]] = set()
    number = vain = 0
    for split, count in wanted.items():
        kept = 0
        while kept < count:
            for content in next(pages):
                number += 1
                name = f"{_folder(content)}/{number}"
                row = row_of(Record(content, f"generated record {number}", split, name))
                assert isinstance(row, Row), "a generated record is not noisy"
                words = tuple(_WORD.findall(row.prompt.lower()))
                vain = vain + 1 if words in seen else 0
                if vain > MOST_IN_VAIN:
                    raise ConfigurationError(
                        f"the templates of {dataset} hold about {len(seen):,} different prompts: "
                        "ask for fewer rows"
                    )
                if not vain and kept < count:
                    seen.add(words)
                    kept += 1
                    yield replace(row, metadata={**row.metadata, SYNTHETIC: True})


def _row_of(dataset: Generated) -> Callable[[Record], RecordOutcome]:
    own = records.templates()[dataset]
    match dataset:
        case "invoices":
            return _bill_row
        case "spider":
            return partial(query_row, dataset, {own["database"]: own["schema"]})
        case _:
            return ROWS[dataset]


def _bill_row(record: Record) -> Row:
    own = records.templates()["invoices"]
    page = record.text("page")
    return Row(
        id="-".join(["invoices", *filter(None, [record.split]), digest(page)]),
        system=own["system"],
        question=page,
        request=own["request"],
        reference=record.get("fields"),
        split=record.split,
    )


def _pages(dataset: Generated, random: Random) -> Iterator[list[dict[str, Any]]]:
    """Records without end, together where they are of one page."""
    for number in count_from(1):
        match dataset:
            case "finqa":
                yield list(records.filing(random, number))
            case "gsm8k":
                yield [records.story(random)]
            case "invoices":
                yield [records.bill(random)]
            case "math":
                yield [records.problem(random)]
            case "spider":
                yield [records.asked(random)]


def _folder(content: dict[str, Any]) -> str:
    """What MATH calls the folder of a subject: `counting_and_probability`."""
    subject: str = content.get("type", "")
    return subject.lower().replace("&", "and").replace(" ", "_")
