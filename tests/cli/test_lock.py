"""`reward lock`: what it writes, what it says, and its exit status."""

from __future__ import annotations

import json
import sys
from zipfile import ZipFile

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app
from tests.cdk.wheels import wheel

LOCK = "reward-functions.dev.lock"

REWARD = """
from reward_functions import Example, Score, reward_function

@reward_function(
    name="acme.zero", version=1, examples=[Example("negative", response="", score=0.0)]
)
def zero(sample):
    "Reference: none."
    return Score(0.0)
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """The command in a team's repository, whose package requires `acme_common` of an index."""
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path / "index"))
    monkeypatch.chdir(tmp_path)
    wheel(tmp_path / "index", "acme_common", "1.0")
    path = wheel(
        tmp_path,
        "acme",
        requires=["acme_common"],
        files={"acme.py": REWARD},
        points="acme.zero = acme:zero",
    )
    with ZipFile(path) as archive:
        archive.extractall(tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    stages = {
        "dev": {"region": "us-east-1", "packages": [path.name], "deployments": ["acme.zero"]},
        "plain": {"region": "us-east-1", "deployments": ["gsm8k"]},
    }
    (tmp_path / "cdk.json").write_text(json.dumps({"context": {"stages": stages}}))
    yield lambda *arguments: CliRunner().invoke(app, ["lock", *arguments])
    sys.modules.pop("acme", None)


def test_it_writes_what_is_missing_and_leaves_what_is_current(run, tmp_path):
    checked = run("--check")
    assert (checked.exit_code, checked.output) == (1, f"{LOCK} is missing\n")
    written = run()
    assert written.exit_code == 0
    assert written.output == f"added acme-common 1.0\nwrote {LOCK}: commit it\n"
    text = (tmp_path / LOCK).read_text()
    for arguments in ([], ["--check"]):
        again = run(*arguments)
        assert (again.exit_code, again.output) == (0, f"{LOCK} is current\n")
    assert (tmp_path / LOCK).read_text() == text


def test_a_newer_version_comes_with_upgrade_alone(run, tmp_path):
    run()
    wheel(tmp_path / "index", "acme_common", "1.1")
    assert run().output == f"{LOCK} is current\n"
    assert run("--upgrade").output.startswith("moved acme-common 1.0 to 1.1\n")
    assert run("--upgrade").output.startswith("no version moved\n")


def test_a_stale_lock_keeps_the_versions_that_fit(run, tmp_path):
    run()
    wheel(tmp_path / "index", "acme_common", "1.1")
    wheel(tmp_path / "index", "extra", "1.0")
    wheel(
        tmp_path,
        "acme",
        requires=["acme_common", "extra"],
        files={"acme.py": REWARD},
        points="acme.zero = acme:zero",
    )
    assert (run("--check").exit_code, run("--check").output) == (1, f"{LOCK} is stale\n")
    assert run().output == f"added extra 1.0\nwrote {LOCK}: commit it\n"


@pytest.mark.parametrize("arguments", [[], ["--check"]])
def test_a_stage_without_packages_needs_none(run, arguments):
    done = run("--stage", "plain", *arguments)
    assert done.exit_code == 0
    assert "needs no lock" in done.output


@pytest.mark.parametrize(
    ("cdk_json", "message"),
    [
        (None, "there is no cdk.json here"),
        ("{", "cdk.json, line 1, column 2: not JSON"),
        ("[]", "cdk.json is not a JSON object with a context"),
        ('{"context": 1}', "cdk.json names no stages"),
        ('{"context": {"stages": {"prod": {}}}}', "there is no stage 'dev' in cdk.json"),
    ],
)
def test_what_is_wrong_is_one_line(run, tmp_path, cdk_json, message):
    (tmp_path / "cdk.json").unlink()
    if cdk_json is not None:
        (tmp_path / "cdk.json").write_text(cdk_json)
    done = run()
    assert done.exit_code == 2
    assert message in done.output
    assert len(done.output.splitlines()) == 1
