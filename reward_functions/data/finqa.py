"""FinQA: 8,281 questions about pages of annual reports, each with a program for its answer.

A record has `id`, `filename` (the page), `pre_text`, `table`, `post_text`, and `qa` with
`question`, `answer` (what a person wrote), `exe_ans` (what the program computed) and `program`.
Every program is executed again here, and the three are compared: where they disagree the record is
noisy, since a policy would be paid for one answer and taught that the other is wrong.

Three official splits: train, dev and test. Rows of a page share `metadata.page`.

Source: Chen et al., FinQA: A Dataset of Numerical Reasoning over Financial Data, 2021
(arXiv 2109.00122); github.com/czyssrs/FinQA (MIT).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from reward_functions.core.errors import BadReference
from reward_functions.data.records import Dropped, Record, Row
from reward_functions.data.sources import PublicFile
from reward_functions.finqa.program import ProgramError, execute, parse
from reward_functions.finqa.reference import Reference, as_json, classify_record

if TYPE_CHECKING:
    from collections.abc import Sequence

Noise = Literal["drop", "keep", "mark"]
"""What becomes of a noisy record: left out; kept, its reference accepting either answer; the same,
and every row says in its metadata whether it is noisy."""

HOME: Final = (
    "https://raw.githubusercontent.com/czyssrs/FinQA/"
    "0f16e2867befa6840783e58be38c9efb9229d742/dataset/"
)

FILES: Final = (
    PublicFile(
        HOME,
        "train.json",
        "49f237eb9779b569473b26b08048867d04635a7cc39ad6a7a5664c55bb428db6",
    ),
    PublicFile(
        HOME,
        "dev.json",
        "a847fb7e0d61a3125a1e2909852df6b89f1ee64d2c5ff1bf689e332214deee51",
    ),
    PublicFile(
        HOME,
        "test.json",
        "831dbfb2e785dbc227f895ce3f24046433467aec67b09db2bd6ac7692a8a30dc",
    ),
)

SYSTEM: Final = (
    "You are a financial analyst. You answer questions about a page of a company's annual report, "
    "step by step, from its text and table alone."
)

REQUEST: Final = (
    "Work step by step. Give a percentage with its % sign, an amount in the unit the question asks "
    "for, and do not round to fewer than three digits. End with one line:\nANSWER: <value>"
)


TEMPLATE: Final = "{context}\n\nQuestion: {question}\n\n{answer_format}"


def row_of(record: Record, noise: Noise = "drop") -> Row | Dropped:
    """The row of a record, or why it is left out.

    Raises:
        BadRecord: a field is missing or cannot be read, or the program cannot be executed.
    """
    name, page, question = (record.text(field) for field in ("id", "filename", "qa.question"))
    context = _context(record)
    reference = _executed(record)
    agreement = reference.agreement
    assert agreement is not None, "a classified record has a class"
    if agreement.noisy and noise == "drop":
        return Dropped(name, agreement.value)
    marked = {"noisy": agreement.noisy} if noise == "mark" else {}
    return Row(
        id=name,
        system=SYSTEM,
        question=question.strip(),
        request=REQUEST,
        template=TEMPLATE,
        fields={"context": context},
        reference=as_json(reference),
        metadata={"page": page, "agreement": agreement.value, **marked},
        split=record.split,
        counted=agreement.value,
    )


def _executed(record: Record) -> Reference:
    """The reference of a record, its program executed again.

    Raises:
        BadRecord: a field is missing or cannot be read, or the program cannot be executed.
    """
    if not isinstance(record.get("qa.answer"), str):
        raise record.bad("qa.answer", "is not a string")
    try:
        program = parse(record.text("qa.program"))
        execute(program, _table(record))
    except ProgramError as error:
        raise record.bad("qa.program", f"cannot be executed: {error}") from None
    try:
        return classify_record(record.content)
    except BadReference as error:
        raise record.bad("qa", f"makes no reference: {error}") from None


def _context(record: Record) -> str:
    """The page as text: what stands before the table, the table with bars, what stands after it."""
    table = "\n".join(" | ".join(cell.strip() for cell in row) for row in _table(record))
    before, after = (
        "\n".join(line.strip() for line in record.strings(field))
        for field in ("pre_text", "post_text")
    )
    return "\n\n".join(part for part in (before, table, after) if part.strip())


def _table(record: Record) -> Sequence[Sequence[str]]:
    table = record.get("table")
    if not isinstance(table, list):
        raise record.bad("table", "is not a list of rows")
    for number, row in enumerate(table, 1):
        if not isinstance(row, list) or not all(isinstance(cell, str) for cell in row):
            raise record.bad("table", f"has a row {number} that is not a list of strings")
    return table
