"""An agent or a reward by the name of its module or file; every mistake is one sentence."""

import sys

import pytest

from reward_functions.core.errors import ConfigurationError, RewardError
from reward_functions.core.importing import imported, last_line, named

FILES = {
    "fine.py": "import neighbour_of_fine\n\n\ndef agent(payload):\n    return payload\n",
    "neighbour_of_fine.py": "",
    "syntax.py": "x = 1\ndef agent(:\n",
    "raises.py": "x = 1\n\nraise KeyError('no such key')\n",
    "leaves.py": "import sys\nsys.exit(3)\n",
    "needs.py": "import nowhere_to_be_found\n",
    "reports.py": "from reward_functions.core.errors import ConfigurationError\n"
    "raise ConfigurationError('set X')\n",
    "notes.txt": "",
}

WRONG = [
    ("agent", "is not MODULE:NAME"),
    (":agent", "is not MODULE:NAME"),
    ("fine.py:", "is not MODULE:NAME"),
    ("fine.py:agnt", "fine.py has no 'agnt'. Did you mean 'agent'?"),
    ("fine:agnt", "fine has no 'agnt'. Did you mean 'agent'?"),
    ("syntax.py:agent", "syntax.py, line 2: SyntaxError: "),
    ("raises.py:agent", "raises.py, line 3: KeyError: 'no such key'"),
    ("raises:agent", "raises: KeyError: 'no such key'"),
    ("leaves.py:agent", r"leaves.py, line 2: called sys.exit\(3\)"),
    ("needs.py:agent", "needs.py, line 1: ModuleNotFoundError: .*'nowhere_to_be_found'"),
    ("needs:agent", "needs: ModuleNotFoundError: .*'nowhere_to_be_found'"),
    ("nowhere:agent", "there is no module 'nowhere' here"),
    ("json.nowhere:agent", "there is no module 'json.nowhere' here"),
    ("reports.py:agent", "set X"),
    ("reports:agent", "set X"),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    known = {*sys.modules}
    yield tmp_path
    for name in {*sys.modules} - known:
        del sys.modules[name]


@pytest.mark.parametrize("place", ["fine.py:agent", "fine:agent", "./fine.py:agent"])
def test_a_name_leads_to_what_it_names(folder, place):
    assert named(place)(7) == 7


@pytest.mark.parametrize(("place", "sentence"), WRONG, ids=[each[0] for each in WRONG])
def test_a_name_that_leads_nowhere_is_one_sentence(folder, place, sentence):
    with pytest.raises(RewardError, match=sentence):
        named(place)


def test_a_file_that_is_not_there_is_an_error_of_the_system(folder):
    with pytest.raises(FileNotFoundError):
        named("nowhere.py:agent")


@pytest.mark.parametrize("name", ["nowhere.py", "nowhere.txt"])
def test_a_file_that_cannot_be_read_says_so_before_anything_else_does(folder, name):
    with pytest.raises(FileNotFoundError):
        imported(folder / name)
    assert "nowhere" not in sys.modules


def test_what_is_imported_by_its_path_is_python(folder):
    with pytest.raises(ConfigurationError, match=r"is a \.py file"):
        imported(folder / "notes.txt")


def test_the_last_line_is_that_of_the_file_asked_for(folder):
    with pytest.raises(ZeroDivisionError) as raised:
        named("fine.py:agent")(1 / 0)
    assert last_line(raised.value, folder / "fine.py") is None
