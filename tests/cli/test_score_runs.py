"""Long runs of `reward score`: side by side, interrupted, resumed, selected; the same bytes out."""

from __future__ import annotations

import json
import os
import shlex
import signal
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reward_functions import sample
from reward_functions.cli import app
from reward_functions.testing import wire_row
from tests.commands import PIPE, Command
from tests.processes import processes_of, until_ended
from tests.waiting import PATIENCE, until

# Background jobs of a shell, and so some CI, hand down that they ignore interrupts.


def rows(count, **fields):
    return "".join(
        json.dumps(
            wire_row(sample(f"#### {at % 3}", "1", prompt=f"p{at // 4}", id=f"r{at}")) | fields
        )
        + "\n"
        for at in range(count)
    )


@pytest.fixture
def score(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REWARD_JUDGE", raising=False)

    def run(text, *arguments, reward="gsm8k"):
        (tmp_path / "rows").write_text(text)
        typed = ["score", reward, "rows", *map(str, arguments)]
        return CliRunner().invoke(app, typed)

    return run


def ids(ran):
    return [json.loads(line)["id"] for line in ran.stdout.splitlines()]


# -- interpreters ---------------------------------------------------------------------------------

ODD = """
import os, time
from reward_functions import Sample, Score, reward_function

@reward_function(version=1)
def odd(sample: Sample, *, kill: str = "", end: bool = False) -> Score:
    print("printed by a reward")
    if end and sample.id == "r70":
        raise SystemExit(3)
    if sample.id in kill.split(","):
        os._exit(7)
    if sample.id == "r5":
        raise ValueError("of its own")
    return Score(float(len(sample.response) % 2))
"""


DEEP = 90
"""Levels of a field that are read."""


def test_interpreters_write_the_same_bytes(score):
    """Those of a row that is nested as deep as JSON is read as well; of an array like of lines."""
    nested = rows(1, metadata={"a": [0]}).replace("[0]", "[" * DEEP + "]" * DEEP)
    text = rows(200) + nested
    alone = score(text, "--explain")
    assert alone.exit_code == 0
    array = "[" + text.replace("\n", ",")[:-1] + "]"
    assert score(array, "--explain", "--workers", 2).stdout == alone.stdout


def test_rewards_of_a_file_are_scored_by_interpreters_too(score, tmp_path, capfd):
    """What such a reward prints is not taken for a result, and its errors name its line."""
    (tmp_path / "odd.py").write_text(ODD)
    bad = '{"id": "bad"}\n'
    side = score(rows(150) + bad, "-o", "two", "--workers", 2, reward="./odd.py")
    alone = score(rows(150) + bad, "-o", "one", reward="./odd.py")
    assert (side.exit_code, alone.exit_code) == (1, 1)
    assert (tmp_path / "two").read_text() == (tmp_path / "one").read_text()
    assert "of its own (odd.py, line 13)" in (tmp_path / "two").read_text()
    assert "printed by a reward" in capfd.readouterr().err


def test_a_row_that_kills_its_interpreter_harms_no_other(score, tmp_path):
    (tmp_path / "odd.py").write_text(ODD)
    ran = score(rows(150), "--workers", 2, "-p", "kill=r9,r100", reward="./odd.py")
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    errors = {each["id"]: each["error"] for each in found if "error" in each}
    assert ran.exit_code == 1
    assert [each["id"] for each in found] == [f"r{at}" for at in range(150)]
    assert errors.keys() == {"r5", "r9", "r100"}
    assert errors["r9"]["type"] == "InterpreterDied"
    assert errors["r9"]["message"].endswith("died twice: it ended with status 7")


def test_an_interpreter_whose_reward_exits_ends_the_command_with_one_line(score, tmp_path):
    (tmp_path / "odd.py").write_text(ODD)
    ran = score(rows(150), "--workers", 2, "-p", "end=true", "-o", "out", reward="./odd.py")
    assert ran.exit_code == 2
    assert ran.stderr == "error: odd.py, line 9: called sys.exit(3)\n"
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["odd.py", "rows"]


# -- interrupts, and going on ---------------------------------------------------------------------

SLOW = """
import time
from pathlib import Path
from reward_functions import Sample, Score, reward_function

@reward_function(version=1)
def slow(sample: Sample) -> Score:
    if sample.id == "r100" and Path("wait").exists():
        time.sleep(60)
    if sample.id == "r3" and Path("away").exists():
        raise ConnectionError("nothing answers")
    with Path("calls").open("a") as stream:
        stream.write(sample.id + "\\n")
    return Score(float(len(sample.response) % 2))
"""


@pytest.fixture
def ended(tmp_path):
    """What a run says that a signal ends while its hundredth row waits."""
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "rows").write_text(rows(200))

    def run(sent, *arguments, out="out"):
        (tmp_path / "wait").touch()
        running = Command(
            ["score", "./slow.py", "rows", "-o", out, *arguments],
            cwd=tmp_path,
            stderr=PIPE,
            env=os.environ | {"RUN_OF": f"{tmp_path}/"},
        )
        partial = tmp_path / f"{out}.partial"
        try:
            until(lambda: partial.exists() and partial.read_text().count("\n") > 60)
            running.send_signal(sent)
            _, stderr = running.communicate(timeout=PATIENCE)
        finally:
            running.kill()
        (tmp_path / "wait").unlink()
        return running.returncode, stderr

    return run


