"""Files that parameters name: where they are, what JSON they hold, and which they are."""

import pytest

from reward_functions import Score, reward_function, weighted
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.files import NO_FILE, NO_FILES, File, Files, file_path, files_named
from reward_functions.core.files import json_of as read


def test_a_file_is_below_the_folder_or_below_the_function(tmp_path, monkeypatch):
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        (folder / "both.json").write_text(f'"{folder.name}"')
    (there / "one.json").write_text("1")
    (here / "folder.json").mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("LAMBDA_TASK_ROOT", str(there))
    assert (read("both.json"), read("one.json")) == ("here", 1)
    for name in ("none.json", "folder.json", ""):
        with pytest.raises(ConfigurationError, match=f"there is no file '{name}'"):
            file_path(name)
    monkeypatch.delenv("LAMBDA_TASK_ROOT")
    with pytest.raises(ConfigurationError, match=r"there is no file 'one.json'"):
        read("one.json")


@pytest.mark.parametrize(
    ("text", "value"), [('{"a": 1}', {"a": 1}), (" [1, 2]", [1, 2]), ("{", None), ("[NaN]", None),
                        ('{"a": 1, "a": 2}', None)],
)  # fmt: skip
def test_json_stands_in_a_file_or_in_the_parameter_itself(text, value, tmp_path):
    path = tmp_path / "given.json"
    path.write_text(text)
    for given, where in ((text, "the parameter"), (str(path), str(path))):
        if value is None:
            with pytest.raises(ConfigurationError, match=f"^{where} is not JSON: "):
                read(given)
        else:
            assert read(given) == value


@reward_function(name="probe", version=1)
def probe(sample, *, table: File = NO_FILE, rows: Files = NO_FILES, text: str = "") -> Score:
    """Looks things up."""
    return Score(1.0)


@pytest.mark.parametrize(
    ("parameters", "files"),
    [
        ({}, []),
        ({"table": "a.json", "rows": "folder", "text": "b.json"}, ["a.json", "folder"]),
        ({"table": "shipped", "rows": ""}, []),
        ({"table": ' {"a": "b.json"}'}, []),
        ({"table": "[1.5]"}, []),
        ({"unknown": "a.json"}, []),
    ],
)
def test_the_files_of_parameters(parameters, files):
    assert list(files_named(probe, parameters)) == files


def test_the_files_of_a_composite_are_those_of_its_parts():
    part = probe.bind({"table": "a.json", "rows": "folder"})
    made = weighted({"part": (part, 1.0)}, name="acme.both", outranks=False)
    assert list(files_named(made, {})) == ["a.json", "folder"]
