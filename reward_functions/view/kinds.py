"""The kind of a file, by its beginning: no name and no ending is trusted.

A file of rows is known by its first line, a record by the names of its fields, a page by the
first bytes of this project's pages, which hold their content policy.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.view.reading import BOM, HEAD, LONGEST, Gone, decoded, opened_in, whole
from reward_functions.view.records import BEGINS, DOCUMENTS, PageResult, RecordResult
from reward_functions.view.rows import PARTIAL, PartialScores, Rollouts, Scores, Trajectories

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reward_functions.view.entries import Kind
    from reward_functions.view.rows import RowsResult

    Result = RowsResult | RecordResult | PageResult

LARGEST_RECORD: Final = 4_096
"""Bytes of a record's beginning among which the names of its first fields stand."""


class FirstLine(NamedTuple):
    """How a file of rows begins.

    Args:
        kind: of the file.
        begins: matches its first bytes, where its first line is too long to be read, or half.
        known: whether the first line is one of its rows.
        made: reads it.
    """

    kind: Kind
    begins: re.Pattern[bytes]
    known: Callable[[dict[str, Any]], bool]
    made: Callable[[Path, str], RowsResult]


LINES: Final = (
    FirstLine(
        "scores",
        re.compile(rb'\{"partial results'),
        lambda row: PARTIAL in row and "the reward" in row,
        PartialScores,
    ),
    FirstLine(
        "rollouts", re.compile(rb'\{"record": 1'), lambda row: row.get("record") == 1, Rollouts
    ),
    FirstLine(
        "trajectories",
        re.compile(rb'\{"trajectory":'),
        lambda row: row.get("trajectory") == 1,
        Trajectories,
    ),
    FirstLine(
        "scores",
        re.compile(rb'\{ ?"id": ?"[^"\\]*+(?:\\.[^"\\]*+)*", ?"aggregate_reward_score":'),
        lambda row: "aggregate_reward_score" in row and "id" in row,
        Scores,
    ),
)


def recognised(folder: Path, name: str) -> tuple[Kind, Result] | None:
    """The kind of a file, and what reads it; None of a file that is no result of this project.

    Raises:
        Gone: it cannot be read.
    """
    with opened_in(folder, name) as stream:
        head = stream.read(HEAD).removeprefix(BOM)
        if head[:1] in b"{[" and b"\n" not in head.removeprefix(b"[").lstrip():
            head += stream.readline(LONGEST)
    if BEGINS.match(head):
        return "page", PageResult(folder, name)
    text = head.lstrip()
    if text.startswith(b"["):
        text = text[1:].lstrip()
    if not text.startswith(b"{"):
        return None
    return _of_lines(folder, name, text) or _record(folder, name, text)


def _of_lines(folder: Path, name: str, text: bytes) -> tuple[Kind, Result] | None:
    line, broken, _ = text.partition(b"\n")
    row = _object(line.rstrip().removesuffix(b","))
    for each in LINES:
        if each.known(row) if row else not broken and each.begins.match(text, 0, LARGEST_RECORD):
            made = each.made(folder, name)
            if isinstance(made, PartialScores):
                made.started(row or {})
            return each.kind, made
    return None


def _record(folder: Path, name: str, text: bytes) -> tuple[Kind, Result] | None:
    """The record that a file is.

    Raises:
        Gone: it begins as one, and is no JSON.
    """
    found = [
        kind
        for kind, row in DOCUMENTS.items()
        if any(mark in text[:LARGEST_RECORD] for mark in row.marks)
    ]
    if not found:
        return None
    item = _object(whole(folder, name))
    if not item:
        raise Gone(f"{name} seems half written: it is no JSON")
    for kind in found:
        if item and DOCUMENTS[kind].known(item):
            return kind, RecordResult(folder, name, kind)
    return None


def _object(text: bytes) -> dict[str, Any]:
    """The JSON object of a text; empty for any other text."""
    try:
        found = decoded(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
