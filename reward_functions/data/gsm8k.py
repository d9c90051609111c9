"""GSM8K: 8,792 word problems of grade-school arithmetic, with worked solutions.

A record is `{"question", "answer"}`; the answer is a solution with calculator notes in `<<…>>` that
ends in `#### n`. Two official splits, train and test.

Source: Cobbe et al., Training Verifiers to Solve Math Word Problems, 2021 (arXiv 2110.14168);
github.com/openai/grade-school-math (MIT).
"""

from __future__ import annotations

import re
from typing import Final

from reward_functions.data.records import Record, Row, digest
from reward_functions.data.sources import PublicFile
from reward_functions.extraction.markup import plain
from reward_functions.quantities.numerals import quantity

HOME: Final = (
    "https://raw.githubusercontent.com/openai/grade-school-math/"
    "3101c7d5072418e28b9008a6636bde82a006892c/grade_school_math/data/"
)

FILES: Final = (
    PublicFile(
        HOME,
        "train.jsonl",
        "17f347dc51477c50d4efb83959dbb7c56297aba886e5544ee2aaed3024813465",
    ),
    PublicFile(
        HOME,
        "test.jsonl",
        "3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14",
    ),
)

SYSTEM: Final = "You are a careful tutor of mathematics. You work step by step and check your sums."

REQUEST: Final = (
    "Think step by step. End with one line that holds nothing but four hash signs and the final "
    "number:\n#### <number>"
)

_NOTE: Final = re.compile(r"<<[^<>]*>>")
"""What the calculator of the paper wrote: `<<16-3-4=9>>`."""


def row_of(record: Record) -> Row:
    """The row of a record.

    Raises:
        BadRecord: a field is missing or cannot be read.
    """
    question, answer = record.text("question"), record.text("answer")
    solution, marker, final = answer.rpartition("####")
    final = final.strip()
    if not marker:
        raise record.bad("answer", "has no ####")
    if quantity(plain(final)) is None:
        raise record.bad("answer", "has no number behind its ####")
    return Row(
        id="-".join(["gsm8k", *filter(None, [record.split]), digest(question)]),
        system=SYSTEM,
        question=question.strip(),
        request=REQUEST,
        reference={"final_answer": final},
        metadata={"solution": _NOTE.sub("", solution).strip()},
        split=record.split,
    )