ENDED = [(signal.SIGINT, "2"), (signal.SIGTERM, "1"), (signal.SIGKILL, "2")]


@pytest.mark.parametrize(("sent", "workers"), ENDED)
def test_a_run_that_was_ended_goes_on_where_it_was(sent, workers, ended, score, tmp_path):
    status, stderr = ended(sent, "--workers", workers)
    kept = (tmp_path / "out.partial").read_text().count("\n") - 1
    if sent is signal.SIGKILL:
        assert status == -signal.SIGKILL
        with (tmp_path / "out.partial").open("a") as stream:
            stream.write('{"id": "r99", "aggregate_rew')  # a line that was cut off
    else:
        assert status == 130
        assert stderr.startswith(f"\ninterrupted: {kept} of 200 scored and kept in out.partial; ")
        assert stderr.endswith("-o out --workers " + workers + " --resume\n")
    until_ended(tmp_path)
    assert not (tmp_path / "out").exists()
    (tmp_path / "calls").unlink()
    ran = score(rows(200), "-o", "out", "--resume", reward="./slow.py")
    assert ran.exit_code == 0
    assert len((tmp_path / "calls").read_text().split()) == 200 - kept
    whole = score(rows(200), "-o", "whole", reward="./slow.py")
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()
    assert ran.stderr.partition(" · unscored 0")[0] == whole.stderr.partition(" · unscored 0")[0]
    assert not (tmp_path / "out.partial").exists()


@pytest.mark.parametrize("option", ["-o", "--report"])
def test_a_folder_that_does_not_exist_is_named(option, score):
    ran = score(rows(2), option, "none/out.html")
    assert ran.exit_code == 2
    assert ran.stderr.strip() == "error: none/out.html: the folder none does not exist"


PAGES = [("--report", "page.html"), ("--report=page.html",)]


