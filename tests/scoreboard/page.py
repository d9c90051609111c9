"""The board as a table of Markdown: all of it comes from a record that a run has written."""

import json
from pathlib import Path

RECORD = Path(__file__).parents[2] / "docs" / "scoreboard.json"
"""The run that docs/scoreboard.md shows."""

HEAD = (
    "file",
    "reward",
    "rows",
    "right",
    "wrong paid",
    "right refused",
    "of these artefacts",
    "unscored",
    "math-verify: wrong paid",
    "right refused",
)


def cells(line):
    """The cells of a line of the board, as text."""
    ours, rival = line["ours"], line["rival"]
    beside = [rival["wrong_paid"], rival["right_refused"] + rival["unscored"]] if rival else []
    share = f"{ours['right'] / line['rows']:.2%}" if line["rows"] else ""
    refused = [ours["right_refused"], line["artefacts"]]
    counts = [share, ours["wrong_paid"], *refused, ours["unscored"], *beside]
    numbers = [f"{each:,}" if isinstance(each, int) else each for each in counts]
    reward = f"{line['reward']} {line['version']}"
    return [line["file"], reward, f"{line['rows']:,}", *numbers, *[""] * (2 - len(beside))]


def table(rows):
    """A table of Markdown."""
    head, *body = rows
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in body)])


def markdown(record):
    """The board, and where its files come from."""
    origins = [
        [line["file"], line["source"], line["licence"], f"`{line['sha256'][:16]}`", line["date"]]
        for line in record
    ]
    origin_head = ["file", "source", "licence", "SHA-256 begins", "run on"]
    board = table([HEAD, *map(cells, record)])
    return f"{board}\n\n{table([origin_head, *origins])}"


def committed():
    """The board of the committed record."""
    return markdown(json.loads(RECORD.read_text()))
