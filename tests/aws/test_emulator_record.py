"""What an emulator left on disk: read by whoever looks for it, also after it has ended."""

import json
import os
from pathlib import Path
from subprocess import Popen

import pytest

from reward_functions.aws.emulator_record import (
    LOG_TAIL,
    Folder,
    LocalAwsError,
    Process,
    away_line,
    names,
    options,
    pointed_at,
    recorded,
    start_time,
    towards_line,
)


def written(port, name="default", *, training=None, tls=False):
    """The record of an emulator, which needs not run."""
    process = {"id": 1, "started": "never"}
    record = {
        "process": process,
        "port": port,
        "certificate": {"certificate": "/c", "key": "/k"} if tls else None,
        "python": "/python",
        "training": {"process": process, "port": training} if training else None,
    }
    folder = Folder(name)
    folder.make()
    (folder.path / "record.json").write_text(json.dumps(record))
    return folder


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "reward-functions" / "local-aws"


@pytest.mark.parametrize("name", ["", "..", "a/b", "-a", "_a", "a b", "x" * 65, "a\n"])
def test_a_name_is_letters_and_digits(name):
    with pytest.raises(LocalAwsError, match="is no name for a local AWS: letters, digits"):
        Folder(name)


def test_a_folder_is_made_and_forgotten(state):
    folder = Folder("x" * 64)
    assert (names(), recorded(), folder.record()) == ([], [], None)
    folder.make()
    assert folder.path == state / ("x" * 64)
    found = {path.name: path.is_dir() for path in folder.path.iterdir()}
    assert found == {"home": True, "tmp": True, "cdk": True, "config": False, "credentials": False}
    assert (folder.log.name, folder.training_log.name) == ("log", "training.log")
    folder.log.write_text("kept?")
    folder.make()
    assert not folder.log.exists(), "made anew"
    assert (names(), recorded()) == (["x" * 64], [])
    folder.clear()
    assert not folder.path.exists()
    (state / "a file").touch()
    (state / "file").touch()
    (state / "no name").mkdir()
    assert names() == []


@pytest.mark.parametrize(
    ("log", "tail"),
    [
        (None, ""),
        (b"", ", and its log is empty"),
        (b" \n\n", ", and its log is empty"),
        (b"first\nlast\n\n", ": last"),
        (b"x" * (2 * LOG_TAIL), f": {'x' * LOG_TAIL}"),
        (b"a" * LOG_TAIL, f": {'a' * LOG_TAIL}"),
        (b"\xff", ": \ufffd"),
    ],
)
def test_the_last_line_of_a_log(log, tail, tmp_path):
    path = tmp_path / "log"
    if log is not None:
        path.write_bytes(log)
    assert Folder("a").tail(path) == tail


def test_a_record_is_read_as_it_was_written(state):
    folder = written(4566, training=4567, tls=True)
    record = folder.record()
    (aws,) = recorded()
    assert (aws.name, aws.record, aws.enforcing) == ("default", record, True)
    assert aws.endpoint == "https://127.0.0.1:4566"
    folder.write(record)
    assert folder.record() == record
    assert sorted(path.name for path in folder.path.glob("record*")) == ["record.json"]
    for text in ("{", "[]", '{"port": "x"}'):
        (folder.path / "record.json").write_text(text)
        assert (folder.record(), recorded()) == (None, [])


@pytest.mark.parametrize(
    ("urls", "name"),
    [
        (["http://127.0.0.1:4566"], "a"),
        (["", "http://localhost:4567"], "a"),
        (["https://127.0.0.1:4600"], "b"),
        (["http://127.0.0.1:4599"], None),
        (["http://example.com:4566"], None),
        (["http://127.0.0.1:x"], None),
        (["http://127.0.0.1"], None),
        ([], None),
    ],
)
def test_an_address_is_of_the_emulator_that_has_its_port(urls, name):
    written(4566, "a", training=4567)
    written(4600, "b", tls=True)
    found = pointed_at(urls)
    assert (found and found.name) == name


@pytest.mark.parametrize(
    ("given", "training", "up", "down"),
    [
        (None, False, "", ""),
        (None, True, " --training", ""),
        ({}, False, "", ""),
        ({}, True, " --training", ""),
        ({"name": "b"}, False, " --name b", " --name b"),
        ({"tls": True}, False, " --enforce", ""),
        ({"training": 4567}, False, " --training", ""),
        ({"training": 4567}, True, " --training", ""),
        ({"name": "b", "tls": True, "training": 9}, False, " --name b --enforce --training",
         " --name b"),
    ],
)  # fmt: skip
def test_the_lines_that_turn_a_shell(given, training, up, down):
    aws = None
    if given is not None:
        written(4566, **given)
        (aws,) = recorded()
        assert options(aws) == (up if given.get("training") or not training else "")
    assert towards_line(aws, training=training) == f'eval "$(reward local up{up} --print-env)"'
    assert away_line(aws) == f'eval "$(reward local down{down} --print-env)"'


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="Linux says it there")
def test_a_process_is_known_by_when_it_started():
    ticks = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    assert abs(int(start_time(os.getpid())) - int(ticks)) <= 1
    assert Process(os.getpid(), start_time(os.getpid())).alive
    assert not Process(os.getpid(), "1").alive
    Process(os.getpid(), "1").end()
    with Popen(["sleep", "99"], start_new_session=True) as child:
        ours = Process(child.pid, start_time(child.pid))
        ours.end()
        assert not ours.alive
        assert start_time(child.pid) is None
