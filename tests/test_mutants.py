"""How lines are broken, which tests are asked, and which mutants are judged equivalent."""

import ast
import os
from threading import Event
from time import monotonic
from types import FunctionType, SimpleNamespace

import pytest

from tests.architecture.rooms import PACKAGE, ROOT
from tests.mutants import copies
from tests.mutants.__main__ import drawn_of
from tests.mutants.broken import ran_early, renew
from tests.mutants.changing import mutants
from tests.mutants.judged import judged, matches, rows
from tests.mutants.trees import FIRST
from tests.mutants.trees import tests_of as asked_of

SOURCE = '''
"""A module."""
from functools import cache

ROWS = 1 + 2

def one(number: int = 3, *, flag: bool = False) -> bool | None:
    """A docstring of 4."""
    pattern: int = 5
    if not number or number > 6:
        raise ValueError(f"{number + 7}")
    print(number)
    return pattern

def three():
    return False

@cache
def two():
    return [number for number in (1, 2) if number < 2]
'''

CHANGES = [
    "not: not number -> bool(number)",
    "and/or: not number or number > 6 -> (not number) and (number > 6)",
    "compare: number > 6 -> (number) >= (6)",
    "compare: number < 2 -> (number) <= (2)",
    "bool: False -> True",
    "number: 5 -> 6",
    "number: 6 -> 7",
    "number: 1 -> 2",
    "number: 2 -> 3",
    "number: 2 -> 3",
    "if: not number or number > 6 -> not (not number or number > 6)",
    "return: pattern -> None",
    "return: [number for number in (1, 2) if number < 2] -> None",
    "dropped: print(number) -> (dropped)",
    'dropped: raise ValueError(f"{number + 7}") -> (dropped)',
]


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "one.py"
    path.write_text(SOURCE)
    monkeypatch.setattr("tests.mutants.changing.ROOT", tmp_path)
    return path


def test_what_runs_when_a_function_is_called_is_broken_and_nothing_else(file):
    assert sorted(str(each).partition(" ")[2] for each in mutants(file)) == sorted(CHANGES)


def test_every_mutant_is_python_and_differs_in_one_place(file):
    found = list(mutants(file))
    sources = {each.source("mark()") for each in found}
    assert len(sources) == len(found)
    for source in sources:
        ast.parse(source)
        assert source.count(b"mark()") == 1


def test_functions_that_were_imported_get_the_code_that_stands_there_now(file):
    namespace = {}
    exec(compile(SOURCE, str(file), "exec"), namespace)
    assert namespace["one"](2) == 5
    (changed,) = (each for each in mutants(file) if each.kind == "number" and each.text == "6")
    file.write_bytes(changed.source("0"))
    assert renew(str(file))
    assert namespace["one"](2) == 6
    assert namespace["two"]() == [1]
    assert isinstance(namespace["one"], FunctionType)


def test_a_function_that_needs_another_cell_says_so(tmp_path):
    file = tmp_path / "two.py"
    file.write_text("class Two(dict):\n    def clear(self):\n        super().clear()\n")
    namespace = {}
    exec(compile(file.read_text(), str(file), "exec"), namespace)
    assert renew(str(file))
    file.write_text("class Two(dict):\n    def clear(self):\n        pass\n")
    assert not renew(str(file))
    assert namespace["Two"]


def test_only_what_ran_while_tests_were_collected_is_asked_of_a_new_process(file):
    lines = SOURCE.splitlines()
    at = {text: number for number, text in enumerate(lines, start=1)}
    early = {(str(file), at["def three():"]), ("another.py", at["@cache"])}
    assert ran_early(str(file), at["    return False"], early)
    assert not ran_early(str(file), at["    return pattern"], early)
    assert not ran_early(str(file), at[lines[-1]], early)
    assert ran_early(str(file), at["ROWS = 1 + 2"], early), "no function has the line"


def test_each_room_has_its_turn_in_what_is_drawn():
    found = [
        each
        for name in ("finqa/yesno.py", "core/means.py", "core/suggest.py")
        for each in mutants(PACKAGE / name)
    ]
    drawn = drawn_of(found, ["core", "finqa"], 6, seed=1)
    folders = [each.path.parent.name for each in drawn]
    assert folders == ["core", "finqa"] * 3
    assert drawn == drawn_of(found, ["core", "finqa"], 6, seed=1)
    assert drawn != drawn_of(found, ["core", "finqa"], 6, seed=2)
    assert len(drawn_of(found, [], len(found) + 1, seed=1)) == len(found)


@pytest.mark.parametrize(
    ("file", "nearest"),
    [
        ("core/batch.py", "tests/core/test_batch.py"),
        ("adapters/verifiers.py", "tests/adapters/test_verifiers.py"),
        ("jobs/plan.py", "tests/jobs/test_plan.py"),
        ("cdk/policies/own_rights.py", "tests/cdk/test_own_rights.py"),
        ("serving/contract.py", "tests/serving/test_contract.py"),
        ("rollouts/report/outbox/sqlite.py", "tests/rollouts/report/outbox/test_sqlite.py"),
    ],
)
def test_the_tests_of_a_file_are_asked_first(file, nearest):
    first, room, further = asked_of(PACKAGE / file)
    assert nearest in first
    assert len(first) <= FIRST
    names = [*first, *room, *further]
    assert len({*names}) == len(names)
    assert all((ROOT / name).is_file() for name in names)
    assert not any(name.startswith("tests/hosts/") for name in names), "another environment's"
    assert any(name.startswith("tests/conformance/") for name in further)


EQUIVALENT = rows()


@pytest.mark.parametrize(
    "row", EQUIVALENT, ids=[f"{row['module']} {row['kind']}" for row in EQUIVALENT]
)
def test_a_row_of_the_equivalent_ones_means_one_mutant(row):
    path = PACKAGE.joinpath(*row["module"].split(".")).with_suffix(".py")
    meant = [str(each) for each in mutants(path) if matches(row, each)]
    assert len(meant) == 1, meant
    assert row["reason"].endswith(".")


def test_what_is_equivalent_has_its_reason():
    row = EQUIVALENT[0]
    path = PACKAGE.joinpath(*row["module"].split(".")).with_suffix(".py")
    assert row["reason"] in judged(mutants(path)).values()
    assert judged(mutants(PACKAGE / "core/loopback.py")) == {}


class Copy:
    """A copy of a process that runs `tests`, and ends as they do."""

    def __init__(self, session, number, tests, into):
        self.tests, self.into = tests, into

    def run(self):
        os.setpgid(0, 0)
        os.write(self.into, self.tests["run"]())
        os._exit(0)


def forever():
    Event().wait()


def busily():
    end = monotonic() + 1.2
    while monotonic() < end:
        pass
    return b"a test"


@pytest.mark.parametrize(("run", "seen"), [(forever, "time"), (busily, "a test")])
def test_tests_that_wait_for_ever_are_ended_before_their_time(run, seen, tmp_path, monkeypatch):
    monkeypatch.setattr(copies, "IDLE", 0.5)
    folders = SimpleNamespace(getbasetemp=lambda: tmp_path)
    session = SimpleNamespace(config=SimpleNamespace(_tmp_path_factory=folders))
    assert copies._seen(Copy, session, 0, {"run": run, "seconds": 20}) == seen
