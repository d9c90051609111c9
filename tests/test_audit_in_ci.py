"""The workflow that audits a reward: its commands fail a pull request by a planted fault."""

import inspect
import json
import re
import shlex
import subprocess
import sys
from xml.etree import ElementTree as ET

import yaml
from typer.testing import CliRunner

from reward_functions.cli import app
from tests.audit import faults
from tests.test_ci_examples import FOLDER, PINNED, ROOT, SCHEMAS

FILE = FOLDER / "audit.yml"
PAGE = ROOT / "docs" / "how-to" / "audit-in-ci.md"
GIVEN = yaml.safe_load(FILE.read_text())
STEPS = GIVEN["jobs"]["audit"]["steps"]

REWARD = """

def accuracy_reward(completions, answer, **_):
    return [{}(*each) for each in zip(completions, answer, strict=True)]
"""

SOUND = inspect.getsource(faults) + REWARD.format("good")
PLANTED = inspect.getsource(faults) + REWARD.format("substring")

DECIDING = 191
"""Rows of which none may be paid, for a gate of 2 % to be held."""


def audits():
    """The commands that audit, and whether each decides."""
    found = [step["run"] for step in STEPS if "reward audit" in step.get("run", "")]
    return [(each, "|| true" not in each) for each in found]


def ran(command, folder, monkeypatch):
    """What one command of the file does in a folder, as the runner of GitHub runs it."""
    line = re.sub(r"\$(\w+)", lambda name: GIVEN["env"][name[1]], command)
    quiet = line.startswith("GITHUB_ACTIONS=false ")
    monkeypatch.setenv("GITHUB_ACTIONS", "false" if quiet else "true")
    monkeypatch.chdir(folder)
    words = shlex.split(line.removeprefix("GITHUB_ACTIONS=false ").removesuffix(" || true"))
    return CliRunner().invoke(app, words[1:])


def repository(folder, reward, rows):
    """A folder with a reward and so many rows."""
    (folder / "rewards.py").write_text(reward)
    (folder / "data").mkdir()
    lines = [
        {"prompt": f"What is {at} + {at + 17}? Answer behind ####.", "answer": str(2 * at + 17)}
        for at in range(rows)
    ]
    (folder / "data" / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines))
    return folder


def test_a_planted_fault_fails_the_pull_request(tmp_path, monkeypatch):
    folder = repository(tmp_path, PLANTED, 20)
    (deciding, decides), (shown, shows) = audits()
    assert (decides, shows) == (True, False)
    done = ran(deciding, folder, monkeypatch)
    assert done.exit_code == 1
    errors = [line for line in done.output.splitlines() if line.startswith("::error ")]
    assert any("exploit" in line for line in errors)
    suites = ET.parse(folder / "audit.xml").getroot()
    assert suites.findall(".//failure")
    done = ran(shown, folder, monkeypatch)
    assert "::error" not in done.output
    assert "EX-LIST" in (folder / "audit.md").read_text()
    assert "where 42 is right" in (folder / "audit.md").read_text()
    assert "+" not in (folder / "audit.md").read_text(), "nothing of a row stands in it"


def test_the_same_reward_without_the_fault_passes(tmp_path, monkeypatch):
    folder = repository(tmp_path, SOUND, DECIDING)
    (deciding, _), _ = audits()
    done = ran(deciding, folder, monkeypatch)
    assert done.exit_code == 0, done.output
    assert "::error" not in done.output


def test_the_schema_of_github_takes_it_and_its_shell_parses():
    for asked, given in (
        ([sys.executable, "-m", "check_jsonschema", *SCHEMAS["github.yml"], str(FILE)], None),
        (["bash", "-n"], "\n".join(step["run"] for step in STEPS if "run" in step)),
    ):
        done = subprocess.run(
            asked, input=given, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_and_the_file_say_the_same():
    assert len(PAGE.read_text().split()) <= 500
    assert FILE.read_text().splitlines()[0] == "# .github/workflows/audit.yml"
    for name in GIVEN["env"]:
        assert f"| `{name}` |" in PAGE.read_text()


def test_the_job_has_what_it_needs_and_no_more():
    job = GIVEN["jobs"]["audit"]
    assert GIVEN["permissions"] == {}
    assert job["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert all(PINNED.fullmatch(step["uses"]) for step in STEPS if "uses" in step)
    assert STEPS[0]["with"] == {"persist-credentials": False}
    tokens = [step["run"] for step in STEPS if "GH_TOKEN" in step.get("env", {})]
    assert len(tokens) == 1
    assert tokens[0].startswith("gh pr comment ")
    assert "${{" not in "".join(step.get("run", "") for step in STEPS), "nothing is pasted in"
