"""PandaLM: pairs of responses to 170 prompts, with the votes of three people.

A record has `idx`, `cmp_key`, `instruction`, `input`, `response1`, `response2` and `annotator1` to
`annotator3`, each of which is 1 or 2 for the better response, or 0 for a tie. The public file went
through a spreadsheet: strings arrive as true, NaN or numbers, and are strings again here. The
policy is the judge: it compares, and the label is the vote of the majority. A pair all three of
whom differ has no label.

There is no official split: what is public is one test set. Rows of one instruction and input share
`metadata.prompt`, which keeps them on one side of a split that is made.

Source: Wang et al., PandaLM: An Automatic Evaluation Benchmark for LLM Instruction Tuning
Optimization, 2023 (arXiv 2306.05087); github.com/WeOpenML/PandaLM (Apache-2.0).
"""

from __future__ import annotations

import json
from collections import Counter
from math import isnan
from typing import TYPE_CHECKING, Final

from reward_functions.core.jsons import json_kind
from reward_functions.data.records import Dropped, Record, Row, digest, each
from reward_functions.data.sources import PublicFile, files_in, records_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reward_functions.data.records import RecordOutcome

FILES: Final = (
    # Nobody has published this file's SHA-256; the revision is what holds it.
    PublicFile(
        "https://raw.githubusercontent.com/WeOpenML/PandaLM/"
        "65d7cff541edaa2d1be0f4b206c31fae42bc334b/data/",
        "testset-v1.json",
        None,
    ),
)

SYSTEM: Final = (
    "You compare two responses to an instruction. You are fair: neither length nor order counts, "
    "only which of the two serves the instruction better."
)

REQUEST: Final = (
    "Which response is better? Give your reasons in a few sentences. End with one line:\n"
    "JUDGMENT: Response 1, or JUDGMENT: Response 2, or JUDGMENT: Tie"
)

VERDICTS: Final = ("Tie", "Response 1", "Response 2")
"""The policy's verdict, by label."""

ANNOTATORS: Final = ("annotator1", "annotator2", "annotator3")

NO_MAJORITY: Final = "no two annotators agree"
DUPLICATE: Final = "the same pair again"
CONFLICT: Final = "the same pair under another label"


def outcomes(source: Path) -> Iterator[RecordOutcome]:
    """What becomes of every record of a JSON array or JSONL file.

    A pair that comes again is dropped; one that comes again under another label is dropped wherever
    it stands, since none of its labels is exact.
    """
    rows = [row for file in files_in(source) for row in each(records_of(file), row_of)]
    labels: dict[str, set[int]] = {}
    for row in rows:
        if isinstance(row, Row):
            labels.setdefault(_pair(row), set()).add(row.reference["label"])
    seen: set[str] = set()
    for row in rows:
        if not isinstance(row, Row):
            yield row
        elif len(labels[_pair(row)]) > 1:
            yield Dropped(row.id, CONFLICT)
        elif _pair(row) in seen:
            yield Dropped(row.id, DUPLICATE)
        else:
            seen.add(_pair(row))
            yield row


def _pair(row: Row) -> str:
    return row.prompt


def row_of(record: Record) -> Row | Dropped:
    """The row of a pair, or why it is left out.

    Raises:
        BadRecord: a field is missing or cannot be read.
    """
    name = f"pandalm-{_text(record, 'idx')}"
    instruction, given = _text(record, "instruction"), _text(record, "input")
    if not (instruction.strip() or given.strip()):  # some pairs have their question in the input
        raise record.bad("instruction", "is empty, and so is input")
    responses = [_text(record, field) for field in ("response1", "response2")]
    votes = [_vote(record, field) for field in ANNOTATORS]
    (label, most), *_ = Counter(votes).most_common(1)
    if most == 1:
        return Dropped(name, NO_MAJORITY)
    parts = {
        "Instruction": instruction,
        "Input": given,
        "Response 1": responses[0].strip() or "(empty)",
        "Response 2": responses[1].strip() or "(empty)",
    }
    asked = [f"## {title}\n{text.strip()}" for title, text in parts.items() if text.strip()]
    return Row(
        id=name,
        system=SYSTEM,
        question="\n\n".join(asked),
        request=REQUEST,
        reference={"label": label, "answer": VERDICTS[label], "votes": votes},
        metadata={"models": _text(record, "cmp_key"), "prompt": digest(instruction, given)},
        counted="tie" if label == 0 else f"response {label}",
    )


def _text(record: Record, field: str) -> str:
    """A field as the text it once was: true for "true", and NaN, null or "" for nothing."""
    value = record.get(field)
    if value is None or (isinstance(value, float) and isnan(value)):
        return ""
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    if not isinstance(value, str):
        raise record.bad(field, f"is {json_kind(value)}, not a string")
    return value


def _vote(record: Record, field: str) -> int:
    value = record.get(field)
    if isinstance(value, str) and value in {"0", "1", "2"}:
        value = int(value)
    if isinstance(value, bool) or value not in (0, 1, 2):
        raise record.bad(field, f"is {json.dumps(value)}, not 0, 1 or 2")
    return int(value)
