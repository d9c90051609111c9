"""Results come while rows are scored; a page, and what is kept, do not depend on who reads them."""

import errno
import io
import json
import os
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reward_functions import sample
from reward_functions.cli import app
from reward_functions.data import atomic
from reward_functions.data.rows import formats
from reward_functions.scoring import journal, run
from reward_functions.scoring.run import Streamed
from reward_functions.testing import wire_row

COUNT = 1_200


@pytest.fixture
def rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [
        json.dumps(wire_row(sample(f"#### {at % 2}", "1", prompt=f"p{at // 4}", id=f"r{at}")))
        for at in range(COUNT)
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(lines))
    return file


def score(*arguments):
    return CliRunner().invoke(app, ["score", "gsm8k", "rows.jsonl", *map(str, arguments)])


class Reader(io.StringIO):
    """Standard output that is closed after so many characters."""

    def __init__(self, most, error=BrokenPipeError):
        super().__init__()
        self.most, self.error, self.flushed = most, error, []

    def write(self, text):
        if self.tell() + len(text) > self.most:
            raise self.error(errno.EPIPE, "Broken pipe")
        return super().write(text)

    def flush(self):
        self.flushed.append(self.tell())


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("format", ["jsonl", "json"])
@pytest.mark.parametrize(
    "options", [(), ("--limit", 7), ("--only", "minimum"), ("--only", "minimum", "--limit", 7)]
)
def test_what_is_streamed_is_what_a_file_gets(format, options, tmp_path):
    out = tmp_path / "out"
    assert score("--format", format, "-o", out, *options).exit_code == 0
    ran = score("--format", format, *options)
    assert (ran.exit_code, ran.stdout) == (0, out.read_text())


@pytest.mark.usefixtures("rows")
def test_an_empty_selection_is_an_empty_array():
    assert json.loads(score("--format", "json", "--only", "unscored").stdout) == []


@pytest.mark.usefixtures("rows")
def test_lines_come_before_the_last_row_is_scored(monkeypatch):
    seen = []

    def noted(self, positions, results, add=journal.Journal.add):
        seen.append(sys.stdout.tell())
        add(self, positions, results)

    monkeypatch.setattr(journal.Journal, "add", noted)
    out = Reader(10**9)
    monkeypatch.setattr(sys, "stdout", out)
    with pytest.raises(SystemExit):
        app(["score", "gsm8k", "rows.jsonl"])
    assert len(seen) > 2
    assert 0 < seen[1] < out.tell()


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("format", ["jsonl", "json", "table"])
def test_a_page_is_written_though_nobody_reads_the_results(format, tmp_path, monkeypatch):
    out = Reader(1_000)
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr("reward_functions.cli._errors._abandon_standard_output", lambda: None)
    with pytest.raises(SystemExit) as ended:
        app(["score", "gsm8k", "rows.jsonl", "--format", format, "--report", "page.html"])
    assert ended.value.code == 141
    assert f"{COUNT:,}" in (tmp_path / "page.html").read_text()


@pytest.mark.usefixtures("rows")
def test_without_a_page_nothing_more_is_scored_once_nobody_reads(monkeypatch):
    added = []

    def noted(self, positions, results, add=journal.Journal.add):
        added.extend(positions)
        add(self, positions, results)

    monkeypatch.setattr(journal.Journal, "add", noted)
    monkeypatch.setattr(sys, "stdout", Reader(1_000))
    monkeypatch.setattr("reward_functions.cli._errors._abandon_standard_output", lambda: None)
    with pytest.raises(SystemExit) as ended:
        app(["score", "gsm8k", "rows.jsonl"])
    assert ended.value.code == 141
    assert len(added) < COUNT


def test_an_error_that_waits_is_raised_at_the_end_and_only_then():
    streamed = Streamed(Reader(10, OSError), "jsonl", None, patient=True)
    for _ in range(5):
        streamed.add("12345")
        streamed.flush()
    with pytest.raises(OSError, match="Broken pipe"):
        streamed.end()


@pytest.mark.usefixtures("rows")
def test_an_interrupt_of_the_first_reading_says_that_nothing_is_lost(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "surveyed", interrupted)
    ran = score("-o", "out.jsonl")
    assert ran.exit_code == 130
    assert ran.stderr == (
        "\ninterrupted before the first row was scored: nothing is written, and what an earlier "
        "run has kept is as it was\n"
    )


@pytest.mark.usefixtures("rows")
def test_an_interrupt_of_what_is_streamed_says_how_much_is_written(monkeypatch):
    def interrupted(self, positions, results, add=journal.Journal.add):
        add(self, positions, results)
        if self.done > 100:
            raise KeyboardInterrupt

    monkeypatch.setattr(journal.Journal, "add", interrupted)
    ran = score()
    assert ran.exit_code == 130
    written = ran.stdout.count("\n")
    assert 0 < written < COUNT
    assert f"scored, and {written:,} written; -o OUT keeps rows, and --resume" in ran.stderr


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize(
    "command",
    [
        ["score", "gsm8k", "rows.jsonl", "-o", "full"],
        ["data", "convert", "rows.jsonl", "--to", "trl", "-o", "full"],
        ["data", "split", "rows.jsonl", "--by", "prompt", "--out", "full"],
        ["score", "gsm8k", "rows.jsonl", "-o", "out", "--report", "full.html"],
    ],
    ids=" ".join,
)
def test_a_full_disk_is_said_of_the_file_that_was_to_be_written(command, monkeypatch):
    def written(self, text, write=io.FileIO.write):
        if "full" in self._shown:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self._shown)
        return write(self, text)

    monkeypatch.setattr(atomic._Named, "write", written)
    ran = CliRunner().invoke(app, command)
    assert ran.exit_code == 2
    assert ran.stderr.startswith("error: ")
    assert ran.stderr.endswith(": No space left on device\n")
    assert "full" in ran.stderr


def test_an_error_of_writing_gets_the_name_of_its_file_and_keeps_one_it_has():
    with pytest.raises(OSError, match="out") as unnamed, atomic.named(Path("out")):
        raise OSError(errno.ENOSPC, "full")
    with pytest.raises(OSError, match="other") as own, atomic.named(Path("out")):
        raise OSError(errno.ENOSPC, "full", "other")
    assert (unnamed.value.filename, own.value.filename) == ("out", "other")


def test_a_folder_without_rows_is_not_walked_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "MAX_FILES", 20)
    looked = []

    def walk(folder, walk=os.walk):
        for each in walk(folder):
            looked.append(each)
            yield each

    for at in range(50):
        (tmp_path / f"d{at}").mkdir()
        (tmp_path / f"d{at}" / "notes.txt").touch()
    monkeypatch.setattr(formats.os, "walk", walk)
    ran = CliRunner().invoke(app, ["score", "gsm8k", str(tmp_path)])
    assert ran.exit_code == 2
    assert "more than 20 files; name the one to read" in ran.stderr
    assert len(looked) < 5


def test_a_file_that_vanishes_while_its_folder_is_walked_is_passed_over(tmp_path, monkeypatch):
    (tmp_path / "train.jsonl").write_text('{"prompt": "p", "response": "r", "answer": "1"}\n')

    def walk(folder, walk=os.walk):
        for place, inner, names in walk(folder):
            yield place, inner, [*names, "gone.jsonl"]
        yield str(tmp_path / "gone"), [], ["also-gone.parquet"]

    monkeypatch.setattr(formats.os, "walk", walk)
    assert list(formats.splits_of(tmp_path)) == ["train"]
    ran = CliRunner().invoke(app, ["score", "exact_match", str(tmp_path)])
    assert ran.exit_code == 0