@pytest.mark.parametrize("page", PAGES)
def test_the_command_that_goes_on_is_taken_where_a_page_was_asked_for(
    page, ended, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    _, stderr = ended(signal.SIGINT, *page, out="results/out")
    assert " and kept in results/out.partial; to go on, without --report: a page needs" in stderr
    command = shlex.split(stderr.rpartition("run: ")[2])
    assert command[0] == "reward"
    assert not any("page" in word for word in command)
    assert CliRunner().invoke(app, command[1:]).exit_code == 0


DIFFERENT = {
    "the file": (lambda folder: (folder / "rows").write_text(rows(201)), []),
    "the reward": (lambda folder: (folder / "slow.py").write_text(SLOW + "\n"), []),
    "--explain": (lambda folder: None, ["--explain"]),
}


def test_a_run_goes_on_with_the_same_alone_and_scores_again_what_we_failed_at(
    ended, score, tmp_path
):
    """What the reward needed was away for a while: that was not the row's fault."""
    (tmp_path / "away").touch()
    ended(signal.SIGINT)
    before = (tmp_path / "out.partial").read_bytes()
    for name, (change, arguments) in DIFFERENT.items():
        change(tmp_path)
        typed = ["score", "./slow.py", "rows", "-o", "out", "--resume", *arguments]
        ran = CliRunner().invoke(app, typed)
        assert ran.exit_code == 2
        assert ran.stderr.startswith("error: out.partial is of another run: it differs in ")
        assert name in ran.stderr
        assert (tmp_path / "out.partial").read_bytes() == before
        (tmp_path / "rows").write_text(rows(200))
        (tmp_path / "slow.py").write_text(SLOW)
    ran = CliRunner().invoke(app, ["score", "./slow.py", "rows", "-o", "out"])
    assert ran.exit_code == 2
    assert "out.partial holds the rows of an interrupted run: add --resume" in ran.stderr

    assert b'"id": "r3", "aggregate_reward_score": null' in before
    (tmp_path / "away").unlink()
    (tmp_path / "calls").unlink()
    ran = score(rows(200), "-o", "out", "--resume", reward="./slow.py")
    assert ran.exit_code == 0
    assert "r3" in (tmp_path / "calls").read_text().split()
    score(rows(200), "-o", "whole", reward="./slow.py")
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()


REFUSED = {
    "no output": (["--resume"], "add -o OUT"),
    "a device": (["--resume", "-o", os.devnull], "add -o OUT"),
    "a page": (["--resume", "-o", "out", "--report", "page.html"], "leave --report out"),
    "no labels": (["--only", "disagree"], "add --label FIELD"),
    "an unknown choice": (["--only", "maximal"], "'maximal' is not one of "),
    "a negative limit": (["--limit", "-1"], "-1 is less than 0"),
}


@pytest.mark.parametrize(("arguments", "complaint"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_done_is_one_sentence(arguments, complaint, score, tmp_path):
    ran = score(rows(2), *arguments)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert complaint in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["rows"]


def test_a_file_of_somebody_else_is_never_overwritten(score, tmp_path):
    (tmp_path / "out.partial").write_text("mine\n")
    assert score(rows(2), "-o", "out").exit_code == 2
    ran = score(rows(2), "-o", "out", "--resume")
    assert ran.stderr == "error: out.partial is no file of an interrupted run; remove it\n"
    assert (tmp_path / "out.partial").read_text() == "mine\n"


# -- what is written ------------------------------------------------------------------------------

CHOICES = {
    "the best first": (["--sort", "-value"], ["b", "c", "a", "d"]),
    "unscored rows are last in both directions": (["--sort", "value"], ["a", "c", "b", "d"]),
    "by id": (["--sort", "-id"], ["d", "c", "b", "a"]),
    "by length": (["--sort", "length"], ["d", "c", "a", "b"]),
    "the minimum": (["--only", "minimum"], ["c", "a"]),
    "the maximum": (["--only", "maximum"], ["b"]),
    "unscored": (["--only", "unscored"], ["d"]),
    "cut off": (["--only", "truncated"], ["c"]),
    "nothing": (["--limit", 0], []),
    "two of them": (["--sort", "id", "--limit", 2], ["a", "b"]),
    "labels": (["--only", "disagree", "--label", "ok"], ["c"]),
}


def test_the_rows_written_are_chosen_and_the_summary_is_about_all(score):
    made = [
        wire_row(sample("<think>", "1", id="c")) | {"metadata": {"ok": True}},
        wire_row(sample("so #### 2", "1", id="a")) | {"metadata": {"ok": False}},
        wire_row(sample("so, well #### 1", "1", id="b")) | {"metadata": {"ok": True}},
        wire_row(sample("", None, id="d")),
    ]
    text = "".join(json.dumps(row) + "\n" for row in made)
    for name, (arguments, expected) in CHOICES.items():
        ran = score(text, *arguments)
        assert sorted(ids(ran)) == sorted(expected), name
        if "--sort" in arguments and "value" not in arguments[1]:
            assert ids(ran) == expected, name
        if "--only" in arguments or "--limit" in arguments:
            assert ran.stderr.startswith(f"{len(expected)} of 4 rows shown\n"), name
        assert "samples 4 · mean 0.3333" in ran.stderr, name
    assert ids(score(text, "--sort", "-value")) == ["b", "c", "a", "d"]
    assert ids(score(text, "--sort", "value")) == ["c", "a", "b", "d"]


def test_what_is_odd_about_the_rows_is_counted(score):
    text = rows(2) + rows(2).replace("####", "<think>") + rows(1, messages=[]) + '{"id": "x"}\n'
    ran = score(text)
    notes = "rows without response 1 · rows at the minimum and cut off 2 · "
    assert f"{notes}rows with the id of a row before 3\n" in ran.stderr
    assert "unscored BadSample (1), the first: input line 6: messages is missing\n" in ran.stderr


@pytest.mark.parametrize(
    ("arguments", "shown", "more"),
    [
        ((), 5, "; a table has no more: --format jsonl writes all"),
        (("--limit", "9"), 5, "; a table has no more: --format jsonl writes all"),
        (("--limit", "5"), 5, ""),
        (("--limit", "3"), 3, ""),
    ],
)
def test_a_table_of_very_many_rows_has_the_first(score, monkeypatch, arguments, shown, more):
    monkeypatch.setattr("reward_functions.cli.scoring.LARGEST_TABLE", 5)
    ran = score(rows(20), "--format", "table", *arguments)
    assert f"r{shown - 1} " in ran.stdout
    assert f"r{shown} " not in ran.stdout
    assert ran.stderr.startswith(f"{shown} of 20 rows shown{more}\n")


def test_a_table_on_a_terminal_is_bounded_and_has_a_digest(tmp_path):
    (tmp_path / "rows").write_text(rows(300) + '{"id": "[bold]:smile:"}\n')
    ours, theirs = os.openpty()
    ran = Command(
        ["score", "gsm8k", tmp_path / "rows"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={"TERM": "xterm", "COLUMNS": "200"},
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65_536):
            shown += piece
    except OSError:  # Linux's end of a terminal
        pass
    os.close(ours)
    assert ran.wait(timeout=PATIENCE) == 1
    text = shown.decode()
    assert "r49" in text
    assert "r50" not in text
    assert "50 of 301 rows shown; --limit N shows more" in text
    assert "at the minimum" in text
    assert "messages is missing" in text


def test_a_pipe_is_read_whole_before_anything_is_scored(tmp_path):
    """A named pipe can be read once; its rows are scored as those of a file are."""
    os.mkfifo(tmp_path / "pipe")
    running = Command(["score", "gsm8k", "pipe"], cwd=tmp_path, stdout=PIPE)
    Path(tmp_path / "pipe").write_text(rows(3))
    stdout, _ = running.communicate(timeout=PATIENCE)
    assert [json.loads(line)["id"] for line in stdout.splitlines()] == ["r0", "r1", "r2"]
    assert not processes_of(tmp_path)


WAITING = """
import time
from pathlib import Path
from reward_functions import Needs, Sample, Score, reward_function

@reward_function(version=1, needs=Needs(workers=4))
def slow(sample: Sample) -> Score:
    if sample.id == "r100" and Path("wait").exists():
        Path("begun").touch()
        while Path("wait").exists():
            time.sleep(0.01)
    with Path("calls").open("a") as stream:
        stream.write(sample.id + "\\n")
    return Score(0.0)
"""


def test_what_is_under_way_is_waited_for_and_kept(tmp_path):
    """As a judge's verdict is, which is paid for: rows behind a slow one, and the slow one."""
    (tmp_path / "slow.py").write_text(WAITING)
    (tmp_path / "rows").write_text(rows(400))
    (tmp_path / "wait").touch()
    running = Command(["score", "./slow.py", "rows", "-o", "out"], cwd=tmp_path, stderr=PIPE)
    try:
        until((tmp_path / "begun").exists)
        running.send_signal(signal.SIGINT)
        assert "rows under way; Ctrl-C again leaves them" in running.stderr.readline()
        (tmp_path / "wait").unlink()
        _, stderr = running.communicate(timeout=PATIENCE)
    finally:
        running.kill()
    called = (tmp_path / "calls").read_text().split()
    assert "r100" in called
    assert running.returncode == 130
    assert f"interrupted: {len(called)} of 400 scored and kept in out.partial" in stderr
