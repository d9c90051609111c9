"""Rows of results as columns; pandas itself makes the frame in `make adapters`."""

import math
import sys
from types import ModuleType, SimpleNamespace

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.extras import MissingExtra
from reward_functions.export import to_frame
from reward_functions.export.frames import columns, result_objects


@pytest.fixture
def pandas(monkeypatch):
    """A pandas whose frame is its list of records."""
    module = ModuleType("pandas")
    module.DataFrame = SimpleNamespace(from_records=lambda records: records)
    module.__spec__ = SimpleNamespace()
    monkeypatch.setitem(sys.modules, "pandas", module)


def test_results_of_a_file_and_of_a_batch_have_the_same_columns(pandas, results, scored):
    written, batch = to_frame(results), to_frame(scored)
    assert [row["id"] for row in written] == [row["id"] for row in batch] == ["r0", "r1", "r2"]
    assert [row["reward"] for row in written[:2]] == [row["reward"] for row in batch[:2]] == [1, 0]
    assert math.isnan(written[2]["reward"])
    assert math.isnan(batch[2]["reward"])
    assert written[2]["error"] == batch[2]["error"] == "BadReference"
    assert written[0]["answered"] == batch[0]["answered"] == 1.0


def test_an_explained_result_has_its_answer_and_rule():
    explained = {"answer": "42", "reason": "equal", "rule": "exact-number", "outcome": None}
    row = {"id": "a", "aggregate_reward_score": 1.0, "metrics_list": [], "explanation": explained}
    found = columns(row)
    assert (found["answer"], found["reason"], found["rule"]) == ("42", "equal", "exact-number")
    assert columns(row | {"explanation": None})["rule"] is None


BROKEN = {
    "no result": ('{"id": "a"}\n', "no id and aggregate_reward_score"),
    "a metric without a value": (
        '{"id": "a", "aggregate_reward_score": 1, "metrics_list": [{}]}\n',
        "is no result",
    ),
    "a list": ("[1]\n", "is no result"),
    "not JSON": ("{broken\n", "line 1: not JSON"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_holds_no_results_is_a_sentence(name, tmp_path):
    text, message = BROKEN[name]
    path = tmp_path / "rows.jsonl"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=message):
        list(map(columns, result_objects(path)))


def test_a_line_that_is_being_written_is_left_out(results):
    with results.open("a") as file:
        file.write('{"id": "r3", "aggre')
    assert len(list(result_objects(results))) == 3


def test_a_missing_file_says_what_writes_it(tmp_path):
    with pytest.raises(ConfigurationError, match="write it with reward score -o"):
        list(result_objects(tmp_path / "none.jsonl"))


def test_a_json_list_is_read_too(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text('[{"id": "a", "aggregate_reward_score": 1.0, "metrics_list": []}]')
    assert [columns(each)["reward"] for each in result_objects(path)] == [1.0]


def test_without_pandas_one_line_says_what_to_type(results):
    with pytest.raises(MissingExtra, match=r"pip install 'reward-functions\[pandas\]'"):
        to_frame(results)
