"""Rows of a table run as one test, and one that fails has its own name."""

import re

import pytest

from tests.small_runs import ends, run_pytest

PLUGINS = ("tests.parallel", "tests.table_rows")

SOURCE = """
import warnings
import pytest

@pytest.fixture(scope="session")
def shared():
    return [7]

@pytest.fixture(scope="session")
def missing():
    pytest.skip("nothing is there")

@pytest.mark.parametrize("letter", "abc")
def test_of_what_is_missing(missing, letter):
    raise AssertionError

@pytest.fixture(params=["p", "q"])
def each(request):
    return request.param

@pytest.fixture(scope="module", params=["p", "q"])
def each_of_module(request):
    return request.param

@pytest.fixture
def anew():
    return []

@pytest.mark.parametrize("letter", "abcd")
@pytest.mark.parametrize(("number", "other"), [(1, 2), (3, 4)])
def test_rows(shared, letter, number, other):
    print("row", letter, number)
    if letter == "a":
        pytest.skip("not this one")
    assert shared == [7] and other == number + 1
    assert (letter, number) not in {("c", 1), ("d", 3)}

@pytest.mark.parametrize("letter", "abc")
def test_warns(letter):
    if letter == "b":
        warnings.warn("of b")

@pytest.mark.parametrize("letter", ["a", pytest.param("b", marks=pytest.mark.xfail(strict=True))])
def test_marked(letter):
    assert letter == "a"

@pytest.mark.parametrize("letter", "ab")
def test_anew(anew, letter):
    anew.append(letter)
    assert anew == [letter]

@pytest.mark.parametrize("each", "ab", indirect=True)
def test_indirect(each):
    assert each in "ab"

@pytest.fixture(scope="module")
def doubled(of):
    return 2 * of

@pytest.mark.parametrize("of", [1, 2], scope="module")
def test_shared_by_some(doubled, of):
    assert doubled == 2 * of

@pytest.mark.parametrize(argnames="letter", argvalues=["a", "b"], ids=str.upper)
def test_named(letter):
    assert letter in "ab"

def test_of_a_fixture(each, each_of_module):
    assert each in "pq" and each_of_module in "pq"

class TestOfAClass:
    @pytest.mark.parametrize("letter", "ab")
    def test_letter(self, letter):
        assert letter in "ab"
"""

OWN_NAME = {
    "FAILED test_a.py::test_rows[1-2-c]",
    "FAILED test_a.py::test_rows[3-4-d]",
    "FAILED test_a.py::test_warns[b]",
}


def run(folder, *options, source=SOURCE, plugins=PLUGINS):
    options = ("-rA", "-W", "error", *options)
    return run_pytest(folder, {"test_a.py": source}, *options, plugins=plugins)


def passed(said):
    return int(re.search(r"(\d+) passed", said)[1])


@pytest.mark.parametrize("processes", [0, 3])
def test_they_fail_and_skip_as_rows_that_are_tests_do(tmp_path, processes):
    status, said = run(tmp_path, f"--numprocesses={processes}")
    alone, rows = run(tmp_path, "--numprocesses=0", plugins=("tests.parallel",))
    assert status == alone == 1
    failed = {line for line in ends(said) if line.startswith("FAILED")}
    assert failed == OWN_NAME == {line for line in ends(rows) if line.startswith("FAILED")}
    assert re.search(r"^SKIPPED \[2\] .*: not this one$", said, re.MULTILINE)
    assert re.search(r"^SKIPPED \[3\] .*: nothing is there$", said, re.MULTILINE)
    assert "1 xfailed" in said
    # Four of `test_rows` pass, but not its first; two of `test_warns` and of `test_named`.
    assert passed(rows) == 21
    assert passed(said) == passed(rows) - 4 - 1 - 1


def test_a_row_that_fails_says_what_it_printed_and_no_other_row(tmp_path):
    _, said = run(tmp_path)
    _, _, after = said.partition("test_rows[1-2-c] _")
    assert re.findall("^row .*", after.partition("\n____")[0], re.MULTILINE) == ["row c 1"]


@pytest.mark.parametrize("chosen", ["test_rows[1-2-c]", "test_rows[3-4-b]"])
def test_a_row_is_chosen_by_its_name(tmp_path, chosen):
    status, said = run_pytest(
        tmp_path, {"test_a.py": SOURCE}, "-rA", f"test_a.py::{chosen}", plugins=PLUGINS
    )
    assert status == int(chosen.endswith("c]"))
    assert ends(said) == [f"{'FAILED' if status else 'PASSED'} test_a.py::{chosen}"]


def test_what_failed_last_runs_alone(tmp_path):
    run(tmp_path)
    _, said = run(tmp_path, "--last-failed")
    assert set(ends(said)) == OWN_NAME


def test_nothing_runs_after_a_first_failure_where_that_is_asked(tmp_path):
    _, said = run(tmp_path, "-x")
    assert len([line for line in ends(said) if line.startswith("FAILED")]) == 1
    assert "stopping after" in said


@pytest.mark.parametrize("option", ["-vv", "--collect-only"])
def test_each_row_is_seen_where_that_is_asked(tmp_path, option):
    _, said = run(tmp_path, option)
    for letter in "abcd":
        assert f"test_rows[1-2-{letter}]" in said


def test_a_row_that_ends_its_process_is_one_of_its_table(tmp_path):
    source = (
        "import os, pytest\n"
        "@pytest.mark.parametrize('at', range(3))\n"
        "def test_ends(at): at == 1 and os._exit(3)\n"
        "def test_after(): pass\n"
    )
    _, said = run(tmp_path, "--numprocesses=2", source=source)
    assert "the process of this test, or of a row of its table, ended with 3" in said
    assert ends(said) == ["FAILED test_a.py::test_ends[0]", "PASSED test_a.py::test_after"]
