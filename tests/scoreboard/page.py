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
)

RIVALS = ("math-verify", "prime_math", "math_dapo")
"""Those that a run may have beside ours: math-verify, and two verifiers of verl's."""


def cells(line):
    """The cells of a line of the board, as text."""
    ours = line["ours"]
    counts = ours["wrong_paid"], ours["right_refused"], line["artefacts"], ours["unscored"]
    reward = f"{line['reward']} {line['version']}"
    share = f"{ours['right'] / line['rows']:.2%}" if line["rows"] else ""
    return [line["file"], reward, f"{line['rows']:,}", share, *(f"{each:,}" for each in counts)]


def beside(line):
    """The cells of a line of the second table: what the other verifiers make of the same rows."""
    return [
        line["file"],
        _share(line["ours"], line),
        *(_share(line["rivals"].get(name), line) for name in RIVALS),
    ]


def _share(count, line):
    """The share that is right, and in brackets wrong answers paid and right ones refused."""
    if count is None or not line["rows"]:
        return ""
    share = f"{count['right'] / line['rows']:.2%}"
    return f"{share} ({count['wrong_paid']:,} / {count['right_refused']:,})"


def table(rows):
    """A table of Markdown."""
    head, *body = rows
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in body)])


def markdown(record):
    """The board, the same rows by others, and where the files come from."""
    origins = [
        [line["file"], line["source"], line["licence"], f"`{line['sha256'][:16]}`", line["date"]]
        for line in record
    ]
    origin_head = ["file", "source", "licence", "SHA-256 begins", "run on"]
    judged = [beside(line) for line in record if line["rivals"]]
    others = [table([("file", "ours", *RIVALS), *judged])] if judged else []
    tables = [table([HEAD, *map(cells, record)]), *others, table([origin_head, *origins])]
    return "\n\n".join(tables)


def committed():
    """The board of the committed record."""
    return markdown(json.loads(RECORD.read_text()))
