"""What a stage may name as a package, and what an interpreter must answer to be believed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from reward_functions.cdk.artifact.interpreter import NoInterpreter, here, interpreter
from reward_functions.cdk.artifact.packages import BadPackage, Package, Wheel, normalised
from reward_functions.cdk.artifact.records import canonical, metadata, tidy

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
        package.wheel(tmp_path).requires()


def test_a_requirement_has_no_wheel_here(tmp_path):
    assert Package.of("acme-rewards==1.0", tmp_path).wheel(tmp_path) is None


@pytest.mark.parametrize("text", ["", "[project]", "[project]\nname = 3", "name = ", "\xff"])
def test_a_project_without_a_name_is_refused(tmp_path, text):
    (tmp_path / "pyproject.toml").write_text(text, encoding="latin-1")
    with pytest.raises(BadPackage, match="names no project"):
        Package.of(".", tmp_path)


def test_a_project_is_built_into_a_wheel_with_its_entry_points(tmp_path):
    built = Package.of(".", EXAMPLE).wheel(tmp_path)
    entries = dict(built.entries())
    (points,) = [content for name, content in entries.items() if name.endswith("entry_points.txt")]
    assert b"acme.length = acme_rewards.length:length" in points
    assert built.requires() == ("reward-functions",)
    assert built.portable


def copied(folder):
    """The example in another folder."""
    for name in ("pyproject.toml", "acme_rewards/__init__.py", "acme_rewards/length.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes((EXAMPLE / name).read_bytes())
    return Package.of(".", folder)


def entries_of(package, folder):
    return dict(package.wheel(folder).entries())


def test_a_project_is_what_would_be_installed_of_it(tmp_path):
    (tmp_path / "copy").mkdir()
    copy = copied(tmp_path / "copy")
    before = entries_of(Package.of(".", EXAMPLE), tmp_path / "1")
    assert entries_of(copy, tmp_path / "2") == before
    (tmp_path / "copy" / "acme_rewards" / "length.py").write_text('"""Changed."""\n')
    assert entries_of(copy, tmp_path / "3") != before


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        ("WHEEL", "Generator: hatchling 1.27.0", "Generator: hatchling 1.28.0"),
        ("RECORD", "acme/__init__.py,sha256=1,2", "acme/__init__.py,sha256=2,2"),
        ("METADATA", "Metadata-Version: 2.4\nName: a", "Metadata-Version: 2.5\nName: a"),
        ("METADATA", "Name: a\n\n# The README", "Name: a\n\n# Another README"),
        ("METADATA", "Name: a\nLicense: MIT", "Name: a\nLicense-Expression: MIT"),
        ("METADATA", "Requires-Dist: b\nRequires-Dist: c", "Requires-Dist: c\nRequires-Dist: b"),
    ],
)
def test_what_a_build_tool_writes_about_itself_makes_no_difference(file, before, after):
    name = f"a-1.0.dist-info/{file}"
    assert canonical(name, before.encode(), built=True) == canonical(
        name, after.encode(), built=True
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Name: a", "Name: b"),
        ("Version: 1", "Version: 2"),
        ("Requires-Dist: b", "Requires-Dist: c"),
    ],
)
def test_what_a_package_says_of_itself_does(before, after):
    assert metadata(before.encode()) != metadata(after.encode())


def test_scripts_and_the_names_of_an_installer_go_and_the_record_says_so(tmp_path):
    record = tmp_path / "acme-1.0.dist-info"
    record.mkdir()
    (tmp_path / "bin").mkdir()
    script(tmp_path / "bin" / "acme", "echo")
    for name in ("INSTALLER", "REQUESTED", "direct_url.json", "METADATA", "WHEEL"):
        (record / name).write_text("Name: acme\n")
    (tmp_path / "acme.py").touch()
    (record / "RECORD").write_text(
        "bin/acme,sha256=1,2\nacme.py,,\nacme-1.0.dist-info/INSTALLER,,\n"
        "acme-1.0.dist-info/WHEEL,,\nacme-1.0.dist-info/RECORD,,\n"
    )
    tidy(tmp_path, built=())
    assert sorted(path.name for path in record.iterdir()) == ["METADATA", "RECORD", "WHEEL"]
    assert (record / "RECORD").read_text().splitlines() == [
        "acme-1.0.dist-info/RECORD,,",
        "acme-1.0.dist-info/WHEEL,,",
        "acme.py,,",
    ]
    assert not (tmp_path / "bin").exists()


def test_a_package_that_is_called_bin_stays(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "__init__.py").touch()
    tidy(tmp_path, built=())
    assert (tmp_path / "bin" / "__init__.py").is_file()


def test_a_strict_stage_takes_no_wheel_that_every_machine_builds_otherwise():
    """A wheel for one platform has something compiled in it."""
    compiled = Path("acme_rewards-1.0-cp313-cp313-linux_x86_64.whl")
    assert not Wheel("acme-rewards", compiled, built=True).portable


def test_a_build_that_fails_says_what_its_tool_wrote(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "acme-rewards"\nversion = "one"\n')
    with pytest.raises(BadPackage, match=f"building {tmp_path.name} failed: .+") as caught:
        Package.of(".", tmp_path).wheel(tmp_path)
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
