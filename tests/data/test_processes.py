"""`reward data` as a process: Ctrl-C leaves nothing behind, and a terminal shows progress."""

import json
import os
import signal
from contextlib import contextmanager

import psutil
import pytest

from reward_functions.cli import main
from tests import commands
from tests.commands import PIPE, Command
from tests.waiting import PATIENCE, until


@pytest.mark.parametrize("existing", [True, False])
def test_an_interrupt_leaves_nothing_half_written(existing, records, tmp_path):
    source, out = tmp_path / "test.jsonl", tmp_path / "out"
    os.mkfifo(source)
    if existing:
        out.mkdir()
        (out / "test.jsonl").write_text("before")
    running = Command(["data", "prepare", "gsm8k", "--source", source, "--out", out], stderr=PIPE)
    try:
        with source.open("w") as stream:  # and more would follow
            stream.writelines(f"{json.dumps(records['gsm8k'](at))}\n" for at in range(2_000))
            stream.flush()
            until(lambda: out.exists() and any("unfinished" in path.name for path in out.iterdir()))
            running.send_signal(signal.SIGINT)
            _, stderr = running.communicate(timeout=PATIENCE)
    finally:
        running.kill()
    message = f"\ninterrupted: nothing of {out / 'test.jsonl'} is written\n"
    assert (running.returncode, stderr) == (130, message)
    if existing:
        assert {path.name: path.read_text() for path in out.iterdir()} == {"test.jsonl": "before"}
    else:
        assert not out.exists()


COMMANDS = {
    "preparing": ["data", "prepare", "gsm8k", "--source", "test.jsonl", "--out", "out"],
    "linting": ["data", "lint", "rows.jsonl", "--min-rows", "1"],
    "measuring": ["data", "stats", "rows.jsonl"],
    "scoring": ["audit", "exact_match", "rows.jsonl", "--class", "EX-WRONG", "--allow-undecided"],
}


@pytest.fixture
def folder(records, write, tmp_path, monkeypatch):
    write("test.jsonl", [records["gsm8k"](at) for at in range(50)])
    turns = [{"role": "user", "content": "Say so."}]
    write("rows.jsonl", [{"messages": turns, "reference_answer": f"Word {at}"} for at in range(50)])
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return monkeypatch


@contextmanager
def terminal():
    """(the end of a terminal that programs write to, what they wrote)."""
    ours, theirs = os.openpty()

    def written():
        os.write(theirs, b"\nthe end")
        found = b""
        while b"the end" not in found:  # a terminal hands over some 4,000 bytes at a time
            found += os.read(ours, 100_000)
        return found.decode(errors="replace")

    yield theirs, written
    os.close(theirs)
    os.close(ours)


@pytest.mark.parametrize(("shown", "arguments"), COMMANDS.items(), ids=COMMANDS)
def test_a_terminal_shows_progress_and_a_pipe_does_not(shown, arguments, folder, reward):
    folder.setattr("sys.argv", ["reward", *arguments])
    with terminal() as (theirs, written), os.fdopen(os.dup(theirs), "w") as stderr:
        folder.setattr("sys.stderr", stderr)
        with pytest.raises(SystemExit) as ended:
            main()
        stderr.flush()
        assert (ended.value.code, shown in written()) == (0, True)
    piped = reward(*arguments)
    assert piped.exit_code == 0
    assert shown not in piped.stderr


def test_a_process_shows_progress_to_its_terminal_alone(folder):
    command = COMMANDS["linting"]
    with terminal() as (theirs, written):
        assert commands.run(command, stdin=theirs, stderr=theirs).returncode == 0
        assert "linting" in written()
    piped = commands.run(command, stderr=PIPE)
    assert (piped.returncode, "linting" in piped.stderr) == (0, False)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_a_function_started_ends_with_the_audit(number, tmp_path):
    marks = tmp_path / "children"
    (tmp_path / "busy.py").write_text(
        "import os, time\n"
        "def busy(completion, reference):\n"
        f"    open({str(marks)!r}, 'a').write(f'{{os.getpid()}}\\n')\n"
        "    time.sleep(60)\n"
        "    return 0.0\n"
    )
    rows = [{"prompt": f"{at}?", "answer": f"{at}"} for at in range(5)]
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in rows))
    running = Command(["audit", "busy.py:busy", "rows.jsonl"], cwd=tmp_path, stderr=PIPE)
    try:
        until(lambda: marks.exists() and marks.read_text().endswith("\n"))
        running.send_signal(number)
        running.communicate(timeout=PATIENCE)
    finally:
        running.kill()
    assert running.returncode == 130
    for line in marks.read_text().splitlines():
        until(lambda pid=int(line): not psutil.pid_exists(pid))
