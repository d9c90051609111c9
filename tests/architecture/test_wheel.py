"""One import root: what the wheel installs, used in a repository that has packages of our names."""

from __future__ import annotations

import json
from configparser import ConfigParser
from zipfile import ZipFile

import pytest

from tests.wheel import example_installed, repository_with_packages_of_our_names

ROW = {
    "id": "a",
    "messages": [
        {"role": "user", "content": "6 × 7?"},
        {"role": "assistant", "content": "#### 42"},
    ],
    "reference_answer": "42",
}

SIDE_BY_SIDE = """
import helpers, infra, reward_functions, reward_functions.cdk.artifact.pins as pins
print(helpers.THEIRS, infra.THEIRS, reward_functions.__file__, pins.pins())
"""


@pytest.fixture(scope="module")
def wheel():
    return example_installed()


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    return repository_with_packages_of_our_names(tmp_path_factory.mktemp("theirs"))


def test_the_wheel_installs_reward_functions_and_nothing_else(wheel):
    with ZipFile(wheel.ours) as archive:
        names = archive.namelist()
        points = next(name for name in names if name.endswith("/entry_points.txt"))
        scripts = ConfigParser()
        scripts.read_string(archive.read(points).decode())
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"reward_functions"}
    assert len(tops) == 2
    assert "reward_functions/cdk/artifact/runtime.txt" in names
    assert "reward_functions/local/emulator/emulator.txt" in names
    assert "reward_functions/py.typed" in names
    templates = ("page.css", "page.html", "page.js")
    assert {f"reward_functions/reports/templates/{name}" for name in templates} <= {*names}
    assert dict(scripts["console_scripts"]) == {
        "reward": "reward_functions.cli:main",
        "reward-cdk-app": "reward_functions.cdk.app.entry:main",
    }


def test_theirs_and_ours_are_imported_side_by_side(wheel, repository):
    done = wheel.run(repository, "python", "-c", SIDE_BY_SIDE)
    assert done.returncode == 0, done.stderr
    package = wheel.site / "reward_functions"
    assert done.stdout.split() == [
        *("helpers", "infra"),
        *(str(package / "__init__.py"), str(package / "cdk" / "artifact" / "runtime.txt")),
    ]


def test_the_command_lists_and_scores_there(wheel, repository):
    listed = wheel.run(repository, "reward", "list")
    assert listed.returncode == 0, listed.stderr
    assert "gsm8k" in listed.stdout
    assert "acme.length" in listed.stdout
    (repository / "rows.jsonl").write_text(json.dumps(ROW))
    scored = wheel.run(repository, "reward", "score", "gsm8k", "rows.jsonl")
    assert scored.returncode == 0, scored.stderr
    assert json.loads(scored.stdout)["aggregate_reward_score"] == 1.0
