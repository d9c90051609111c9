"""Rows of results as columns; pandas itself makes the frame in `make adapters`."""

import math
import sys
from types import ModuleType, SimpleNamespace

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.extras import MissingExtra
from reward_functions.export import to_frame
from reward_functions.export.frames import result_rows, row_of


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
    found = row_of(row).columns()
    assert (found["answer"], found["reason"], found["rule"]) == ("42", "equal", "exact-number")
    assert row_of(row | {"explanation": None}).columns()["rule"] is None


BROKEN = {
    "no result": ('{"id": "a"}\n', "no id, or no finite"),
    "a metric without a value": (
        '{"id": "a", "aggregate_reward_score": 1, "metrics_list": [{}]}\n',
        "is no result",
    ),
    "a list": ("[1]\n", "not a JSON object"),
    "not JSON": ("{broken\n", "line 1"),
    "a number that is no number": ('{"id": "a", "aggregate_reward_score": NaN}\n', "no finite"),
    "a number beyond a float": ('{"id": "a", "aggregate_reward_score": 1e400}\n', "is no result"),
    "digits": ('{"id": "a", "aggregate_reward_score": 1' + "0" * 400 + "}\n", "is no result"),
    "deep": ("[" * 100_000 + "\n", "."),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_holds_no_results_is_a_sentence(name, tmp_path):
    text, message = BROKEN[name]
    path = tmp_path / "rows.jsonl"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=message):
        list(result_rows(path))


def test_an_unfinished_run_says_how_it_goes_on(results):
    partial = results.with_name("results.jsonl.partial")
    results.rename(partial)
    with pytest.raises(ConfigurationError, match="is an unfinished run: --resume"):
        list(result_rows(partial))


def test_a_metric_of_a_columns_name_takes_no_reward_away():
    metrics = [{"name": name, "value": 0.25} for name in ("reward", "error", "id", "kept")]
    row = row_of({"id": "a", "aggregate_reward_score": 1, "metrics_list": metrics}).columns()
    assert (row["reward"], row["id"], row["error"]) == (1.0, "a", None)
    assert (row["metric.reward"], row["metric.id"], row["kept"]) == (0.25, 0.25, 0.25)


def test_an_unscored_row_has_no_metrics():
    row = {"id": "a", "aggregate_reward_score": None, "metrics_list": [{"name": "x", "value": 1}]}
    assert row_of(row).metrics == {}


def test_a_missing_file_says_what_writes_it(tmp_path):
    with pytest.raises(ConfigurationError, match="write it with reward score -o"):
        list(result_rows(tmp_path / "none.jsonl"))


def test_a_json_list_is_read_too(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text('[{"id": "a", "aggregate_reward_score": 1.0, "metrics_list": []}]')
    assert [each.reward for each in result_rows(path)] == [1.0]


def test_without_pandas_one_line_says_what_to_type(results):
    with pytest.raises(MissingExtra, match=r"pip install 'reward-functions\[pandas\]'"):
        to_frame(results)
