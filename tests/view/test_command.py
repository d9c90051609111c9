"""`reward view` as it is typed, with the server once."""

import os
import re
import signal
import subprocess
import sys
from urllib.request import urlopen

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.core import extras
from reward_functions.view.app import serving_of
from reward_functions.view.library import Library
from tests.view.test_bundle import ROW


def ran(*arguments):
    return CliRunner().invoke(app, ["view", *map(str, arguments)])


def test_it_serves_until_it_is_interrupted(tmp_path):
    (tmp_path / "s.jsonl").write_text(ROW)
    command = [sys.executable, "-m", "reward_functions.cli", "view", str(tmp_path)]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [*command, "--port", "0", "--no-open"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        (url,) = re.findall(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())
        with urlopen(url, timeout=60) as answer:
            assert b"s.jsonl" in answer.read()
        process.send_signal(signal.SIGINT)
        output, error = process.communicate(timeout=60)
    assert (process.returncode, output, error) == (0, "", "")


BAD = {
    "a folder that is missing": (("none",), "none: there is no such folder"),
    "a file": (("file",), "file is a file: name the folder that it is in"),
    "a bundle in a folder of others": ((".", "--bundle", "."), "--bundle . holds file"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_shown_is_one_sentence(tmp_path, monkeypatch, name):
    arguments, sentence = BAD[name]
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path)
    done = ran(*arguments)
    assert done.exit_code == 2
    assert done.output.startswith(f"error: {sentence}")
    assert done.output.count("\n") == 1


def test_a_bundle_says_where_it_is(tmp_path):
    (tmp_path / "s.jsonl").write_text(ROW)
    done = ran(tmp_path, "--bundle", tmp_path / "out")
    assert (done.exit_code, done.output) == (0, f"1 result in {tmp_path}/out/index.html\n")


def test_no_address_but_loopback_can_be_asked_for(tmp_path):
    assert "No such option" in ran(tmp_path, "--host", "0.0.0.0").output


def test_a_port_that_is_taken_is_one_sentence(tmp_path):
    with serving_of(Library(tmp_path), 0).socket as taken:
        port = taken.getsockname()[1]
        done = ran(tmp_path, "--port", port, "--no-open")
    assert (done.exit_code, done.output) == (
        2,
        f"error: port {port} is taken: give another with --port, or 0\n",
    )


@pytest.mark.parametrize("module", ["starlette", "uvicorn"])
def test_without_the_extra_it_says_what_to_type(tmp_path, monkeypatch, module):
    found = extras.find_spec
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == module else found(name))
    done = ran(tmp_path, "--port", "0")
    assert done.exit_code == 2
    assert done.output.startswith("error: reward view needs ")
    assert done.output.endswith("pip install 'reward-functions[view]'\n")
    assert ran(tmp_path, "--bundle", tmp_path / "out").exit_code == 0
