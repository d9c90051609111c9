"""What `make check` runs for a change, and what the report of costs says."""

from importlib.util import find_spec

import pytest

from tests.architecture.rooms import PACKAGE
from tests.check import TESTS, chosen, importers
from tests.costs import BUDGETS, YARDSTICK, Costs, over, room_of, with_budgets, yardstick
from tests.nightly.__main__ import PARTS


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        (PACKAGE / "finqa/phrases.py", {"finqa"}),
        (PACKAGE / "verifiers/gsm8k.py", {"verifiers"}),
        (PACKAGE / "symbolic/compare/dispatch.py", {"symbolic"}),
        (TESTS / "core/test_batch.py", {"core/test_batch.py"}),
        (TESTS / "cases/finqa.jsonl", {"verifiers"}),
        (TESTS / "deploy/test_jobs.py", set()),
        (TESTS / "hosts/ray/test_cluster.py", set()),
        (PACKAGE.parent / "README.md", set()),
    ],
    ids=lambda value: value.name if hasattr(value, "name") else "",
)
def test_a_change_is_looked_at_by_the_tests_nearest_to_it(changed, tests):
    found = {str(path.relative_to(TESTS)) for path in chosen([changed])}
    assert tests <= {name.split("/")[0] for name in found} | found
    assert bool(found) == bool(tests)


def test_what_needs_an_environment_of_its_own_is_not_asked():
    asked = chosen([PACKAGE / "core/types.py"])
    assert TESTS / "core" in asked
    assert TESTS / "hosts" not in {folder for path in asked for folder in path.parents}


def test_rooms_that_import_what_changed_are_asked_too():
    found = {str(path.relative_to(TESTS)) for path in chosen([PACKAGE / "extraction/visible.py"])}
    assert {"extraction", "verifiers"} <= found


@pytest.mark.parametrize(
    ("line", "imports"),
    [
        ("from reward_functions.core.batch import score_batch", True),
        ("from reward_functions.core import batch", True),
        ("from reward_functions.core import (\n    spec,\n    batch,\n)", True),
        ("import reward_functions.core.batch", True),
        ("from reward_functions.core import batches", False),
        ("from reward_functions.core.batch_more import x", False),
        ("from reward_functions.core import spec  # batch", True),
        ("from reward_functions.corebatch import batch", False),
    ],
)
def test_an_import_is_seen_however_it_is_written(tmp_path, line, imports):
    file = tmp_path / "one.py"
    file.write_text(line, encoding="utf-8")
    assert bool(importers(["reward_functions.core.batch"], [file])) == imports


class Report:
    """A test's last report, as `tests.costs` fills it."""

    def __init__(self, nodeid, seconds, apart):
        self.nodeid, self.user_properties = nodeid, [("processor seconds", (seconds, apart))]


def test_seconds_are_counted_by_room_and_emulators_apart():
    costs = Costs()
    costs.pytest_runtest_logreport(Report("tests/finqa/test_a.py::test_a", 1.5, {}))
    costs.pytest_runtest_logreport(Report("tests/finqa/test_a.py::test_b", 2.0, {}))
    costs.pytest_runtest_logreport(
        Report("tests/deploy/test_a.py::test_a", 3.0, {"emulators": 9.0})
    )
    assert costs.rooms() == {"emulators": 9.0, "finqa": 3.5, "deploy": 3.0}
    lines = list(costs.lines())
    assert lines[0].split()[:4] == ["15.5", "s", "3", "tests,"]
    assert [line.split()[-1] for line in lines[1:4]] == ["emulators", "finqa", "deploy"]
    assert lines[5].split()[-1] == "tests/deploy/test_a.py::test_a"


def test_tables_are_counted_with_their_rows():
    costs = Costs()
    for name, rows in (("a", 3), ("b", 4)):
        report = Report(f"tests/finqa/test_a.py::test_{name}", 1.0, {})
        report.user_properties.append(("rows brought along", rows))
        costs.pytest_runtest_logreport(report)
    costs.pytest_runtest_logreport(Report("tests/finqa/test_a.py::test_c", 1.0, {}))
    words = next(costs.lines()).split(" tests, ")[1]
    assert words == "of which 2 ran the 9 rows of a table"


def test_the_yardstick_of_a_run_is_the_median_of_those_between_its_tests():
    costs = Costs()
    for seconds in (0.3, 0.1, 0.2):
        report = Report("tests/finqa/test_a.py::test_a", 1.5, {})
        report.user_properties.append(("yardstick", seconds))
        costs.pytest_runtest_logreport(report)
    assert costs.yardstick == 0.2
    assert yardstick() > 0


@pytest.mark.parametrize(
    ("nodeid", "room"),
    [("tests/finqa/test_a.py::test_a[x/y]", "finqa"), ("tests/test_a.py::test_a", "test_a.py")],
)
def test_a_room_is_the_first_folder(nodeid, room):
    assert room_of(nodeid) == room


@pytest.mark.parametrize("part", PARTS)
def test_every_part_of_the_night_is_there(part):
    match PARTS[part]:
        case ["make", target, *_]:
            assert f"\n{target}:" in (PACKAGE.parent / "Makefile").read_text(encoding="utf-8")
        case [_, "-m", module, *_]:
            assert find_spec(module) is not None


def test_a_room_over_its_budget_is_named():
    kept = dict.fromkeys(BUDGETS, 1.0)
    assert over(kept, YARDSTICK) == []
    (said,) = over(kept | {"a room without a budget": 5.5}, YARDSTICK)
    assert said == (
        "a room without a budget took 5.5 s of a processor, and may take 5.0 on this machine."
    )


@pytest.mark.parametrize(("machine", "kept"), [(0.5, False), (1.0, False), (1.2, True), (4, True)])
def test_a_slow_machine_may_take_longer(machine, kept):
    rooms = dict.fromkeys(BUDGETS, 1.0) | {"a room without a budget": 5.5}
    assert (over(rooms, machine * YARDSTICK) == []) == kept


def test_a_run_of_some_rooms_keeps_no_budget():
    (said,) = over(dict.fromkeys([*BUDGETS][1:], 1.0), YARDSTICK)
    assert said == f"{next(iter(BUDGETS))} did not run: `make test` runs all."


def test_new_budgets_leave_a_quarter_and_name_what_takes_more_than_five():
    source = 'A = {\n    "a": 1,\n}\nBUDGETS = {\n    "old": 9,\n}\n"""What they are."""\n'
    made = with_budgets(source, {"small": 8.0, "aws": 8.2, "jobs": 80.4}, 2 * YARDSTICK)
    assert made == source.replace('    "old": 9,\n', '    "jobs": 51,\n    "aws": 6,\n')
