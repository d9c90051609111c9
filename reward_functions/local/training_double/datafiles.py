"""Training files as a service reads them: JSONL of prompts, 100 to 20,000 of them, text only.

What is wrong is the job's failure, with the line it stands on and never the text of a prompt.

Source: "Prepare data for reinforcement fine-tuning" in the Bedrock user guide.
"""

from __future__ import annotations

import json
from typing import Any, Final

from reward_functions.data.linting import MAX_ROWS, MIN_ROWS, ROLES
from reward_functions.local.training_double.clients import JobFailed

Row = dict[str, Any]

LONGEST: Final = 512 * 1024 * 1024
"""Bytes of a file, the most that OpenAI's Files API takes; Bedrock documents no limit."""


def training_rows(content: bytes, name: str) -> list[Row]:
    """The rows of a training file.

    Raises:
        JobFailed: a line is not a prompt, or there are too few or too many.
    """
    rows = prompts(content, name)
    if not MIN_ROWS <= len(rows) <= MAX_ROWS:
        raise JobFailed(
            f"The training data {name} has {len(rows)} records; reinforcement fine-tuning takes "
            f"{MIN_ROWS} to {MAX_ROWS}."
        )
    return rows


def prompts(content: bytes, name: str) -> list[Row]:
    """The rows of a file, however many.

    Raises:
        JobFailed: a line is not a prompt.
    """
    rows: list[Row] = []
    for number, line in enumerate(content.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            # Half a surrogate pair has no UTF-8: whatever is to be sent or hashed would fail.
            json.dumps(row, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            raise JobFailed(
                f"{name} is not JSONL: line {number} is not a JSON value in UTF-8."
            ) from None
        if problem := _problem(row):
            raise JobFailed(f"{name}, line {number}: {problem}.")
        rows.append(row)
        if len(rows) > MAX_ROWS:
            break
    return rows


def _problem(row: Any) -> str:
    """What keeps a row from being a prompt; "" where nothing does."""
    if not isinstance(row, dict):
        return "it is not a JSON object"
    messages = row.get("messages")
    if not isinstance(messages, list) or not messages:
        return "`messages` is not a list of turns"
    for turn in messages:
        if not isinstance(turn, dict) or turn.get("role") not in ROLES:
            return "a turn has no role that the service knows"
        if not isinstance(turn.get("content"), str):
            return "the content of a turn is not text"
    if not any(turn["role"] == "user" for turn in messages):
        return "no turn is the user's"
    return ""
