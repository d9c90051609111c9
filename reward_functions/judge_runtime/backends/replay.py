"""Recorded answers in place of a model: a JSON object per line.

    {"key": "9f…", "verdict": {"correct": "yes"}}
    {"id": "pandalm-12", "turn": 0, "verdict": {"better": "first"}, "model": "…", "usage": {…}}
    {"id": "pandalm-13", "error": "NoVerdict", "kind": "cut"}

A line answers the question with that key, or the question of that turn (by default 0) about the
sample with that id. Fields that the verdict leaves out have their worst choice. A question without
a line raises `JudgeUnavailable`.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

from reward_functions.core.asking import Verdict
from reward_functions.core.errors import (
    BadJudge,
    JudgeUnavailable,
    NoVerdict,
    WhyNoVerdict,
    WhyUnavailable,
)
from reward_functions.core.types import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reward_functions.core.asking import Ask, Question

_FAILURES: Final = {"NoVerdict": NoVerdict, "JudgeUnavailable": JudgeUnavailable}
_KINDS: Final = {
    "NoVerdict": get_args(WhyNoVerdict),
    "JudgeUnavailable": get_args(WhyUnavailable),
}


class Replay:
    """An `Ask` that gives recorded answers.

    Args:
        path: the JSON Lines file.
        model: the model id of lines that name none.

    Raises:
        BadJudge: the file is missing, or a line of it is not a recorded answer.
    """

    def __init__(self, path: str | Path, model: str = "replay") -> None:
        self.model = model
        try:
            lines = Path(path).read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError) as error:
            raise BadJudge(f"the recorded answers {path} cannot be read: {error}") from None
        self.rows = dict(_rows(lines, path))

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:  # noqa: ARG002
        """The answer recorded for the question, by its key or by its sample and turn."""
        row = self.rows.get(question.key) or self.rows.get((question.sample, question.turn))
        if row is None:
            where = f"this id and turn {question.turn}" if question.turn else "this id"
            raise JudgeUnavailable(
                f"{self.model}: no answer was recorded for this: add a line with {where} to the "
                "recorded answers",
                "unrecorded",
            )
        if "error" in row:
            kind = {"kind": row["kind"]} if row.get("kind") else {}
            raise _FAILURES[row["error"]](f"{self.model}: a recorded failure", **kind)
        return Verdict(
            question.read(question.filled(row["verdict"])),
            Usage(**row.get("usage", {})),
            str(row.get("model", self.model)),
        )


class Recorder:
    """An `Ask` that writes the verdicts of another one to a file for `Replay`.

    Args:
        ask: answers the questions.
        path: the file to append to. It holds no text of a question, but the reasons of a verdict
            may quote it.
    """

    def __init__(self, ask: Ask, path: str | Path) -> None:
        self.ask = ask
        self.path = Path(path)

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:
        """The verdict, after it was written."""
        verdict = self.ask(question, deadline=deadline)
        values = {name: value for name, value in verdict.values.items() if name != "checksum"}
        row = {
            "key": question.key,
            "id": question.sample,
            "turn": question.turn,
            "verdict": values,
            "usage": asdict(verdict.usage),
            "model": verdict.model,
        }
        with self.path.open("a", encoding="utf-8") as file:  # one write: threads do not interleave
            file.write(json.dumps(row) + "\n")
        return verdict


def _rows(
    lines: Iterable[str], path: str | Path
) -> Iterable[tuple[str | tuple[str, int], Mapping[str, Any]]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not _is_answer(row):
            raise BadJudge(f'{path}, line {number}: not an answer {{"id": "…", "verdict": {{…}}}}')
        if "key" in row:
            yield row["key"], row
        if "id" in row:
            yield (row["id"], row.get("turn", 0)), row


def _is_answer(row: Any) -> bool:
    if not isinstance(row, dict) or not (row.keys() & {"key", "id"}):
        return False
    names = [row[name] for name in ("key", "id") if name in row]
    usage, turn = row.get("usage", {}), row.get("turn", 0)
    if not all(isinstance(name, str) for name in names) or type(turn) is not int:
        return False
    if not isinstance(usage, dict) or usage.keys() - Usage.__dataclass_fields__.keys():
        return False
    if any(type(count) is not int for count in usage.values()):
        return False
    if "error" in row:
        return row["error"] in _FAILURES and row.get("kind") in (None, *_KINDS[row["error"]])
    verdict = row.get("verdict")
    return isinstance(verdict, dict) and all(isinstance(each, str) for each in verdict.values())
