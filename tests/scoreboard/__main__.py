"""How often the rule-based rewards are right, over files of labelled responses.

python -m tests.scoreboard [FILE …]     without a file: every known file of ../shared/data
    --reward NAME       who scores a file that the board does not know (math)
    --out FILE.json     writes the record there, and every lost row to FILE.losses.jsonl
    --markdown          prints the tables of docs/scoreboard.md instead of one for a terminal
    --alone             without the other verifiers beside it
    --only TEXT         of the known files those whose name holds it
"""

import argparse
import json
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from rich.console import Console
from rich.table import Table

from tests.oracle import rival
from tests.scoreboard import board, page, sets
from tests.scoreboard.rivals import Rivals


def main():
    """Score every file, and show the board."""
    arguments = read_arguments()
    console = Console(highlight=False)
    notes = Console(stderr=True, highlight=False)
    date = datetime.now(UTC).date().isoformat()
    lines, losses = scored(arguments, date, notes)
    if not lines:
        notes.print("nothing to score: ../shared/data is not there, and no file was given")
    if arguments.markdown:
        console.print(page.markdown(lines), markup=False, soft_wrap=True)
    elif lines:
        shown = Table()
        for at, name in enumerate(page.HEAD):
            shown.add_column(
                name, overflow="fold", no_wrap=at == 0, justify="right" if at > 1 else "left"
            )
        for line in lines:
            shown.add_row(*page.cells(line))
        console.print(shown)
    if arguments.out and lines:
        write(arguments.out, lines, losses)
        notes.print(f"{len(losses)} lost rows: {lost_rows(arguments.out)}", markup=False)


def scored(arguments, date, notes):
    """(lines, losses) of every file that is asked for; how far it is goes to `notes`."""
    lines, losses = [], []

    def progress(name):
        return lambda done, rows: notes.print(f"  {name}: {done:,} of {rows:,} rows", markup=False)

    with ExitStack() as held:
        others = [] if arguments.alone else rival.present()
        rivals = [held.enter_context(Rivals(progress(name), name=name)) for name in others]
        for path in arguments.files or sets.present(arguments.only):
            name, (about, *_) = sets.known(path, arguments.reward)
            if about.skipped:
                notes.print(f"{name} is skipped: {about.skipped}", markup=False)
                continue
            began = monotonic()
            for line, lost in board.scored(path, arguments.reward, date, rivals):
                lines.append(line.as_json())
                losses += lost
            notes.print(f"{name}: {monotonic() - began:.0f} s", markup=False)
    return lines, losses


def read_arguments():
    """What the command line says."""
    parser = argparse.ArgumentParser("python -m tests.scoreboard")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument(
        "--reward", default="math", choices=["math", "finqa", "gsm8k", "multiple_choice"]
    )
    parser.add_argument("--out", type=Path)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--only", default="")
    return parser.parse_args()


def lost_rows(path):
    """Where the lost rows of a record are."""
    return path.with_suffix(".losses.jsonl")


def write(path, lines, losses):
    """The record of a run, and its losses beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(lines, indent=2, ensure_ascii=False) + "\n")
    shown = (json.dumps(loss, ensure_ascii=False) + "\n" for loss in losses)
    lost_rows(path).write_text("".join(shown))


if __name__ == "__main__":
    main()
