"""What a stage may name as a package, and what an interpreter must answer to be believed."""

from __future__ import annotations

import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from reward_functions.cdk.interpreter import NoInterpreter, here, interpreter
from reward_functions.cdk.packages import BadPackage, Package, normalised

EXAMPLE = Path(__file__).parent / "example"


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_NO_BUILD_ISOLATION", "1")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("acme-rewards==1.0", "acme-rewards"),
        ("Acme_Rewards==1.0.post1", "acme-rewards"),
        ("acme.rewards[fast]==1!2.0+cpu", "acme-rewards"),
        (".", "acme-rewards"),
        ("../example", "acme-rewards"),
        (str(EXAMPLE), "acme-rewards"),
    ],
)
def test_a_package_has_one_name_however_it_is_written(text, name):
    assert Package.of(text, EXAMPLE).name == name


def test_a_wheel_is_named_by_its_file(tmp_path):
    (tmp_path / "acme_rewards-1.0-py3-none-any.whl").touch()
    package = Package.of("acme_rewards-1.0-py3-none-any.whl", tmp_path)
    assert package.name == "acme-rewards"
    with pytest.raises(BadPackage, match="is not a wheel"):
        package.fingerprint()


@pytest.mark.parametrize("text", ["", "[project]", "[project]\nname = 3", "name = ", "\xff"])
def test_a_project_without_a_name_is_refused(tmp_path, text):
    (tmp_path / "pyproject.toml").write_text(text, encoding="latin-1")
    with pytest.raises(BadPackage, match="names no project"):
        Package.of(".", tmp_path)


def test_a_project_is_built_into_a_wheel_with_its_entry_points(tmp_path):
    built = Package.of(".", EXAMPLE).requirement(tmp_path)
    with ZipFile(built) as wheel:
        (points,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
        assert b"acme.length = acme_rewards.length:length" in wheel.read(points)


def test_a_project_has_the_fingerprint_of_what_would_be_installed(tmp_path):
    for name in ("pyproject.toml", "acme_rewards/__init__.py", "acme_rewards/length.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((EXAMPLE / name).read_bytes())
    copy = Package.of(".", tmp_path)
    assert copy.fingerprint() == Package.of(".", EXAMPLE).fingerprint()
    (tmp_path / "acme_rewards" / "length.py").write_text('"""Changed."""\n')
    assert copy.fingerprint() != Package.of(".", EXAMPLE).fingerprint()


def test_a_build_that_fails_says_what_its_tool_wrote(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "acme-rewards"\nversion = "one"\n')
    with pytest.raises(BadPackage, match=f"building {tmp_path.name} failed: .+") as caught:
        Package.of(".", tmp_path).fingerprint()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["Acme_Rewards", "acme.rewards", "ACME--rewards"])
def test_indexes_compare_names_without_case_and_marks(name):
    assert normalised(name) == "acme-rewards"


def script(path, says):
    path.write_text(f"#!/bin/sh\n{says}\n")
    path.chmod(0o755)
    return path


OTHER = "3.99"


def test_this_interpreter_serves_its_own_version():
    assert interpreter(here()[1]) == Path(sys.executable)


def test_an_interpreter_is_found_by_its_name_on_the_path(monkeypatch, tmp_path):
    shim = tmp_path / "shims"
    shim.mkdir()
    script(shim / f"python{OTHER}", "echo 'no such version' >&2; exit 127")
    true = tmp_path / "bin"
    true.mkdir()
    found = script(true / f"python{OTHER}", "echo cpython 3 99")
    monkeypatch.setenv("PATH", f"{shim}:{true}")
    assert interpreter(OTHER) == found


def test_behind_a_version_manager_s_shim_its_versions_are_tried(monkeypatch, tmp_path):
    (tmp_path / "shims").mkdir()
    script(tmp_path / "shims" / f"python{OTHER}", "exit 127")
    folder = tmp_path / "versions" / f"{OTHER}.1" / "bin"
    folder.mkdir(parents=True)
    found = script(folder / f"python{OTHER}", "echo cpython 3 99")
    monkeypatch.setenv("PATH", str(tmp_path / "shims"))
    assert interpreter(OTHER) == found


@pytest.mark.parametrize(
    "says", ["exit 127", "echo cpython 3 98", "echo pypy 3 99", "echo", "echo cpython 3 99; exit 1"]
)
def test_what_does_not_answer_as_asked_is_not_believed(monkeypatch, tmp_path, says):
    false = script(tmp_path / f"python{OTHER}", says)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert interpreter(OTHER) is None
    with pytest.raises(NoInterpreter, match=f"does not answer as CPython {OTHER}"):
        interpreter(OTHER, str(false))


def test_an_interpreter_that_is_not_there_is_reported(tmp_path):
    with pytest.raises(NoInterpreter):
        interpreter(OTHER, str(tmp_path / "python"))
